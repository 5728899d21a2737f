//! Queries, one round trip each: a database function returns JSON.

use serde::de::DeserializeOwned;
use tokio_postgres::types::ToSql;
use turnstile_exchange::{Answer, Cursor, OrderRef, Query, Refusal};
use turnstile_types::Timestamp;

use super::{
    call::order_id,
    millis,
    views::{
        AccountRow, BookRow, OrderAnswer, OrderRow, OrdersAnswer, Page, SymbolRow, TotalsRow,
        TradesRow,
    },
};
use crate::{connection::Connection, trouble::StatementFailure};

/// Answers a query from what is committed.
#[expect(
    clippy::too_many_lines,
    reason = "one arm for each query, so that none is forgotten"
)]
pub(super) async fn ask(
    connection: &mut Connection,
    now: Timestamp,
    query: &Query,
) -> Result<Answer, StatementFailure> {
    let at = millis(now);
    let book = "SELECT exchange.ask_book($1, $2, $3, $4)::text";
    let unknown = || Ok(Answer::Refused(Refusal::UnknownSymbol));
    let answer = match *query {
        Query::Account {
            account,
            cursor,
            limit,
        } => {
            let sql = "SELECT exchange.ask_account($1, $2, $3, $4)::text";
            let id = account.as_str();
            let parameters: &[&(dyn ToSql + Sync)] = &[&at, &id, &first(cursor), &most(limit)];
            let Some(row) = json::<AccountRow>(connection, sql, parameters).await? else {
                return Ok(Answer::Refused(Refusal::UnknownAccount));
            };
            row.view().map(Answer::Account)
        }
        Query::Accounts { cursor, limit } => {
            let sql = "SELECT exchange.ask_accounts($1, $2, $3)::text";
            let parameters: &[&(dyn ToSql + Sync)] = &[&at, &first(cursor), &most(limit)];
            let page: Page<AccountRow> = one(connection, sql, parameters).await?;
            page.read(AccountRow::view)
                .map(|(accounts, next)| Answer::Accounts { accounts, next })
        }
        Query::Symbols { cursor, limit } => {
            let sql = "SELECT exchange.ask_symbols($1, $2, $3)::text";
            let parameters: &[&(dyn ToSql + Sync)] = &[&at, &first(cursor), &most(limit)];
            let page: Page<SymbolRow> = one(connection, sql, parameters).await?;
            page.read(SymbolRow::view)
                .map(|(symbols, next)| Answer::Symbols { symbols, next })
        }
        Query::Symbol { symbol } => {
            let sql = "SELECT exchange.ask_symbol($1, $2)::text";
            let parameters: &[&(dyn ToSql + Sync)] = &[&at, &symbol.as_str()];
            let Some(row) = json::<SymbolRow>(connection, sql, parameters).await? else {
                return unknown();
            };
            row.view().map(Answer::Symbol)
        }
        Query::Totals => {
            let sql = "SELECT exchange.ask_totals($1)::text";
            let row: TotalsRow = one(connection, sql, &[&at]).await?;
            Ok(Answer::Totals(row.into()))
        }
        Query::Order { account, order } => {
            let account = account.as_deref();
            let (id, client) = match &order {
                OrderRef::Id(id) => (Some(order_id(id.0)), None),
                OrderRef::Client(client) => (None, Some(client.as_str())),
            };
            let sql = "SELECT exchange.ask_order($1, $2, $3, $4)::text";
            match one(connection, sql, &[&at, &account, &id, &client]).await? {
                OrderAnswer::Found(row) => row.view().map(Answer::Order),
                OrderAnswer::UnknownAccount => Ok(Answer::Refused(Refusal::UnknownAccount)),
                OrderAnswer::NotFound => Ok(Answer::Refused(Refusal::NotFound)),
            }
        }
        Query::Orders {
            account,
            symbol,
            cursor,
            limit,
        } => {
            let (account, symbol) = (account.as_str(), symbol.as_deref());
            let sql = "SELECT exchange.ask_orders($1, $2, $3, $4, $5)::text";
            let parameters: &[&(dyn ToSql + Sync)] =
                &[&at, &account, &symbol, &first(cursor), &most(limit)];
            match one(connection, sql, parameters).await? {
                OrdersAnswer::Found(page) => page
                    .read(OrderRow::view)
                    .map(|(orders, next)| Answer::Orders { orders, next }),
                OrdersAnswer::UnknownAccount => Ok(Answer::Refused(Refusal::UnknownAccount)),
                OrdersAnswer::UnknownSymbol => Ok(Answer::Refused(Refusal::UnknownSymbol)),
            }
        }
        Query::Depth { symbol, levels } => {
            let parameters: &[&(dyn ToSql + Sync)] =
                &[&at, &symbol.as_str(), &most(levels), &false];
            let Some(row) = json::<BookRow>(connection, book, parameters).await? else {
                return unknown();
            };
            row.depth(symbol).map(Answer::Depth)
        }
        Query::Queue { symbol, limit } => {
            let parameters: &[&(dyn ToSql + Sync)] = &[&at, &symbol.as_str(), &most(limit), &true];
            let Some(row) = json::<BookRow>(connection, book, parameters).await? else {
                return unknown();
            };
            row.queue().map(|(seq, [bids, asks])| Answer::Queue {
                symbol,
                seq,
                bids,
                asks,
            })
        }
        Query::Trades {
            symbol,
            cursor,
            limit,
        } => {
            let newest = cursor.map_or(i64::MAX, number);
            let sql = "SELECT exchange.ask_trades($1, $2, $3)::text";
            let parameters: &[&(dyn ToSql + Sync)] = &[&symbol.as_str(), &newest, &most(limit)];
            let Some(row) = json::<TradesRow>(connection, sql, parameters).await? else {
                return unknown();
            };
            row.read()
                .map(|(trades, next)| Answer::Trades { trades, next })
        }
    };
    answer.map_err(StatementFailure::Broken)
}

/// What a function of the database gives, if anything.
async fn json<T: DeserializeOwned>(
    connection: &mut Connection,
    sql: &'static str,
    parameters: &[&(dyn ToSql + Sync)],
) -> Result<Option<T>, StatementFailure> {
    let row = connection.row(sql, parameters).await?;
    let text: Option<&str> = row.get(0);
    let read = text.map(serde_json::from_str).transpose();
    read.map_err(|failure| StatementFailure::Broken(format!("{sql} gave {text:?}: {failure}")))
}

/// What a function gives that always gives something.
async fn one<T: DeserializeOwned>(
    connection: &mut Connection,
    sql: &'static str,
    parameters: &[&(dyn ToSql + Sync)],
) -> Result<T, StatementFailure> {
    let read = json(connection, sql, parameters).await?;
    read.ok_or_else(|| StatementFailure::Broken(format!("{sql} gave nothing")))
}

fn most(limit: u16) -> i32 {
    i32::from(limit)
}

/// Where a page begins; a cursor that was never given out is behind everything.
fn first(cursor: Option<Cursor>) -> i64 {
    cursor.map_or(0, number)
}

fn number(Cursor(number): Cursor) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
