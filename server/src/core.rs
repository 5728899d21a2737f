//! The fast loop and what it owns: the engine, connections, the gate, answers that wait for the disk.

pub(crate) mod asked;
pub(crate) mod buffer;
pub(crate) mod clock;
pub(crate) mod connection;
pub(crate) mod connections;
pub(crate) mod conversation;
pub(crate) mod copying;
pub(crate) mod engine;
pub(crate) mod fault_points;
pub(crate) mod feed;
pub(crate) mod gate;
pub(crate) mod listener;
pub(crate) mod loading;
pub(crate) mod log_limit;
pub(crate) mod news;
pub(crate) mod owed;
pub(crate) mod pace;
pub(crate) mod post;
pub(crate) mod remote;
pub(crate) mod shares;
pub(crate) mod signals;
pub(crate) mod slow_log;
pub(crate) mod tickets;
pub(crate) mod tls;
pub(crate) mod transport;
pub(crate) mod turn;
