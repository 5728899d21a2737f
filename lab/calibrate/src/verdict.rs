//! What is claimed of the generator, and whether it is so.

use std::fmt;

use serde::Serialize;

/// Whether a claim is kept, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Met,
    /// What it needs is not there; the claim says what.
    NotMeasured,
    /// It is not kept, and the machine is to blame: it did not run us when we were due.
    Noisy,
    /// It is not kept, and nothing but the generator is to blame.
    Missed,
}

/// One claim and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// `accuracy: fixed`, `lag`, ...
    pub name: String,
    /// What it should be, in words.
    pub target: String,
    /// What was found, in words.
    pub found: String,
    pub verdict: Verdict,
}

impl Verdict {
    /// Of a bound that is kept or not, on a machine that was quiet or not.
    #[must_use]
    pub const fn of(kept: bool, quiet: bool) -> Self {
        match (kept, quiet) {
            (true, _) => Self::Met,
            (false, true) => Self::Missed,
            (false, false) => Self::Noisy,
        }
    }

    /// Whether the lab can be trusted nevertheless.
    #[must_use]
    pub const fn is_good(self) -> bool {
        matches!(self, Self::Met | Self::NotMeasured)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Met => "met",
            Self::NotMeasured => "not measured",
            Self::Noisy => "NOISY MACHINE",
            Self::Missed => "MISSED",
        })
    }
}
