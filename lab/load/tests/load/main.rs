//! The generator against real sockets: a toy server that is honest, and one for each fault.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod agency;
mod allocation;
mod arena;
mod bureau;
mod checked;
mod exchange;
mod floor;
mod foreign;
mod games;
mod inn;
mod loopback;
mod pacing;
mod parlour;
mod repeater;
mod replay;
mod rhythms;
mod rooms;
mod rush;
mod seats;
mod toy;
mod travel;
