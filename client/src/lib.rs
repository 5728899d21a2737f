//! One client for each front, used by lab, tests and simulator.

#![forbid(unsafe_code)]

pub mod resp;

mod connection;

pub use connection::{Connection, Error};
