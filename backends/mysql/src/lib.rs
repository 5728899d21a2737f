//! Rooms in MariaDB or MySQL, in InnoDB or MEMORY tables.

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

pub use address::{Address, InvalidAddress, StorageEngine};
pub use backend::Mysql;
pub use copying::MysqlCopy;
