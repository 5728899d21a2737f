//! A run as files: JSON is the result, Markdown a view of it.

use std::{fmt, fs, path::Path};

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use crate::{
    machine::Machine,
    ratio::{Bound, Ratio},
    report::{write_files, write_machine},
    section::NEIGHBOURS_PERCENT_MAX,
};

/// Records a second, against the build before.
const GAIN: Bound = Bound::AtLeast(2.0);

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// Quick runs are short, and prove only that the benchmark works.
    pub(super) quick: bool,
    pub(super) machine: Machine,
    /// In each journal.
    pub(super) records: u32,
    pub(super) rounds: usize,
    /// What others used while it was measured, in percent of a core.
    pub(super) neighbours_percent: f64,
    pub(super) rows: Vec<Row>,
    pub(super) earlier: Option<Earlier>,
}

/// One directory, recovered several times.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Row {
    pub(super) name: String,
    /// Of each round.
    pub(super) seconds: Vec<f64>,
    /// Of each round, a second.
    pub(super) records: Vec<f64>,
}

/// What an earlier build took.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Earlier {
    machine: Build,
    rows: Vec<Row>,
}

#[derive(Debug, Deserialize, Serialize)]
struct Build {
    commit: String,
}

impl Row {
    pub(super) fn of(name: String, records: u32, seconds: Vec<f64>) -> Self {
        let rates = seconds.iter().map(|seconds| f64::from(records) / seconds);
        Self {
            name,
            records: rates.collect(),
            seconds,
        }
    }

    fn rate(&self) -> Ratio {
        Ratio::spread(&self.records)
    }
}

impl Earlier {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let context = || format!("cannot read {}", path.display());
        let text = fs::read(path).with_context(context)?;
        serde_json::from_slice(&text).with_context(context)
    }

    fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }
}

impl Report {
    /// Writes `recovery.json` and `recovery.md`, in place of those of an earlier run.
    pub(super) fn write(&self, dir: &Path) -> Result<()> {
        write_files(self, dir, "recovery")
    }

    fn write_row(&self, f: &mut fmt::Formatter<'_>, row: &Row) -> fmt::Result {
        let earlier = self.earlier.as_ref().and_then(|one| one.row(&row.name));
        let Some(earlier) = earlier.map(Row::rate) else {
            return writeln!(f, "{row}");
        };
        let rate = row.rate();
        let quiet = self.neighbours_percent <= NEIGHBOURS_PERCENT_MAX;
        let gain = Ratio::spread(&[rate.median / earlier.median]);
        let verdict = GAIN.judge(&gain, quiet);
        writeln!(
            f,
            "{row} {:.0} | {:.2} | {verdict} |",
            earlier.median, gain.median
        )
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rate, seconds) = (self.rate(), Ratio::spread(&self.seconds));
        write!(
            f,
            "| {} | {:.2} | {:.0} ({:.0} .. {:.0}) |",
            self.name, seconds.median, rate.median, rate.min, rate.max
        )
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = if self.quick { "quick" } else { "full" };
        writeln!(f, "# Recovery, measured ({length} run)\n")?;
        writeln!(
            f,
            "{} records in each directory, {} rounds: the median (lowest .. highest). `journal` replays \
             every record; `snapshot` loads the state that they made and replays at most a few. The \
             files are in the page cache. Neighbours used {:.0} % of a core.\n",
            self.records, self.rounds, self.neighbours_percent
        )?;
        match &self.earlier {
            None => writeln!(f, "| directory | s | records/s |\n|---|---:|---:|")?,
            Some(earlier) => writeln!(
                f,
                "| directory | s | records/s | records/s at {} | gain | {GAIN} |\n\
                 |---|---:|---:|---:|---:|---|",
                earlier.machine.commit
            )?,
        }
        for row in &self.rows {
            self.write_row(f, row)?;
        }
        write_machine(f, &self.machine)
    }
}
