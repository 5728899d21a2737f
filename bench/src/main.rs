//! Measures what we claim to be fast, beside its peers: parse, measure, report.
//!
//! A missed target is a result and not a failure: the report says so, and the exit code is 0.

mod arguments;
mod backends;
mod book;
mod booking;
mod bottlenecks;
mod check;
mod compare;
mod contest;
mod dice;
mod driver;
mod exchange;
mod games;
mod ground;
mod machine;
mod pin;
mod probe;
mod process;
mod program;
mod ratio;
mod recovery;
mod report;
mod reproduce;
mod rooms;
mod section;
mod server;
mod statistics;
mod travel;

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use anyhow::{Result, ensure};
use clap::{Args, Parser, Subcommand, builder::PossibleValuesParser};
use turnstile_trial::Counting;

use crate::{
    arguments::{Extent, Program},
    book::Book,
    bottlenecks::{Bottlenecks, Planted},
    check::Check,
    compare::Compare,
    ground::Ground,
    machine::Machine,
    probe::Probe,
    recovery::Recoveries,
    report::{NotMeasured, Report},
    reproduce::Reproduce,
    section::Part,
    statistics::Statistics,
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
    /// Every claim about orders over the doors; writes exchange.json and exchange.md
    Exchange(Exchange),
    /// Every claim about games; writes games.json and games.md
    Games(Games),
    /// Every claim about travel, beside Postgres; writes travel.json and travel.md
    Travel(Travel),
    /// Every claim about services in databases; writes backends.json and backends.md
    Backends(Backends),
    /// The order book alone, in five market regimes; writes book.json and book.md. With --harness, in
    /// the public matching harness beside other engines; writes harness.json and harness.md
    Book(Book),
    /// The lab's statistics on systems of known truth; writes statistics.json and statistics.md
    Statistics(Statistics),
    /// Whether the lab names planted bottlenecks and refuses planted bad runs; writes bottlenecks.json
    /// and bottlenecks.md
    Bottlenecks(Bottlenecks),
    /// What the proof of `lab check` costs; writes check.json and check.md
    Check(Check),
    /// Records recovered a second, from journals and from snapshots; writes recovery.json and recovery.md
    Recovery(Recoveries),
    /// A server with one known bottleneck or fault, for `bottlenecks`
    #[command(hide = true)]
    Planted(Planted),
    /// The ancestors' experiments on every back end, beside what was published; writes a page for each
    Reproduce(Reproduce),
    /// Two builds of our server under the same loads, as ratios of new to old
    Compare(Compare),
    /// Only what the bare machine does: one sync, one round trip over loopback
    Probe {
        /// Where the probe writes: a directory on the disk of interest
        #[arg(long, default_value = "/var/tmp")]
        scratch: PathBuf,
    },
}

#[derive(Args, Debug)]
struct Rooms {
    #[command(flatten)]
    run: Run,
    /// Measure only these parts
    #[arg(long, value_parser = names(&rooms::SECTIONS))]
    only: Vec<String>,
}

#[derive(Args, Debug)]
struct Exchange {
    #[command(flatten)]
    run: Run,
    /// Measure only these parts
    #[arg(long, value_parser = names(&exchange::SECTIONS))]
    only: Vec<String>,
    /// Also measure exchange-core, which needs a JDK, Maven and its central repository
    #[arg(long)]
    exchange_core: bool,
}

#[derive(Args, Debug)]
struct Games {
    #[command(flatten)]
    run: Run,
    /// Measure only these parts
    #[arg(long, value_parser = names(&games::SECTIONS))]
    only: Vec<String>,
}

#[derive(Args, Debug)]
struct Travel {
    #[command(flatten)]
    run: Run,
    /// Measure only these parts
    #[arg(long, value_parser = names(&travel::SECTIONS))]
    only: Vec<String>,
}

#[derive(Args, Debug)]
struct Backends {
    #[command(flatten)]
    run: Run,
    /// Measure only these parts
    #[arg(long, value_parser = names(&backends::SECTIONS))]
    only: Vec<String>,
}

