//! Load, and in the same run the proof that every answer was right.
//!
//! Users want the same few things, so that they get in each other's way. What each asks and hears is
//! replayed meanwhile by a [`turnstile_check::Checker`] on a thread of its own, in the order of the
//! positions that the answers tell. At the end the server must be where the replay is.

use std::{
    fmt,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use turnstile_check::{Charge, CheckedSoFar, Checker, Chronicle, Findings, Model, Spool};
use turnstile_client::{Connection, resp::Value};
use turnstile_result::{Outcome, Rule, Server};
use turnstile_stats::units::{Count, Nanos, to_float};

use crate::{
    Error, LoadReport,
    again::{Keyed, KeyedUser},
    crew,
    error::unfit,
    pace::{self, CheckProgress, Pace, Progress, Totals, User},
    point,
};

/// What to drive, how hard, and when it is checked.
#[derive(Clone, Debug)]
pub struct Config {
    /// The RESP door of a server at which no other client uses the service: everything is counted.
    pub pace: Pace,
    pub when: When,
    /// Users; each has a connection of its own.
    pub users: usize,
}

/// What a checked run gave.
pub type Report = LoadReport<Proof>;

/// What was checked while the load ran and when it was over.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// Operations that were replayed at their positions.
    pub replayed: u64,
    /// Readings that were held against the states between question and answer.
    pub readings: u64,
    /// Requests whose answer never came: each may have been carried out or not.
    pub unknown: u64,
    /// The most records that waited for an answer that must come before them, at a time.
    pub held_max: usize,
    /// Processor time of the checking thread, in nanoseconds for each operation and reading.
    pub checking_ns: f64,
    /// The same of the thread that kept what was told while the load ran, when it was checked
    /// afterwards.
    pub keeping_ns: f64,
    /// What it kept, in bytes.
    pub kept_bytes: u64,
    pub rules: Vec<Rule>,
}

/// When what users tell is replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// While the load runs, on a thread beside it.
    Meanwhile,
    /// When the load is over; until then it is kept in a new file, whose name is free and goes away at
    /// once.
    Afterwards { spool: PathBuf },
}

/// Who watches a load that is checked.
pub trait Watch {
    /// Is told how far it is.
    fn progress(&mut self, progress: &Progress);

    /// Is told that the load is over, before the server is asked what stands in the end. Returns when
    /// that may be asked: when nothing is done to the server any more.
    fn load_is_over(&mut self) {}
}

impl<F: FnMut(&Progress)> Watch for F {
    fn progress(&mut self, progress: &Progress) {
        self(progress);
    }
}

/// Adds to the progress of a load what was checked of it.
struct WithChecked<'a> {
    watch: &'a mut dyn Watch,
    so_far: &'a CheckedSoFar,
}

impl Watch for WithChecked<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.watch.progress(&Progress {
            checked: Some(CheckProgress {
                answers: self.so_far.answers.load(Ordering::Relaxed),
                violations: self.so_far.violations.load(Ordering::Relaxed),
            }),
            ..*progress
        });
    }

    fn load_is_over(&mut self) {
        self.watch.load_is_over();
    }
}

/// What the check itself took of the processors.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    /// Of the thread that replays.
    checking: Duration,
    /// Of the thread that keeps what is told, while the load runs.
    keeping: Duration,
    /// What was kept.
    kept_bytes: u64,
}

/// A load that is over, and what was replayed of it.
pub(crate) struct Driven<U, M> {
    pub(crate) totals: Totals<U>,
    pub(crate) model: M,
    pub(crate) findings: Findings,
    pub(crate) cost: Cost,
}

/// Runs users whose history is checked meanwhile or afterwards; when the load is over, each settles
/// what it still wants to know.
pub(crate) fn drive<U: User, M: Model<Operation: Send> + Send>(
    config: &Config,
    users: Vec<U>,
    (model, chronicle): (M, Chronicle<M::Operation>),
    watch: &mut dyn Watch,
    settle: impl FnMut(&mut U),
) -> Result<Driven<U, M>, Error> {
    let (pace, mut cost) = (&config.pace, Cost::default());
    let (totals, (model, findings)) = match &config.when {
        When::Meanwhile => {
            let checker = Checker::new(model, chronicle);
            let so_far = CheckedSoFar::default();
            let so_far = &so_far;
            let mut watch = WithChecked { watch, so_far };
            let (totals, (checked, time)) = beside(
                |over| (checker.run(over, so_far), crew::thread_time()),
                || run(pace, users, &mut watch, settle),
            );
            cost.checking = time;
            (totals?, checked)
        }
        When::Afterwards { spool } => {
            let spool = Spool::new(chronicle, spool).map_err(Error::Spool)?;
            let (totals, (spooled, time)) = beside(
                |over| (spool.run(over), crew::thread_time()),
                || run(pace, users, watch, settle),
            );
            let (totals, spooled) = (totals?, spooled.map_err(Error::Spool)?);
            (cost.keeping, cost.kept_bytes) = (time, spooled.bytes);
            let before = crew::thread_time();
            let checked = spooled.check(model).map_err(Error::Spool)?;
            cost.checking = crew::thread_time().saturating_sub(before);
            (totals, checked)
        }
    };
    Ok(Driven {
        totals,
        model,
        findings,
        cost,
    })
}

/// The same of users who ask again until each answer is known.
pub(crate) fn drive_keyed<U: KeyedUser, M: Model<Operation: Send> + Send>(
    config: &Config,
    users: Vec<Keyed<U>>,
    checked: (M, Chronicle<M::Operation>),
    watch: &mut dyn Watch,
) -> Result<Driven<Keyed<U>, M>, Error> {
    let settle = |user: &mut Keyed<U>| user.settle(&config.pace.address);
    drive(config, users, checked, watch, settle)
}

