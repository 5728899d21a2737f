//! How fast a directory is recovered: from its journal, and from its snapshot.

mod filling;

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use turnstile_embedded::{Durability, Embedded, Options};

use crate::{
    arguments::RunExtent,
    ground::tell,
    machine::Machine,
    ratio::{Bound, Ratio},
    report::Report,
    section::{MeasuredRow, Section, SubjectMetric},
};
use filling::{Fill, wall_clock};

#[derive(Args, Debug)]
pub(crate) struct Recoveries {
    #[command(flatten)]
    extent: RunExtent,
    /// Records in each journal
    #[arg(long, default_value_t = 5_000_000)]
    records: u32,
    /// Where the directories are made: a directory on the disk of interest
    #[arg(long, default_value = "/var/tmp")]
    scratch: PathBuf,
    /// The `recovery.json` of an earlier build, to compare with
    #[arg(long)]
    before: Option<PathBuf>,
}

/// Recoveries of each directory.
const ROUNDS: usize = 5;

/// Records a second, against the build before.
const GAIN: Bound = Bound::AtLeast(2.0);
const RATE: &str = "records/s";

pub(crate) fn measure(arguments: &Recoveries) -> Result<Report> {
    let quick = arguments.extent.quick;
    let records = if quick {
        arguments.records / 25
    } else {
        arguments.records
    };
    let earlier = arguments.before.as_deref().map(Report::read).transpose()?;
    let machine = Machine::with(&[]);
    let mut section = Section::watched("Recovery", || {
        let mut subjects = Vec::new();
        for fill in Fill::ALL {
            for subject in recoveries(fill, records, &arguments.scratch)? {
                tell(&format!("{subject:?}"))?;
                subjects.push(subject);
            }
        }
        let setting = format!(
            "{records} records in each directory, {ROUNDS} rounds. `journal` replays every record; \
             `snapshot` loads the state that they made and replays at most a few. The files are in the \
             page cache"
        );
        Ok((setting, subjects))
    })?;
    if let Some(earlier) = &earlier {
        compare(&mut section, earlier);
    }
    let told = [
        "Recovery, measured",
        "`turnstile-bench recovery` measures again.",
    ];
    let measured = (Some(machine), vec![section]);
    Report::written(&arguments.extent, "recovery", told, measured)
}

/// Judges each directory against that of an earlier build.
fn compare(section: &mut Section, earlier: &Report) {
    let commit = earlier
        .machine
        .as_ref()
        .map_or("an earlier build", |one| &one.commit);
    let before = earlier
        .sections
        .iter()
        .flat_map(|section| &section.subjects);
    let before: Vec<&MeasuredRow> = before.collect();
    let median = |subject: &MeasuredRow| Ratio::spread(subject.values(RATE)).median;
    let rows = section.subjects.iter().filter_map(|now| {
        let before = before.iter().find(|before| before.name == now.name)?;
        Some((now.name.clone(), median(now) / median(before)))
    });
    for (name, gain) in rows.collect::<Vec<_>>() {
        let target = format!("{name}: records/s / {commit}");
        section.claim_ratio(&target, Ratio::spread(&[gain]), GAIN);
    }
}

/// Two rows: of the journal alone, then of the snapshot of the same state.
fn recoveries(fill: Fill, records: u32, scratch: &Path) -> Result<[MeasuredRow; 2]> {
    let directory = tempfile::tempdir_in(scratch)?;
    let path = directory.path();
    let (mut backend, _) = Embedded::open(Some(path), options(0))?;
    fill.run(&mut backend, records)?;
    backend.close()?;
    let journal = rounds(path)?;
    take_snapshot(path)?;
    let snapshot = rounds(path)?;
    let row = |what: &str, seconds: Vec<f64>| {
        let rates = seconds.iter().map(|seconds| f64::from(records) / seconds);
        let rates = SubjectMetric::new(RATE, rates.collect());
        let name = format!("{fill}, {what}");
        MeasuredRow::new(name, vec![SubjectMetric::new("s", seconds), rates])
    };
    Ok([row("journal", journal), row("snapshot", snapshot)])
}

/// Seconds of each recovery.
fn rounds(path: &Path) -> Result<Vec<f64>> {
    let once = |_round| {
        let begun = Instant::now();
        let (backend, _) = Embedded::open(Some(path), options(0))?;
        let took = begun.elapsed();
        backend.close()?;
        Ok(took.as_secs_f64())
    };
    (0..ROUNDS).map(once).collect()
}

/// Has the directory make a snapshot of all that it holds.
fn take_snapshot(path: &Path) -> Result<()> {
    let (mut backend, _) = Embedded::open(Some(path), options(1))?;
    filling::nudge(&mut backend, wall_clock()).context("a record more")?;
    backend.await_snapshot();
    ensure!(backend.status().snapshot.0 > 0, "no snapshot was made");
    Ok(backend.close()?)
}

const fn options(snapshot_records: u64) -> Options {
    Options {
        snapshot_records,
        ..Options::with(Durability::Os)
    }
}
