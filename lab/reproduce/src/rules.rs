//! What our figures say of each conclusion: one rule for each, in code.
//!
//! A claim about a kind of storage needs that storage; what the embedded journal does instead is told
//! beside it, but decides nothing. A claim that the published table itself refutes needs no run. Every
//! other claim needs at least three valid points on each side, or the pairs of points that it is about,
//! and is decided by their intervals; where these leave it open, it is not testable.

mod bookings;
mod evidence;
mod exchange;
mod games;
mod travel;

use crate::{Column, Conclusion, Experiment, Storage};

pub(crate) fn conclusions(
    experiment: Experiment,
    columns: &[Column],
    known: &[Column],
) -> Vec<Conclusion> {
    match experiment {
        Experiment::BookingMysql => bookings::mysql(columns),
        Experiment::BookingRedis => bookings::redis(columns, known),
        Experiment::ExchangeCores => exchange::cores(columns),
        Experiment::GamesUsers => games::users(columns),
        Experiment::TravelOps => travel::ops(columns),
        Experiment::TravelRate => travel::rate(columns),
    }
}

/// The column of this storage.
fn on(columns: &[Column], storage: Storage) -> Option<&Column> {
    columns.iter().find(|column| column.storage == storage)
}

#[cfg(test)]
pub(crate) use bookings::tests::column;
