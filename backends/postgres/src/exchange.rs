//! The exchange in tables: matching is done by functions of the database, so that a batch of
//! commands is one round trip.

mod call;
mod decided;
mod questions;
mod views;

use tokio_postgres::Row;
use turnstile_contract::{Failure, Future, Reply, Request};
use turnstile_exchange::{Answer, Exchange, Query};
use turnstile_types::{Position, Principal, Timestamp};

use crate::{
    connection::Connection,
    kept::{BatchAnswers, DatabaseMachine},
    trouble::StatementFailure,
};

/// The one statement by which a batch is decided, for those who measure the database alone: an instant,
/// and the commands as JSON.
pub const EXECUTE: &str =
    "SELECT decided, replayed, outcome FROM exchange.execute($1, $2::text::jsonb)";

/// Orders that one transaction expires when nobody asks for them.
const SWEPT_AT_ONCE: i32 = 1_000;

impl DatabaseMachine for Exchange {
    const SCHEMA: &'static str = "exchange";

    const MIGRATIONS: &'static [&'static str] = &[
        include_str!("../migrations/exchange/0001_tables.sql"),
        include_str!("../migrations/exchange/0002_locks.sql"),
        include_str!("../migrations/exchange/0003_matching.sql"),
        include_str!("../migrations/exchange/0004_orders.sql"),
        include_str!("../migrations/exchange/0005_rules.sql"),
        include_str!("../migrations/exchange/0006_execute.sql"),
        include_str!("../migrations/exchange/0007_queries.sql"),
    ];

    fn decide<'a>(
        connection: &'a mut Connection,
        now: Timestamp,
        requests: &'a [&'a Request],
    ) -> Future<'a, Result<BatchAnswers<Self>, StatementFailure>> {
        Box::pin(async move {
            let batch = call::batch(requests.iter().copied());
            let batch =
                batch.map_err(|malformed| StatementFailure::Broken(malformed.to_string()))?;
            let rows = connection.rows(EXECUTE, &[&millis(now), &batch]).await?;
            Ok(rows.iter().map(reply).collect())
        })
    }

    fn answer<'a>(
        connection: &'a mut Connection,
        now: Timestamp,
        _principal: &'a Principal,
        query: &'a Query,
    ) -> Future<'a, Result<Answer, StatementFailure>> {
        Box::pin(questions::ask(connection, now, query))
    }

    fn tidy(
        connection: &mut Connection,
        now: Timestamp,
    ) -> Future<'_, Result<bool, StatementFailure>> {
        Box::pin(async move {
            let sql = "SELECT exchange.sweep($1, $2)";
            let row = connection.row(sql, &[&millis(now), &SWEPT_AT_ONCE]).await?;
            Ok(row.get(0))
        })
    }
}

/// An instant as the database has it. The last one that it knows is far beyond all others.
fn millis(at: Timestamp) -> i64 {
    i64::try_from(at.0).unwrap_or(i64::MAX)
}

/// What became of a command.
fn reply(row: &Row) -> Result<Reply<Exchange>, Failure> {
    let broken = |reason| Failure::Broken { reason };
    let decided = u64::try_from(row.get::<_, i64>(0));
    let position = Position(decided.map_err(|_negative| broken("a negative position".to_owned()))?);
    let outcome: Option<&str> = row.get(2);
    let outcome = outcome.ok_or(Failure::KeyReused { first: position })?;
    Ok(Reply::<Exchange> {
        position,
        replayed: row.get(1),
        outcome: decided::outcome(outcome).map_err(broken)?,
    })
}
