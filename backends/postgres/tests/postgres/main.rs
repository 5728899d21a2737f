//! Rooms and the exchange in a real PostgreSQL: the same outcomes as the machine, whatever happens to
//! the database.

mod conformance;
#[cfg(test)]
mod exchange;
mod faults;
mod full;
mod keys;
mod proxy;
mod rules;
mod silence;
mod stand;
mod words;
