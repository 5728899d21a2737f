//! Durable bookings a second, with few and with many under way.

use std::{
    fs,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result};
use tempfile::TempDir;
use turnstile_result::Run;

use super::{
    ClusterGround,
    nodes::{ClusterUnderTest, NodeProcess, STREAM, open_bench},
    peers::{Etcd, PeersProgram, PostgresPair, Reached},
};
use crate::{
    ground::tell,
    load::{SERVER_US, lab},
    process::Neighbours,
    program,
    ratio::{Bound, Ratio},
    report::NotMeasured,
    section::{MeasuredRow, Section, SubjectMetric},
};

/// Requests under way at once.
const LEVELS: [u32; 3] = [1, 50, 800];

/// Entries that a node of ours has under way at most, and so all three.
const ENTRIES_UNDER_WAY: u32 = 3 * 8;

/// What a broker keeps beside the bytes of an entry: its subject, its id, its own fields.
const BESIDE_BYTES: u64 = 100;

const RATE: &str = "bookings/s";
const P50: &str = "p50, ms";
const P99: &str = "p99, ms";
const ENTRIES: &str = "entries/s";
const CPU: &str = "CPU of the server, us/booking";

/// Who is measured at each level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RateSubject {
    Nodes,
    /// All clients are at one of the three.
    OneNode,
    Alone,
    Raw,
    Etcd,
    Standby,
}

const SUBJECTS: [RateSubject; 6] = [
    RateSubject::Nodes,
    RateSubject::OneNode,
    RateSubject::Alone,
    RateSubject::Raw,
    RateSubject::Etcd,
    RateSubject::Standby,
];

impl RateSubject {
    const fn name(self) -> &'static str {
        match self {
            Self::Nodes => "turnstile, three nodes",
            Self::OneNode => "turnstile, one node of three",
            Self::Alone => "turnstile, embedded journal",
            Self::Raw => "NATS JetStream, publishes of the same bytes",
            Self::Etcd => "etcd, three servers",
            Self::Standby => "PostgreSQL with a synchronous standby",
        }
    }
}

/// One measurement: entries and CPU only where they are known.
#[derive(Clone, Copy, Debug)]
pub(super) struct RateSample {
    pub(super) reached: Reached,
    entries: Option<f64>,
    pub(super) cpu_us: Option<f64>,
}

impl From<Reached> for RateSample {
    fn from(reached: Reached) -> Self {
        Self {
            reached,
            entries: None,
            cpu_us: None,
        }
    }
}

impl RateSample {
    /// Loads that ran at the same time, as one: their rates add, and the times are those of the slowest.
    pub(super) fn together(samples: &[Self]) -> Option<Self> {
        let of = |value: fn(&Self) -> f64| samples.iter().map(value);
        Some(Self {
            reached: Reached {
                rate: of(|one| one.reached.rate).sum(),
                p50_ms: of(|one| one.reached.p50_ms).fold(0.0, f64::max),
                p99_ms: of(|one| one.reached.p99_ms).fold(0.0, f64::max),
            },
            entries: None,
            cpu_us: samples.first()?.cpu_us,
        })
    }
}

/// What is measured in a round, each started anew.
struct RateStage<'a> {
    ground: &'a ClusterGround,
    cluster: ClusterUnderTest,
    alone: NodeProcess,
    _home: TempDir,
    etcd: Option<Etcd<'a>>,
    standby: Option<PostgresPair>,
    peers: Option<&'a PeersProgram>,
    seconds: u32,
    /// Bytes of an entry at the level that was measured last.
    entry_bytes: u64,
    loads: u32,
}

