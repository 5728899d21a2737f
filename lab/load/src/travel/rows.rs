//! What was measured at each point.

use std::{collections::BTreeMap, time::Duration};

use turnstile_published::Times;
use turnstile_stats::{Histogram, Little, Summary, throughput, units::to_float};

use super::{Managers, Rate, traveller::Traveller};
use crate::pace::{Pace, Totals, Whole};

/// How far the sum of the parts and the whole may lie apart, as a share.
const TOLERANCE: f64 = 0.02;

/// The generator may be late by so much, in nanoseconds, or by a tenth of what is answered, at the
/// 99th percentile; else it was not the server that was measured.
const LAG_NANOS_MAX: u64 = 1_000_000;

/// Below this share of what was offered, a server is saturated.
const CARRIED_SHARE: f64 = 0.95;

/// All points of a run, in the order in which they were measured.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    pub(super) requests: Vec<RequestsRow>,
    pub(super) rates: Vec<RateRow>,
}

/// What the requests of one client took.
#[derive(Clone, Debug)]
pub struct RequestsRow {
    pub managers: Managers,
    /// Response times of each kind of request, in nanoseconds.
    pub operations: Vec<(&'static str, Summary)>,
    /// Of whole transactions.
    pub transaction: Summary,
    pub outcomes: Outcomes,
    /// Means in milliseconds, as they were published.
    pub means: Times,
    pub published: Times,
    /// What the means of the requests come to, over the mean of the transactions.
    pub composition: f64,
    /// Whether the figures can be used.
    pub sound: bool,
}

/// What transactions took at one rate with some clients.
#[derive(Clone, Debug)]
pub struct RateRow {
    pub clients: usize,
    pub rate: Rate,
    /// Transactions committed in each second of the window.
    pub carried: f64,
    /// Whether less was carried than was offered; in a closed loop always.
    pub saturated: bool,
    /// Of committed transactions, in nanoseconds from the instant at which each was due.
    pub response: Summary,
    /// From the instant at which its client was free for it.
    pub service: Summary,
    /// How late the generator was.
    pub lag: Summary,
    pub outcomes: Outcomes,
    /// Aborted transactions, over all that ended.
    pub abort_rate: f64,
    /// The check of Little's law, in a closed loop.
    pub little: Option<Little>,
    /// What the generator used, in nanoseconds of processor time for each transaction.
    pub cpu_per_transaction: f64,
    /// Whether the figures can be used.
    pub sound: bool,
}

/// How transactions ended, over the whole run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    pub committed: u64,
    /// By reason.
    pub aborted: BTreeMap<String, u64>,
    /// Transactions that the server answered with an error.
    pub failed: u64,
    /// Requests whose answer never came.
    pub unknown: u64,
    pub connections_lost: u64,
}

impl Outcomes {
    fn of(totals: &Totals<Traveller>) -> Self {
        let whole = transaction(totals);
        let unknown = totals.tally.operations.iter().map(|one| one.unknown);
        Self {
            committed: whole.done,
            aborted: whole.refused.by_word(),
            failed: whole.errors.total(),
            unknown: unknown.sum(),
            connections_lost: totals.tally.connections_lost,
        }
    }

    fn aborted(&self) -> u64 {
        self.aborted.values().sum()
    }
}

fn transaction(totals: &Totals<Traveller>) -> &Whole {
    &totals.tally.wholes[0]
}

impl RequestsRow {
    /// `expected` transactions were to be measured.
    pub(super) fn new(managers: Managers, expected: u64, totals: &Totals<Traveller>) -> Self {
        let whole = transaction(totals);
        let mean = |operations: &[&str]| {
            let mut times = Histogram::new();
            let all = totals.tally.operations.iter();
            for operation in all.filter(|operation| operations.contains(&operation.name)) {
                times.merge(&operation.times);
            }
            times.mean() / 1e6
        };
        let means = Times {
            start: mean(&["start"]),
            query: mean(&["query_customer", "query_flight", "query_car", "query_room"]),
            reserve: mean(&["reserve_flight", "reserve_car", "reserve_room"]),
            commit: mean(&["commit"]),
            transaction: whole.response.mean() / 1e6,
        };
        let composition = means.composed() / means.transaction;
        let operations = totals.tally.operations.iter();
        Self {
            managers,
            operations: operations
                .filter(|operation| operation.times.count() > 0)
                .map(|operation| (operation.name, operation.times.summary()))
                .collect(),
            transaction: whole.response.summary(),
            outcomes: Outcomes::of(totals),
            means,
            published: Times::of(managers),
            composition,
            sound: whole.response.count() == expected && (composition - 1.0).abs() <= TOLERANCE,
        }
    }
}

impl RateRow {
    pub(super) fn new(
        pace: &Pace,
        (clients, rate): (usize, Rate),
        totals: &Totals<Traveller>,
    ) -> Self {
        let whole = transaction(totals);
        let outcomes = Outcomes::of(totals);
        let (response, service) = (whole.response.summary(), whole.service.summary());
        let carried = throughput(response.count, totals.window);
        let lag = totals.tally.lag.summary();
        let ended = outcomes.committed + outcomes.aborted() + outcomes.failed;
        let little = (rate == Rate::Most && pace.is_busy()).then(|| {
            let users = u64::try_from(clients).expect("clients are bounded");
            Little::new(users, carried, response.mean)
        });
        let saturated = match rate {
            Rate::Most => true,
            Rate::PerSecond(rate) => {
                // A transaction that is due just before the window's end is answered after it.
                let at_the_end = 1.0 / totals.window.as_secs_f64();
                carried + at_the_end < f64::from(rate) * CARRIED_SHARE
            }
        };
        let late = lag.p99 > LAG_NANOS_MAX.max(response.p99 / 10);
        // Aborted transactions are not in the mean of Little's law.
        let lawful = outcomes.aborted() > 0 || little.is_none_or(|little| little.holds());
        Self {
            clients,
            rate,
            carried,
            saturated,
            response,
            service,
            lag,
            abort_rate: to_float(outcomes.aborted()) / to_float(ended.max(1)),
            cpu_per_transaction: nanos(totals.cpu) / to_float(response.count.max(1)),
            sound: response.count > 0 && !late && lawful,
            outcomes,
            little,
        }
    }
}

fn nanos(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e9
}
