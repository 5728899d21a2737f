//! What a command of the lab writes down while it measures: points, what was used meanwhile, and in
//! the end `run.json`.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use clap::Args;
use rustix::process::{Signal, getpid, kill_process};
use turnstile_client::Denied;
use turnstile_load::{
    pace::{Pace, Progress},
    resources::{Sampler, Watched},
    slo::Slo,
    validity,
};
use turnstile_result::{
    Asked, Machine, Outcome, Point, Resources, Run, SCHEMA, Server, Target, Verdict,
};

use super::{
    ProgressLine,
    pacing::Pacing,
    shown::{self, RunTable},
};
use crate::{
    exit::{Coded, DENIED},
    terminal,
};

/// Where results go by default.
const FOLDER: &str = "runs";

/// Where the results of a command go, and what they should be.
#[derive(Args, Clone, Debug)]
pub(crate) struct OutputArguments {
    /// Directory for run.json; default: a dated one in runs/
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Also write run.json to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Print no progress
    #[arg(short, long)]
    quiet: bool,
    /// Also stop when standard input ends, and print progress as lines of JSON: for programs that start
    /// this one
    #[arg(long, hide = true)]
    attached: bool,
}

/// What a run should reach.
#[derive(Args, Clone, Debug)]
pub(crate) struct Aims {
    /// Objectives, such as 'p99<50ms,errors<0.1%' or 'book p99<10ms'; a miss exits with code 99
    #[arg(long, value_parser = Slo::parse_all)]
    slo: Option<Objectives>,
}

/// Named, for the parser of arguments takes a plain list for a repeated flag.
pub(super) type Objectives = Vec<Slo>;

/// The notes of one command.
#[derive(Debug)]
pub(super) struct Notebook {
    run: Run,
    sampler: Sampler,
    started: Instant,
    folder: Folder,
    /// Where `run.json` is written, too.
    json: Option<PathBuf>,
    line: ProgressLine,
    quiet: bool,
    /// Whether progress is printed for a program.
    is_attached: bool,
}

impl Notebook {
    /// Begins, and watches these processes.
    pub(super) fn new(
        output: &OutputArguments,
        asked: Asked,
        watched: Vec<Watched>,
    ) -> anyhow::Result<Self> {
        if output.attached {
            stop_at_end_of_input()?;
        }
        let now = jiff::Timestamp::now();
        let folder = match &output.output {
            Some(folder) => folder.clone(),
            None => dated(Path::new(FOLDER), now, &asked),
        };
        let run = Run {
            schema: SCHEMA,
            lab: env!("CARGO_PKG_VERSION").to_owned(),
            began: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            took_s: 0.0,
            asked,
            machine: Machine::this(),
            server: None,
            points: Vec::new(),
            sweep: None,
            capacity: None,
            comparison: None,
            bottleneck: None,
            objectives: Vec::new(),
            verdict: Verdict::Fine,
            exit_code: 0,
        };
        Ok(Self {
            run,
            sampler: Sampler::new(watched),
            started: Instant::now(),
            folder: Folder::make(folder)?,
            json: output.json.clone(),
            line: ProgressLine::new(output.quiet || output.attached),
            is_attached: output.attached,
            quiet: output.quiet,
        })
    }

    pub(super) fn server(&mut self, server: Option<Server>) {
        self.run.server = server;
    }

    /// What can be changed before it is written.
    pub(super) const fn run(&mut self) -> &mut Run {
        &mut self.run
    }

    pub(super) fn points(&self) -> &[Point] {
        &self.run.points
    }

    /// A line about the way.
    pub(super) fn note(&self, text: &str) {
        if !self.quiet {
            self.line.aside(|| terminal::note(text));
        }
    }

    /// Another point begins, perhaps of other processes.
    pub(super) fn begin(&mut self, watched: Option<Vec<Watched>>) -> f64 {
        match watched {
            Some(watched) => self.sampler = Sampler::new(watched),
            None => self.sampler.look(Duration::ZERO),
        }
        self.started.elapsed().as_secs_f64()
    }

    /// Is told now and then how a point is going.
    pub(super) fn watch(&mut self, progress: &Progress) {
        self.sampler.look(progress.elapsed);
        self.show(progress);
    }

    /// Is told the same of a point that comes with what it used.
    pub(super) fn show(&mut self, progress: &Progress) {
        if self.is_attached {
            // Who reads it may have gone; then the end of standard input says so.
            terminal::line(as_json(progress)).ok();
        }
        self.line.show(progress);
    }

    /// Where the result goes.
    pub(super) fn folder(&self) -> &Path {
        &self.folder.0
    }

    /// Judges a point and keeps it; its place in the run.
    pub(super) fn keep(&mut self, point: Point, pace: &Pace, began_s: f64) -> usize {
        let used = self.used(&point);
        self.keep_used(point, used, pace, began_s)
    }

