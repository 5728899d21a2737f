//! Durable bookings a second over 1, 2 and 4 partitions, and through a node that does not hold them.

use anyhow::{Context as _, Result};
use turnstile_types::{Name, PartitionNumber};

use super::{
    ClusterGround,
    nodes::{ClusterUnderTest, open_property},
    rates::{LabLoad, RateSample, spread},
};
use crate::{
    ground::tell,
    process::Neighbours,
    ratio::{Bound, Ratio},
    report::NotMeasured,
    section::{MeasuredRow, Section, SubjectMetric},
};

/// Requests under way at once.
const LEVELS: [u32; 2] = [50, 800];

/// Loads at a time: each is of one node and one partition, and so many go on all of both.
const LOADS: usize = 12;

const NAMES: [&str; 4] = ["main", "b", "c", "d"];

/// What is measured, each cluster started anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartitionSubject {
    /// All nodes hold so many partitions, and have a third of the clients each.
    Held(usize),
    /// Two partitions; all bookings are of the second, and come to a node that holds it.
    AtHolder,
    /// The same, and they come to a node that does not hold it.
    Relayed,
}

const SUBJECTS: [PartitionSubject; 5] = [
    PartitionSubject::Held(1),
    PartitionSubject::Held(2),
    PartitionSubject::Held(4),
    PartitionSubject::AtHolder,
    PartitionSubject::Relayed,
];

impl PartitionSubject {
    fn name(self) -> String {
        match self {
            Self::Held(1) => "1 partition".to_owned(),
            Self::Held(count) => format!("{count} partitions"),
            Self::AtHolder => "one partition of 2, at one node that holds it".to_owned(),
            Self::Relayed => "one partition of 2, at one node that does not".to_owned(),
        }
    }

    const fn partitions(self) -> usize {
        match self {
            Self::Held(count) => count,
            Self::AtHolder | Self::Relayed => 2,
        }
    }

    /// The names of the partitions that the first node holds, and of all.
    fn lists(self) -> (Vec<String>, Vec<String>) {
        let all = NAMES.iter().take(self.partitions());
        let all: Vec<String> = all.map(|&name| name.to_owned()).collect();
        match self {
            Self::Held(1) => (Vec::new(), Vec::new()),
            Self::Held(_) | Self::AtHolder => (Vec::new(), all),
            Self::Relayed => (all.iter().take(1).cloned().collect(), all),
        }
    }

    /// The node and the partition of a load.
    const fn place(self, load: usize) -> (usize, usize) {
        match self {
            Self::Held(count) => (load % 3, load % count),
            Self::AtHolder | Self::Relayed => (0, 1),
        }
    }
}

/// A property that lies on a partition, of so many.
fn property_on(partition: usize, count: usize) -> Result<String> {
    let count = u8::try_from(count)?;
    let mut names = (0..1_000).map(|number| format!("bench-{number}"));
    let lies_there = |name: &String| {
        let name = Name::parse(name.as_bytes());
        name.is_ok_and(|name| {
            usize::from(PartitionNumber::of_name(&name, count).get()) == partition
        })
    };
    names
        .find(lies_there)
        .context("names lie on all partitions")
}

pub(super) fn measure(
    ground: &ClusterGround,
    _not_measured: &mut Vec<NotMeasured>,
) -> Result<Section> {
    let neighbours = Neighbours::watch()?;
    let seconds = if ground.quick { 1 } else { 4 };
    let mut samples = vec![Vec::new(); LEVELS.len() * SUBJECTS.len()];
    for round in 0..ground.rounds {
        for turn in 0..SUBJECTS.len() {
            // What is measured last has the warmest machine: the rounds begin elsewhere.
            let at = (turn + round) % SUBJECTS.len();
            let cluster = started(ground, SUBJECTS[at])?;
            for (level, count) in LEVELS.into_iter().enumerate() {
                let sample = sample(ground, (&cluster, SUBJECTS[at]), (count, seconds))?;
                let name = SUBJECTS[at].name();
                tell(&format!("{count} under way: {name}: {sample:.1?}"))?;
                samples[level * SUBJECTS.len() + at].push(sample);
            }
        }
    }
    let mut section = Section::new(
        "Bookings over partitions",
        format!(
            "Three nodes on three brokers, all on this machine; each cluster is started anew. {LOADS} loads \
             book rooms of their own, each at one node and in one partition; {seconds} s after a second that is \
             not counted, {} rounds. A machine with few cores shows what partitions cost, not what they gain: \
             brokers, nodes and loads share it",
            ground.rounds
        ),
        Vec::new(),
    );
    section.neighbours_percent = Some(neighbours.percent()?);
    section.subjects = rows(&samples);
    claim(&mut section, &samples);
    Ok(section)
}

