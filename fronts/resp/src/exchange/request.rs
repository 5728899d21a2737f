//! Arguments to commands and queries of the exchange.

use turnstile_exchange::{
    AccountId, Command, Cursor, Order, OrderRef, Query, SelfTrade, Symbol, TimeInForce, limits,
};

use super::{Flaw, Invalid, Verb, words::Words};
use crate::{
    Arguments,
    words::{OptionWord, PAGE, Reason},
};

/// Prices of each side of a book when nothing is said.
const LEVELS: u16 = 10;

/// One request to the exchange.
pub type Request<'a> = crate::Request<'a, Command, Query>;

/// Reads the arguments of a request whose words the catalogue has counted.
///
/// # Errors
/// The first argument that is not what it should be.
#[inline]
pub fn parse<'a>(verb: Verb, arguments: Arguments<'a, '_>) -> Result<Request<'a>, Invalid> {
    let words = &mut Words::behind(1, verb, arguments);
    match verb {
        Verb::Order => order(words),
        Verb::Cancel => cancel(words),
        Verb::Replace => replace(words),
        Verb::CancelAll => cancel_all(words),
        Verb::Account | Verb::Grant | Verb::Deposit | Verb::Withdraw => assets(verb, words),
        Verb::Symbol => symbol(words),
        Verb::Band => band(words),
        Verb::Halt | Verb::Resume => halt(verb, words),
        Verb::Limits => account_limits(words),
        Verb::Status => status(words).map(Request::Query),
        Verb::Orders => orders(words).map(Request::Query),
        Verb::Balance | Verb::Accounts | Verb::Symbols | Verb::Trades => {
            listing(verb, words).map(Request::Query)
        }
        Verb::Instrument | Verb::Depth | Verb::Top | Verb::Queue => {
            market(verb, words).map(Request::Query)
        }
        Verb::Totals => Ok(Request::Query(Query::Totals)),
    }
}

fn order<'a>(words: &mut Words<'a, '_>) -> Result<Request<'a>, Invalid> {
    let account = words.account("account")?;
    let symbol = words.symbol("symbol")?;
    let side = words.side()?;
    let quantity = words.decimal("quantity")?;
    let limit = words.price()?;
    let (mut time_in_force, mut self_trade, mut client_id, mut key) = (None, None, None, None);
    while let Some(option) = words.option() {
        match &*option {
            b"SELFTRADE" => words.set(&mut self_trade, "SELFTRADE", Words::self_trade)?,
            b"ID" => words.set(&mut client_id, "ID", Words::client_id)?,
            b"KEY" => words.set(&mut key, "KEY", Words::key)?,
            _ => {
                let found = waiting(words, &option)?;
                if time_in_force.replace(found).is_some() {
                    return Err(words.invalid("time-in-force", Reason::Flaw(Flaw::TimeInForce)));
                }
            }
        }
    }
    let default = match limit {
        Some(_) => TimeInForce::GoodTillCancel,
        None => TimeInForce::ImmediateOrCancel,
    };
    let command = Command::Order(Order {
        account,
        symbol,
        side,
        quantity,
        limit,
        time_in_force: time_in_force.unwrap_or(default),
        self_trade: self_trade.unwrap_or(SelfTrade::ExpireTaker),
        client_id,
    });
    Ok(Request::Command { command, key })
}

/// The words for how long an order waits.
fn waiting(words: &mut Words<'_, '_>, option: &OptionWord) -> Result<TimeInForce, Invalid> {
    match &**option {
        b"GTC" => Ok(TimeInForce::GoodTillCancel),
        b"IOC" => Ok(TimeInForce::ImmediateOrCancel),
        b"FOK" => Ok(TimeInForce::FillOrKill),
        b"POSTONLY" => Ok(TimeInForce::PostOnly),
        b"UNTIL" => words.until("UNTIL"),
        _ => Err(words.no_option()),
    }
}

fn cancel<'a>(words: &mut Words<'a, '_>) -> Result<Request<'a>, Invalid> {
    let command = Command::Cancel {
        account: words.account("account")?,
        order: words.order()?,
    };
    let key = words.only_key()?;
    Ok(Request::Command { command, key })
}