    /// What was used in the window of a point that is over.
    pub(super) fn used(&self, point: &Point) -> Resources {
        validity::used(point, &self.sampler)
    }

    /// Judges a point for which so much was used, and keeps it.
    pub(super) fn keep_used(
        &mut self,
        mut point: Point,
        used: Resources,
        pace: &Pace,
        began_s: f64,
    ) -> usize {
        point.began_s = began_s;
        validity::judge(&mut point, used, pace, Pacing::goal(pace));
        self.run.points.push(point);
        self.run.points.len() - 1
    }

    /// The verdict over all points, held against the objectives.
    fn judge(&mut self, aims: &Aims) {
        let worst = self.run.points.iter().map(|point| point.verdict).max();
        self.run.verdict = worst.unwrap_or(Verdict::Invalid);
        let points = &self.run.points;
        let objectives = aims.slo.iter().flatten().flat_map(|slo| {
            (0_u32..)
                .zip(points)
                .map(|(place, point)| slo.judge(place, point))
        });
        self.run.objectives = objectives.collect();
        let missed = self
            .run
            .objectives
            .iter()
            .any(|objective| objective.outcome != Outcome::Holds);
        if missed {
            self.run.verdict = self.run.verdict.max(Verdict::Missed);
        }
    }

    /// Writes `run.json` and its page, and prints what is in it beside what a workload has printed
    /// itself.
    pub(super) fn finish(mut self, aims: &Aims) -> anyhow::Result<()> {
        self.judge(aims);
        self.close()
    }

    /// The same with a verdict over points that are not judged one by one: only a broken promise is
    /// worse than it.
    pub(super) fn finish_as(mut self, verdict: Verdict) -> anyhow::Result<()> {
        let broken = |point: &Point| point.verdict == Verdict::Violated;
        let violated = self.run.points.iter().any(broken);
        self.run.verdict = if violated { Verdict::Violated } else { verdict };
        self.close()
    }

    /// Writes them and prints where they are, for a command that prints itself what is in them and
    /// ends with a code of its own.
    pub(super) fn finish_told(mut self, verdict: Verdict) -> anyhow::Result<()> {
        self.run.verdict = verdict;
        self.write()
    }

    fn close(mut self) -> anyhow::Result<()> {
        self.line.clear();
        terminal::line(RunTable(&self.run))?;
        self.write()?;
        if let Some(denied) = denied(&self.run) {
            return Err(denied.into());
        }
        match Coded::of_verdict(self.run.verdict) {
            None => Ok(()),
            Some(coded) => Err(coded.because(&shown::reason(&self.run)).into()),
        }
    }

    fn write(&mut self) -> anyhow::Result<()> {
        self.run.exit_code = match denied(&self.run) {
            Some(_) => DENIED,
            None => self.run.verdict.exit_code(),
        };
        self.run.took_s = self.started.elapsed().as_secs_f64();
        self.line.clear();
        let [result, page] = ["run.json", "report.html"].map(|name| self.folder().join(name));
        let page_text = turnstile_report::html(&self.run);
        let text = self.run.to_json();
        let also = self.json.iter().map(|path| (path, &text));
        for (path, text) in [(&result, &text), (&page, &page_text)]
            .into_iter()
            .chain(also)
        {
            fs::write(path, text).with_context(|| path.display().to_string())?;
        }
        terminal::line(format_args!("result: {}", result.display()))?;
        terminal::line(format_args!("report: {}", page.display()))?;
        Ok(())
    }
}

fn as_json(progress: &Progress) -> serde_json::Value {
    let ms = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let (times, checked) = (progress.times, progress.checked);
    serde_json::json!({
        "elapsed_ms": ms(progress.elapsed),
        "answered": progress.answered,
        "refused": progress.refused,
        "failed": progress.failed,
        "per_second": format!("{:.0}", progress.rate).parse::<u64>().unwrap_or(0),
        "p50_ns": times.map(|times| times.p50),
        "p99_ns": times.and_then(|times| times.p99),
        "checked": checked.map(|checked| checked.answers),
        "violations": checked.map(|checked| checked.violations),
    })
}

/// Ends this process when its standard input ends.
fn stop_at_end_of_input() -> std::io::Result<()> {
    let thread = thread::Builder::new().name("end-of-input".to_owned());
    let waiting = thread.spawn(|| {
        // However it ends, nobody is there any more.
        std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).ok();
        kill_process(getpid(), Signal::TERM).ok();
    })?;
    drop(waiting);
    Ok(())
}

