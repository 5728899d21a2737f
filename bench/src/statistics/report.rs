//! A run as files: JSON is the result, Markdown a view of it.

use std::{fmt, path::Path};

use anyhow::Result;
use serde::Serialize;

use super::{alarms, intervals, knees};
use crate::{
    ratio::{Bound, Ratio},
    report::write_files,
};

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// Quick runs are few, and prove only that the benchmark works.
    pub(super) quick: bool,
    pub(super) seed: u64,
    /// For each case of intervals.
    pub(super) runs: u32,
    pub(super) intervals: Vec<intervals::Row>,
    pub(super) knees: Vec<knees::Row>,
    pub(super) alarms: Vec<alarms::Row>,
    pub(super) powers: Vec<alarms::Power>,
}

type Claim = (&'static str, Bound, Vec<f64>);

impl Report {
    /// Writes `statistics.json` and `statistics.md`, in place of those of an earlier run.
    pub(super) fn write(&self, dir: &Path) -> Result<()> {
        write_files(self, dir, "statistics")
    }

    /// What is claimed of figures in percent, all of which must keep the bound.
    fn claims(&self) -> Vec<Claim> {
        let held = |wanted: fn(&intervals::Row) -> bool| -> Vec<f64> {
            let rows = self.intervals.iter().filter(|row| wanted(row));
            rows.map(|row| row.held).collect()
        };
        let lively = |row: &intervals::Row| row.warm_up == "none" && row.memory < 0.8;
        let accepted = |row: &&intervals::Row| row.warm_up == "none";
        let refused = self.intervals.iter().filter(accepted);
        let drifting = self.alarms.last().map(|row| row.alarms);
        let power = self.powers.first();
        vec![
            (
                "intervals that hold the truth, memory <= 0.7, least",
                Bound::AtLeast(93.0),
                held(lively),
            ),
            ("the same, most", Bound::AtMost(97.0), held(lively)),
            (
                "the same, memory 0.9",
                Bound::AtLeast(90.0),
                held(|row| row.warm_up == "none" && row.memory > 0.8),
            ),
            (
                "the same, after any warm-up",
                Bound::AtLeast(85.0),
                held(|_| true),
            ),
            (
                "steady runs refused",
                Bound::AtMost(4.0),
                refused.map(|row| 100.0 - row.accepted).collect(),
            ),
            (
                "error of the capacity, p95",
                Bound::AtMost(3.0),
                vec![self.knees[0].error_p95],
            ),
            (
                "error of the knee, p95",
                Bound::AtMost(10.0),
                vec![self.knees[2].error_p95],
            ),
            (
                "false alarms of pairs on a drifting machine",
                Bound::AtMost(6.0),
                drifting.into_iter().collect(),
            ),
            (
                "changes of 2 % found by five pairs",
                Bound::AtLeast(90.0),
                power.map(|power| power.higher).into_iter().collect(),
            ),
            (
                "changes of 2 % called the same",
                Bound::AtMost(6.0),
                power.map(|power| power.same).into_iter().collect(),
            ),
        ]
    }
}

/// The figure that comes nearest to breaking the bound, and what follows.
fn write_claim(f: &mut fmt::Formatter<'_>, (target, bound, figures): &Claim) -> fmt::Result {
    let spread = Ratio::spread(figures);
    let worst = match bound {
        Bound::AtLeast(_) => spread.min,
        Bound::AtMost(_) | Bound::None => spread.max,
    };
    let verdict = bound.judge(&Ratio::spread(&[worst]), true);
    writeln!(f, "| {target}, % | {bound} | {worst:.1} | {verdict} |")
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = if self.quick { "quick" } else { "full" };
        writeln!(
            f,
            "# The lab's statistics, on systems of known truth ({length} run)\n"
        )?;
        writeln!(
            f,
            "`turnstile-bench statistics --seed {}` gives these figures again; no clock is read. Each \
             claim is judged by its worst case.\n",
            self.seed
        )?;
        writeln!(
            f,
            "| target | bound | worst | verdict |\n|---|---|---:|---|"
        )?;
        for claim in self.claims() {
            write_claim(f, &claim)?;
        }
        self.write_intervals(f)?;
        self.write_knees(f)?;
        self.write_alarms(f)
    }
}

impl Report {
    fn write_intervals(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\n## Steady state and intervals\n\n{} runs for each row: bins of 100 ms with noise of 5 %, \
             whose neighbours correlate by *memory*, after a warm-up. *Once*: runs of 600 bins, whatever \
             their interval. *Doubled*: from 600 bins until the mean is known within 1 %, at most 9,600. \
             All but the length in percent. With {0} runs, 95 % is known to 1.4 points.\n",
            self.runs
        )?;
        writeln!(
            f,
            "| warm-up | memory | once: accepted | of those, truth held | doubled: reached | of those, \
             truth held | bins |\n|---{}|",
            "|---:".repeat(6)
        )?;
        for row in &self.intervals {
            let once = row
                .held_once
                .map_or_else(|| "-".to_owned(), |held| format!("{held:.1}"));
            writeln!(
                f,
                "| {} | {} | {:.1} | {once} | {:.1} | {:.1} | {:.0} |",
                row.warm_up, row.memory, row.accepted, row.reached, row.held, row.bins
            )?;
        }
        Ok(())
    }

    fn write_knees(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\n## Capacity and knee\n\nTwelve closed systems (a station of 1, 2, 4 or 16 servers: alone, \
             with a second station, with users who think), each up to 4 and up to 16 times its knee, {} \
             times. Exact figures by convolution, measured with noise of 2 % and no background. In percent.\n",
            self.runs / 10
        )?;
        writeln!(
            f,
            "| estimator | median error | p95 of the error | worst | truth in the interval | no \
             estimate |\n|---{}|",
            "|---:".repeat(5)
        )?;
        for row in &self.knees {
            writeln!(
                f,
                "| {} | {:+.2} | {:.2} | {:.2} | {:.1} | {:.1} |",
                row.estimator, row.median_error, row.error_p95, row.worst, row.held, row.missing
            )?;
        }
        Ok(())
    }

    fn write_alarms(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\n## Comparisons\n\nTwo identical systems, 3 % from run to run, {} comparisons each: false \
             alarms at 5 %, in percent.\n",
            self.runs * 20
        )?;
        writeln!(
            f,
            "| method | drift of the machine, % a run | alarms |\n|---|---:|---:|"
        )?;
        for row in &self.alarms {
            writeln!(
                f,
                "| {} | {:.0} | {:.1} |",
                row.method, row.drift, row.alarms
            )?;
        }
        writeln!(
            f,
            "\nAs many pairs as are planned for a difference of 2 % with a power of 90 %, which is also \
             the margin of \"the same\". In percent.\n\n| true change | deviation of a pair | pairs | \
             higher | the same | lower |\n|---:|---:|---:|---:|---:|---:|"
        )?;
        for row in &self.powers {
            writeln!(
                f,
                "| {:.0} | {:.0} | {} | {:.1} | {:.1} | {:.1} |",
                row.change, row.deviation, row.pairs, row.higher, row.same, row.lower
            )?;
        }
        Ok(())
    }
}
