//! The runs of an experiment: each in a process of its own, and what their points are in its tables.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context as _, anyhow, ensure};
use turnstile_reproduce::{
    ExperimentPlan, Figure, Measured, OriginalExperiment, SeriesColumn, Step,
};
use turnstile_result::{OfferedLoad, Point, Run, SCHEMA};

use super::{
    servers::ColumnServers,
    ways::{BackendColumn, Kind},
};
use crate::{
    exit,
    lab::{pin, quota::Quota},
    terminal,
};

/// Names of requests, in the order of the published table of travel.
const PARTS: [&[&str]; 4] = [
    &["start"],
    &["query_customer", "query_flight", "query_car", "query_room"],
    &["reserve_flight", "reserve_car", "reserve_room"],
    &["commit"],
];

/// The place of the whole transaction behind its parts.
const TRANSACTION: f64 = 5.0;

/// After so many failures in a row the other runs of a column are not tried: they would fail, too.
const FAILURES_MAX: usize = 3;

/// Takes all runs of an experiment, on each back end in turn. Those that fail are told, and the others go
/// on.
pub(super) fn measure(
    experiment: OriginalExperiment,
    mut plan: ExperimentPlan,
    ways: &[BackendColumn],
    folder: &Path,
    resumes: bool,
) -> Measured {
    leave_out_quotas(&mut plan);
    let mut measured = Measured {
        notices: plan.notices,
        ..Measured::default()
    };
    for way in ways {
        let mut taken = Taken::new(experiment, way, folder, resumes);
        let mut in_a_row = 0;
        for (number, step) in (1..).zip(&plan.steps) {
            let outcome = if in_a_row < FAILURES_MAX {
                taken.step(number, step)
            } else {
                Err(anyhow!("not tried, for {in_a_row} before it failed"))
            };
            let Err(error) = outcome else {
                in_a_row = 0;
                continue;
            };
            let (words, why) = (step.arguments.join(" "), exit::message(&error));
            let failed = format!("{}: `{words}`: {why}", way.name);
            terminal::note(format_args!("{experiment}, {failed}"));
            measured.failed.push(failed);
            // Perhaps it is the server that failed.
            taken.servers.abandon();
            in_a_row = FAILURES_MAX.min(in_a_row + 1);
        }
        taken.end(&mut measured);
    }
    measured
}

/// Without control groups there are no quotas.
fn leave_out_quotas(plan: &mut ExperimentPlan) {
    let Some(quota) = plan.steps.iter().find_map(|step| step.quota) else {
        return;
    };
    if let Err(error) = Quota::of(&[], quota) {
        plan.steps.retain(|step| step.quota.is_none());
        plan.notices
            .push(format!("parts of a processor: left out, {error:#}"));
    }
}

/// The runs of one column.
struct Taken<'a> {
    experiment: OriginalExperiment,
    way: &'a BackendColumn,
    folder: PathBuf,
    resumes: bool,
    servers: ColumnServers,
    figures: Vec<Figure>,
    /// What the server says of where the service lies.
    server: Option<String>,
    kept: usize,
    took_s: f64,
}

impl<'a> Taken<'a> {
    fn new(
        experiment: OriginalExperiment,
        way: &'a BackendColumn,
        folder: &Path,
        resumes: bool,
    ) -> Self {
        Self {
            experiment,
            way,
            folder: folder.join(way.name.replace(' ', "-")),
            resumes,
            servers: ColumnServers::new(experiment, way.kind.clone()),
            figures: Vec::new(),
            server: None,
            kept: 0,
            took_s: 0.0,
        }
    }

