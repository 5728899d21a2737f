//! The back end on real servers.

mod conformance;
mod faults;
mod proxy;
mod stand;
