//! What histories went through.

use turnstile_embedded::Services;
use turnstile_types::{Effect, Machines};

macro_rules! places {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        1 + [$(stringify!($name)),+].len()
    };
}

/// More than the highest number of a service: they have the numbers from 1 on.
const SERVICES: usize = turnstile_services::services!(places);

/// What a history went through, so that a run can show that its faults were really reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistorySummary {
    pub crashes: u64,
    /// Of them, those that fell into a recovery.
    pub crashes_in_recovery: u64,
    pub commits: u64,
    pub failed_commits: u64,
    /// Groups that were on their way while the next was decided.
    pub overlaps: u64,
    /// Turns whose answers left before they were durable.
    pub soft_turns: u64,
    /// Records that were told of and that a crash took back.
    pub taken_back: u64,
    pub records: u64,
    pub replayed_keys: u64,
    pub refused_by_full_disk: u64,
    /// Commands for whose keys there was no room.
    pub refused_keys: u64,
    pub snapshots: u64,
    /// Commands done, by the number of their service.
    pub done: [u64; SERVICES],
    /// Trades that a last recovery found at the exchange.
    pub trades: u64,
    /// Results that a last recovery found in games.
    pub results: u64,
    /// Answers of travel that were announced late.
    pub late_answers: u64,
    /// Damage that a recovery refused to repair by forgetting.
    pub damage_refused: u64,
    /// The hash of everything that was answered: the same for the same seed.
    pub trace: u64,
}

impl HistorySummary {
    /// Counts what a service has done, and mixes its answer in.
    pub(crate) fn note(&mut self, service: u8, answer: &[u8]) {
        let effect = Services::effect_of_outcome(service, answer);
        if effect == Ok(Effect::Done) {
            self.done[usize::from(service)] += 1;
        }
        for &byte in answer {
            let mixed = self.trace ^ u64::from(byte);
            self.trace = mixed.wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Adds another history's figures; the traces are mixed in order.
    pub fn add(&mut self, other: &Self) {
        self.crashes += other.crashes;
        self.crashes_in_recovery += other.crashes_in_recovery;
        self.commits += other.commits;
        self.failed_commits += other.failed_commits;
        self.overlaps += other.overlaps;
        self.soft_turns += other.soft_turns;
        self.taken_back += other.taken_back;
        self.records += other.records;
        self.replayed_keys += other.replayed_keys;
        self.refused_by_full_disk += other.refused_by_full_disk;
        self.refused_keys += other.refused_keys;
        self.snapshots += other.snapshots;
        for (done, more) in self.done.iter_mut().zip(other.done) {
            *done += more;
        }
        self.trades += other.trades;
        self.results += other.results;
        self.late_answers += other.late_answers;
        self.damage_refused += other.damage_refused;
        self.trace = self.trace.rotate_left(5) ^ other.trace;
    }
}
