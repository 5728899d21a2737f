//! One binary for all tests of the whole system.

mod backends;
mod browser_sessions;
mod clients;
mod cluster;
mod copying;
mod crash;
mod docs_page;
mod door;
mod doors;
mod games;
mod guards;
mod idle;
mod openapi;
mod program;
mod revocations;
mod storm;
mod tls;
mod travel;
