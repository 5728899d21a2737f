//! A run as files: JSON is the result, Markdown a view of it.

use std::{fmt, path::Path};

use anyhow::Result;
use serde::Serialize;

use super::{
    pace::{PIPELINES, Pace},
    served::{Case, Served},
};
use crate::{
    machine::Machine,
    ratio::{Bound, Ratio},
    report::{write_files, write_machine},
    section::NEIGHBOURS_PERCENT_MAX,
};

/// Checked operations a second on one core.
const RATE: Bound = Bound::AtLeast(100_000.0);
/// Of what server, generator and checker use.
const SHARE_PERCENT: Bound = Bound::AtMost(5.0);
/// Seconds until one booking in a million that is sold twice is found.
const FOUND_S: Bound = Bound::AtMost(10.0);
/// Seconds for a hundred million operations.
const HUNDRED_MILLION_S: Bound = Bound::AtMost(60.0);

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// Quick runs are short, and prove only that the benchmark works.
    pub(super) quick: bool,
    pub(super) machine: Machine,
    /// Of each round in process.
    pub(super) operations: u32,
    pub(super) paces: Vec<Pace>,
    pub(super) found_s: Vec<f64>,
    /// Of each round beside a server.
    pub(super) seconds: u32,
    pub(super) rows: Vec<Row>,
    /// What others used while it was measured, in percent of a core.
    pub(super) neighbours_percent: f64,
}

/// One service under check.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) case: Case,
    pub(super) rounds: Vec<Served>,
}

impl Row {
    pub(super) const fn of(case: Case) -> Self {
        Self {
            case,
            rounds: Vec::new(),
        }
    }

    fn spread(&self, figure: impl Fn(&Served) -> f64) -> Ratio {
        let rounds = self.rounds.iter().map(figure);
        Ratio::spread(&rounds.collect::<Vec<_>>())
    }
}

impl Report {
    /// Writes `check.json` and `check.md`, in place of those of an earlier run.
    pub(super) fn write(&self, dir: &Path) -> Result<()> {
        write_files(self, dir, "check")
    }

    /// Of the rounds in process with so many requests under way.
    fn pace(&self, pipeline: usize, figure: impl Fn(&Pace) -> f64) -> Ratio {
        let rounds = self.paces.iter().filter(|pace| pace.pipeline == pipeline);
        let rounds = rounds.map(figure);
        Ratio::spread(&rounds.collect::<Vec<_>>())
    }

    /// What the check is of all processor time while the load runs, in percent. What telling costs is
    /// that of rooms, in process, with as many under way.
    fn share(&self, row: &Row) -> Ratio {
        let telling = self.pace(row.case.pipeline, |pace| pace.telling_ns).median;
        row.spread(|served| served.share_percent(row.case.way, telling))
    }

    fn claims(&self) -> Vec<(String, Bound, Ratio)> {
        let both = |pace: &Pace| pace.telling_ns + pace.checking_ns;
        let mut claims = vec![
            (
                "operations told and checked, a second on one core".to_owned(),
                RATE,
                self.pace(1, |pace| 1e9 / both(pace)),
            ),
            (
                "a hundred million of them, by that pace, s".to_owned(),
                HUNDRED_MILLION_S,
                self.pace(1, |pace| both(pace) / 10.0),
            ),
            (
                "one booking in a million that is sold twice, found after s".to_owned(),
                FOUND_S,
                Ratio::spread(&self.found_s),
            ),
        ];
        let judged = self.rows.iter().filter(|row| row.case.is_judged());
        claims.extend(judged.map(|row| {
            let (service, pipeline, way) = (row.case.service, row.case.pipeline, row.case.way);
            let target = format!(
                "share of all processor time under load, {service}, 50 users x {pipeline}, replayed \
                 {}, %",
                way.word()
            );
            (target, SHARE_PERCENT, self.share(row))
        }));
        claims
    }
}

/// Enough digits to tell figures apart.
fn shown(ratio: &Ratio) -> String {
    let digits = if ratio.median >= 1_000.0 { 0 } else { 2 };
    let Ratio { median, min, max } = ratio;
    format!("{median:.digits$} ({min:.digits$} .. {max:.digits$})")
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = if self.quick { "quick" } else { "full" };
        writeln!(f, "# The check, measured ({length} run)\n")?;
        writeln!(
            f,
            "Median (lowest .. highest) of the rounds; the median is judged. `turnstile-bench check` \
             measures again.\n"
        )?;
        writeln!(
            f,
            "| target | bound | measured | verdict |\n|---|---|---|---|"
        )?;
        let quiet = self.neighbours_percent <= NEIGHBOURS_PERCENT_MAX;
        for (target, bound, ratio) in self.claims() {
            let verdict = bound.judge(&ratio, quiet);
            writeln!(f, "| {target} | {bound} | {} | {verdict} |", shown(&ratio))?;
        }
        self.write_pace(f)?;
        self.write_served(f)?;
        writeln!(
            f,
            "\nNeighbours used {:.0} % of a core.",
            self.neighbours_percent
        )?;
        write_machine(f, &self.machine)
    }
}

impl Report {
    fn write_pace(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\n## In process\n\n{} rounds of {} bookings and cancellations in 50 rooms, which an honest \
             server as plain as the model answers, told by 50 users and replayed by the checker, on one \
             core. What it takes to make them is not counted. In nanoseconds for each:\n",
            self.found_s.len(),
            self.operations
        )?;
        writeln!(f, "| pipeline | telling | checking |\n|---:|---:|---:|")?;
        for pipeline in PIPELINES {
            let telling = self.pace(pipeline, |pace| pace.telling_ns);
            let checking = self.pace(pipeline, |pace| pace.checking_ns);
            writeln!(
                f,
                "| {pipeline} | {} | {} |",
                shown(&telling),
                shown(&checking)
            )?;
        }
        Ok(())
    }

    fn write_served(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\n## Beside servers\n\n`lab check` with 50 users and a durable server of its own for {} s, {} \
             times, all with exit code 0. *Checked* are operations and readings; a whole transaction of \
             travel is one. *All* is the processor time of server, generator and checker. Replayed \
             *afterwards*, what users tell is only written down (*keeping*) while the load runs, and the \
             share is of what is used until it ends. **Judged above is, with one request under way, the \
             replay meanwhile; with 16 (a server at its limit, with little time for each) the replay \
             afterwards**, which is there for that. Both ways are shown.\n",
            self.seconds,
            self.rows.first().map_or(0, |row| row.rounds.len())
        )?;
        writeln!(
            f,
            "| service | pipeline | replayed | checked a second | checking, ns each | keeping, ns each | \
             all, ns each | of the check under load, % |\n|---{}|",
            "|---:".repeat(7)
        )?;
        for row in &self.rows {
            writeln!(
                f,
                "| {} | {} | {} | {} | {} | {} | {} | {} |",
                row.case.service,
                row.case.pipeline,
                row.case.way.word(),
                shown(&row.spread(|served| served.rate)),
                shown(&row.spread(|served| served.checking_ns)),
                shown(&row.spread(|served| served.keeping_ns)),
                shown(&row.spread(|served| served.all_ns)),
                shown(&self.share(row))
            )?;
        }
        Ok(())
    }
}
