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

use crate::{Conclusion, OriginalExperiment, SeriesColumn, Storage};

pub(crate) fn conclusions(
    experiment: OriginalExperiment,
    columns: &[SeriesColumn],
    known: &[SeriesColumn],
) -> Vec<Conclusion> {
    match experiment {
        OriginalExperiment::BookingMysql => bookings::mysql(columns),
        OriginalExperiment::BookingRedis => bookings::redis(columns, known),
        OriginalExperiment::ExchangeCores => exchange::cores(columns),
        OriginalExperiment::GamesUsers => games::users(columns),
        OriginalExperiment::TravelOps => travel::ops(columns),
        OriginalExperiment::TravelRate => travel::rate(columns),
    }
}

/// The column of this storage.
fn on(columns: &[SeriesColumn], storage: Storage) -> Option<&SeriesColumn> {
    columns.iter().find(|column| column.storage == storage)
}

#[cfg(test)]
pub(crate) use bookings::tests::column;
