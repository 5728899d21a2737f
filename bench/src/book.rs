//! The order book alone: its rate, its latency and its memory, in five market regimes.

mod drive;
mod harness;
mod memory;
mod regime;
mod report;
mod stream;

use anyhow::{Result, ensure};
use clap::Args;

use crate::{arguments::Extent, ground::tell, machine::Machine, process::Neighbours};

use drive::Pass;
use harness::Harness;
use regime::Regime;
use report::{Report, Row};
use stream::Stream;

#[derive(Args, Debug)]
pub(crate) struct Book {
    /// Messages for each regime
    #[arg(long, default_value_t = 10_000_000)]
    messages: usize,
    #[command(flatten)]
    harness: Harness,
    #[command(flatten)]
    extent: Extent,
}

/// Passes over each stream for its rate. One more is for the latency.
const ROUNDS: usize = 5;
/// Orders at once on the book when its memory is measured.
const MILLION: u32 = 1_000_000;

/// Measures in the public harness where that is wanted, and else with our own streams.
pub(crate) fn measure(arguments: &Book) -> Result<String> {
    if arguments.harness.is_wanted() {
        let report = harness::measure(&arguments.harness, &arguments.extent)?;
        return Ok(report.to_string());
    }
    Ok(measure_streams(arguments)?.to_string())
}

fn measure_streams(arguments: &Book) -> Result<Report> {
    let quick = arguments.extent.quick;
    let messages = if quick {
        arguments.messages / 10
    } else {
        arguments.messages
    };
    let machine = Machine::with(&[]);
    let neighbours = Neighbours::watch()?;
    let mut rows = Vec::new();
    for regime in Regime::ALL {
        let row = row(regime, messages)?;
        tell(&row.to_string())?;
        rows.push(row);
    }
    let report = Report {
        quick,
        machine,
        messages,
        rounds: ROUNDS,
        neighbours_percent: neighbours.percent()?,
        rows,
        memory: memory::measure(MILLION),
    };
    report.write(&arguments.extent.out)?;
    Ok(report)
}

fn row(regime: Regime, messages: usize) -> Result<Row> {
    let stream = Stream::of(regime, messages);
    let passes: Vec<Pass> = (0..ROUNDS)
        .map(|_| drive::pass(&stream, false))
        .collect::<Result<_>>()?;
    let timed = drive::pass(&stream, true)?;
    let same = passes
        .iter()
        .all(|pass| (pass.reports, pass.checksum) == (timed.reports, timed.checksum));
    ensure!(same, "{regime}: two passes reported differently");
    Ok(Row::of(regime, messages, &passes, &timed))
}
