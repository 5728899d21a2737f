//! The paths and parameters of the exchange's reads, and the queries they become.

use turnstile_exchange::{AccountId, Cursor, OrderRef, Query, Symbol};

use crate::{
    exchange::event::Interest,
    problem::{Place, Problem},
    query::Parameters,
    request::{Faults, LIMIT_DEFAULT},
};

/// The levels of a book's depth when the request does not say.
const LEVELS_DEFAULT: u16 = 10;

fn part<T>(read: impl FnOnce(&mut Faults) -> Option<T>) -> Result<T, Problem> {
    let mut faults = Faults::in_place(Place::Path);
    let part = read(&mut faults);
    faults.finish(part)
}

/// Reads a symbol out of a path.
///
/// # Errors
/// Text that is none.
pub fn symbol_in(path: &str) -> Result<Symbol, Problem> {
    part(|faults| faults.symbol(path))
}

/// Reads an account out of a path.
///
/// # Errors
/// Text that is none.
pub fn account_in(path: &str) -> Result<AccountId, Problem> {
    part(|faults| faults.account(path))
}

/// Reads an order out of a path: its number, or `id:` and the client's id for it.
///
/// # Errors
/// Text that is neither.
pub fn order_in(path: &str) -> Result<OrderRef, Problem> {
    part(|faults| faults.take("order", OrderRef::parse(path.as_bytes())))
}

fn paged(
    mut parameters: Parameters<'_>,
    query: impl FnOnce(Option<Cursor>, u16) -> Query,
) -> Result<Query, Problem> {
    let page = parameters.page();
    parameters.finish(page.map(|(cursor, limit)| query(cursor.map(Cursor), limit)))
}

/// # Errors
/// Wrong parameters.
pub fn accounts(parameters: Parameters<'_>) -> Result<Query, Problem> {
    paged(parameters, |cursor, limit| Query::Accounts {
        cursor,
        limit,
    })
}

/// # Errors
/// Wrong parameters.
pub fn account(parameters: Parameters<'_>, account: AccountId) -> Result<Query, Problem> {
    paged(parameters, |cursor, limit| Query::Account {
        account,
        cursor,
        limit,
    })
}

/// # Errors
/// Wrong parameters.
pub fn symbols(parameters: Parameters<'_>) -> Result<Query, Problem> {
    paged(parameters, |cursor, limit| Query::Symbols { cursor, limit })
}

/// # Errors
/// Wrong parameters.
pub fn trades(parameters: Parameters<'_>, symbol: Symbol) -> Result<Query, Problem> {
    paged(parameters, |cursor, limit| Query::Trades {
        symbol,
        cursor,
        limit,
    })
}

/// # Errors
/// Wrong parameters.
pub fn orders(mut parameters: Parameters<'_>, account: AccountId) -> Result<Query, Problem> {
    let symbol = match parameters.text("symbol") {
        None => Some(None),
        Some(symbol) => parameters.faults().symbol(&symbol).map(Some),
    };
    let whole = symbol.zip(parameters.page());
    parameters.finish(whole.map(|(symbol, (cursor, limit))| Query::Orders {
        account,
        symbol,
        cursor: cursor.map(Cursor),
        limit,
    }))
}

/// # Errors
/// Wrong parameters.
pub fn status(mut parameters: Parameters<'_>, order: OrderRef) -> Result<Query, Problem> {
    let account = match parameters.text("account") {
        Some(account) => parameters.faults().account(&account).map(Some),
        None if matches!(order, OrderRef::Client(_)) => {
            let needed = "needed with a client's id, which is unique for its account only";
            parameters.faults().add("account", needed);
            None
        }
        None => Some(None),
    };
    parameters.finish(account.map(|account| Query::Order { account, order }))
}

/// # Errors
/// Wrong parameters.
pub fn depth(mut parameters: Parameters<'_>, symbol: Symbol) -> Result<Query, Problem> {
    let levels = parameters.count("levels", LEVELS_DEFAULT);
    parameters.finish(levels.map(|levels| Query::Depth { symbol, levels }))
}

/// # Errors
/// Wrong parameters.
pub fn queue(mut parameters: Parameters<'_>, symbol: Symbol) -> Result<Query, Problem> {
    let limit = parameters.count("limit", LIMIT_DEFAULT);
    parameters.finish(limit.map(|limit| Query::Queue { symbol, limit }))
}

/// Where a stream of events begins, and what it is about.
///
/// # Errors
/// Wrong parameters.
pub fn interest(mut parameters: Parameters<'_>) -> Result<(Option<String>, Interest), Problem> {
    let since = parameters.text("since");
    let symbol = match parameters.text("symbol") {
        None => Some(None),
        Some(symbol) => parameters.faults().symbol(&symbol).map(Some),
    };
    let account = match parameters.text("account") {
        None => Some(None),
        Some(account) => parameters.faults().account(&account).map(Some),
    };
    let whole = symbol.zip(account);
    parameters.finish(whole.map(|(symbol, account)| (since, Interest { symbol, account })))
}

#[cfg(test)]
mod tests {
    use turnstile_exchange::{ClientId, OrderId};

    use super::*;

    fn fields<T: std::fmt::Debug>(wrong: Result<T, Problem>) -> Vec<String> {
        let errors = wrong.unwrap_err().errors.into_vec();
        errors.into_iter().map(|error| error.field).collect()
    }

    #[test]
    fn an_order_is_named_by_its_number_or_the_clients_id() {
        assert_eq!(order_in("17"), Ok(OrderRef::Id(OrderId(17))));
        let client = OrderRef::Client(ClientId::parse(b"a-1").unwrap());
        assert_eq!(order_in("id:a-1"), Ok(client));
        for wrong in ["", "x", "-1", "+1", "18446744073709551616", "id:", "id:a b"] {
            assert_eq!(fields(order_in(wrong)), ["order"], "{wrong}");
        }
        let ada = AccountId::parse(b"ada").unwrap();
        let asked = status(Parameters::parse("account=ada", &["account"]), client);
        let expected = Query::Order {
            account: Some(ada),
            order: client,
        };
        assert_eq!(asked, Ok(expected));
        let alone = status(Parameters::parse("", &["account"]), client);
        assert_eq!(fields(alone), ["account"]);
    }

    #[test]
    fn levels_and_pages_stay_in_range() {
        let symbol = symbol_in("S").unwrap();
        let levels = |text: &str| depth(Parameters::parse(text, &["levels"]), symbol);
        assert_eq!(levels(""), Ok(Query::Depth { symbol, levels: 10 }));
        assert_eq!(levels("levels=1"), Ok(Query::Depth { symbol, levels: 1 }));
        for wrong in ["levels=0", "levels=1001", "levels=x", "levels=65537"] {
            assert_eq!(fields(levels(wrong)), ["levels"], "{wrong}");
        }
        let ada = account_in("ada").unwrap();
        let known = ["symbol", "limit", "cursor"];
        let wrong = orders(
            Parameters::parse("symbol=a%20b&limit=0&cursor=1", &known),
            ada,
        );
        assert_eq!(fields(wrong), ["symbol", "limit", "cursor"]);
    }
}