pub(super) fn measure(
    ground: &ClusterGround,
    not_measured: &mut Vec<NotMeasured>,
) -> Result<Section> {
    let mut missing = |section: &str, reason: &anyhow::Error| {
        not_measured.push(NotMeasured {
            section: format!("rates: {section}"),
            reason: format!("{reason:#}"),
        });
    };
    let peers = PeersProgram::build();
    let peers = peers.inspect_err(|reason| missing("etcd and raw publishes", reason));
    let peers = peers.ok();
    let seconds = if ground.quick { 1 } else { 4 };
    let neighbours = Neighbours::watch()?;
    let mut samples = vec![Vec::new(); LEVELS.len() * SUBJECTS.len()];
    for round in 0..ground.rounds {
        let mut stage = RateStage::start(ground, peers.as_ref(), seconds, &mut missing)?;
        for (level, count) in LEVELS.into_iter().enumerate() {
            for turn in 0..SUBJECTS.len() {
                // The bytes of raw publishes are those of the entries before.
                let at = if round % 2 == 0 {
                    turn
                } else {
                    [0, 3, 2, 5, 4, 1][turn]
                };
                let subject = SUBJECTS[at];
                let sample = stage.sample(subject, count);
                let sample = sample.with_context(|| format!("{} at {count}", subject.name()))?;
                if let Some(sample) = sample {
                    tell(&format!(
                        "{count} under way: {}: {sample:.1?}",
                        subject.name()
                    ))?;
                    samples[level * SUBJECTS.len() + at].push(sample);
                }
            }
        }
    }
    let mut section = Section::new(
        "Durable bookings",
        format!(
            "Each booking takes a room of its own for one night, and is answered when most have it on their \
             disks; {seconds} s after a second that is not counted, {} rounds. The clients are spread over the \
             nodes, servers or brokers; of three nodes the times are those of the slowest. `lab run resp` asks \
             our servers; etcd writes a key if nobody has it, PostgreSQL inserts a row (pgbench, prepared, one \
             statement). Raw publishes have at most {ENTRIES_UNDER_WAY} under way, as many as entries of three \
             nodes. rqlite is not there: the Go proxy has no version of its module that builds and has an open licence",
            ground.rounds
        ),
        Vec::new(),
    );
    section.neighbours_percent = Some(neighbours.percent()?);
    section.subjects = rows(&samples);
    not_measured.extend(claim(&mut section, &samples));
    Ok(section)
}

fn rows(samples: &[Vec<RateSample>]) -> Vec<MeasuredRow> {
    let places = LEVELS
        .into_iter()
        .flat_map(|count| SUBJECTS.map(|subject| (count, subject)));
    let rows = places.zip(samples).map(|((count, subject), samples)| {
        let figure = |name, value: fn(&RateSample) -> Option<f64>| {
            SubjectMetric::new(name, samples.iter().filter_map(value).collect())
        };
        let figures = vec![
            figure(RATE, |one| Some(one.reached.rate)),
            figure(P50, |one| Some(one.reached.p50_ms)),
            figure(P99, |one| Some(one.reached.p99_ms)),
            figure(ENTRIES, |one| one.entries),
            figure(CPU, |one| one.cpu_us),
        ];
        MeasuredRow::new(format!("{count} under way: {}", subject.name()), figures)
    });
    rows.collect()
}

/// Judges what was measured on both sides in each round; gives what was not.
fn claim(section: &mut Section, samples: &[Vec<RateSample>]) -> Vec<NotMeasured> {
    let of =
        |level: usize, subject: RateSubject, value: fn(&RateSample) -> Option<f64>| -> Vec<f64> {
            let at = SUBJECTS.iter().position(|one| *one == subject);
            let at = level * SUBJECTS.len() + at.expect("it is one of them");
            samples[at].iter().filter_map(value).collect()
        };
    let rate: fn(&RateSample) -> Option<f64> = |one| Some(one.reached.rate);
    let mut claims: Vec<(String, Vec<f64>, Vec<f64>, Bound)> = Vec::new();
    for (level, count) in LEVELS.into_iter().enumerate() {
        claims.push((
            format!("{count} under way: entries/s of three nodes / raw publishes/s"),
            of(level, RateSubject::Nodes, |one| one.entries),
            of(level, RateSubject::Raw, rate),
            Bound::AtLeast(0.8),
        ));
        claims.push((
            format!("{count} under way: CPU of a node a booking / of the embedded journal"),
            of(level, RateSubject::OneNode, |one| one.cpu_us),
            of(level, RateSubject::Alone, |one| one.cpu_us),
            if count == 1 {
                Bound::None
            } else {
                Bound::AtMost(1.3)
            },
        ));
        for peer in [RateSubject::Etcd, RateSubject::Standby] {
            claims.push((
                format!(
                    "{count} under way: bookings/s of three nodes / {}",
                    peer.name()
                ),
                of(level, RateSubject::Nodes, rate),
                of(level, peer, rate),
                if count == 800 {
                    Bound::AtLeast(10.0)
                } else {
                    Bound::None
                },
            ));
        }
    }
    let mut not_measured = Vec::new();
    for (target, ours, theirs, bound) in claims {
        if !ours.is_empty() && ours.len() == theirs.len() {
            section.claim_ratio(&target, Ratio::of(&ours, &theirs), bound);
        } else {
            not_measured.push(NotMeasured {
                section: format!("rates: {target}"),
                reason: format!(
                    "samples of ours: {}, of theirs: {}",
                    ours.len(),
                    theirs.len()
                ),
            });
        }
    }
    not_measured
}

