//! The contract of a back end in a database: it decides whole commands.

#![forbid(unsafe_code)]

mod backend;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod copy;
mod facts;
mod failure;
mod natural;
mod opening;
mod request;
mod scope;
mod tally;

pub use backend::{Answered, Backend, Future, Reply, Service};
pub use facts::Facts;
pub use failure::Failure;
pub use natural::natural_key;
pub use opening::{NotOpened, Unready};
pub use request::Request;
pub use scope::{OutOfScope, Scope};
pub use tally::{Count, Tally};
