//! Rooms in tables: properties, rooms, bookings, and the nights that are taken.

mod commands;
mod copying;
mod inventory;
mod listings;
mod order;
mod outcomes;
mod questions;
mod values;

pub use self::copying::PostgresCopy;

use turnstile_contract::{Future, Request};
use turnstile_rooms::{Answer, Query, Rooms};
use turnstile_types::{Principal, Timestamp};

use crate::{
    connection::Connection,
    kept::{BatchAnswers, DatabaseMachine},
    trouble::StatementFailure,
};

pub use self::commands::EXECUTE;

use self::{
    commands::CommandColumns,
    values::{column, time_of},
};

/// Holds, expired holds and keys of each page of what is due: their locks fit the database's table
/// of locks, and nobody waits long for one of them.
const PAGE: i32 = 200;

impl DatabaseMachine for Rooms {
    const SCHEMA: &'static str = "rooms";

    const MIGRATIONS: &'static [&'static str] = &[
        include_str!("../migrations/rooms/0001_tables.sql"),
        include_str!("../migrations/rooms/0002_entries.sql"),
        include_str!("../migrations/rooms/0003_commands.sql"),
        include_str!("../migrations/rooms/0004_plans.sql"),
        include_str!("../migrations/rooms/0005_ended.sql"),
        include_str!("../migrations/rooms/0006_keys.sql"),
        include_str!("../migrations/rooms/0007_foreign_keys.sql"),
        include_str!("../migrations/rooms/0008_requests.sql"),
        include_str!("../migrations/rooms/0009_moves.sql"),
    ];

    fn decide<'a>(
        connection: &'a mut Connection,
        now: Timestamp,
        requests: &'a [&'a Request],
    ) -> Future<'a, Result<BatchAnswers<Self>, StatementFailure>> {
        Box::pin(async move {
            let columns = CommandColumns::of(requests)?;
            let rows = columns.execute(connection, time_of(now)?).await?;
            let replies = rows.iter().zip(requests);
            Ok(replies
                .map(|(row, request)| outcomes::reply(row, request))
                .collect())
        })
    }

    fn answer<'a>(
        connection: &'a mut Connection,
        now: Timestamp,
        principal: &'a Principal,
        query: &'a Query,
    ) -> Future<'a, Result<Answer, StatementFailure>> {
        Box::pin(questions::answer(connection, now, principal, query))
    }

    fn tidy(
        connection: &mut Connection,
        now: Timestamp,
    ) -> Future<'_, Result<bool, StatementFailure>> {
        Box::pin(async move {
            let now = time_of(now)?;
            let tidy = "SELECT rooms.tidy($1, $2)";
            column(&connection.row(tidy, &[&now, &PAGE]).await?, 0)
        })
    }
}
