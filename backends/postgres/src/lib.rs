//! Services in the tables of a PostgreSQL database: whole commands, decided there.

#![forbid(unsafe_code)]

mod connection;
mod kept;
mod migrations;
mod place;
mod pool;
mod postgres;
mod presence;
mod settling;
mod trouble;

mod exchange;
mod rooms;

pub use exchange::EXECUTE as EXECUTE_EXCHANGE;
pub use postgres::Postgres;
pub use rooms::{EXECUTE as EXECUTE_ROOMS, PostgresCopy};