/// A cluster with a property in each partition.
fn started(ground: &ClusterGround, subject: PartitionSubject) -> Result<ClusterUnderTest> {
    let cluster = ClusterUnderTest::of_partitions(ground, subject.lists())?;
    let first = cluster.nodes.first().context("there are nodes")?;
    for partition in 0..subject.partitions() {
        open_property(first, &property_on(partition, subject.partitions())?)?;
    }
    Ok(cluster)
}

fn sample(
    ground: &ClusterGround,
    (cluster, subject): (&ClusterUnderTest, PartitionSubject),
    (count, seconds): (u32, u32),
) -> Result<RateSample> {
    let mut loads = Vec::new();
    for load in 0..LOADS {
        let (node, partition) = subject.place(load);
        let property = property_on(partition, subject.partitions())?;
        let share = spread(count, load, LOADS);
        let tag = format!("p{count}-{load}");
        let node = &cluster.nodes[node];
        let begun = LabLoad::begin(ground, node, (share, seconds), (&property, &tag));
        loads.push(begun?);
    }
    let ended: Vec<RateSample> = loads.into_iter().map(LabLoad::end).collect::<Result<_>>()?;
    RateSample::together(&ended).context("there are loads")
}

fn rows(samples: &[Vec<RateSample>]) -> Vec<MeasuredRow> {
    let places = LEVELS
        .into_iter()
        .flat_map(|count| SUBJECTS.map(|subject| (count, subject)));
    let rows = places.zip(samples).map(|((count, subject), samples)| {
        let figure = |name, value: fn(&RateSample) -> f64| {
            SubjectMetric::new(name, samples.iter().map(value).collect())
        };
        let figures = vec![
            figure("bookings/s", |one| one.reached.rate),
            figure("p50, ms", |one| one.reached.p50_ms),
            figure("p99, ms", |one| one.reached.p99_ms),
        ];
        MeasuredRow::new(format!("{count} under way: {}", subject.name()), figures)
    });
    rows.collect()
}

fn claim(section: &mut Section, samples: &[Vec<RateSample>]) {
    let rates = |level: usize, at: usize| -> Vec<f64> {
        let of = samples[level * SUBJECTS.len() + at].iter();
        of.map(|one| one.reached.rate).collect()
    };
    for (level, count) in LEVELS.into_iter().enumerate() {
        for (what, ours, theirs) in [
            ("2 partitions / 1", 1, 0),
            ("4 partitions / 1", 2, 0),
            ("relayed / at a node that holds the partition", 4, 3),
        ] {
            let ratio = Ratio::of(&rates(level, ours), &rates(level, theirs));
            let target = format!("{count} under way: bookings/s, {what}");
            section.claim_ratio(&target, ratio, Bound::None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_go_on_all_nodes_and_all_partitions() {
        for count in [1, 2, 4] {
            let places = (0..LOADS).map(|load| PartitionSubject::Held(count).place(load));
            let mut places: Vec<_> = places.collect();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), 3 * count, "{places:?}");
            let names = (0..count).map(|partition| property_on(partition, count).unwrap());
            assert_eq!(
                names.collect::<std::collections::BTreeSet<_>>().len(),
                count
            );
        }
    }
}
