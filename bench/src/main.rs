//! Measures what we claim to be fast, beside its peers: parse, measure, report.
//!
//! A missed target is a result and not a failure: the report says so, and the exit code is 0.

mod arguments;
mod book;
mod bottlenecks;
mod ceiling;
mod check;
mod cluster;
mod console;
mod database;
mod dice;
mod ground;
mod hand;
mod load;
mod machine;
mod orders;
mod pin;
mod probe;
mod process;
mod program;
mod ratio;
mod recovery;
mod report;
mod reproduce;
mod run;
mod scaling;
mod scenario;
mod section;
mod server;
mod statistics;

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, ensure};
use clap::{Args, Parser, Subcommand};
use turnstile_trial::Counting;

use crate::{
    arguments::{Program, RunExtent},
    book::BookBenchmark,
    bottlenecks::{Bottlenecks, Planted},
    check::CheckArguments,
    cluster::ClusterArguments,
    console::ConsoleArguments,
    ground::Ground,
    hand::{ByHand, by_hand},
    machine::Machine,
    probe::MachineProbe,
    recovery::Recoveries,
    report::{NotMeasured, Report},
    reproduce::Reproduce,
    scaling::ScalingInputs,
    scenario::ScenarioFile,
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
    /// Rooms, beside redis-server; writes rooms.json and rooms.md
    Rooms(ServerArguments),
    /// Orders over the doors; writes exchange.json and exchange.md
    Exchange(ServerArguments),
    /// Games; writes games.json and games.md
    Games(ServerArguments),
    /// Travel, beside PostgreSQL; writes travel.json and travel.md
    Travel(ServerArguments),
    /// Services in databases; writes backends.json and backends.md
    Backends(ServerArguments),
    /// This version beside an older one (--older); writes versions.json and versions.md
    Versions(ServerArguments),
    /// Keys and TLS, beside Redis with TLS; writes access.json and access.md
    Access(ServerArguments),
    /// Any scenario file (bench/scenarios/README.md); writes its result under the file's name
    Run {
        file: PathBuf,
        #[command(flatten)]
        run: ServerArguments,
    },
    /// The order book alone, in five market regimes; writes book.json and book.md. With --harness, in
    /// the public matching harness beside other engines; writes harness.json and harness.md
    Book(BookBenchmark),
    /// The lab's statistics on systems of known truth; writes statistics.json and statistics.md
    Statistics(Statistics),
    /// Whether the lab names planted bottlenecks and refuses planted bad runs; writes bottlenecks.json
    /// and bottlenecks.md
    Bottlenecks(Bottlenecks),
    /// What the proof of `lab check` costs; writes check.json and check.md
    Check(CheckArguments),
    /// Three nodes on three brokers, beside etcd and PostgreSQL with a standby; writes cluster.json and
    /// cluster.md
    Cluster(ClusterArguments),
    /// The console in Chromium: weight and speed of its pages, and a board of 10,000 rooms; writes
    /// console.json and console.md. Or an hour of events, or its pictures in the book
    Console(ConsoleArguments),
    /// Records recovered a second, from journals and from snapshots; writes recovery.json and recovery.md
    Recovery(Recoveries),
    /// A server with one known bottleneck or fault, for `bottlenecks`
    #[command(hide = true)]
    Planted(Planted),
    /// The originals' experiments on every back end, beside what was published; writes a page for each
    Reproduce(Reproduce),
    /// How far a cluster with several partitions goes, computed from figures of single parts
    Scaling(ScalingInputs),
    /// Only what the bare machine does: one sync, one round trip over loopback
    Probe {
        /// Where the probe writes: a directory on the disk of interest
        #[arg(long, default_value = "/var/tmp")]
        scratch: PathBuf,
    },
    /// Shows a kept result, such as bench/results/rooms.json, as Markdown
    Show { file: PathBuf },
}

/// What all measurements of servers have in common.
#[derive(Args, Debug)]
struct ServerArguments {
    #[command(flatten)]
    extent: RunExtent,
    /// Measure only this part; repeatable
    #[arg(long, value_name = "PART")]
    only: Vec<String>,
    /// Where servers and probe keep their files: a directory on the disk of interest
    #[arg(long, default_value = "/var/tmp")]
    scratch: PathBuf,
    #[command(flatten)]
    program: Program,
    /// An older program of ours, for scenarios that compare with one
    #[arg(long, value_name = "PATH")]
    older: Option<PathBuf>,
}

const ROOMS: &str = include_str!("../scenarios/rooms.toml");
const EXCHANGE: &str = include_str!("../scenarios/exchange.toml");
const GAMES: &str = include_str!("../scenarios/games.toml");
const TRAVEL: &str = include_str!("../scenarios/travel.toml");
const BACKENDS: &str = include_str!("../scenarios/backends.toml");
const VERSIONS: &str = include_str!("../scenarios/versions.toml");
const ACCESS: &str = include_str!("../scenarios/access.toml");

fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Rooms(run) => built_in("rooms", ROOMS, &run),
        Command::Exchange(run) => built_in("exchange", EXCHANGE, &run),
        Command::Games(run) => built_in("games", GAMES, &run),
        Command::Travel(run) => built_in("travel", TRAVEL, &run),
        Command::Backends(run) => built_in("backends", BACKENDS, &run),
        Command::Access(run) => built_in("access", ACCESS, &run),
        Command::Versions(run) => built_in("versions", VERSIONS, &run),
        Command::Run { file, run } => {
            let name = file.file_stem().context("a scenario file has a name")?;
            let name = name.to_string_lossy().into_owned();
            let scenario = ScenarioFile::read(&file, scenario::usual(run.extent.quick))?;
            measure(&name, &scenario, &run)
        }
        Command::Book(arguments) => show(&book::measure(&arguments)?),
        Command::Statistics(arguments) => show(&statistics::measure(&arguments)?),
        Command::Bottlenecks(arguments) => show(&bottlenecks::measure(&arguments)?),
        Command::Check(arguments) => show(&check::measure(&arguments)?),
        Command::Cluster(arguments) => {
            let report = cluster::measure(&arguments)?;
            show(&report)?;
            report.check()
        }
        Command::Console(arguments) => console::measure(&arguments)?.as_ref().map_or(Ok(()), show),
        Command::Recovery(arguments) => show(&recovery::measure(&arguments)?),
        Command::Reproduce(arguments) => reproduce::measure(&arguments),
        Command::Planted(planted) => bottlenecks::serve(planted),
        Command::Scaling(inputs) => scaling::show(&inputs),
        Command::Probe { scratch } => {
            let probe = MachineProbe::take(&scratch)?;
            writeln!(io::stdout(), "{probe}")?;
            Ok(())
        }
        Command::Show { file } => show(&Report::read(&file)?),
    }
}

fn show(report: &Report) -> Result<()> {
    write!(io::stdout(), "{report}")?;
    Ok(())
}

fn built_in(name: &str, text: &str, run: &ServerArguments) -> Result<()> {
    measure(
        name,
        &ScenarioFile::parse(text, scenario::usual(run.extent.quick))?,
        run,
    )
}

/// Measures the sections of a scenario, and what belongs to its report and is measured by hand.
fn measure(name: &str, scenario: &ScenarioFile, run: &ServerArguments) -> Result<()> {
    let hand = by_hand(name);
    let known = scenario.parts.iter().map(|part| part.name.as_str());
    let known: Vec<&str> = known.chain(hand.iter().map(|(part, _)| *part)).collect();
    for asked in &run.only {
        ensure!(
            known.contains(&asked.as_str()),
            "there is no part `{asked}`: there are {}",
            known.join(", ")
        );
    }
    let ground = Ground {
        turnstile: run.program.path()?,
        older: run.older.clone(),
        scratch: run.scratch.clone(),
        quick: run.extent.quick,
    };
    let mut programs = vec![ground.turnstile.as_path()];
    programs.extend(ground.older.as_deref());
    programs.extend(scenario.programs.iter().map(Path::new));
    let mut report = Report {
        title: scenario.title.clone(),
        about: scenario.about.clone(),
        quick: ground.quick,
        machine: Some(Machine::with(&programs)),
        sections: Vec::new(),
        not_measured: Vec::new(),
    };
    let is_asked = |name: &str, on_request: bool| {
        let named = run.only.iter().any(|only| only == name);
        named || (run.only.is_empty() && !on_request)
    };
    let parts = scenario
        .parts
        .iter()
        .filter(|part| is_asked(&part.name, part.on_request));
    let parts = parts.map(|part| (part.name.as_str(), Way::Scenario(part)));
    let hand = hand.iter().filter(|(name, _)| is_asked(name, false));
    let hand = hand.map(|(name, measure)| (*name, Way::ByHand(*measure)));
    for (part, way) in parts.chain(hand) {
        ground::tell(&format!("part {part}"))?;
        let measured = match way {
            Way::Scenario(part) => run::measure(&ground, part),
            Way::ByHand(measure) => measure(&ground),
        };
        match measured {
            Ok(section) => report.sections.push(section),
            Err(reason) => report.not_measured.push(NotMeasured {
                section: part.to_owned(),
                reason: format!("{reason:#}"),
            }),
        }
    }
    report.write(run.extent.out(!run.only.is_empty()), name)?;
    show(&report)?;
    report.check()
}

enum Way<'a> {
    Scenario(&'a scenario::Part),
    ByHand(ByHand),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::{
        ACCESS, Arguments, BACKENDS, EXCHANGE, GAMES, ROOMS, ScenarioFile, TRAVEL, VERSIONS,
        scenario::usual,
    };

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_scenario_can_be_read_and_has_its_bounds() {
        let files = [
            ("rooms", ROOMS, (6, 10)),
            ("exchange", EXCHANGE, (4, 7)),
            ("games", GAMES, (6, 10)),
            ("travel", TRAVEL, (7, 17)),
            ("backends", BACKENDS, (2, 0)),
            ("versions", VERSIONS, (6, 6)),
            ("access", ACCESS, (2, 6)),
        ];
        for (name, text, expected) in files {
            for quick in [true, false] {
                let scenario = ScenarioFile::parse(text, usual(quick)).unwrap();
                let claims = scenario.parts.iter().flat_map(|part| &part.claims);
                let bounds = claims.filter(|claim| claim.bound.is_some()).count();
                assert_eq!((scenario.parts.len(), bounds), expected, "{name}");
            }
        }
    }
}