/// Does something on a thread of its own while a load runs: it is told when that is over.
fn beside<A, B: Send>(
    work: impl FnOnce(&AtomicBool) -> B + Send,
    load: impl FnOnce() -> A,
) -> (A, B) {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let working = scope.spawn(|| work(&over));
        let loaded = load();
        over.store(true, Ordering::SeqCst);
        working.thread().unpark();
        let worked = working.join();
        let worked = worked.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (loaded, worked)
    })
}

fn run<U: User>(
    pace: &Pace,
    users: Vec<U>,
    watch: &mut dyn Watch,
    settle: impl FnMut(&mut U),
) -> Result<Totals<U>, Error> {
    let mut totals = pace::run(pace, users, &mut |progress| watch.progress(progress))?;
    watch.load_is_over();
    totals.users.iter_mut().for_each(settle);
    Ok(totals)
}

/// Refusals tell their position only in RESP3.
pub(crate) fn speak_resp3(door: &mut Connection) -> Result<(), Error> {
    match door.command(&[b"HELLO", b"3"])? {
        Value::Map(_) => Ok(()),
        other => Err(unfit("HELLO 3", &other)),
    }
}

/// What the server counts, before and after the run, and how many more there are by the replay.
pub(crate) type CountComparison = (&'static str, u64, u64, u64);

/// Whether the server counts what the replay does.
pub(crate) fn compare_counts(charge: &mut Charge, counts: &[CountComparison]) {
    for &(what, before, after, replayed) in counts {
        let counted = after.wrapping_sub(before);
        if counted != replayed {
            let counted = counted.cast_signed();
            charge.add(|| {
                format!(
                    "the server counts {counted} {what} more than before the run, by the replay it \
                     is {replayed} (unless another client used it)"
                )
            });
        }
    }
}

impl Proof {
    /// What was found during the run, and `end`, what does not fit when it is over; both by their
    /// rules. `clouded`: what became of some operations was needed, and is not known.
    pub(crate) fn new(findings: Findings, cost: Cost, end: (&str, Charge), clouded: bool) -> Self {
        let checked = findings.replayed + findings.readings;
        let unproven = if findings.overflowed {
            Some("one answer was waited for while too many others came")
        } else if clouded {
            Some(
                "it is not known whether or when some request took effect, and all later answers depend on it",
            )
        } else {
            (checked == 0).then_some("nothing was answered that could be checked")
        };
        let of = |rule: &str, charge: Charge| {
            let charge = if findings.overflowed {
                Charge::default()
            } else {
                charge
            };
            point::rule(rule, &charge.sentences(), unproven)
        };
        let (end_rule, end_charge) = end;
        let each = |time: Duration| time.as_secs_f64() * 1e9 / to_float(checked.max(1));
        Self {
            replayed: findings.replayed,
            readings: findings.readings,
            unknown: findings.unknown,
            held_max: findings.held_max,
            checking_ns: each(cost.checking),
            keeping_ns: each(cost.keeping),
            kept_bytes: cost.kept_bytes,
            rules: vec![
                of(
                    "replayed in the order of the positions, every operation has the answer that \
                     was given",
                    findings.answers,
                ),
                of(
                    "no operation stands before one that had been answered when it was asked",
                    findings.order,
                ),
                of(
                    "whatever was read was true at an instant between question and answer",
                    findings.seen,
                ),
                of(end_rule, end_charge),
            ],
        }
    }

    /// What was checked, and what that took, for `run.json`.
    pub(crate) const fn cost(&self) -> turnstile_result::Checked {
        turnstile_result::Checked {
            replayed: self.replayed,
            readings: self.readings,
            unknown: self.unknown,
            checking_ns: self.checking_ns,
            keeping_ns: self.keeping_ns,
            kept_bytes: self.kept_bytes,
        }
    }

    /// Whether a promise was broken.
    #[must_use]
    pub fn is_violated(&self) -> bool {
        self.rules.iter().any(|rule| rule.outcome == Outcome::Fails)
    }

    /// Whether every rule was checked and holds.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.rules.iter().all(|rule| rule.outcome == Outcome::Holds)
    }
}

impl Report {
    pub(crate) fn new<U>(
        workload: &'static str,
        server: Server,
        pace: &Pace,
        totals: &Totals<U>,
        proof: Proof,
    ) -> Self {
        let mut point = point::point(workload, pace, totals, proof.rules.clone());
        point.check = Some(proof.cost());
        Self {
            server: Some(server),
            proof,
            point,
        }
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "check: {} operations replayed, {} readings, {} unknown; {} of processor for each",
            Count(self.replayed),
            Count(self.readings),
            Count(self.unknown),
            Nanos(self.checking_ns)
        )?;
        if self.kept_bytes > 0 {
            let (bytes, keeping) = (Count(self.kept_bytes), Nanos(self.keeping_ns));
            write!(
                f,
                ", afterwards ({bytes} bytes were kept, {keeping} for each)"
            )?;
        }
        for rule in &self.rules {
            let word = match rule.outcome {
                Outcome::Holds => "holds",
                Outcome::Fails => "VIOLATED",
                Outcome::NotTestable => "NOT TESTABLE",
            };
            write!(f, "\n       {word}: {}", rule.rule)?;
            for violation in &rule.violations {
                write!(f, "\n         {violation}")?;
            }
        }
        Ok(())
    }
}