fn replace<'a>(words: &mut Words<'a, '_>) -> Result<Request<'a>, Invalid> {
    let account = words.account("account")?;
    let order = words.order()?;
    let quantity = words.decimal("quantity")?;
    let (mut limit, mut key) = (None, None);
    while let Some(option) = words.option() {
        match &*option {
            b"LIMIT" => words.set(&mut limit, "LIMIT", Words::decimal)?,
            b"KEY" => words.set(&mut key, "KEY", Words::key)?,
            _ => return Err(words.no_option()),
        }
    }
    let command = Command::Replace {
        account,
        order,
        quantity,
        limit,
    };
    Ok(Request::Command { command, key })
}

fn cancel_all<'a>(words: &mut Words<'a, '_>) -> Result<Request<'a>, Invalid> {
    let account = words.account("account")?;
    let (mut symbol, mut key) = (None, None);
    while let Some(option) = words.option() {
        match &*option {
            b"SYMBOL" => words.set(&mut symbol, "SYMBOL", Words::symbol)?,
            b"KEY" => words.set(&mut key, "KEY", Words::key)?,
            _ => return Err(words.no_option()),
        }
    }
    let command = Command::CancelAll { account, symbol };
    Ok(Request::Command { command, key })
}

fn assets<'a>(verb: Verb, words: &mut Words<'a, '_>) -> Result<Request<'a>, Invalid> {
    let account = words.account("account")?;
    let command = match verb {
        Verb::Grant => Command::Grant {
            account,
            symbol: words.symbol("symbol")?,
            quantity: words.decimal("quantity")?,
        },
        Verb::Deposit => Command::Deposit {
            account,
            amount: words.decimal("amount")?,
        },
        Verb::Withdraw => Command::Withdraw {
            account,
            amount: words.decimal("amount")?,
        },
        _ => Command::CreateAccount {
            account,
            cash: words.decimal("cash")?,
        },
    };
    let key = words.only_key()?;
    Ok(Request::Command { command, key })
}

fn symbol<'a>(words: &mut Words<'a, '_>) -> Result<Request<'a>, Invalid> {
    let symbol = words.symbol("symbol")?;
    let (mut price_scale, mut quantity_scale, mut key) = (None, None, None);
    while let Some(option) = words.option() {
        match &*option {
            b"PRICESCALE" => words.set(&mut price_scale, "PRICESCALE", Words::scale)?,
            b"QUANTITYSCALE" => words.set(&mut quantity_scale, "QUANTITYSCALE", Words::scale)?,
            b"KEY" => words.set(&mut key, "KEY", Words::key)?,
            _ => return Err(words.no_option()),
        }
    }
    let command = Command::CreateSymbol {
        symbol,
        price_scale: price_scale.unwrap_or(limits::PRICE_SCALE),
        quantity_scale: quantity_scale.unwrap_or(limits::QUANTITY_SCALE),
    };
    Ok(Request::Command { command, key })
}

fn band<'a>(words: &mut Words<'a, '_>) -> Result<Request<'a>, Invalid> {
    let symbol = words.symbol("symbol")?;
    let (mut low, mut high, mut key) = (None, None, None);
    while let Some(option) = words.option() {
        match &*option {
            b"LOW" => words.set(&mut low, "LOW", Words::decimal)?,
            b"HIGH" => words.set(&mut high, "HIGH", Words::decimal)?,
            b"KEY" => words.set(&mut key, "KEY", Words::key)?,
            _ => return Err(words.no_option()),
        }
    }
    let command = Command::SetBand { symbol, low, high };
    Ok(Request::Command { command, key })
}

fn halt<'a>(verb: Verb, words: &mut Words<'a, '_>) -> Result<Request<'a>, Invalid> {
    let command = Command::Halt {
        symbol: words.symbol("symbol")?,
        halted: verb == Verb::Halt,
    };
    let key = words.only_key()?;
    Ok(Request::Command { command, key })
}

