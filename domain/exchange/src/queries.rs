//! Answers queries from the current state.

mod accounts;
mod books;
mod orders;

use crate::{AccountId, AccountView, Answer, Cursor, Exchange, Query, Refusal, Symbol};

pub(crate) fn answer(exchange: &Exchange, query: &Query) -> Answer {
    ask(exchange, query).unwrap_or_else(Answer::Refused)
}

fn ask(exchange: &Exchange, query: &Query) -> Result<Answer, Refusal> {
    let account = |id| account_of(exchange, id);
    let symbol = |name| symbol_of(exchange, name);
    Ok(match query {
        Query::Account {
            account: id,
            cursor,
            limit,
        } => Answer::Account(accounts::holdings(exchange, account(id)?, *cursor, *limit)),
        Query::Accounts { cursor, limit } => {
            let (accounts, next) = page(exchange.accounts.len(), *cursor, *limit, |number| {
                AccountView {
                    positions: Vec::new(),
                    next: None,
                    ..accounts::summary(exchange, number)
                }
            });
            Answer::Accounts { accounts, next }
        }
        Query::Symbols { cursor, limit } => {
            let (symbols, next) = page(exchange.symbols.len(), *cursor, *limit, |number| {
                books::view(exchange.symbols.at(number))
            });
            Answer::Symbols { symbols, next }
        }
        Query::Symbol { symbol: name } => {
            Answer::Symbol(books::view(exchange.symbols.at(symbol(name)?)))
        }
        Query::Order { account: id, order } => {
            let account = id.as_ref().map(account).transpose()?;
            let row = exchange.named(account, order)?;
            Answer::Order(orders::view(exchange, row))
        }
        Query::Orders {
            account: id,
            symbol: name,
            cursor,
            limit,
        } => {
            let symbol = name.as_ref().map(symbol).transpose();
            let (orders, next) = orders::open(
                exchange,
                account(id)?,
                symbol?,
                *cursor,
                usize::from(*limit),
            );
            Answer::Orders { orders, next }
        }
        Query::Depth {
            symbol: name,
            levels,
        } => Answer::Depth(books::depth(exchange, symbol(name)?, usize::from(*levels))),
        Query::Queue {
            symbol: name,
            limit,
        } => books::queue(exchange, symbol(name)?, usize::from(*limit)),
        Query::Trades {
            symbol: name,
            cursor,
            limit,
        } => books::trades(
            exchange.symbols.at(symbol(name)?),
            *cursor,
            usize::from(*limit),
        ),
        Query::Totals => Answer::Totals(exchange.totals()),
    })
}

fn account_of(exchange: &Exchange, id: &AccountId) -> Result<u32, Refusal> {
    exchange.accounts.find(id).ok_or(Refusal::UnknownAccount)
}

fn symbol_of(exchange: &Exchange, name: &Symbol) -> Result<u32, Refusal> {
    exchange.symbols.find(name).ok_or(Refusal::UnknownSymbol)
}

/// A cursor as a 32-bit number; one that was never given out is behind everything.
fn number(cursor: Option<Cursor>) -> u32 {
    cursor.map_or(0, |Cursor(number)| {
        u32::try_from(number).unwrap_or(u32::MAX)
    })
}

/// A page of things that are numbered from zero.
fn page<T>(
    length: u32,
    cursor: Option<Cursor>,
    limit: u16,
    view: impl Fn(u32) -> T,
) -> (Vec<T>, Option<Cursor>) {
    let first = number(cursor).min(length);
    let end = first.saturating_add(u32::from(limit)).min(length);
    let next = (end < length).then(|| Cursor(u64::from(end)));
    ((first..end).map(view).collect(), next)
}