/// What the server found wrong with the key, where that made a run invalid. A broken promise is worse.
fn denied(run: &Run) -> Option<Denied> {
    let is_worth_less = !matches!(run.verdict, Verdict::Fine | Verdict::Violated);
    let operations = run.points.iter().flat_map(|point| &point.operations);
    let mut errors = operations
        .filter(|_| is_worth_less)
        .flat_map(|one| one.errors.keys().map(move |code| (one, code)));
    errors.find_map(|(one, code)| {
        let denied = Denied::of(code)?;
        Some(match denied {
            Denied::MissingRight(_) => {
                Denied::MissingRight(format!("`{}` was answered {code}", one.name))
            }
            other => other,
        })
    })
}

/// The folder of a result, made before the run so that a user who cannot write there learns it at
/// once. A run that fails leaves no empty folder behind.
#[derive(Debug)]
struct Folder(PathBuf);

impl Folder {
    fn make(path: PathBuf) -> anyhow::Result<Self> {
        fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The system refuses to remove a folder that holds anything, such as a result.
        fs::remove_dir(&self.0).ok();
    }
}

/// A folder that is not there yet, named after the instant and the workload.
fn dated(within: &Path, now: jiff::Timestamp, asked: &Asked) -> PathBuf {
    let stem = format!(
        "{}-{}-{}",
        now.strftime("%Y-%m-%dT%H-%M-%S"),
        asked.command,
        asked.workload
    );
    let mut names = std::iter::once(stem.clone()).chain((2..).map(|next| format!("{stem}-{next}")));
    let free = names.find(|name| !within.join(name).exists());
    within.join(free.unwrap_or(stem))
}

/// An id number of a guest.
const ID_DIGITS: usize = 12;

/// Headers of HTTP that say who somebody is.
const SECRET_HEADERS: [&str; 3] = ["authorization", "proxy-authorization", "cookie"];

/// An argument, without what a header says of who somebody is.
fn without_secret(argument: &str) -> String {
    let header = argument.strip_prefix("--header=").unwrap_or(argument);
    match header.split_once(':') {
        Some((name, _)) if SECRET_HEADERS.contains(&name.trim().to_ascii_lowercase().as_str()) => {
            format!("{name}: ***")
        }
        _ => argument.to_owned(),
    }
}

/// What is asked, for `run.json`.
pub(super) fn asked(
    command: &str,
    workload: &str,
    target: Target,
    pacing: Option<&Pacing>,
    threads: usize,
) -> Asked {
    Asked {
        command: command.to_owned(),
        line: std::env::args()
            .map(|argument| without_id_numbers(&without_secret(&argument)))
            .collect(),
        workload: workload.to_owned(),
        settings: std::collections::BTreeMap::new(),
        target,
        seed: pacing.map_or(1, Pacing::seed),
        threads: u32::try_from(threads).unwrap_or(u32::MAX),
        precision: pacing.and_then(Pacing::precision),
        point_s_max: pacing.map_or(0.0, Pacing::point_s_max),
        pinned: std::collections::BTreeMap::new(),
    }
}

/// An argument with an asterisk for each digit where there are twelve in a row: what was measured may
/// have been a command with a guest's id number.
pub(super) fn without_id_numbers(argument: &str) -> String {
    let runs = argument
        .as_bytes()
        .chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit());
    let shown = runs.flat_map(|run| match run {
        [b'0'..=b'9', ..] if run.len() == ID_DIGITS => &[b'*'; ID_DIGITS][..],
        _ => run,
    });
    String::from_utf8(shown.copied().collect()).expect("only whole digits were replaced")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_keeps_no_secret() {
        for (argument, expected) in [
            ("Authorization: Bearer ts_live_x", "Authorization: ***"),
            ("--header=cookie:session=x", "cookie: ***"),
            ("accept: text/plain", "accept: text/plain"),
            ("http://127.0.0.1:8470/", "http://127.0.0.1:8470/"),
            ("rooms", "rooms"),
        ] {
            assert_eq!(without_secret(argument), expected);
        }
    }

    #[test]
    fn an_argument_keeps_no_id_number() {
        let shown = without_id_numbers;
        assert_eq!(shown("234123412346"), "************");
        assert_eq!(
            shown(r#"{"guest":"Jo","id":"234123412346"}"#),
            r#"{"guest":"Jo","id":"************"}"#
        );
        assert_eq!(
            shown("http://127.0.0.1:8470/2341234123461"),
            "http://127.0.0.1:8470/2341234123461"
        );
    }

    #[test]
    fn a_folder_stays_only_when_something_was_written() {
        let within = tempfile::tempdir().unwrap();
        let [failed, kept] = ["failed", "kept"].map(|name| within.path().join(name));
        drop(Folder::make(failed.clone()).unwrap());
        let folder = Folder::make(kept.clone()).unwrap();
        fs::write(kept.join("run.json"), "{}").unwrap();
        drop(folder);
        assert_eq!([failed.exists(), kept.exists()], [false, true]);
    }
}
