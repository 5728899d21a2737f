//! Checks a history while it is made.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
};

use crate::{
    Charge, Model,
    horizon::KnownUpTo,
    replay::{Findings, HistoryReplay},
    witness::{COLLECT_INTERVAL, Chronicle},
};

/// How far a check is, for others to look at while it runs.
#[derive(Debug, Default)]
pub struct CheckedSoFar {
    /// Operations that were replayed, and readings that were held against the states.
    pub answers: AtomicU64,
    pub violations: AtomicU64,
}

/// Replays what users tell while they do.
#[derive(Debug)]
pub struct Checker<M: Model> {
    replay: HistoryReplay<M>,
    chronicle: Chronicle<M::Operation>,
}

impl<M: Model> Checker<M> {
    #[must_use]
    pub fn new(model: M, chronicle: Chronicle<M::Operation>) -> Self {
        Self {
            replay: HistoryReplay::new(model),
            chronicle,
        }
    }

    /// Checks until the load is over, then the rest; the model as the replay leaves it, and what was
    /// found.
    pub fn run(mut self, over: &AtomicBool, so_far: &CheckedSoFar) -> (M, Findings) {
        while !over.load(Ordering::SeqCst) {
            self.advance();
            so_far.show(self.replay.findings());
            thread::park_timeout(COLLECT_INTERVAL);
        }
        self.finish()
    }

    /// Replays what nothing can come before any more.
    pub fn advance(&mut self) {
        let known = self.fetch();
        self.replay.advance(known);
    }

    /// Replays the rest: nobody asks any more.
    #[must_use]
    pub fn finish(mut self) -> (M, Findings) {
        self.fetch();
        self.replay.advance(KnownUpTo::ALL);
        self.replay.end()
    }

    fn fetch(&mut self) -> KnownUpTo {
        let known = self.chronicle.collect();
        for piece in self.chronicle.pieces() {
            let taken = self.replay.take(piece);
            taken.expect("witnesses have put it together in this process");
        }
        known
    }
}

impl CheckedSoFar {
    fn show(&self, findings: &Findings) {
        let Findings {
            replayed, readings, ..
        } = findings;
        let violations = [&findings.order, &findings.answers, &findings.seen];
        let violations = violations.map(Charge::count).iter().sum();
        self.answers.store(replayed + readings, Ordering::Relaxed);
        self.violations.store(violations, Ordering::Relaxed);
    }
}
