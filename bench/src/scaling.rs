//! How far a cluster with several partitions goes, computed from figures of single parts.
//!
//! Nothing is measured here. Each bound is one line of arithmetic, so that the page can be made again with
//! figures of another machine.

use std::io::{self, Write as _};

use anyhow::Result;
use clap::Args;

/// Machines of the page's tables.
const MACHINES: [u32; 3] = [3, 10, 100];

/// Partitions that are tried.
const PARTITIONS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Nodes that hold each partition, once nodes relay to each other.
const HOLDERS: u32 = 3;

/// Brokers that write each entry.
const REPLICAS: u32 = 3;

/// The figures of single parts. The defaults are those of `docs/cluster-scaling.md`, which says where each comes
/// from: give those of other machines.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct ScalingInputs {
    /// CPU of a node for applying one command of the log, in microseconds
    #[arg(long, default_value_t = 2.0)]
    apply_us: f64,
    /// CPU of the node with the client, for one command without applying it, in microseconds
    #[arg(long, default_value_t = 6.0)]
    door_us: f64,
    /// CPU of both nodes for one command that is relayed, in microseconds
    #[arg(long, default_value_t = 20.0)]
    relay_us: f64,
    /// Bytes of the log for one command
    #[arg(long, default_value_t = 150.0)]
    bytes: f64,
    /// Commands in an entry under load
    #[arg(long, default_value_t = 100.0)]
    commands: f64,
    /// Entries that one stream takes in a second
    #[arg(long, default_value_t = 800.0)]
    stream_entries: f64,
    /// Entries that one broker writes in a second, of all streams
    #[arg(long, default_value_t = 2_600.0)]
    broker_entries: f64,
    /// Cores of a machine that its node may use
    #[arg(long, default_value_t = 4.0)]
    cores: f64,
    /// Bytes that a machine receives in a second
    #[arg(long, default_value_t = 125e6)]
    network: f64,
}

/// How many nodes hold a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartitionHolding {
    /// Every node holds every partition.
    All,
    /// Three nodes hold each further partition, and the others relay to them. All hold the first.
    Three,
}

/// What ends the growth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScalingBound {
    Streams,
    Brokers,
    PartitionLoops,
    DoorLoops,
    Cores,
    Network,
}

impl ScalingBound {
    const fn words(self) -> &'static str {
        match self {
            Self::Streams => "streams",
            Self::Brokers => "brokers' disks",
            Self::PartitionLoops => "loops of partitions",
            Self::DoorLoops => "loops with doors",
            Self::Cores => "cores of the nodes",
            Self::Network => "network",
        }
    }
}

impl ScalingInputs {
    /// Commands in a second that each part allows, on so many machines with as many partitions.
    fn bounds(
        &self,
        machines: u32,
        partitions: u32,
        holding: PartitionHolding,
    ) -> [(ScalingBound, f64); 6] {
        let (n, p) = (f64::from(machines), f64::from(partitions));
        // The first partition is everywhere; a node holds as many partitions as it takes part in.
        let few = f64::from(HOLDERS.min(machines));
        let holders = match holding {
            PartitionHolding::All => n,
            PartitionHolding::Three => (n + (p - 1.0) * few) / p,
        };
        let relayed = 1.0 - holders / n;
        let per_command = holders * self.apply_us + self.door_us + relayed * self.relay_us;
        let replicas = f64::from(REPLICAS);
        [
            (
                ScalingBound::Streams,
                p * self.stream_entries * self.commands,
            ),
            (
                ScalingBound::Brokers,
                n / replicas * self.broker_entries * self.commands,
            ),
            (ScalingBound::PartitionLoops, p * 1e6 / self.apply_us),
            (ScalingBound::DoorLoops, n * 1e6 / self.door_us),
            (ScalingBound::Cores, n * self.cores * 1e6 / per_command),
            (
                ScalingBound::Network,
                n * self.network / ((holders + replicas + 4.0 * relayed) * self.bytes),
            ),
        ]
    }

    /// The lowest of them.
    fn bound(
        &self,
        machines: u32,
        partitions: u32,
        holding: PartitionHolding,
    ) -> (ScalingBound, f64) {
        let [first, rest @ ..] = self.bounds(machines, partitions, holding);
        rest.into_iter()
            .fold(first, |low, one| if one.1 < low.1 { one } else { low })
    }
}

/// Shows the page.
pub(crate) fn show(inputs: &ScalingInputs) -> Result<()> {
    write!(io::stdout(), "{}", page(inputs))?;
    Ok(())
}

