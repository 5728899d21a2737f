//! `turnstile lab report` and `turnstile lab ls`: results that are there, shown again.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use clap::Args;
use turnstile_report::Headline;
use turnstile_result::{Run, Verdict};

use crate::{exit::Coded, terminal};

/// Where runs are kept if nobody says otherwise.
const RUNS: &str = "runs";

const RESULT: &str = "run.json";

/// How deep runs may lie below the folder that is listed.
const DEPTH_MAX: u8 = 2;

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Saved run: its folder or its run.json
    run: PathBuf,
    /// Write a page, report.html: one file that needs no network. This is the default
    #[arg(long)]
    html: bool,
    /// Write a table, points.csv: one row per point
    #[arg(long)]
    csv: bool,
    /// Write text, report.md
    #[arg(long)]
    md: bool,
    /// Folder to write to; default: the run's folder. `-` writes to standard output
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct Listing {
    /// Folder with saved runs
    #[arg(default_value = RUNS)]
    folder: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let file = result_of(&arguments.run);
    let run = read(&file)?;
    let views = arguments.views(&run);
    if arguments.output.as_deref() == Some(Path::new("-")) {
        let [(_, text)] = views.as_slice() else {
            return Err(Coded::usage(
                "standard output takes one form: --html, --csv or --md".to_owned(),
            )
            .into());
        };
        return Ok(terminal::line(text.trim_end())?);
    }
    let beside = file.parent().unwrap_or_else(|| Path::new("."));
    let folder = arguments.output.as_deref().unwrap_or(beside);
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for (name, text) in views {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| path.display().to_string())?;
        terminal::line(path.display())?;
    }
    Ok(())
}

impl Arguments {
    /// File names and texts.
    fn views(&self, run: &Run) -> Vec<(&'static str, String)> {
        let mut views = Vec::new();
        if self.html || !(self.csv || self.md) {
            views.push(("report.html", turnstile_report::html(run)));
        }
        if self.csv {
            views.push(("points.csv", turnstile_report::csv(run)));
        }
        if self.md {
            views.push(("report.md", turnstile_report::markdown(run)));
        }
        views
    }
}

/// Lists all runs below a folder, the oldest first.
pub(super) fn list(arguments: &Listing) -> anyhow::Result<()> {
    let folder = &arguments.folder;
    let mut files = Vec::new();
    find(folder, DEPTH_MAX, &mut files).with_context(|| folder.display().to_string())?;
    let mut runs = Vec::new();
    for file in files {
        match read(&file) {
            Ok(run) => runs.push((run, file)),
            Err(error) => terminal::note(format_args!("{error:#}")),
        }
    }
    runs.sort_by(|(a, _), (b, _)| a.began.cmp(&b.began));
    for (run, file) in &runs {
        terminal::line(row(run, file))?;
    }
    if runs.is_empty() {
        terminal::note(format_args!("no runs below {}", folder.display()));
    }
    Ok(())
}

fn row(run: &Run, file: &Path) -> String {
    let asked = &run.asked;
    let verdict = match run.verdict {
        Verdict::Fine => "fine",
        Verdict::Missed => "missed",
        Verdict::Unsteady => "unsteady",
        Verdict::Invalid => "INVALID",
        Verdict::Violated => "VIOLATED",
    };
    let folder = file.parent().unwrap_or(file).display();
    let said = Headline::of(run)
        .sentences
        .into_iter()
        .next()
        .unwrap_or_default();
    let (began, what) = (&run.began, format!("{} {}", asked.command, asked.workload));
    format!("{began}  {verdict:<8}  {what:<18}  {folder}\n    {said}")
}

fn find(folder: &Path, depth: u8, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let is_folder = entry.file_type()?.is_dir();
        if is_folder && depth > 0 {
            find(&entry.path(), depth - 1, found)?;
        } else if entry.file_name() == OsStr::new(RESULT) {
            found.push(entry.path());
        }
    }
    Ok(())
}

/// The file of a run that is named by its folder or by itself.
fn result_of(path: &Path) -> PathBuf {
    if path.is_dir() {
        path.join(RESULT)
    } else {
        path.to_owned()
    }
}

fn read(file: &Path) -> anyhow::Result<Run> {
    let shown = || file.display().to_string();
    let bytes = fs::read(file).with_context(shown)?;
    let unreadable = |error| Coded::usage(format!("{}: {error}", shown()));
    Ok(Run::read(&bytes).map_err(unreadable)?)
}