impl<'a> RateStage<'a> {
    fn start(
        ground: &'a ClusterGround,
        peers: Option<&'a PeersProgram>,
        seconds: u32,
        missing: &mut impl FnMut(&str, &anyhow::Error),
    ) -> Result<Self> {
        let home = TempDir::with_prefix_in("turnstile-bench-", &ground.scratch)?;
        let data = home.path().join("alone");
        fs::create_dir(&data)?;
        tell("a server alone starts")?;
        let alone = NodeProcess::start(&ground.turnstile, &data, &[])?;
        open_bench(&alone)?;
        let cluster = ClusterUnderTest::start(ground)?;
        tell("three servers of etcd start")?;
        let etcd = peers.map(|peers| Etcd::start(peers, ground)).transpose();
        let etcd = etcd.inspect_err(|reason| missing("etcd", reason));
        tell("PostgreSQL and its standby start")?;
        let standby = PostgresPair::start(ground);
        let standby = standby.inspect_err(|reason| missing("PostgreSQL", reason));
        Ok(Self {
            ground,
            cluster,
            alone,
            _home: home,
            etcd: etcd.ok().flatten(),
            standby: standby.ok(),
            peers,
            seconds,
            entry_bytes: 0,
            loads: 0,
        })
    }

    fn sample(&mut self, subject: RateSubject, count: u32) -> Result<Option<RateSample>> {
        let extent = (count, self.seconds);
        Ok(match subject {
            RateSubject::Nodes => Some(self.through_nodes(3, count)?),
            RateSubject::OneNode => Some(self.through_nodes(1, count)?),
            RateSubject::Alone => {
                let lab = self.begin_lab(&self.alone, count, "alone")?;
                Some(lab.end()?)
            }
            RateSubject::Raw => {
                let (urls, bytes) = (self.cluster.brokers.urls(), self.entry_bytes);
                let extent = (count.min(ENTRIES_UNDER_WAY), self.seconds);
                let reached = self.peers.map(|peers| peers.publish(&urls, extent, bytes));
                reached.transpose()?.map(Into::into)
            }
            RateSubject::Etcd => {
                let reached = self.etcd.as_ref().map(|etcd| etcd.book(extent));
                reached.transpose()?.map(Into::into)
            }
            RateSubject::Standby => {
                let reached = self.standby.as_ref().map(|pair| pair.book(extent));
                reached.transpose()?.map(Into::into)
            }
        })
    }

    /// So many clients, spread over so many nodes.
    fn through_nodes(&mut self, nodes: usize, count: u32) -> Result<RateSample> {
        self.loads += 1;
        let before = self.cluster.brokers.stream_size(STREAM)?;
        let nodes = nodes.min(usize::try_from(count)?);
        let shares = (0..nodes).map(|node| spread(count, node, nodes));
        let labs = shares.zip(&self.cluster.nodes).enumerate();
        let labs = labs.map(|(at, (share, node))| {
            self.begin_lab(node, share, &format!("l{}-{at}", self.loads))
        });
        let labs: Vec<LabLoad> = labs.collect::<Result<_>>()?;
        let samples: Vec<RateSample> = labs.into_iter().map(LabLoad::end).collect::<Result<_>>()?;
        let after = self.cluster.brokers.stream_size(STREAM)?;
        let (entries, bytes) = (after.0 - before.0, after.1 - before.1);
        self.entry_bytes = (bytes / entries.max(1)).saturating_sub(BESIDE_BYTES).max(1);
        // The load has a warm-up of a second, in which entries come as well.
        let seconds = f64::from(self.seconds + WARM_UP_SECONDS);
        let together = RateSample::together(&samples).context("there are loads")?;
        Ok(RateSample {
            entries: Some(f64::from(u32::try_from(entries)?) / seconds),
            ..together
        })
    }

    fn begin_lab(&self, node: &NodeProcess, count: u32, tag: &str) -> Result<LabLoad> {
        LabLoad::begin(self.ground, node, (count, self.seconds), ("bench", tag))
    }
}

/// How long the lab may take beyond the time of its load.
const LAB: Duration = Duration::from_secs(120);

/// What the lab does not count at the beginning of a load.
const WARM_UP_SECONDS: u32 = 1;

