//! The back end on real servers.

mod conformance;
mod crowds;
mod faults;
mod full;
mod hotel;
mod presence;
mod proxy;
mod stand;
