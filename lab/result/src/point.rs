//! One measured point: one load, one window, and all that is said of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use turnstile_stats::{Interval, fit::AndersonDarling, operational::Check};

use crate::{Distribution, OfferedLoad, Outcome, Resources, Rule, Validity, Verdict};

/// One load on one server, measured once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Which curve it belongs to: `a` or `b` of a comparison, else the load's name.
    pub series: String,
    /// Which of several equal measurements it is, from 0.
    pub repeat: u32,
    pub load: OfferedLoad,
    /// Processors of the server, where that is an axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// Processors that a quota leaves to the server, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<f64>,
    /// From the run's first request to this point's.
    pub began_s: f64,
    /// Left out at the start.
    pub warm_up_s: f64,
    /// What is measured, after that.
    pub window_s: f64,
    /// Answers a second in the window, done and refused. Where several requests make a whole: wholes
    /// that were done.
    pub throughput: f64,
    /// Where its true mean lies; absent when there was no steady state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_interval: Option<Interval>,
    /// Of the mean response, in nanoseconds; likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_interval: Option<Interval>,
    /// Of p99 of the response, from one p99 of each of twenty batches; absent with fewer samples
    /// than those need.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_interval: Option<Interval>,
    pub steady: Steady,
    pub times: Times,
    /// Where the mean response went.
    pub split: Split,
    pub operations: Vec<Operation>,
    /// What is made of several requests, such as a transaction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wholes: Vec<Whole>,
    pub bins: Bins,
    /// Connections that ended while they were wanted.
    pub connections_lost: u64,
    /// Attempts to connect again that failed.
    pub connects_failed: u64,
    /// Connections that the server closed after an answer, or while nothing was owed: each was made
    /// again, and the time for that is part of the next response.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reconnects: u64,
    /// Requests that were due in the window; for an open loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<u64>,
    /// How well the gaps between arrivals that left follow the law that was asked for; where chance
    /// decides them at one rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<AndersonDarling>,
    /// Of requests whose answer had not come at the end, how long they had waited at least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub censored: Option<Distribution>,
    pub resources: Resources,
    pub laws: Vec<Check>,
    pub validity: Vec<Validity>,
    /// Empty when nothing is known of what the server promises.
    pub proof: Vec<Rule>,
    /// How much was checked while the load ran, where every answer was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Checked>,
    /// Whether the figures may be used; what is invalid is drawn hollow and enters no fit.
    pub verdict: Verdict,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes what may be left out by reference"
)]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Point {
    /// What the server may use, where that is an axis: `2 cores`, `0.5 processors`.
    #[must_use]
    pub fn allowed(&self) -> Option<String> {
        let cores = self.cores.map(|cores| match cores {
            1 => "1 core".to_owned(),
            _ => format!("{cores} cores"),
        });
        let quota = self.quota.map(|quota| format!("{quota} processors"));
        match (cores, quota) {
            (Some(cores), Some(quota)) => Some(format!("{cores}, {quota}")),
            (cores, quota) => cores.or(quota),
        }
    }

    /// Whether it is invalid for one reason alone: the server did not keep up with the rate. Then it shows the
    /// server's capacity, and nothing else.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        let mut failed = self
            .validity
            .iter()
            .filter(|check| check.outcome == Outcome::Fails);
        matches!(self.load, OfferedLoad::Open { .. })
            && self.verdict == Verdict::Invalid
            && failed.all(|check| check.check == "delivered")
    }

    /// A point of which nothing is known yet.
    #[must_use]
    pub fn blank(series: &str) -> Self {
        Self {
            series: series.to_owned(),
            repeat: 0,
            load: OfferedLoad::Count {
                users: 0,
                requests: 0,
            },
            cores: None,
            quota: None,
            began_s: 0.0,
            warm_up_s: 0.0,
            window_s: 0.0,
            throughput: 0.0,
            throughput_interval: None,
            response_interval: None,
            p99_interval: None,
            steady: Steady::default(),
            times: Times::default(),
            split: Split::default(),
            operations: Vec::new(),
            wholes: Vec::new(),
            bins: Bins::default(),
            connections_lost: 0,
            connects_failed: 0,
            reconnects: 0,
            planned: None,
            arrivals: None,
            censored: None,
            resources: Resources::default(),
            laws: Vec::new(),
            validity: Vec::new(),
            proof: Vec::new(),
            check: None,
            verdict: Verdict::Fine,
        }
    }
}

/// The clocks of a request, over all operations, or of wholes, where there are any: `due` is when it
/// should have been sent, `ready` when the generator noticed, then `sent`, the answer's first byte, and
/// `done`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// From due to done: what a user feels.
    pub response: Distribution,
    /// From sent to done: what network and server did. Of wholes, from when their user was free.
    pub service: Distribution,
    /// From due, or from when its user was free for it, to ready: how late the generator was.
    pub lag: Distribution,
    /// From due to sent, less the lag: for a connection, or for the socket to take more.
    pub wait: Distribution,
}

/// Parts of the mean response; they add up to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Split {
    /// The user was still at what came before.
    pub backlog_ns: f64,
    /// The generator came late.
    pub lag_ns: f64,
    /// From ready to sent.
    pub sending_ns: f64,
    /// From sent to the first byte of the answer.
    pub answering_ns: f64,
    /// From the first byte to the last.
    pub reading_ns: f64,
}

/// One kind of request. Counts are of the whole run, warm-up included: a proof is about these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    pub name: String,
    pub done: u64,
    /// A business "no", by reason.
    pub refused: BTreeMap<String, u64>,
    /// By code.
    pub errors: BTreeMap<String, u64>,
    /// Requests that may have been carried out: their answer never came, or said so.
    pub unknown: u64,
    /// Done or refused, but after the deadline.
    pub late: u64,
    /// Of what was done or refused in the window, from due to done.
    pub response: Distribution,
}

/// Something made of several requests, likewise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Whole {
    pub name: String,
    pub done: u64,
    pub refused: BTreeMap<String, u64>,
    pub errors: BTreeMap<String, u64>,
    /// Done or refused, but after the deadline.
    #[serde(default)]
    pub late: u64,
    pub response: Distribution,
    /// From the instant at which its user was free for it.
    pub service: Distribution,
}

/// How much was checked of a load whose every answer is replayed, and what that took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Checked {
    /// Operations that were replayed at their positions.
    pub replayed: u64,
    /// Readings that were compared with the states between question and answer.
    pub readings: u64,
    /// Requests whose answer never came.
    pub unknown: u64,
    /// CPU time of the checking thread for each operation and reading.
    pub checking_ns: f64,
    /// The same of the thread that kept what was told, where it was checked after the load.
    pub keeping_ns: f64,
    /// What that thread kept.
    pub kept_bytes: u64,
}

/// The run in equal pieces from its start, warm-up included, all three of equal length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bins {
    /// 100 ms, as a rule.
    pub width_ns: u64,
    /// Answers, done and refused; of wholes, done.
    pub answered: Vec<u64>,
    /// Their mean response; 0 for a bin without answers.
    pub response_ns: Vec<u64>,
    /// Error answers, late ones, and requests whose answer will never come.
    pub failed: Vec<u64>,
}

/// Whether and from when on the run was steady.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Steady {
    pub steady: bool,
    /// The first bin of the window.
    pub from_bin: u32,
    /// In words.
    pub why: String,
}