/// The share of one of several nodes.
pub(super) fn spread(count: u32, node: usize, nodes: usize) -> u32 {
    let (node, nodes) = (
        u32::try_from(node).expect("few"),
        u32::try_from(nodes).expect("few"),
    );
    count / nodes + u32::from(node < count % nodes)
}

/// The lab at one node.
pub(super) struct LabLoad {
    child: Child,
    command: Command,
    folder: TempDir,
}

impl LabLoad {
    /// Has so many clients book rooms of a property for so many seconds. The tag tells the rooms of this
    /// load from those of others.
    pub(super) fn begin(
        ground: &ClusterGround,
        node: &NodeProcess,
        (count, seconds): (u32, u32),
        (property, tag): (&str, &str),
    ) -> Result<Self> {
        let folder = TempDir::with_prefix_in("turnstile-bench-", &ground.scratch)?;
        let lasts = Duration::from_secs((seconds + WARM_UP_SECONDS).into());
        let mut command = program::bounded(&ground.turnstile, lasts + LAB);
        command.args(["lab", "run", &format!("resp://{}", node.resp)]);
        command.args(["-t", "1", "-q", "-o"]).arg(folder.path());
        command.args(["-c", &count.to_string(), "-d", &format!("{seconds}s")]);
        command.args(["--warm-up", &format!("{WARM_UP_SECONDS}s"), "--"]);
        // Rooms of this level that no load before has booked.
        let room = format!("{tag}-{count}-__n__");
        command.args(["ROOMS.BOOK", property, &room, "2027-01-01", "2027-01-02"]);
        command.args(["ada", "234123412346"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let child = program::spawn(&mut command)?;
        Ok(Self {
            child,
            command,
            folder,
        })
    }

    pub(super) fn end(self) -> Result<RateSample> {
        program::finish(self.child, &self.command, &lab::EXIT_CODES)?;
        let run = fs::read(self.folder.path().join("run.json"));
        let run = Run::read(&run.context("the lab wrote no result")?)?;
        let point = run.points.last().context("the lab measured no point")?;
        let measures = lab::measures(point)?;
        let percentile = |quantile: f64| {
            let at = point.times.response.at(quantile);
            let nanoseconds = at.with_context(|| format!("too few answers for p{quantile}"))?;
            anyhow::Ok(turnstile_stats::units::to_float(nanoseconds) / 1e6)
        };
        Ok(RateSample {
            reached: Reached {
                rate: point.throughput,
                p50_ms: percentile(0.5)?,
                p99_ms: percentile(0.99)?,
            },
            entries: None,
            cpu_us: measures.get(SERVER_US).copied(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{LEVELS, RateSample, RateSubject, Reached, SUBJECTS, Section, claim, spread};

    #[test]
    fn a_claim_whose_peer_was_not_there_in_each_round_is_not_measured() {
        // A peer that did not start in a later round took its bounds with it, and the run was a success.
        let sample = RateSample {
            reached: Reached {
                rate: 100.0,
                p50_ms: 1.0,
                p99_ms: 2.0,
            },
            entries: Some(50.0),
            cpu_us: Some(3.0),
        };
        let mut samples = vec![vec![sample; 2]; LEVELS.len() * SUBJECTS.len()];
        let judge = |samples: &[Vec<RateSample>]| {
            let mut section = Section::new("t", "s", Vec::new());
            let missing = claim(&mut section, samples);
            let missing = missing.into_iter().map(|one| (one.section, one.reason));
            (section.claims.len(), missing.collect::<Vec<_>>())
        };
        assert_eq!(judge(&samples), (12, Vec::new()));
        let etcd = SUBJECTS.iter().position(|one| *one == RateSubject::Etcd);
        samples[2 * SUBJECTS.len() + etcd.unwrap()].pop();
        let missing = (
            "rates: 800 under way: bookings/s of three nodes / etcd, three servers".to_owned(),
            "samples of ours: 2, of theirs: 1".to_owned(),
        );
        assert_eq!(judge(&samples), (11, vec![missing]));
    }

    #[test]
    fn clients_are_spread_over_nodes() {
        for (count, nodes) in [(1, 1), (50, 3), (800, 3), (800, 1)] {
            let shares = (0..nodes).map(|node| spread(count, node, nodes));
            let shares: Vec<u32> = shares.collect();
            assert_eq!(shares.iter().sum::<u32>(), count);
            assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1);
        }
    }
}
