//! What telling and checking cost, without a server: users who tell a history, and the checker.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use turnstile_check::{Checker, Findings, rooms::Table, witnesses};

use super::history::{NIGHTS, ROOMS, Server};

const USERS: usize = 50;

/// How many operations are told between two looks of the checker.
const BATCH: usize = 1_000;

/// Requests that a user has under way, as those beside servers have.
pub(super) const PIPELINES: [usize; 2] = [1, 16];

/// One round.
#[derive(Clone, Copy, Debug)]
pub(super) struct CheckingCost {
    /// So many a user asks, and then hears, in one go.
    pub(super) pipeline: usize,
    /// For each operation, in nanoseconds: users who tell what they ask and hear.
    pub(super) telling_ns: f64,
    /// The checker, which replays it.
    pub(super) checking_ns: f64,
}

/// Tells and checks a whole history, in which nothing is wrong.
pub(super) fn measure(operations: u32, pipeline: usize, seed: u64) -> Result<CheckingCost> {
    let (telling, checking, findings) = check(operations, pipeline, Server::new(seed, None));
    ensure!(
        findings.replayed == u64::from(operations) && findings.answers.is_empty(),
        "an honest history is charged: {findings:?}"
    );
    let each = |time: Duration| time.as_secs_f64() * 1e9 / f64::from(operations);
    Ok(CheckingCost {
        pipeline,
        telling_ns: each(telling),
        checking_ns: each(checking),
    })
}

/// How many seconds it takes to tell and check a history in which one booking of a night that is sold
/// is done, near the end; it must be found, and nothing else.
pub(super) fn find(operations: u32, seed: u64) -> Result<f64> {
    let from = u64::from(operations / 10 * 9);
    let (telling, checking, findings) = check(operations, 1, Server::new(seed, Some(from)));
    let sentences = findings.answers.sentences();
    let first = sentences.first().map_or("", String::as_str);
    ensure!(
        first.contains("it is sold twice"),
        "one booking was sold twice, found was {sentences:?}"
    );
    Ok((telling + checking).as_secs_f64())
}

fn check(operations: u32, pipeline: usize, mut server: Server) -> (Duration, Duration, Findings) {
    let (mut lines, chronicle) = witnesses(USERS, pipeline, 0);
    let mut checker = Checker::new(Table::new(u32::from(ROOMS), NIGHTS), chronicle);
    let (mut telling, mut checking) = (Duration::ZERO, Duration::ZERO);
    let mut left = usize::try_from(operations).expect("32 bits fit");
    while left > 0 {
        let history: Vec<_> = (0..BATCH.min(left)).map(|_| server.next()).collect();
        left -= history.len();
        let begun = Instant::now();
        let mut history = history.into_iter();
        for user in (0..USERS).cycle() {
            let together = pipeline.min(history.len());
            if together == 0 {
                break;
            }
            let line = &mut lines[user];
            // Whoever paces a load has looked at the clock for its own sake.
            line.at(begun);
            for _ in 0..together {
                line.asks();
            }
            line.at(begun);
            for (seen, operation) in history.by_ref().take(together) {
                line.hears(seen, operation);
            }
        }
        telling += begun.elapsed();
        let begun = Instant::now();
        checker.advance();
        checking += begun.elapsed();
    }
    let begun = Instant::now();
    let (_, findings) = checker.finish();
    (telling, checking + begun.elapsed(), findings)
}
