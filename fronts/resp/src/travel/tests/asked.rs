//! What a line asks for, or the error it gets.

use turnstile_travel::{Command, CustomerId, Desk, Query, Stage, Step, Trip, Xid};
use turnstile_types::Key;

use super::{ADA, item, locator};
use crate::{
    tests::typed_lines,
    travel::{Request, parse},
};

typed_lines!(Travel, |call, arguments| parse(call, arguments));

fn commands<const N: usize>(rows: [(&str, Command, Option<&str>); N]) {
    for (line, command, key) in rows {
        let key = key.map(|key| Key::parse(key.as_bytes()).unwrap());
        asked(line, |found| {
            assert_eq!(found, Ok(Request::Command { command, key }), "{line}");
        });
    }
}

fn trip(items: &[&str]) -> Trip {
    Trip::new(items.iter().map(|text| item(text)).collect()).unwrap()
}

#[test]
fn a_line_becomes_its_step_of_a_transaction() {
    let within = |step| {
        let xid = Xid(7);
        Command::Within { xid, step }
    };
    let add = |text, count, price| {
        let item = item(text);
        within(Step::Add { item, count, price })
    };
    let reserve = |items| {
        within(Step::Reserve {
            customer: ADA,
            trip: trip(items),
        })
    };
    let added = |customer| within(Step::AddCustomer { customer });
    let query = |text| within(Step::Query { item: item(text) });
    commands([
        ("TRAVEL.START", Command::Start, None),
        ("TRAVEL.START KEY s", Command::Start, Some("s")),
        (
            "TRAVEL.ADD-ITEM 7 flight-5 3 0",
            add("flight-5", 3, 0),
            None,
        ),
        (
            "travel.add-item 7 'CAR-New York' 4294967295 4294967295 key k",
            add("car-new york", u32::MAX, u32::MAX),
            Some("k"),
        ),
        (
            "TRAVEL.DELETE-ITEM 7 room-rome",
            within(Step::Delete {
                item: item("room-rome"),
            }),
            None,
        ),
        ("TRAVEL.QUERY-ITEM 7 flight--5", query("flight--5"), None),
        ("TRAVEL.ADD-CUSTOMER 7", added(None), None),
        ("TRAVEL.ADD-CUSTOMER 7 KEY c", added(None), Some("c")),
        (
            "TRAVEL.ADD-CUSTOMER 7 CUSTOMER -1 KEY c",
            added(Some(CustomerId(-1))),
            Some("c"),
        ),
        (
            "TRAVEL.DELETE-CUSTOMER 7 42",
            within(Step::DeleteCustomer { customer: ADA }),
            None,
        ),
        (
            "TRAVEL.QUERY-CUSTOMER 7 42",
            within(Step::QueryCustomer { customer: ADA }),
            None,
        ),
        (
            "TRAVEL.RESERVE 7 42 flight-5 flight-5 room-key KEY r",
            reserve(&["flight-5", "flight-5", "room-key"]),
            Some("r"),
        ),
        ("TRAVEL.QUERY-CUSTOMERS 7", within(Step::Summary), None),
        ("TRAVEL.COMMIT 7 KEY e", within(Step::Commit), Some("e")),
        ("TRAVEL.ABORT 7", Command::Abort { xid: Xid(7) }, None),
    ]);
}

#[test]
fn a_line_about_an_itinerary_or_a_doubt_becomes_its_command() {
    let locator = locator();
    let book = |items, hold_ms| Command::Book {
        customer: ADA,
        trip: trip(items),
        hold_ms,
    };
    let resolve = |desk, commit| Command::Resolve {
        desk,
        xid: Xid(7),
        commit,
    };
    commands([
        ("TRAVEL.BOOK 42 flight-5", book(&["flight-5"], None), None),
        (
            "TRAVEL.BOOK 42 flight-5 car-hold hold_ms 600000 KEY b",
            book(&["flight-5", "car-hold"], Some(600_000)),
            Some("b"),
        ),
        (
            "TRAVEL.BOOK 42 room-a KEY flight-5 HOLD_MS 0",
            book(&["room-a"], Some(0)),
            Some("flight-5"),
        ),
        ("TRAVEL.CONFIRM AB6X5T", Command::Confirm { locator }, None),
        (
            "TRAVEL.CANCEL ab6x5t KEY c",
            Command::Cancel { locator },
            Some("c"),
        ),
        (
            "TRAVEL.RESOLVE flights 7 COMMIT",
            resolve(Desk::Flights, true),
            None,
        ),
        (
            "travel.resolve Customers 7 abort KEY o",
            resolve(Desk::Customers, false),
            Some("o"),
        ),
    ]);
}

