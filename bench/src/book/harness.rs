//! The order book in the public matching harness, beside other engines, in one run.

mod own;
mod program;

use std::{env, path::PathBuf, str::FromStr};

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use crate::{
    arguments::RunExtent,
    ground::tell,
    machine::Machine,
    pin::{CLIENT_CORE, SERVER_CORE},
    ratio::{Bound, Ratio},
    report::Report,
    section::{MeasuredRow, Section, SubjectMetric},
};
use program::{HarnessEngine, HarnessProgram};

#[derive(Args, Debug)]
pub(crate) struct Harness {
    /// Measure in the public matching harness that was built in this directory, not with our streams
    #[arg(long = "harness", value_name = "PATH")]
    path: Option<PathBuf>,
    /// Another engine for the harness, as NAME=FILE.so; repeatable
    #[arg(long = "engine", value_name = "NAME=FILE", requires = "path")]
    engines: Vec<HarnessPeer>,
    /// Our engine for the harness [default: libturnstile_harness.so beside this program]
    #[arg(long, value_name = "FILE", requires = "path")]
    library: Option<PathBuf>,
}

/// Another engine.
#[derive(Clone, Debug, PartialEq, Eq)]
struct HarnessPeer {
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
/// Engines of ours, before the others.
const OURS: usize = 2;
/// The last figure of a scenario.
const OWN: &str = "own time, ns";
/// The better of the others is the peer, in each scenario and round.
const OWN_TRANSPORT: Bound = Bound::AtLeast(1.5);
const HARNESS_QUEUE: Bound = Bound::AtLeast(1.0);
const OWN_NS: Bound = Bound::AtMost(45.0);
/// How to get the harness, and to run it.
const AGAIN: &str = "The harness is flash1-dev/matching-engine-benchmark on GitHub; `make` builds it, with cmake, g++ \
    and libboost-dev. Its additional_references directory has adapters for other engines. `cargo build --profile \
    dist -p turnstile-harness -p turnstile-bench` builds ours, and `target/dist/turnstile-bench book --harness PATH \
    --engine NAME=FILE.so` measures again.";

impl Harness {
    pub(crate) const fn is_wanted(&self) -> bool {
        self.path.is_some()
    }
}

impl FromStr for HarnessPeer {
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

pub(crate) fn measure(arguments: &Harness, extent: &RunExtent) -> Result<Report> {
    let path = arguments.path.as_ref().context("--harness names no path")?;
    let program = HarnessProgram::at(path)?;
    let engines = contestants(arguments)?;
    let rounds = if extent.quick { 1 } else { ROUNDS };
    let machine = Machine::with(&[]);
    let sections = vec![
        scenarios(&program, &engines, rounds)?,
        identities(&program, &engines)?,
    ];
    let title = "The order book in the public matching harness";
    Report::written(extent, "harness", [title, AGAIN], (Some(machine), sections))
}

fn scenarios(
    program: &HarnessProgram,
    engines: &[HarnessEngine],
    rounds: usize,
) -> Result<Section> {
    let mut section = Section::watched("Scenarios", || {
        let mut subjects = Vec::new();
        for scenario in SCENARIOS {
            let subject = row(program, engines, scenario, rounds)?;
            tell(&format!("{subject:?}"))?;
            subjects.push(subject);
        }
        let setting = format!(
            "Millions of messages per second as the harness counts them, {rounds} rounds in which the \
             engines take turns. The matching thread runs on core {SERVER_CORE}, the drainer on core \
             {CLIENT_CORE}. The harness measures a cold book: one pass of two million messages in a new \
             process. Ours uses two options of its interface: messages come in batches, and in the first \
             column reports leave through our own transport, which hands them over in blocks of 128; all \
             of them reach the drainer, or the hash would be wrong. The last column is the CPU time of a \
             message in our library alone, without a transport"
        );
        Ok((setting, subjects))
    })?;
    let by_median = |one: &Ratio, other: &Ratio| one.median.total_cmp(&other.median);
    for (ours, how, bound) in [
        (0, "own transport", OWN_TRANSPORT),
        (1, "harness's queue", HARNESS_QUEUE),
    ] {
        let rows = section.subjects.iter();
        let ratios = rows.filter_map(|row| against_peers(row, ours));
        let Some(worst) = ratios.min_by(by_median) else {
            continue;
        };
        let target = format!("rate against the better of the others, {how}, in the worst scenario");
        section.claim_ratio(&target, worst, bound);
    }
    let own = section
        .subjects
        .iter()
        .map(|row| Ratio::spread(row.values(OWN)));
    let own = own.max_by(by_median).context("there are scenarios")?;
    let target = "CPU time of a message in our library, ns, in the worst scenario";
    section.claim_ratio(target, own, OWN_NS);
    Ok(section)
}

/// Our engine against the better of the others, round by round. None where there are no others.
fn against_peers(row: &MeasuredRow, ours: usize) -> Option<Ratio> {
    let engines = row.figures.iter().filter(|figure| figure.name != OWN);
    let engines: Vec<&[f64]> = engines.map(|figure| row.values(&figure.name)).collect();
    let (ours, peers) = (engines[ours], &engines[OURS..]);
    let better = |round: usize| peers.iter().map(|rates| rates[round]).reduce(f64::max);
    let better: Option<Vec<f64>> = (0..ours.len()).map(better).collect();
    Some(Ratio::of(ours, &better?))
}

/// Ours with its own transport, ours with the harness's, and the others.
fn contestants(arguments: &Harness) -> Result<Vec<HarnessEngine>> {
    let library = match &arguments.library {
        Some(library) => library.clone(),
        None => env::current_exe()?.with_file_name("libturnstile_harness.so"),
    };
    let library = library.canonicalize().with_context(|| {
        let build = "build it with \"cargo build --release -p turnstile-harness\"";
        format!("cannot find our engine {}; {build}", library.display())
    })?;
    let ours = |name: &str, transport| HarnessEngine {
        name: name.to_owned(),
        file: library.clone(),
        transport,
    };
    let mut engines = vec![
        ours("Turnstile", "own"),
        ours("Turnstile, harness's queue", "harness"),
    ];
    for HarnessPeer { name, file } in &arguments.engines {
        let found = file.canonicalize();
        engines.push(HarnessEngine {
            name: name.clone(),
            file: found.with_context(|| format!("cannot find engine {}", file.display()))?,
            transport: "own",
        });
    }
    Ok(engines)
}

/// All rounds of a scenario; engines take turns.
fn row(
    program: &HarnessProgram,
    engines: &[HarnessEngine],
    scenario: &str,
    rounds: usize,
) -> Result<MeasuredRow> {
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
            rates.push(run.rate / 1e6);
        }
        let workload = program.workload(scenario, KNOWN_SEED);
        own_ns.push(own::ns_per_message(&workload)?);
    }
    let engines = engines.iter().zip(rates);
    let figures = engines.map(|(engine, rates)| SubjectMetric::new(engine.name.as_str(), rates));
    let figures = figures.chain([SubjectMetric::new(OWN, own_ns)]);
    Ok(MeasuredRow::new(scenario, figures.collect()))
}

