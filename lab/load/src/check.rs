//! Load, and in the same run the proof that every answer was right.
//!
//! Users want the same few things, so that they get in each other's way. What each asks and hears is
//! replayed meanwhile by a [`turnstile_check::Checker`] on a thread of its own, in the order of the
//! positions that the answers tell. At the end the server must be where the replay is.

pub mod exchange;
pub mod games;
pub mod rooms;
pub mod travel;

mod again;
mod reply;

use std::{
    fmt,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use serde::Serialize;
use turnstile_check::{Charge, Checker, Findings, Model};
use turnstile_client::{Connection, resp::Value};
use turnstile_result::{Outcome, Point, Rule};
use turnstile_stats::units::{Count, Nanos, to_float};

use crate::{
    Error, Verdict, crew,
    door::Server,
    pace::{self, Pace, Progress, Totals, User},
    point,
};

/// What a checked run gave.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub workload: &'static str,
    pub server: Server,
    pub proof: Proof,
    /// The same for `run.json`.
    #[serde(skip)]
    pub point: Point,
}

/// What was checked while the load ran and when it was over.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    pub rules: Vec<Rule>,
}

/// A load that is over, and what was replayed of it.
struct Driven<U, M> {
    totals: Totals<U>,
    model: M,
    findings: Findings,
    /// Processor time of the checker.
    checking: Duration,
}

/// Runs users while their history is checked; when the load is over, each settles what it still wants
/// to know.
fn drive<U: User, M: Model<Operation: Send> + Send>(
    pace: &Pace,
    users: Vec<U>,
    checker: Checker<M>,
    progress: &mut dyn FnMut(&Progress),
    settle: impl FnMut(&mut U),
) -> Result<Driven<U, M>, Error> {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let checking = scope.spawn(|| {
            let (model, findings) = checker.run(&over);
            (model, findings, crew::thread_time())
        });
        let mut totals = pace::run(pace, users, progress);
        if let Ok(totals) = &mut totals {
            totals.users.iter_mut().for_each(settle);
        }
        over.store(true, Ordering::SeqCst);
        checking.thread().unpark();
        let (model, findings, checking) = checking
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok(Driven {
            totals: totals?,
            model,
            findings,
            checking,
        })
    })
}

/// Refusals tell their position only in RESP3.
fn speak_resp3(door: &mut Connection) -> Result<(), Error> {
    match door.command(&[b"HELLO", b"3"])? {
        Value::Map(_) => Ok(()),
        other => Err(unfit("HELLO 3", &other)),
    }
}

/// An answer with which a server cannot be checked.
fn unfit(command: &'static str, answer: &Value) -> Error {
    Error::Preparation {
        command,
        answer: answer.to_string(),
    }
}

/// What the server counts, before and after the run, and how many more there are by the replay.
type Counted = (&'static str, u64, u64, u64);

/// Whether the server counts what the replay does.
fn compare_counts(charge: &mut Charge, counts: &[Counted]) {
    for &(what, before, after, replayed) in counts {
        let counted = after.wrapping_sub(before);
        if counted != replayed {
            let counted = counted.cast_signed();
            charge.add(|| {
                format!(
                    "the server counts {counted} {what} more than before the run, by the replay it \
                     is {replayed} (unless somebody else used it)"
                )
            });
        }
    }
}

impl Proof {
    /// What was found during the run, and `end`, what does not fit when it is over; both by their
    /// rules. `clouded`: what became of some operations was needed, and is not known.
    fn new(findings: Findings, checking: Duration, end: (&str, Charge), clouded: bool) -> Self {
        let checked = findings.replayed + findings.readings;
        let unproven = if findings.overflowed {
            Some("one answer was waited for while too many others came")
        } else if clouded {
            Some(
                "nobody knows whether something happened, or when, on which all later answers depend",
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
        Self {
            replayed: findings.replayed,
            readings: findings.readings,
            unknown: findings.unknown,
            held_max: findings.held_max,
            checking_ns: checking.as_secs_f64() * 1e9 / to_float(checked.max(1)),
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
    fn new<U>(
        workload: &'static str,
        server: Server,
        pace: &Pace,
        totals: &Totals<U>,
        proof: Proof,
    ) -> Self {
        let point = point::point(workload, pace, totals, proof.rules.clone());
        Self {
            workload,
            server,
            proof,
            point,
        }
    }

    /// What the proof is worth; what the machine did to the figures does not matter to it.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        if self.proof.is_violated() {
            Verdict::Violated
        } else if self.proof.holds() {
            Verdict::Fine
        } else {
            Verdict::Invalid
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let server = &self.server;
        writeln!(
            f,
            "{} against server {}, durability {}",
            self.workload, server.version, server.durability
        )?;
        for operation in &self.point.operations {
            write!(f, "{}: {} done", operation.name, Count(operation.done))?;
            for (reason, count) in &operation.refused {
                write!(f, ", {} refused ({reason})", Count(*count))?;
            }
            for (code, count) in &operation.errors {
                write!(f, ", {} errors ({code})", Count(*count))?;
            }
            if operation.unknown > 0 {
                write!(f, ", {} unknown", Count(operation.unknown))?;
            }
            writeln!(f)?;
        }
        write!(f, "{}", self.proof)
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
