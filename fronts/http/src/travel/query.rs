//! The paths and parameters of travel's reads, and the queries they become.

use std::fmt::Write;

use turnstile_travel::{CustomerId, Desk, Item, Locator, Query, Stage, Xid};

use crate::{
    cursor::InvalidCursor,
    problem::{Place, Problem},
    query::Parameters,
    request::Faults,
};

fn part<T>(read: impl FnOnce(&mut Faults) -> Option<T>) -> Result<T, Problem> {
    let mut faults = Faults::in_place(Place::Path);
    let part = read(&mut faults);
    faults.finish(part)
}

/// Reads a transaction's number out of a path.
///
/// # Errors
/// Text that is none.
pub fn xid_in(path: &str) -> Result<Xid, Problem> {
    part(|faults| {
        let digits = path.bytes().all(|byte| byte.is_ascii_digit());
        let xid = path.parse().ok().filter(|_| digits);
        if xid.is_none() {
            faults.add("xid", "a transaction's number, from 1");
        }
        xid.map(Xid)
    })
}

/// Reads an item out of a path.
///
/// # Errors
/// Text that is none.
pub fn item_in(path: &str) -> Result<Item, Problem> {
    part(|faults| faults.item("item", path))
}

/// Reads a customer out of a path.
///
/// # Errors
/// Text that is none.
pub fn customer_in(path: &str) -> Result<CustomerId, Problem> {
    part(|faults| faults.number("customer", path)).map(CustomerId)
}

/// Reads a record locator out of a path.
///
/// # Errors
/// Text that is none.
pub fn locator_in(path: &str) -> Result<Locator, Problem> {
    part(|faults| faults.take("locator", Locator::parse(path.as_bytes())))
}

/// # Errors
/// Wrong parameters.
pub fn items(mut parameters: Parameters<'_>) -> Result<Query, Problem> {
    let desks = [Desk::Flights, Desk::Cars, Desk::Rooms];
    let desks = desks.map(|desk| (desk.code(), desk));
    let desk = parameters.text("desk");
    let faults = parameters.faults();
    let desk = match &desk {
        Some(desk) => faults.choice("desk", desk, &desks),
        None => {
            faults.add("desk", "missing");
            None
        }
    };
    let cursor = parameters.text("cursor");
    let cursor = cursor.as_deref().map(parse_item_cursor).transpose();
    let after = parameters.faults().take("cursor", cursor);
    let limit = parameters.limit();
    let whole = || {
        Some(Query::Items {
            desk: desk?,
            after: after?,
            limit: usize::from(limit?),
        })
    };
    let whole = whole();
    parameters.finish(whole)
}

/// # Errors
/// Wrong parameters.
pub fn transactions(mut parameters: Parameters<'_>) -> Result<Query, Problem> {
    let stages = Stage::ALL.map(|stage| (stage.code(), stage));
    let stage = match parameters.text("state") {
        None => Some(None),
        Some(word) => parameters
            .faults()
            .choice("state", &word, &stages)
            .map(Some),
    };
    let whole = stage.zip(parameters.page());
    parameters.finish(whole.map(|(stage, (cursor, limit))| Query::Transactions {
        after: Xid(cursor.unwrap_or_default()),
        stage,
        limit: usize::from(limit),
    }))
}

/// The text of a cursor behind an item: its word, each byte in two digits.
pub(super) fn item_cursor(item: Item) -> String {
    let mut text = String::from("i");
    for byte in item.to_string().bytes() {
        write!(text, "{byte:02x}").expect("a text takes what is written");
    }
    text
}

/// Reads what [`item_cursor`] wrote.
fn parse_item_cursor(text: &str) -> Result<Item, InvalidCursor> {
    let digits = text.strip_prefix('i').ok_or(InvalidCursor)?;
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(byte).collect();
    let word = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let item = word.and_then(|word| Item::parse(word.as_bytes()).ok());
    item.filter(|item| item_cursor(*item) == text)
        .ok_or(InvalidCursor)
}

#[cfg(test)]
mod tests {
    use turnstile_travel::Location;

    use super::*;

    fn fields<T: std::fmt::Debug>(wrong: Result<T, Problem>) -> Vec<String> {
        let errors = wrong.unwrap_err().errors.into_vec();
        errors.into_iter().map(|error| error.field).collect()
    }

    #[test]
    fn what_stands_in_a_path_is_read_strictly() {
        assert_eq!(xid_in("17"), Ok(Xid(17)));
        for wrong in ["", "x", "-1", "+1", "18446744073709551616"] {
            assert_eq!(fields(xid_in(wrong)), ["xid"], "{wrong}");
        }
        assert_eq!(customer_in("-7"), Ok(CustomerId(-7)));
        for wrong in ["", "+7", "2147483648"] {
            assert_eq!(fields(customer_in(wrong)), ["customer"], "{wrong}");
        }
        assert_eq!(item_in("flight-1"), Ok(Item::Flight(1)));
        assert_eq!(fields(item_in("flight")), ["item"]);
        assert_eq!(fields(locator_in("00000U")), ["locator"]);
    }

    #[test]
    fn a_page_goes_on_behind_an_item() {
        let known = ["desk", "limit", "cursor"];
        let ask = |text: &str| items(Parameters::parse(text, &known));
        let room = Item::Room(Location::parse(b"new & york").unwrap());
        let text = format!("desk=rooms&limit=5&cursor={}", item_cursor(room));
        let expected = Query::Items {
            desk: Desk::Rooms,
            after: Some(room),
            limit: 5,
        };
        assert_eq!(ask(&text), Ok(expected));
        for (wrong, field) in [
            ("", "desk"),
            ("desk=customers", "desk"),
            ("desk=cars&cursor=i6", "cursor"),
            ("desk=cars&cursor=c0000000000000001", "cursor"),
            ("desk=cars&cursor=i\u{e9}", "cursor"),
            // `flight-01` is not how flight 1 is written.
            ("desk=cars&cursor=i666c696768742d3031", "cursor"),
            ("desk=cars&limit=0", "limit"),
        ] {
            assert_eq!(fields(ask(wrong)), [field], "{wrong}");
        }
    }
}