/// Whether all engines report the same bytes where the harness does not know the right ones.
fn identities(program: &HarnessProgram, engines: &[HarnessEngine]) -> Result<Section> {
    let mut subjects = Vec::new();
    for seed in OTHER_SEEDS {
        for scenario in SCENARIOS {
            let runs = engines.iter();
            let runs = runs.map(|engine| program.run(engine, scenario, seed));
            let hashes: Vec<String> = runs.map(|run| Ok(run?.hash)).collect::<Result<_>>()?;
            let identical = hashes.windows(2).all(|pair| pair[0] == pair[1]);
            let figures = vec![
                SubjectMetric::text("all identical", if identical { "yes" } else { "**no**" }),
                SubjectMetric::text("SHA-256 of ours", hashes[0].as_str()),
            ];
            subjects.push(MeasuredRow::new(
                format!("{scenario}, seed {seed}"),
                figures,
            ));
        }
    }
    let setting = format!(
        "For seed {KNOWN_SEED} the harness knows the hash of the right report stream, and every run above \
         has it. For other seeds it knows none, so the streams of all engines are compared with each other"
    );
    Ok(Section::new("Byte by byte", setting, subjects))
}

#[cfg(test)]
mod tests {
    use super::{HarnessPeer, MeasuredRow, OWN, Ratio, SubjectMetric, against_peers};

    #[test]
    fn the_peer_is_the_better_of_the_others_in_each_round() {
        let engines = [[8.0, 9.0], [4.0, 6.0], [4.0, 2.0], [1.0, 3.0]];
        let names = ["ours", "ours, too", "a", "b"];
        let figures = names.iter().zip(engines);
        let figures = figures.map(|(name, rates)| SubjectMetric::new(*name, rates.to_vec()));
        let mut figures: Vec<SubjectMetric> = figures.collect();
        figures.push(SubjectMetric::new(OWN, vec![40.0, 42.0]));
        let mut row = MeasuredRow::new("normal", figures);
        let ratio = |median, min, max| Some(Ratio { median, min, max });
        assert_eq!(against_peers(&row, 0), ratio(2.5, 2.0, 3.0));
        assert_eq!(against_peers(&row, 1), ratio(1.5, 1.0, 2.0));
        row.figures.truncate(2);
        assert_eq!(against_peers(&row, 0), None);
    }

    #[test]
    fn an_engine_is_given_by_name_and_file() {
        let peer = "geseq=/tmp/a=b.so".parse::<HarnessPeer>().unwrap();
        assert_eq!(
            (peer.name.as_str(), peer.file.to_str()),
            ("geseq", Some("/tmp/a=b.so"))
        );
        for bad in ["", "geseq", "=x.so", "geseq="] {
            assert_eq!(
                bad.parse::<HarnessPeer>(),
                Err("expected NAME=FILE.so".to_owned()),
                "{bad}"
            );
        }
    }
}
