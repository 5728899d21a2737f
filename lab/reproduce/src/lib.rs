//! The ancestors' experiments again: what is measured, the published figures beside ours, and what
//! becomes of each conclusion that was drawn.
//!
//! Pure: whoever runs it takes the [`Step`]s of an [`Experiment`], measures them on each back end
//! that there is, and gives the [`Column`]s to [`Reproduction::of`].

#![forbid(unsafe_code)]

mod column;
mod conclusion;
mod experiment;
mod printed;
mod rules;
mod table;

use serde::Serialize;

pub use column::{Column, Figure, Storage};
pub use conclusion::{Conclusion, Fate};
pub use experiment::{Effort, Experiment, Plan, Step, UnknownExperiment};
pub use table::{Cell, Row, Table, Unit};

/// An experiment that was made again.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reproduction {
    pub experiment: Experiment,
    /// How the published figures came about.
    pub provenance: String,
    /// What of it was not done, and why.
    pub notices: Vec<String>,
    /// What was measured, by name; the order of the cells in each row.
    pub columns: Vec<String>,
    pub tables: Vec<Table>,
    pub conclusions: Vec<Conclusion>,
}

impl Reproduction {
    #[must_use]
    pub fn of(experiment: Experiment, notices: Vec<String>, columns: &[Column]) -> Self {
        Self {
            experiment,
            provenance: experiment.provenance(),
            notices,
            columns: columns.iter().map(|column| column.name.clone()).collect(),
            tables: table::tables(experiment, columns),
            conclusions: rules::conclusions(experiment, columns),
        }
    }
}
