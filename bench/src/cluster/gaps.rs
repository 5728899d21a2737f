//! How long nobody is answered when a node or a broker ends.

use std::{
    net::SocketAddr,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use turnstile_client::{Connection, resp::Value};

use super::{
    ClusterGround,
    nodes::{ClusterUnderTest, STREAM},
};
use crate::{
    ground::tell,
    ratio::{Bound, Ratio},
    report::NotMeasured,
    section::{MeasuredRow, Section, SubjectMetric},
};

/// Clients of each node.
const CLIENTS_EACH: usize = 4;

/// Before something happens.
const STEADY: Duration = Duration::from_secs(2);

/// How long a client waits for an answer, until it asks another node under the same key.
const PATIENCE: Duration = Duration::from_secs(20);

/// Between two tries of a client that nobody takes.
const AGAIN: Duration = Duration::from_millis(5);

/// How much longer we look where somebody is not answered yet: as long as the widest bound.
const OPEN: Duration = Duration::from_secs(30);

/// The node that ends.
const VICTIM: usize = 0;

/// The nodes that stay.
const OTHERS: [usize; 2] = [1, 2];

/// Something that happens under load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outage {
    Nothing,
    NodeKilled,
    NodeStopped,
    NodeDrained,
    FollowerKilled,
    LeaderStepsDown,
    LeaderKilled,
    AllKilled,
}

const OUTAGES: [Outage; 8] = [
    Outage::Nothing,
    Outage::NodeKilled,
    Outage::NodeStopped,
    Outage::NodeDrained,
    Outage::FollowerKilled,
    Outage::LeaderStepsDown,
    Outage::LeaderKilled,
    Outage::AllKilled,
];

impl Outage {
    const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing happens",
            Self::NodeKilled => "a node is killed",
            Self::NodeStopped => "a node is stopped in order",
            Self::NodeDrained => "a node is drained by `turnstile cluster drain`, then stopped",
            Self::FollowerKilled => "a broker is killed that does not lead",
            Self::LeaderStepsDown => "the broker that leads is told to hand on",
            Self::LeaderKilled => "the broker that leads is killed",
            Self::AllKilled => "all nodes and brokers are killed, and started again at once",
        }
    }

    /// How long we look after it.
    const fn after(self) -> Duration {
        Duration::from_secs(match self {
            Self::LeaderKilled => 14,
            Self::AllKilled => 2,
            _ => 4,
        })
    }

    /// What clients of the nodes that stay may see at most, in seconds.
    const fn bound(self) -> Bound {
        match self {
            Self::Nothing => Bound::None,
            Self::NodeKilled | Self::NodeStopped | Self::NodeDrained => Bound::AtMost(0.1),
            Self::FollowerKilled | Self::LeaderStepsDown => Bound::AtMost(1.5),
            Self::LeaderKilled => Bound::AtMost(10.0),
            Self::AllKilled => Bound::AtMost(30.0),
        }
    }
}

const OF_OTHERS: &str = "clients of other nodes, s";
const OF_VICTIM: &str = "clients of that node, s";

pub(super) fn measure(ground: &ClusterGround, _: &mut Vec<NotMeasured>) -> Result<Section> {
    let mut gaps = vec![(Vec::new(), Vec::new()); OUTAGES.len()];
    for round in 0..ground.rounds {
        let mut cluster = ClusterUnderTest::start(ground)?;
        for turn in 0..OUTAGES.len() {
            let at = (turn + round) % OUTAGES.len();
            let outage = OUTAGES[at];
            let (others, own) =
                sample(&mut cluster, outage).with_context(|| outage.name().to_owned())?;
            tell(&format!("{}: {others:.3} s, {own:.3} s", outage.name()))?;
            gaps[at].0.push(others);
            gaps[at].1.push(own);
        }
    }
    let mut section = Section::new(
        "The longest time without an answer",
        format!(
            "{CLIENTS_EACH} clients of each of three nodes book one room after the other; a client whose node \
             has gone asks another one again under its key. The longest time in which none of a group of \
             clients is answered, from 2 s before until at least 2 s after and until each group was answered \
             again; {} rounds",
            ground.rounds
        ),
        Vec::new(),
    );
    section.subjects = OUTAGES
        .iter()
        .zip(&gaps)
        .map(|(outage, (others, own))| {
            let figures = vec![
                SubjectMetric::new(OF_OTHERS, others.clone()),
                SubjectMetric::new(OF_VICTIM, own.clone()),
            ];
            MeasuredRow::new(outage.name(), figures)
        })
        .collect();
    for (outage, (others, own)) in OUTAGES.iter().zip(&gaps) {
        let target = format!("{}: seconds without an answer", outage.name());
        section.claim_ratio(&target, Ratio::spread(others), outage.bound());
        if *outage == Outage::NodeDrained {
            let target = format!("{target} to clients of that node");
            section.claim_ratio(&target, Ratio::spread(own), outage.bound());
        }
    }
    Ok(section)
}

