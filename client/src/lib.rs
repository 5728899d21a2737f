//! One client for each front, used by lab, tests and simulator.

#![forbid(unsafe_code)]

pub mod descriptors;
pub mod lines;
pub mod resp;
pub mod xml;

mod connection;
mod error;
mod named;
mod wire;

pub use connection::Connection;
pub use error::Error;
pub use named::{NamedAnswer, NamedConnection};
