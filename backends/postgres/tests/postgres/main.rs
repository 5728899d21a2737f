//! Rooms in a real PostgreSQL: the same outcomes as the machine, whatever happens to the database.

mod conformance;
mod stand;