#[test]
fn a_line_becomes_its_query() {
    let items = |desk, after, limit| Query::Items { desk, after, limit };
    let list = |stage, after, limit| Query::Transactions {
        after: Xid(after),
        stage,
        limit,
    };
    let rows = [
        (
            "TRAVEL.GET-ITINERARY AB6X5T",
            Query::Itinerary { locator: locator() },
        ),
        ("TRAVEL.GET-CUSTOMER 42", Query::Customer { customer: ADA }),
        ("TRAVEL.LIST-ITEMS cars", items(Desk::Cars, None, 100)),
        (
            "TRAVEL.LIST-ITEMS flights LIMIT 7 CURSOR flight-5",
            items(Desk::Flights, Some(item("flight-5")), 7),
        ),
        ("TRAVEL.GET-TOTALS", Query::Totals),
        ("TRAVEL.LIST-TRANSACTIONS", list(None, 0, 100)),
        (
            "TRAVEL.LIST-TRANSACTIONS STATE in-doubt CURSOR 9 LIMIT 1000",
            list(Some(Stage::InDoubt), 9, 1_000),
        ),
        (
            "travel.list-transactions state Waiting",
            list(Some(Stage::Waiting), 0, 100),
        ),
        (
            "TRAVEL.GET-TRANSACTION 7",
            Query::Transaction { xid: Xid(7) },
        ),
    ];
    for (line, expected) in rows {
        asked(line, |found| {
            assert_eq!(found, Ok(Request::Query(expected)), "{line}");
        });
    }
}

fn errors(rows: &[(&str, &str)]) {
    for (line, expected) in rows {
        asked(line, |found| assert_eq!(found, Err((*expected).to_owned())));
    }
}

#[test]
fn an_error_says_which_argument_of_a_booking_is_wrong_and_why() {
    let long = format!("TRAVEL.BOOK 42{}", " flight-1".repeat(65));
    errors(&[
        (
            "TRAVEL.BOOK 42 bus-1",
            "TRAVEL.BOOK items: an item is flight-NUMBER, car-LOCATION or room-LOCATION",
        ),
        (
            "TRAVEL.BOOK 42 flight-x",
            "TRAVEL.BOOK items: a flight's number is a whole number from -2147483648 to 2147483647",
        ),
        (
            "TRAVEL.BOOK 42 car-a,b",
            "TRAVEL.BOOK items: a location is ASCII without commas, character 2 is not allowed",
        ),
        (
            "TRAVEL.BOOK 42 KEY k",
            "TRAVEL.BOOK items: a trip has from 1 to 64 items",
        ),
        (
            long.as_str(),
            "TRAVEL.BOOK items: a trip has from 1 to 64 items",
        ),
        (
            "TRAVEL.BOOK ada flight-1",
            "TRAVEL.BOOK customer: a whole number from -2147483648 to 2147483647",
        ),
        (
            "TRAVEL.BOOK 42 flight-1 HOLD_MS soon",
            "TRAVEL.BOOK hold_ms: a whole number from 0 to 18446744073709551615",
        ),
        (
            "TRAVEL.BOOK 42 flight-1 HOLD_MS 1 HOLD_MS 2",
            "TRAVEL.BOOK hold_ms: given twice",
        ),
        (
            "TRAVEL.BOOK 42 flight-1 KEY",
            "TRAVEL.BOOK key: the value is missing",
        ),
        (
            "TRAVEL.BOOK 42 flight-1 KEY ''",
            "TRAVEL.BOOK key: an idempotency key has at least one character",
        ),
        (
            "TRAVEL.BOOK 42 flight-1 KEY k car-rome",
            "TRAVEL.BOOK option: argument 5 is no option of this command",
        ),
    ]);
}

#[test]
fn an_error_says_which_argument_is_wrong_and_why() {
    errors(&[
        (
            "TRAVEL.RESERVE 7 42 flight-1 HOLD_MS 1",
            "TRAVEL.RESERVE items: an item is flight-NUMBER, car-LOCATION or room-LOCATION",
        ),
        (
            "TRAVEL.ADD-ITEM 7 flight-1 4294967296 1",
            "TRAVEL.ADD-ITEM count: a whole number from 0 to 4294967295",
        ),
        (
            "TRAVEL.COMMIT +7",
            "TRAVEL.COMMIT xid: a whole number from 0 to 18446744073709551615",
        ),
        (
            "TRAVEL.CANCEL AB6X5U",
            "TRAVEL.CANCEL locator: a record locator is six characters of 0-9 and A-Z without U",
        ),
        (
            "TRAVEL.LIST-ITEMS trains",
            "TRAVEL.LIST-ITEMS desk: one of flights, cars, rooms, customers",
        ),
        (
            "TRAVEL.LIST-ITEMS cars LIMIT 0",
            "TRAVEL.LIST-ITEMS limit: a whole number from 1 to 1000",
        ),
        (
            "TRAVEL.LIST-TRANSACTIONS STATE lost",
            "TRAVEL.LIST-TRANSACTIONS state: one of active, waiting, prepared, in-doubt",
        ),
        (
            "TRAVEL.LIST-TRANSACTIONS CURSOR x",
            "TRAVEL.LIST-TRANSACTIONS cursor: a whole number from 0 to 18446744073709551615",
        ),
        (
            "TRAVEL.RESOLVE cars 7 maybe",
            "TRAVEL.RESOLVE decision: one of commit, abort",
        ),
        ("TRAVEL.QUERY-ITEM 7", "Err(Arity(\"travel.query-item\"))"),
        (
            "TRAVEL.GET-TRANSACTION",
            "Err(Arity(\"travel.get-transaction\"))",
        ),
    ]);
}
