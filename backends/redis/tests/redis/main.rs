//! The back end on a real server.

mod conformance;
mod faults;
mod stand;
