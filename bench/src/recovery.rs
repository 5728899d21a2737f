//! How fast a directory is recovered: from its journal, and from its snapshot.

mod filling;
mod report;

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use turnstile_embedded::{Durability, Embedded, Options};

use crate::{arguments::Extent, ground::tell, machine::Machine, process::Neighbours};

use filling::{Fill, wall_clock};
use report::{Earlier, Report, Row};

#[derive(Args, Debug)]
pub(crate) struct Recoveries {
    #[command(flatten)]
    extent: Extent,
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

pub(crate) fn measure(arguments: &Recoveries) -> Result<Report> {
    let quick = arguments.extent.quick;
    let records = if quick {
        arguments.records / 25
    } else {
        arguments.records
    };
    let earlier = arguments.before.as_deref().map(Earlier::read).transpose()?;
    let machine = Machine::with(&[]);
    let neighbours = Neighbours::watch()?;
    let mut rows = Vec::new();
    for fill in Fill::ALL {
        for row in recoveries(fill, records, &arguments.scratch)? {
            tell(&row.to_string())?;
            rows.push(row);
        }
    }
    let report = Report {
        quick,
        machine,
        records,
        rounds: ROUNDS,
        neighbours_percent: neighbours.percent()?,
        rows,
        earlier,
    };
    report.write(&arguments.extent.out)?;
    Ok(report)
}

/// Two rows: of the journal alone, then of the snapshot of the same state.
fn recoveries(fill: Fill, records: u32, scratch: &Path) -> Result<[Row; 2]> {
    let directory = tempfile::tempdir_in(scratch)?;
    let path = directory.path();
    let (mut backend, _) = Embedded::open(Some(path), options(0))?;
    fill.run(&mut backend, records)?;
    backend.close()?;
    let journal = rounds(path)?;
    take_snapshot(path)?;
    let snapshot = rounds(path)?;
    let name = |what: &str| format!("{fill}, {what}");
    Ok([
        Row::of(name("journal"), records, journal),
        Row::of(name("snapshot"), records, snapshot),
    ])
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
