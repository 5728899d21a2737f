//! The originals' experiments again: what is measured, the published figures beside ours, and what
//! becomes of each conclusion that was drawn.
//!
//! Pure: whoever runs it takes the [`Step`]s of an [`OriginalExperiment`], measures them on each back end
//! that there is, and gives the [`SeriesColumn`]s to [`Reproduction::of`].

#![forbid(unsafe_code)]

mod column;
mod conclusion;
mod experiment;
mod page;
mod printed;
mod rules;
mod table;

use serde::Serialize;

pub use column::{Figure, SeriesColumn, Storage};
pub use conclusion::{Conclusion, Fate};
pub use experiment::{
    Effort, ExperimentExtent, ExperimentPlan, OriginalExperiment, QUOTAS, Step, UnknownExperiment,
};
pub use page::Session;
pub use table::{CellUnit, ReproducedFigure, Row, Table};

/// An experiment that was made again.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reproduction {
    pub experiment: OriginalExperiment,
    /// How the published figures came about.
    pub provenance: String,
    /// What of it was not done, and why; on what it was measured.
    pub notices: Vec<String>,
    /// Each run that should have been measured but was not, and why.
    pub failed: Vec<String>,
    /// How long it took, in seconds, but for what was kept from before.
    pub took_s: f64,
    /// What was measured, by name; the order of the cells in each row.
    pub columns: Vec<String>,
    /// What was measured and has no part in the conclusions, for each column.
    pub left_out: Vec<LeftOut>,
    pub tables: Vec<Table>,
    pub conclusions: Vec<Conclusion>,
}

/// How much of a column has no part in the conclusions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    pub column: String,
    /// Invalid figures.
    pub invalid: usize,
    /// All of them.
    pub figures: usize,
}

/// What came of the runs of an experiment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// One for each back end.
    pub columns: Vec<SeriesColumn>,
    /// As [`Reproduction::notices`].
    pub notices: Vec<String>,
    /// As [`Reproduction::failed`].
    pub failed: Vec<String>,
    /// As [`Reproduction::took_s`].
    pub took_s: f64,
}

impl Reproduction {
    /// What becomes of an experiment. Some claims compare it with another one: `known` is what was
    /// measured of those before.
    #[must_use]
    pub fn of(experiment: OriginalExperiment, measured: &Measured, known: &[SeriesColumn]) -> Self {
        let columns = &measured.columns;
        Self {
            experiment,
            provenance: experiment.provenance(),
            notices: measured.notices.clone(),
            failed: measured.failed.clone(),
            took_s: measured.took_s,
            columns: columns.iter().map(|column| column.name.clone()).collect(),
            left_out: columns.iter().map(LeftOut::of).collect(),
            tables: table::tables(experiment, columns),
            conclusions: rules::conclusions(experiment, columns, known),
        }
    }

    /// How many figures have no part in the conclusions.
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.left_out.iter().map(|column| column.invalid).sum()
    }

    /// How many of its conclusions have this fate.
    #[must_use]
    pub fn count(&self, fate: Fate) -> usize {
        let of = |one: &&Conclusion| one.fate == fate;
        self.conclusions.iter().filter(of).count()
    }
}

impl LeftOut {
    fn of(column: &SeriesColumn) -> Self {
        let (invalid, figures) = column.left_out();
        Self {
            column: column.name.clone(),
            invalid,
            figures,
        }
    }
}