/// When the clients of each node were answered.
#[derive(Debug, Default)]
struct AnswerTimes([Mutex<Vec<Instant>>; 3]);

impl AnswerTimes {
    fn add(&self, node: usize) {
        let times = self.0[node].lock();
        times
            .unwrap_or_else(PoisonError::into_inner)
            .push(Instant::now());
    }

    /// Whether clients of these nodes were answered at or after an instant.
    fn has_since(&self, nodes: &[usize], begin: Instant) -> bool {
        nodes.iter().any(|node| {
            let own = self.0[*node].lock();
            let own = own.unwrap_or_else(PoisonError::into_inner);
            own.last().is_some_and(|last| *last >= begin)
        })
    }

    /// The longest time without an answer to clients of these nodes, in seconds.
    fn longest(&self, nodes: &[usize], (begin, end): (Instant, Instant)) -> f64 {
        let mut times = vec![begin, end];
        for node in nodes {
            let own = self.0[*node].lock();
            times.extend(own.unwrap_or_else(PoisonError::into_inner).iter());
        }
        times.retain(|time| (begin..=end).contains(time));
        times.sort();
        let gaps = times.windows(2).map(|pair| pair[1] - pair[0]);
        gaps.max().unwrap_or_default().as_secs_f64()
    }
}

fn sample(cluster: &mut ClusterUnderTest, outage: Outage) -> Result<(f64, f64)> {
    let addresses: Vec<SocketAddr> = cluster.nodes.iter().map(|node| node.resp).collect();
    let (answers, is_over) = (AnswerTimes::default(), AtomicBool::new(false));
    let watched = thread::scope(|scope| {
        for node in 0..addresses.len() {
            for client in 0..CLIENTS_EACH {
                let (answers, is_over, addresses) = (&answers, &is_over, &addresses);
                scope.spawn(move || ask_on((node, client), addresses, (answers, is_over)));
            }
        }
        let over = EndOfAsking(&is_over);
        // The first answers find new connections.
        wait(Duration::from_millis(500));
        let begin = Instant::now();
        wait(STEADY);
        happen(cluster, outage)?;
        wait(outage.after());
        let end = await_answers(&answers, OPEN);
        drop(over);
        anyhow::Ok((begin, end))
    })?;
    let gaps = (
        answers.longest(&OTHERS, watched),
        answers.longest(&[VICTIM], watched),
    );
    mend(cluster, outage)?;
    Ok(gaps)
}

/// Waits until clients of the node that ends and of the others were answered once more, but no longer than
/// `patience`: a time without an answer that is cut short would look like a short one.
fn await_answers(answers: &AnswerTimes, patience: Duration) -> Instant {
    let begin = Instant::now();
    let groups: [&[usize]; 2] = [&OTHERS, &[VICTIM]];
    while begin.elapsed() < patience && !groups.iter().all(|nodes| answers.has_since(nodes, begin))
    {
        thread::park_timeout(AGAIN);
    }
    Instant::now()
}

/// Ends the clients when it goes, also when something has failed.
struct EndOfAsking<'a>(&'a AtomicBool);

impl Drop for EndOfAsking<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A measurement lasts as long as it shall.
fn wait(time: Duration) {
    let end = Instant::now() + time;
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        thread::park_timeout(left);
    }
}

