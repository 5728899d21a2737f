//! One client for each front, used by lab, tests and simulator.

#![forbid(unsafe_code)]

pub mod descriptors;
pub mod http;
pub mod lines;
pub mod resp;
pub mod tls;
pub mod xml;

mod access_key;
mod connection;
mod denied;
mod error;
mod named;
mod peer_halves;
mod peer_stream;
mod server_address;
mod wire;

pub use access_key::{AccessKey, InvalidAccessKey};
pub use connection::Connection;
pub use denied::Denied;
pub use error::{ConnectionError, is_outcome_unknown};
pub use named::{NamedAnswer, NamedConnection};
pub use peer_halves::{PeerReader, PeerWriter};
pub use peer_stream::PeerStream;
pub use server_address::ServerAddress;
