//! What a run is worth, and why.

use serde::{Deserialize, Serialize};

/// What a run or a point is worth, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The figures are sound and the server kept its promises.
    Fine,
    /// The same, but an objective was missed.
    Missed,
    /// No steady state, or too wide an interval, within the time that was allowed.
    Unsteady,
    /// The figures are not to be used: the instrument or the machine failed, not the server.
    Invalid,
    /// The server broke a promise; the figures do not matter.
    Violated,
}

/// How one check of a point came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Holds,
    Fails,
    /// What it would need was not there.
    NotTestable,
}

/// A check of the instrument and the machine: a point that fails one is not to be used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Validity {
    /// Its name, always the same: `generator_lag`, `run_delay`, `little`, ...
    pub check: String,
    pub outcome: Outcome,
    /// In words: what was found, and where the limit is.
    pub found: String,
    /// What to do about it; absent when it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cure: Option<String>,
}

/// A promise of the server that was checked after the load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// In words: what was compared.
    pub rule: String,
    pub outcome: Outcome,
    /// Each violation in a sentence; the last may say how many more there are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<String>,
    /// The figures of the comparison, line by line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<String>,
}

/// An objective of `--slo`: `p99<50ms`, `errors<0.1%`, `book p99<10ms`, `rate>1000`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Objective {
    /// As it was asked.
    pub asked: String,
    /// Of which point, by its place in the run.
    pub point: u32,
    pub outcome: Outcome,
    /// In words.
    pub found: String,
}

impl Verdict {
    /// What a proof is worth: all of its rules must hold.
    #[must_use]
    pub fn of_rules(rules: &[Rule]) -> Self {
        let any = |outcome| rules.iter().any(|rule| rule.outcome == outcome);
        if any(Outcome::Fails) {
            Self::Violated
        } else if any(Outcome::NotTestable) {
            Self::Invalid
        } else {
            Self::Fine
        }
    }

    /// The exit code of a command that ends with this verdict.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Missed => 99,
            Self::Unsteady => 96,
            Self::Invalid => 98,
            Self::Violated => 97,
        }
    }
}
