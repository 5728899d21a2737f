//! A run of the harness as files: JSON is the result, Markdown a view of it.

use std::{
    fmt::{self, Write as _},
    path::Path,
};

use anyhow::Result;
use serde::Serialize;

use crate::{
    machine::Machine,
    pin::{CLIENT_CORE, SERVER_CORE},
    ratio::{Bound, Ratio},
    report::{write_files, write_machine},
    section::NEIGHBOURS_PERCENT_MAX,
};

use super::KNOWN_SEED;

/// The better of the others is the peer, in each scenario and round.
const OWN_TRANSPORT: Bound = Bound::AtLeast(1.5);
const HARNESS_QUEUE: Bound = Bound::AtLeast(1.0);
const OWN_NS: Bound = Bound::AtMost(45.0);
/// How to get the harness, and to run it.
const AGAIN: &str = "The harness is flash1-dev/matching-engine-benchmark on GitHub; \"make\" builds it where it lies, \
    with cmake, g++ and libboost-dev. Its additional_references directory has adapters for other engines.\n\n    \
    cargo build --profile dist -p turnstile-harness -p turnstile-bench\n    \
    target/dist/turnstile-bench book --harness PATH --engine NAME=FILE.so";
/// Engines of ours, before the others.
const OURS: usize = 2;

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// Quick runs are short, and prove only that the benchmark works.
    pub(super) quick: bool,
    pub(super) machine: Machine,
    pub(super) rounds: usize,
    /// What others used while it was measured, in percent of a core.
    pub(super) neighbours_percent: f64,
    /// Ours with its own transport, ours with the harness's queue, then the others.
    pub(super) engines: Vec<String>,
    pub(super) rows: Vec<Row>,
    pub(super) identities: Vec<Identity>,
}

/// One scenario.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) scenario: String,
    /// Messages per second of each engine, in each round.
    pub(super) rates: Vec<Vec<f64>>,
    /// CPU time per message in our library alone, in each round.
    pub(super) own_ns: Vec<f64>,
}

/// The report streams of all engines for a seed that the harness does not know.
#[derive(Debug, Serialize)]
pub(super) struct Identity {
    pub(super) scenario: String,
    pub(super) seed: u32,
    pub(super) identical: bool,
    /// SHA-256 of each engine's stream.
    pub(super) hashes: Vec<String>,
}

impl Row {
    /// Our engine against the better of the others, round by round. None where there are none.
    fn against_peers(&self, ours: usize) -> Option<Ratio> {
        let (ours, peers) = (&self.rates[ours], &self.rates[OURS..]);
        let better = |round: usize| peers.iter().map(|rates| rates[round]).reduce(f64::max);
        let better: Option<Vec<f64>> = (0..ours.len()).map(better).collect();
        Some(Ratio::of(ours, &better?))
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "| {} |", self.scenario)?;
        for rates in &self.rates {
            let Ratio { median, min, max } = Ratio::spread(rates);
            let [median, min, max] = [median, min, max].map(|rate| rate / 1e6);
            write!(f, " {median:.2} ({min:.2} .. {max:.2}) |")?;
        }
        let Ratio { median, min, max } = Ratio::spread(&self.own_ns);
        write!(f, " {median:.1} ({min:.1} .. {max:.1}) |")
    }
}

impl Report {
    /// Writes `harness.json` and `harness.md`, in place of those of an earlier run.
    pub(super) fn write(&self, dir: &Path) -> Result<()> {
        write_files(self, dir, "harness")
    }

