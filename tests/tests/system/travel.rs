//! Travel by real processes, one or five: stopped, killed, ended at every fault point.

mod absence;
pub(crate) mod clerk;
mod company;
mod faults;
mod kill;
mod late;
mod ledger;

pub(crate) use company::glance;