    fn step(&mut self, number: usize, step: &Step) -> anyhow::Result<()> {
        let folder = self.folder.join(format!("{number:02}"));
        let before = kept(step, &folder).filter(|_run| self.resumes);
        let run = if let Some(run) = before {
            self.kept += 1;
            run
        } else {
            let (experiment, name) = (self.experiment, &self.way.name);
            let words = step.arguments.join(" ");
            terminal::note(format_args!("{experiment}, {name}: {words}"));
            let begun = Instant::now();
            let doors = self.servers.doors(step.cores, step.quota)?;
            let run = pin::on(self.servers.generator(), || run(step, &doors, &folder));
            self.took_s += begun.elapsed().as_secs_f64();
            run?
        };
        if let Some(server) = &run.server {
            let (back_end, durability) = (&server.back_end, &server.durability);
            // Where it is says nothing about it, and is another place the next time.
            let kind = back_end.split(" at ").next().unwrap_or(back_end);
            self.server = Some(match self.way.kind {
                Kind::Kept { .. } => format!("{kind}, {}", durability.replace(',', ", ")),
                Kind::Embedded | Kind::Separate => format!("the {kind} journal, {durability}"),
            });
        }
        let points = run.points.iter();
        let figures = points.flat_map(|point| figures(self.experiment, step, point));
        self.figures.extend(figures);
        Ok(())
    }

    fn end(self, measured: &mut Measured) {
        let name = &self.way.name;
        if let Err(error) = self.servers.stop() {
            let why = exit::message(&error);
            measured.failed.push(format!("{name}: its server: {why}"));
        }
        if let Some(server) = self.server {
            measured.notices.push(format!("{name}: {server}"));
        }
        if self.kept > 0 {
            let kept = format!("{name}: {} runs are of an earlier command", self.kept);
            measured.notices.push(kept);
        }
        measured.took_s += self.took_s;
        measured.columns.push(SeriesColumn {
            name: name.clone(),
            storage: self.way.storage,
            figures: self.figures,
        });
    }
}

/// What a run before this one has left there, if it was asked for in the words of this step.
fn kept(step: &Step, folder: &Path) -> Option<Run> {
    let run = Run::read(&fs::read(folder.join("run.json")).ok()?).ok()?;
    // Behind the program, `lab run`, and before the doors.
    let asked = run.asked.line.get(3..)?;
    (run.schema == SCHEMA && asked.starts_with(&step.arguments)).then_some(run)
}

/// One step: a run of this same binary, as its `run.json` has it.
fn run(step: &Step, doors: &[String], folder: &Path) -> anyhow::Result<Run> {
    let file = folder.join("run.json");
    match fs::remove_file(&file) {
        // What an earlier run left is not what this one gave.
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(error).with_context(|| file.display().to_string());
        }
        _ => {}
    }
    let binary = std::env::current_exe().context("the path of this binary")?;
    let mut command = Command::new(binary);
    command
        .args(["lab", "run"])
        .args(&step.arguments)
        .args(doors);
    command.arg("--quiet").arg("-o").arg(folder);
    let output = command
        .stdin(Stdio::null())
        .output()
        .context("a run of the lab")?;
    let told = String::from_utf8_lossy(&output.stderr);
    let last = told.trim().lines().last().unwrap_or("it left no result");
    ensure!(file.exists(), "{last}");
    let bytes = fs::read(&file).with_context(|| file.display().to_string())?;
    Run::read(&bytes).with_context(|| file.display().to_string())
}

/// What a point is in the tables of an experiment.
fn figures(experiment: OriginalExperiment, step: &Step, point: &Point) -> Vec<Figure> {
    let series = step.series.as_str();
    match experiment {
        OriginalExperiment::BookingMysql | OriginalExperiment::BookingRedis => {
            vec![Figure::of(point, series)]
        }
        OriginalExperiment::GamesUsers => vec![Figure::of_games(point, series)],
        OriginalExperiment::ExchangeCores => vec![Figure {
            x: step
                .quota
                .unwrap_or_else(|| f64::from(step.cores.unwrap_or_default())),
            ..Figure::of(point, series)
        }],
        OriginalExperiment::TravelOps => {
            let parts = (1_u32..).zip(PARTS);
            let parts =
                parts.map(|(x, names)| Figure::of_requests(point, series, f64::from(x), names));
            let whole = Figure {
                x: TRANSACTION,
                ..Figure::of(point, series)
            };
            parts.chain([whole]).collect()
        }
        OriginalExperiment::TravelRate => {
            let x = match point.load {
                OfferedLoad::Open { rate, .. } => rate,
                OfferedLoad::Closed { .. } | OfferedLoad::Count { .. } => 0.0,
            };
            vec![Figure {
                x,
                ..Figure::of(point, series)
            }]
        }
    }
}
