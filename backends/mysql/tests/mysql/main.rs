//! The back end on real servers.

mod conformance;
mod stand;
