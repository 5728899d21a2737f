//! Measures what we claim to be fast, beside its peers: parse, measure, report.
//!
//! A missed target is a result and not a failure: the report says so, and the exit code is 0.

mod book;
mod booking;
mod contest;
mod driver;
mod ground;
mod machine;
mod pin;
mod probe;
mod process;
mod ratio;
mod report;
mod rooms;
mod section;
mod server;

use std::{
    io::{self, Write as _},
    path::PathBuf,
};

use anyhow::{Result, ensure};
use clap::{Args, Parser, Subcommand, builder::PossibleValuesParser};
use turnstile_trial::Counting;

use crate::{
    book::Book,
    ground::Ground,
    machine::Machine,
    probe::Probe,
    report::{NotMeasured, Report},
    rooms::SECTIONS,
};

#[global_allocator]
static COUNTING: Counting = Counting;

/// Measures what we claim to be fast, beside its peers
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Every claim about rooms, beside redis-server; writes rooms.json and rooms.md
    Rooms(Rooms),
    /// The order book alone, in five market regimes; writes book.json and book.md
    Book(Book),
    /// Only what the bare machine does: one sync, one round trip over loopback
    Probe {
        /// Where the probe writes: a directory on the disk of interest
        #[arg(long, default_value = "/var/tmp")]
        scratch: PathBuf,
    },
}

#[derive(Args, Debug)]
struct Rooms {
    /// Few and short rounds: to see that everything works
    #[arg(long)]
    quick: bool,
    /// Where the two files go
    #[arg(long, default_value = "bench/results")]
    out: PathBuf,
    /// Where servers and probe keep their files: a directory on the disk of interest
    #[arg(long, default_value = "/var/tmp")]
    scratch: PathBuf,
    /// Our release binary; without it, cargo builds it
    #[arg(long)]
    turnstile: Option<PathBuf>,
    /// Measure only these parts
    #[arg(long, value_parser = PossibleValuesParser::new(SECTIONS.map(|(name, _)| name)))]
    only: Vec<String>,
}

fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Rooms(arguments) => measure(arguments),
        Command::Book(arguments) => {
            write!(io::stdout(), "{}", book::measure(&arguments)?)?;
            Ok(())
        }
        Command::Probe { scratch } => {
            let probe = Probe::take(&scratch)?;
            writeln!(io::stdout(), "{probe}")?;
            Ok(())
        }
    }
}

fn measure(arguments: Rooms) -> Result<()> {
    let turnstile = match arguments.turnstile {
        Some(path) => path,
        None => server::build()?,
    };
    let ground = Ground {
        turnstile,
        scratch: arguments.scratch,
        quick: arguments.quick,
    };
    let machine = Machine::this(&ground.turnstile);
    let (mut sections, mut not_measured) = (Vec::new(), Vec::new());
    for (name, measure) in SECTIONS {
        if !arguments.only.is_empty() && !arguments.only.iter().any(|only| only == name) {
            continue;
        }
        match measure(&ground) {
            Ok(section) => sections.push(section),
            Err(reason) => not_measured.push(NotMeasured {
                section: name,
                reason: format!("{reason:#}"),
            }),
        }
    }
    let report = Report {
        quick: ground.quick,
        machine,
        sections,
        not_measured,
    };
    report.write(&arguments.out)?;
    write!(io::stdout(), "{report}")?;
    ensure!(
        report.not_measured.is_empty(),
        "not everything was measured"
    );
    Ok(())
}