    fn claims(&self) -> String {
        let least = |ratios: Vec<Ratio>| {
            let mut ratios = ratios;
            ratios.sort_by(|one, other| one.median.total_cmp(&other.median));
            ratios
        };
        let against = |ours| {
            let ratios = self.rows.iter().filter_map(|row| row.against_peers(ours));
            least(ratios.collect()).into_iter().next()
        };
        let own = self.rows.iter().map(|row| Ratio::spread(&row.own_ns));
        let own = least(own.collect()).pop();
        let rows = [
            (
                "rate against the better of the others, own transport",
                OWN_TRANSPORT,
                against(0),
            ),
            (
                "rate against the better of the others, harness's queue",
                HARNESS_QUEUE,
                against(1),
            ),
            ("CPU time of a message in our library, ns", OWN_NS, own),
        ];
        let quiet = self.neighbours_percent <= NEIGHBOURS_PERCENT_MAX;
        let mut lines = String::new();
        for (target, bound, ratio) in rows {
            let Some(ratio) = ratio else { continue };
            let verdict = bound.judge(&ratio, quiet);
            let Ratio { median, min, max } = ratio;
            writeln!(
                lines,
                "| {target}, in the worst scenario | {bound} | {median:.2} ({min:.2} .. {max:.2}) | {verdict} |"
            )
            .expect("a string takes all that is written");
        }
        lines
    }

    fn write_identities(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\n## Byte by byte\n\nFor seed {KNOWN_SEED} the harness knows the hash of the right report \
             stream, and every run above has it. For other seeds it knows none, so the streams of all \
             engines are compared with each other.\n"
        )?;
        writeln!(f, "| scenario | seed | all identical | SHA-256 of ours |")?;
        writeln!(f, "|---|---:|---|---|")?;
        for one in &self.identities {
            let identical = if one.identical { "yes" } else { "**no**" };
            let hash = one
                .hashes
                .first()
                .map_or("", |hash| &hash[..16.min(hash.len())]);
            writeln!(
                f,
                "| {} | {} | {identical} | {hash}... |",
                one.scenario, one.seed
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = if self.quick { "quick" } else { "full" };
        writeln!(
            f,
            "# The order book in the public matching harness ({length} run)\n"
        )?;
        writeln!(
            f,
            "| target | bound | measured | verdict |\n|---|---|---|---|"
        )?;
        write!(f, "{}", self.claims())?;
        writeln!(
            f,
            "\n## Scenarios\n\nMillions of messages per second as the harness counts them, {} rounds in \
             which the engines take turns: median (lowest .. highest). The matching thread runs on core \
             {SERVER_CORE}, the drainer on core {CLIENT_CORE}. The harness measures a cold book: one \
             pass of two million messages in a new process. Ours uses two options of its interface: \
             messages come in batches, and in the first column reports leave through our own \
             transport, which hands them over in blocks of 128; all of them reach the drainer, or the \
             hash would be wrong. The last column is the CPU time of a message in our library alone, \
             without a transport. Neighbours used {:.0} % of a core.\n",
            self.rounds, self.neighbours_percent
        )?;
        writeln!(
            f,
            "| scenario | {} | own time, ns |",
            self.engines.join(" | ")
        )?;
        writeln!(f, "|---{}|", "|---:".repeat(self.engines.len() + 1))?;
        for row in &self.rows {
            writeln!(f, "{row}")?;
        }
        self.write_identities(f)?;
        writeln!(f, "\n## Again\n\n{AGAIN}")?;
        write_machine(f, &self.machine)
    }
}

#[cfg(test)]
mod tests {
    use super::Row;
    use crate::ratio::Ratio;

    #[test]
    fn the_peer_is_the_better_of_the_others_in_each_round() {
        let mut row = Row {
            scenario: "normal".to_owned(),
            rates: vec![
                vec![8e6, 9e6],
                vec![4e6, 6e6],
                vec![4e6, 2e6],
                vec![1e6, 3e6],
            ],
            own_ns: vec![40.0, 42.0],
        };
        let ratio = |median, min, max| Some(Ratio { median, min, max });
        assert_eq!(row.against_peers(0), ratio(2.5, 2.0, 3.0));
        assert_eq!(row.against_peers(1), ratio(1.5, 1.0, 2.0));
        let line = "| normal | 8.50 (8.00 .. 9.00) | 5.00 (4.00 .. 6.00) | 3.00 (2.00 .. 4.00) | \
                    2.00 (1.00 .. 3.00) | 41.0 (40.0 .. 42.0) |";
        assert_eq!(row.to_string(), line);
        row.rates.truncate(2);
        assert_eq!(row.against_peers(0), None);
    }
}
