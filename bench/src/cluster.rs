//! Three nodes on three brokers, beside what else keeps a booking on several machines: how fast, and how long
//! nobody is answered when something ends.

mod gaps;
mod join;
mod nodes;
mod partitions;
mod peers;
mod rates;

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;

use crate::{
    arguments::{Program, RunExtent},
    ground::tell,
    machine::Machine,
    report::{NotMeasured, Report},
    section::Section,
};

#[derive(Args, Debug)]
pub(crate) struct ClusterArguments {
    #[command(flatten)]
    extent: RunExtent,
    /// Measure only this part: rates, gaps, join or partitions; repeatable
    #[arg(long, value_name = "PART")]
    only: Vec<String>,
    /// Rounds of each part; without it 3, or 1 with --quick
    #[arg(long)]
    rounds: Option<usize>,
    /// Bookings that the cluster has when another node joins
    #[arg(long, default_value_t = 200_000)]
    bookings: u32,
    /// Where servers keep their files: a directory on the disk of interest
    #[arg(long, default_value = "/var/tmp")]
    scratch: PathBuf,
    #[command(flatten)]
    program: Program,
}

/// What all parts share.
#[derive(Debug)]
struct ClusterGround {
    turnstile: PathBuf,
    brokers: turnstile_brokers::NatsServer,
    scratch: PathBuf,
    rounds: usize,
    quick: bool,
    bookings: u32,
}

/// Measures a part, and adds what could not be measured.
type ClusterPart = fn(&ClusterGround, &mut Vec<NotMeasured>) -> Result<Section>;

const PARTS: [(&str, ClusterPart); 4] = [
    ("rates", rates::measure),
    ("gaps", gaps::measure),
    ("join", join::measure),
    ("partitions", partitions::measure),
];

pub(crate) fn measure(arguments: &ClusterArguments) -> Result<Report> {
    for asked in &arguments.only {
        ensure!(
            PARTS.iter().any(|(name, _)| name == asked),
            "there is no part `{asked}`: there are rates, gaps, join and partitions"
        );
    }
    let quick = arguments.extent.quick;
    let turnstile = arguments.program.path()?;
    let brokers = turnstile_brokers::NatsServer::install(&peers::cache())?;
    let machine = Machine::with(&[turnstile.as_path(), brokers.program()]);
    let ground = ClusterGround {
        turnstile,
        brokers,
        scratch: arguments.scratch.clone(),
        rounds: arguments.rounds.unwrap_or(if quick { 1 } else { 3 }),
        quick,
        bookings: if quick {
            arguments.bookings.min(20_000)
        } else {
            arguments.bookings
        },
    };
    let mut report = Report {
        title: "A cluster, measured".to_owned(),
        about: "`turnstile-bench cluster` measures again. Nothing is kept on one core here: three nodes, three \
                brokers and those who ask share all of them, and so do their peers. All processes have one disk."
            .to_owned(),
        quick,
        machine: Some(machine),
        sections: Vec::new(),
        not_measured: Vec::new(),
    };
    let out = arguments.extent.out(!arguments.only.is_empty());
    for (name, measure) in PARTS {
        if !arguments.only.is_empty() && !arguments.only.iter().any(|only| only == name) {
            continue;
        }
        tell(&format!("part {name}"))?;
        match measure(&ground, &mut report.not_measured) {
            Ok(section) => report.sections.push(section),
            Err(reason) => report.not_measured.push(NotMeasured {
                section: name.to_owned(),
                reason: format!("{reason:#}"),
            }),
        }
        // What was measured is kept if a later part goes wrong.
        report.write(out, "cluster")?;
    }
    Ok(report)
}
