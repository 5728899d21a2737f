//! One binary for all tests of the whole system.

mod backends;
mod clients;
mod copying;
mod crash;
mod door;
mod doors;
mod games;
mod program;
mod storm;
mod travel;
