//! The back end on a real server.

mod conformance;
mod connection;
mod faults;
mod stand;
