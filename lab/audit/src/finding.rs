//! One thing that a table says and that cannot be, or looks odd.

use std::fmt;

use serde::Serialize;

/// What a point says against itself or against its neighbours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AuditFinding {
    pub law: Law,
    pub weight: Weight,
    /// Why, with the figures.
    pub why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// It cannot be: a figure is wrong, or is not what its column says.
    Broken,
    /// It can be, but seldom is: a plain queue does not do it.
    Odd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Law {
    /// Users = throughput x (response + think time). J. Little, 1961.
    Little,
    /// Nothing is busy for more than all of its time, and more work does not keep it less busy.
    Utilization,
    /// No more answers than users can wait for, if each takes what a lone one does.
    ThroughputBound,
    /// With more users responses do not become shorter, nor does each user get more.
    Monotonicity,
    /// A whole takes what its parts take.
    Composition,
    /// Mean, deviation, error and rate follow from the runs.
    Statistics,
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Little => "Little's law",
            Self::Utilization => "utilization",
            Self::ThroughputBound => "throughput bound",
            Self::Monotonicity => "monotonicity",
            Self::Composition => "composition",
            Self::Statistics => "statistics",
        })
    }
}

impl AuditFinding {
    pub(crate) const fn broken(law: Law, why: String) -> Self {
        Self {
            law,
            weight: Weight::Broken,
            why,
        }
    }

    pub(crate) const fn odd(law: Law, why: String) -> Self {
        Self {
            law,
            weight: Weight::Odd,
            why,
        }
    }
}

impl fmt::Display for AuditFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.weight {
            Weight::Broken => "breaks",
            Weight::Odd => "is at odds with",
        };
        write!(f, "{what} {}: {}", self.law, self.why)
    }
}