fn account_limits<'a>(words: &mut Words<'a, '_>) -> Result<Request<'a>, Invalid> {
    let account = words.account("account")?;
    let (mut open_orders, mut quantity, mut notional, mut key) = (None, None, None, None);
    while let Some(option) = words.option() {
        match &*option {
            b"OPENORDERS" => words.set(&mut open_orders, "OPENORDERS", Words::number)?,
            b"QUANTITY" => words.set(&mut quantity, "QUANTITY", Words::decimal)?,
            b"NOTIONAL" => words.set(&mut notional, "NOTIONAL", Words::decimal)?,
            b"KEY" => words.set(&mut key, "KEY", Words::key)?,
            _ => return Err(words.no_option()),
        }
    }
    let command = Command::SetLimits {
        account,
        open_orders,
        quantity,
        notional,
    };
    Ok(Request::Command { command, key })
}

fn status(words: &mut Words<'_, '_>) -> Result<Query, Invalid> {
    let order = words.order()?;
    let mut account = None;
    while let Some(option) = words.option() {
        match &*option {
            b"ACCOUNT" => words.set(&mut account, "ACCOUNT", Words::account)?,
            _ => return Err(words.no_option()),
        }
    }
    match (order, account) {
        (OrderRef::Client(_), None) => {
            Err(words.invalid("ACCOUNT", Reason::Flaw(Flaw::AccountNeeded)))
        }
        _ => Ok(Query::Order { account, order }),
    }
}

fn orders(words: &mut Words<'_, '_>) -> Result<Query, Invalid> {
    let account = words.account("account")?;
    let (mut symbol, mut limit, mut cursor) = (None, None, None);
    while let Some(option) = words.option() {
        match &*option {
            b"SYMBOL" => words.set(&mut symbol, "SYMBOL", Words::symbol)?,
            b"LIMIT" => words.set(&mut limit, "LIMIT", Words::length)?,
            b"CURSOR" => words.set(&mut cursor, "CURSOR", Words::cursor)?,
            _ => return Err(words.no_option()),
        }
    }
    Ok(Query::Orders {
        account,
        symbol,
        cursor,
        limit: limit.unwrap_or(PAGE),
    })
}

/// Where a page begins, and how long it is.
fn page(words: &mut Words<'_, '_>) -> Result<(Option<Cursor>, u16), Invalid> {
    let (mut limit, mut cursor) = (None, None);
    while let Some(option) = words.option() {
        match &*option {
            b"LIMIT" => words.set(&mut limit, "LIMIT", Words::length)?,
            b"CURSOR" => words.set(&mut cursor, "CURSOR", Words::cursor)?,
            _ => return Err(words.no_option()),
        }
    }
    Ok((cursor, limit.unwrap_or(PAGE)))
}

fn listing(verb: Verb, words: &mut Words<'_, '_>) -> Result<Query, Invalid> {
    match verb {
        Verb::Balance => {
            let account: AccountId = words.account("account")?;
            let (cursor, limit) = page(words)?;
            Ok(Query::Account {
                account,
                cursor,
                limit,
            })
        }
        Verb::Trades => {
            let symbol: Symbol = words.symbol("symbol")?;
            let (cursor, limit) = page(words)?;
            Ok(Query::Trades {
                symbol,
                cursor,
                limit,
            })
        }
        Verb::Accounts => page(words).map(|(cursor, limit)| Query::Accounts { cursor, limit }),
        _ => page(words).map(|(cursor, limit)| Query::Symbols { cursor, limit }),
    }
}

/// What concerns one symbol.
fn market(verb: Verb, words: &mut Words<'_, '_>) -> Result<Query, Invalid> {
    let symbol = words.symbol("symbol")?;
    let mut length = None;
    while let Some(option) = words.option() {
        match (verb, &*option) {
            (Verb::Depth, b"LEVELS") => words.set(&mut length, "LEVELS", Words::length)?,
            (Verb::Queue, b"LIMIT") => words.set(&mut length, "LIMIT", Words::length)?,
            _ => return Err(words.no_option()),
        }
    }
    Ok(match verb {
        Verb::Depth => Query::Depth {
            symbol,
            levels: length.unwrap_or(LEVELS),
        },
        Verb::Top => Query::Depth { symbol, levels: 1 },
        Verb::Queue => Query::Queue {
            symbol,
            limit: length.unwrap_or(PAGE),
        },
        _ => Query::Symbol { symbol },
    })
}
