//! The order book in the public matching harness, beside other engines, in one run.

mod own;
mod program;
mod report;

use std::{env, path::PathBuf, str::FromStr};

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use crate::{arguments::Extent, ground::tell, machine::Machine, process::Neighbours};

use program::{Engine, Program};
pub(crate) use report::Report;
use report::{Identity, Row};

#[derive(Args, Debug)]
pub(crate) struct Harness {
    /// Measure in the public matching harness that was built in this directory, not with our streams
    #[arg(long = "harness", value_name = "PATH")]
    path: Option<PathBuf>,
    /// Another engine for the harness, as NAME=FILE.so; repeatable
    #[arg(long = "engine", value_name = "NAME=FILE", requires = "path")]
    engines: Vec<Peer>,
    /// Our engine for the harness [default: libturnstile_harness.so beside this program]
    #[arg(long, value_name = "FILE", requires = "path")]
    library: Option<PathBuf>,
}

/// Another engine.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Peer {
    name: String,
    file: PathBuf,
}

/// The harness's own, in its order.
const SCENARIOS: [&str; 5] = ["normal", "static", "flash-crash", "swing-25", "swing-40"];
/// The seed for which the harness knows the right reports.
const KNOWN_SEED: u32 = 23;
/// Seeds for which engines are compared with each other.
const OTHER_SEEDS: [u32; 2] = [77, 4_711];
/// Runs of each engine in each scenario; a quick run has one.
const ROUNDS: usize = 5;

impl Harness {
    pub(crate) const fn is_wanted(&self) -> bool {
        self.path.is_some()
    }
}

impl FromStr for Peer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, file) = text
            .split_once('=')
            .filter(|(name, file)| !name.is_empty() && !file.is_empty())
            .ok_or("expected NAME=FILE.so")?;
        Ok(Self {
            name: name.to_owned(),
            file: PathBuf::from(file),
        })
    }
}

pub(crate) fn measure(arguments: &Harness, extent: &Extent) -> Result<Report> {
    let path = arguments.path.as_ref().context("--harness names no path")?;
    let program = Program::at(path)?;
    let engines = contestants(arguments)?;
    let rounds = if extent.quick { 1 } else { ROUNDS };
    let machine = Machine::with(&[]);
    let neighbours = Neighbours::watch()?;
    let mut rows = Vec::new();
    for scenario in SCENARIOS {
        let row = row(&program, &engines, scenario, rounds)?;
        tell(&row.to_string())?;
        rows.push(row);
    }
    let neighbours_percent = neighbours.percent()?;
    let mut identities = Vec::new();
    for seed in OTHER_SEEDS {
        for scenario in SCENARIOS {
            identities.push(identity(&program, &engines, scenario, seed)?);
        }
    }
    let report = Report {
        quick: extent.quick,
        machine,
        rounds,
        neighbours_percent,
        engines: engines.into_iter().map(|engine| engine.name).collect(),
        rows,
        identities,
    };
    report.write(&extent.out)?;
    Ok(report)
}

/// Ours with its own transport, ours with the harness's, and the others.
fn contestants(arguments: &Harness) -> Result<Vec<Engine>> {
    let library = match &arguments.library {
        Some(library) => library.clone(),
        None => env::current_exe()?.with_file_name("libturnstile_harness.so"),
    };
    let library = library.canonicalize().with_context(|| {
        let build = "build it with \"cargo build --release -p turnstile-harness\"";
        format!("cannot find our engine {}; {build}", library.display())
    })?;
    let ours = |name: &str, transport| Engine {
        name: name.to_owned(),
        file: library.clone(),
        transport,
    };
    let mut engines = vec![
        ours("Turnstile", "own"),
        ours("Turnstile, harness's queue", "harness"),
    ];
    for Peer { name, file } in &arguments.engines {
        let found = file.canonicalize();
        engines.push(Engine {
            name: name.clone(),
            file: found.with_context(|| format!("cannot find engine {}", file.display()))?,
            transport: "own",
        });
    }
    Ok(engines)
}

/// All rounds of a scenario; engines take turns.
fn row(program: &Program, engines: &[Engine], scenario: &str, rounds: usize) -> Result<Row> {
    let mut rates = vec![Vec::new(); engines.len()];
    let mut own_ns = Vec::new();
    for _ in 0..rounds {
        for (engine, rates) in engines.iter().zip(&mut rates) {
            let run = program.run(engine, scenario, KNOWN_SEED)?;
            ensure!(
                run.valid,
                "{} is not valid in {scenario}; run {:?} by hand for the reason",
                engine.name,
                program.command(engine, scenario, KNOWN_SEED)
            );
            rates.push(run.rate);
        }
        own_ns.push(own::ns_per_message(
            &program.workload(scenario, KNOWN_SEED),
        )?);
    }
    Ok(Row {
        scenario: scenario.to_owned(),
        rates,
        own_ns,
    })
}

/// Whether all engines report the same bytes where the harness does not know the right ones.
fn identity(program: &Program, engines: &[Engine], scenario: &str, seed: u32) -> Result<Identity> {
    let runs = engines.iter();
    let runs = runs.map(|engine| program.run(engine, scenario, seed));
    let hashes: Vec<String> = runs.map(|run| Ok(run?.hash)).collect::<Result<_>>()?;
    Ok(Identity {
        scenario: scenario.to_owned(),
        seed,
        identical: hashes.windows(2).all(|pair| pair[0] == pair[1]),
        hashes,
    })
}

#[cfg(test)]
mod tests {
    use super::Peer;

    #[test]
    fn an_engine_is_given_by_name_and_file() {
        let peer = "geseq=/tmp/a=b.so".parse::<Peer>().unwrap();
        assert_eq!(
            (peer.name.as_str(), peer.file.to_str()),
            ("geseq", Some("/tmp/a=b.so"))
        );
        for bad in ["", "geseq", "=x.so", "geseq="] {
            assert_eq!(
                bad.parse::<Peer>(),
                Err("expected NAME=FILE.so".to_owned()),
                "{bad}"
            );
        }
    }
}