fn happen(cluster: &mut ClusterUnderTest, outage: Outage) -> Result<()> {
    match outage {
        Outage::Nothing => {}
        Outage::NodeKilled => cluster.nodes[VICTIM].kill()?,
        Outage::NodeStopped => cluster.nodes[VICTIM].stop()?,
        Outage::NodeDrained => {
            cluster.drain(VICTIM)?;
            cluster.nodes[VICTIM].stop()?;
        }
        Outage::FollowerKilled => {
            let leader = cluster.brokers.await_stream_leader(STREAM)?;
            cluster.brokers.kill((leader + 1) % 3);
        }
        Outage::LeaderStepsDown => cluster.brokers.step_down(STREAM)?,
        Outage::LeaderKilled => {
            let leader = cluster.brokers.await_stream_leader(STREAM)?;
            cluster.brokers.kill(leader);
        }
        Outage::AllKilled => {
            cluster.brokers.kill_all();
            for node in &mut cluster.nodes {
                node.kill()?;
            }
            cluster.brokers.restart_all()?;
            for node in &mut cluster.nodes {
                node.restart()?;
            }
        }
    }
    Ok(())
}

/// Everybody is there again.
fn mend(cluster: &mut ClusterUnderTest, outage: Outage) -> Result<()> {
    match outage {
        Outage::NodeKilled | Outage::NodeStopped | Outage::NodeDrained => {
            cluster.nodes[VICTIM].restart()?
        }
        Outage::FollowerKilled | Outage::LeaderKilled => {
            for number in 0..3 {
                if !cluster.brokers.is_started(number) {
                    cluster.brokers.restart(number)?;
                }
            }
            cluster.brokers.await_ready()?;
        }
        Outage::Nothing | Outage::LeaderStepsDown | Outage::AllKilled => {}
    }
    cluster.brokers.await_copies()?;
    Ok(())
}

/// A client of one node: it books, and asks others under the same key when that node does not answer.
fn ask_on(
    (node, client): (usize, usize),
    addresses: &[SocketAddr],
    (answers, is_over): (&AnswerTimes, &AtomicBool),
) {
    let (mut at, mut connection) = (node, None);
    let run = std::process::id();
    let began = std::time::UNIX_EPOCH
        .elapsed()
        .unwrap_or_default()
        .as_millis();
    let mut number = 0_u32;
    while !is_over.load(Ordering::Relaxed) {
        let room = format!("g{run}-{began}-{node}-{client}-{number}");
        if asked(&mut connection, addresses[at], &room) {
            answers.add(node);
            number += 1;
        } else {
            connection = None;
            at = (at + 1) % addresses.len();
            thread::park_timeout(AGAIN);
        }
    }
}

/// Whether a booking was answered.
fn asked(connection: &mut Option<Connection>, address: SocketAddr, room: &str) -> bool {
    if connection.is_none() {
        *connection = Connection::connect(address, PATIENCE).ok();
    }
    let Some(connection) = connection else {
        return false;
    };
    let words = [
        "ROOMS.BOOK",
        "bench",
        room,
        "2027-01-01",
        "2027-01-02",
        "ada",
        "234123412346",
    ];
    let mut words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
    words.extend([&b"KEY"[..], room.as_bytes()]);
    matches!(connection.command(&words), Ok(answer) if !matches!(answer, Value::Error(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_gap_is_found_also_at_the_ends() {
        let begin = Instant::now();
        let at = |ms: u64| begin + Duration::from_millis(ms);
        let answers = AnswerTimes::default();
        for (node, ms) in [(0, 5), (1, 100), (1, 300), (2, 900), (2, 5_000)] {
            answers.0[node].lock().unwrap().push(at(ms));
        }
        let window = (begin, at(2_000));
        assert_eq!(answers.longest(&[1, 2], window), 1.1);
        assert_eq!(answers.longest(&[1], (begin, at(301))), 0.2);
        assert_eq!(answers.longest(&[0], window), 1.995);
    }

    #[test]
    fn a_gap_is_open_until_each_group_was_answered() {
        // All nodes were asked again for two seconds: a gap that was open then was measured as two seconds.
        let later = Instant::now() + Duration::from_secs(3_600);
        let answers = AnswerTimes::default();
        answers.0[VICTIM].lock().unwrap().push(later);
        assert!(answers.has_since(&[VICTIM], later));
        assert!(!answers.has_since(&OTHERS, later));
        let open = Duration::from_millis(20);
        let begin = Instant::now();
        assert!(await_answers(&answers, open) - begin >= open);
        answers.0[2].lock().unwrap().push(later);
        assert!(answers.has_since(&OTHERS, later));
        // Now it ends at once, or this test does not.
        await_answers(&answers, Duration::from_secs(3_600));
    }
}
