//! What our figures say of each conclusion: one rule for each, in code.
//!
//! A claim about a kind of storage needs that storage; what the embedded journal does instead is told
//! beside it, but decides nothing. A claim that the published table itself refutes needs no run.

mod bookings;
mod exchange;
mod games;
mod travel;

use crate::{Column, Conclusion, Experiment, Figure, Storage};

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

/// The first place with 95 % of the most, and the most; nothing for fewer than three figures.
fn saturation(figures: &[&Figure]) -> Option<(f64, f64)> {
    let most = figures
        .iter()
        .map(|figure| figure.throughput)
        .fold(0.0, f64::max);
    let first = figures
        .iter()
        .find(|figure| figure.throughput >= 0.95 * most)?;
    (figures.len() >= 3).then_some((first.x, most))
}

/// The column of this storage.
fn on(columns: &[Column], storage: Storage) -> Option<&Column> {
    columns.iter().find(|column| column.storage == storage)
}

/// The best column for a claim about this storage: that, or any.
fn on_or_any(columns: &[Column], storage: Storage) -> Option<&Column> {
    on(columns, storage).or_else(|| columns.first())
}

/// `no figures` where a claim could be tested, but nothing usable was measured.
const NO_FIGURES: &str = "too few usable figures were measured";
