//! What the proof of `lab check` costs: in process, where nothing else is done, and beside real servers.

mod history;
mod pace;
mod report;
mod served;

use anyhow::Result;
use clap::Args;

use crate::{
    arguments::{Extent, Program},
    ground::tell,
    machine::Machine,
    pin,
    process::Neighbours,
};
use report::{Report, Row};

#[derive(Args, Debug)]
pub(crate) struct Check {
    #[command(flatten)]
    extent: Extent,
    #[command(flatten)]
    program: Program,
}

/// Operations among which one is sold twice.
const MILLION: u32 = 1_000_000;

pub(crate) fn measure(arguments: &Check) -> Result<Report> {
    let turnstile = arguments.program.path()?;
    let quick = arguments.extent.quick;
    let (rounds, operations, seconds) = if quick {
        (2, MILLION / 5, 2)
    } else {
        (5, 5 * MILLION, 5)
    };
    let machine = Machine::with(&[turnstile.as_path()]);
    let neighbours = Neighbours::watch()?;
    let mut rows: Vec<Row> = served::CASES.into_iter().map(Row::of).collect();
    for _ in 0..rounds.min(3) {
        for row in &mut rows {
            let served = served::measure(&turnstile, row.case, seconds)?;
            tell(&format!("{:?}: {served:?}", row.case))?;
            row.rounds.push(served);
        }
    }
    pin::pin(pin::CLIENT_CORE)?;
    let seeds = 1..=rounds;
    let mut paces = Vec::new();
    for seed in seeds.clone() {
        for pipeline in pace::PIPELINES {
            paces.push(pace::measure(operations, pipeline, seed)?);
        }
    }
    let found = seeds.map(|seed| pace::find(MILLION, seed));
    let report = Report {
        quick,
        machine,
        operations,
        paces,
        found_s: found.collect::<Result<_>>()?,
        seconds,
        rows,
        neighbours_percent: neighbours.percent()?,
    };
    report.write(&arguments.extent.out)?;
    Ok(report)
}
