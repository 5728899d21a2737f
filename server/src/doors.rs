//! The doors: for each protocol its sessions, its limits and what its clients are offered.

pub(crate) mod arena;
pub(crate) mod desk;
pub(crate) mod duel;
pub(crate) mod fast;
pub(crate) mod http;
pub(crate) mod lines;
pub(crate) mod resp;
pub(crate) mod scores;
pub(crate) mod xml;