/// What all measurements of servers have in common.
#[derive(Args, Debug)]
struct Run {
    #[command(flatten)]
    extent: Extent,
    /// Where servers and probe keep their files: a directory on the disk of interest
    #[arg(long, default_value = "/var/tmp")]
    scratch: PathBuf,
    #[command(flatten)]
    program: Program,
}

fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Rooms(Rooms { run, only }) => {
            let sections = chosen(&rooms::SECTIONS, &only);
            measure("rooms", run, &sections, &rooms::PROGRAMS)
        }
        Command::Exchange(Exchange {
            run,
            only,
            exchange_core,
        }) => {
            let mut sections = chosen(&exchange::SECTIONS, &only);
            if exchange_core {
                sections.push(exchange::EXCHANGE_CORE);
            }
            let programs: &[&str] = if exchange_core { &["java"] } else { &[] };
            measure("exchange", run, &sections, programs)
        }
        Command::Games(Games { run, only }) => {
            let sections = chosen(&games::SECTIONS, &only);
            measure("games", run, &sections, &[])
        }
        Command::Travel(Travel { run, only }) => {
            let sections = chosen(&travel::SECTIONS, &only);
            measure("travel", run, &sections, &travel::PROGRAMS)
        }
        Command::Backends(Backends { run, only }) => {
            let sections = chosen(&backends::SECTIONS, &only);
            measure("backends", run, &sections, &backends::PROGRAMS)
        }
        Command::Book(arguments) => {
            write!(io::stdout(), "{}", book::measure(&arguments)?)?;
            Ok(())
        }
        Command::Statistics(arguments) => {
            write!(io::stdout(), "{}", statistics::measure(&arguments)?)?;
            Ok(())
        }
        Command::Bottlenecks(arguments) => {
            write!(io::stdout(), "{}", bottlenecks::measure(&arguments)?)?;
            Ok(())
        }
        Command::Check(arguments) => {
            write!(io::stdout(), "{}", check::measure(&arguments)?)?;
            Ok(())
        }
        Command::Recovery(arguments) => {
            write!(io::stdout(), "{}", recovery::measure(&arguments)?)?;
            Ok(())
        }
        Command::Reproduce(arguments) => reproduce::measure(&arguments),
        Command::Planted(planted) => bottlenecks::serve(planted),
        Command::Compare(arguments) => {
            write!(io::stdout(), "{}", compare::measure(arguments)?)?;
            Ok(())
        }
        Command::Probe { scratch } => {
            let probe = Probe::take(&scratch)?;
            writeln!(io::stdout(), "{probe}")?;
            Ok(())
        }
    }
}

fn names(sections: &[Part]) -> PossibleValuesParser {
    PossibleValuesParser::new(sections.iter().map(|(name, _)| *name))
}

/// The named parts; all of them when none is named.
fn chosen(sections: &[Part], only: &[String]) -> Vec<Part> {
    let is_chosen = |name: &str| only.is_empty() || only.iter().any(|only| only == name);
    let chosen = sections.iter().filter(|(name, _)| is_chosen(name));
    chosen.copied().collect()
}

fn measure(subject: &'static str, run: Run, parts: &[Part], programs: &[&str]) -> Result<()> {
    let ground = Ground {
        turnstile: run.program.path()?,
        scratch: run.scratch,
        quick: run.extent.quick,
    };
    let mut taking_part = vec![ground.turnstile.as_path()];
    taking_part.extend(programs.iter().map(Path::new));
    let machine = Machine::with(&taking_part);
    let (mut sections, mut not_measured) = (Vec::new(), Vec::new());
    for &(name, measure) in parts {
        ground::tell(&format!("part {name}"))?;
        match measure(&ground) {
            Ok(section) => sections.push(section),
            Err(reason) => not_measured.push(NotMeasured {
                section: name,
                reason: format!("{reason:#}"),
            }),
        }
    }
    let report = Report {
        subject,
        quick: ground.quick,
        machine,
        sections,
        not_measured,
    };
    report.write(&run.extent.out)?;
    write!(io::stdout(), "{report}")?;
    ensure!(
        report.not_measured.is_empty(),
        "not everything was measured"
    );
    Ok(())
}
