//! Rooms on MariaDB or MySQL, in tables that are InnoDB's or lie in memory.

#![forbid(unsafe_code)]

mod address;
mod backend;
mod copying;
mod schema;

mod presence;
mod reader;
mod session;
mod writer;

mod decide;
mod plan;
mod queries;

mod known;
mod wants;

mod fault;
mod fields;
mod rows;
mod sql;
mod tables;

pub use address::{Address, Engine, InvalidAddress};
pub use backend::Mysql;
pub use copying::RoomsCopy;
pub use schema::OpenError;