fn page(inputs: &ScalingInputs) -> String {
    let mut page = String::from(HEAD);
    let ScalingInputs {
        apply_us,
        door_us,
        relay_us,
        bytes,
        commands,
        stream_entries,
        broker_entries,
        cores,
        network,
    } = inputs;
    for (option, value, letter) in [
        ("--apply-us", apply_us, "a"),
        ("--door-us", door_us, "d"),
        ("--relay-us", relay_us, "r"),
        ("--bytes", bytes, "b"),
        ("--commands", commands, "c"),
        ("--stream-entries", stream_entries, "s"),
        ("--broker-entries", broker_entries, "w"),
        ("--cores", cores, "k"),
        ("--network", network, "m"),
    ] {
        page.push_str(&format!("| {letter} | `{option}` | {value} |\n"));
    }
    page.push_str(FORMULAS);
    for (title, holding) in [
        ("Every node holds all partitions", PartitionHolding::All),
        (
            "Three nodes hold each further partition",
            PartitionHolding::Three,
        ),
    ] {
        page.push_str(&format!("\n## {title}\n\n| partitions |"));
        for machines in MACHINES {
            page.push_str(&format!(" {machines} machines | bound |"));
        }
        page.push_str("\n| ---: | ---: | --- | ---: | --- | ---: | --- |\n");
        for partitions in PARTITIONS {
            page.push_str(&format!("| {partitions} |"));
            for machines in MACHINES {
                let (bound, rate) = inputs.bound(machines, partitions, holding);
                page.push_str(&format!(" {:.0} | {} |", rate.floor(), bound.words()));
            }
            page.push('\n');
        }
    }
    page
}

const HEAD: &str = "# How far partitions go

Computed, not measured: `turnstile-bench scaling`. Give measured figures as its options.

| | option | value |
| --- | --- | ---: |
";

const FORMULAS: &str = "
N machines have a node and a broker each. P partitions are spread evenly, and so are clients and names. A
partition has h nodes on average: N where each node holds all; `(N + (P - 1) * 3) / P` where three hold each, and
all the first. A share of `1 - h/N` of the commands is relayed. Commands in a second are at most:

| bound | formula |
| --- | --- |
| streams | `P * s * c` |
| brokers' disks: three brokers write each entry | `N / 3 * w * c` |
| loops of partitions: one thread applies a partition | `P * 10^6 / a` |
| loops with doors: one thread of a node has all its doors | `N * 10^6 / d` |
| cores of the nodes | `N * k * 10^6 / (h * a + d + (1 - h/N) * r)` |
| network: h nodes and three brokers receive each command; one that is relayed is received four times more | `N * m / ((h + 3 + 4 * (1 - h/N)) * b)` |

The lowest of them is the rate, and says what to add.
";

#[cfg(test)]
mod tests {
    use super::*;

    const INPUTS: ScalingInputs = ScalingInputs {
        apply_us: 2.0,
        door_us: 4.0,
        relay_us: 10.0,
        bytes: 100.0,
        commands: 100.0,
        stream_entries: 500.0,
        broker_entries: 1_000.0,
        cores: 2.0,
        network: 1e9,
    };

    #[test]
    fn the_lowest_bound_is_the_rate() {
        let (bound, rate) = INPUTS.bound(3, 1, PartitionHolding::All);
        assert_eq!((bound, rate), (ScalingBound::Streams, 50_000.0));
        // 3 / 3 * 1,000 * 100.
        let (bound, rate) = INPUTS.bound(3, 4, PartitionHolding::All);
        assert_eq!((bound, rate), (ScalingBound::Brokers, 100_000.0));
        // 100 * 2 * 10^6 / (100 * 2 + 4).
        let (bound, rate) = INPUTS.bound(100, 64, PartitionHolding::All);
        assert_eq!((bound, rate.floor()), (ScalingBound::Cores, 980_392.0));
    }

    #[test]
    fn more_machines_help_only_where_not_all_of_them_do_all_the_work() {
        let rate = |machines, holding| {
            let all = INPUTS.bounds(machines, 64, holding);
            let cores = all
                .into_iter()
                .find(|(bound, _)| *bound == ScalingBound::Cores);
            cores.expect("it is one of them").1
        };
        // Never more than k / a, however many machines there are.
        assert!(rate(100, PartitionHolding::All) < 1e6);
        assert!(rate(100, PartitionHolding::Three) > 7.0 * rate(10, PartitionHolding::Three));
    }

    #[test]
    fn the_page_names_every_input_and_every_bound() {
        let page = page(&INPUTS);
        for word in ["--apply-us", "| 64 |", "100 machines", "brokers' disks"] {
            assert!(page.contains(word), "{word}: {page}");
        }
    }
}
