//! One binary for all tests of the whole system.

mod clients;
mod door;
mod doors;
mod program;
