//! How long a new node takes until it serves, and how long all take after a loss of power.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::{
    ClusterGround,
    nodes::{ClusterUnderTest, STREAM},
};
use crate::{
    ground::tell,
    load::fill,
    report::NotMeasured,
    section::{MeasuredRow, Section, SubjectMetric},
};

/// One booking for each room.
const BOOK: &str = "ROOMS.BOOK bench fill:__n__ 2027-01-01 2027-01-02 ada 234123412346";

#[derive(Debug, Default)]
struct JoinTimes {
    fill: Vec<f64>,
    join: Vec<f64>,
    restart: Vec<f64>,
    log_mebibytes: Vec<f64>,
}

pub(super) fn measure(ground: &ClusterGround, _: &mut Vec<NotMeasured>) -> Result<Section> {
    let bookings = ground.bookings;
    let mut joined = JoinTimes::default();
    for _ in 0..ground.rounds {
        let mut cluster = ClusterUnderTest::start(ground)?;
        let begin = Instant::now();
        fill::send(&mut cluster.nodes[0].connect()?, bookings.into(), BOOK)?;
        joined.fill.push(begin.elapsed().as_secs_f64());
        joined
            .join
            .push(join(&mut cluster, bookings)?.as_secs_f64());
        let (entries, bytes) = cluster.brokers.stream_size(STREAM)?;
        joined
            .log_mebibytes
            .push(f64::from(u32::try_from(bytes / 1_024)?) / 1_024.0);
        let again = restart(&mut cluster)?;
        joined.restart.push(again.as_secs_f64());
        tell(&format!(
            "{bookings} bookings in {entries} entries: {joined:.2?}"
        ))?;
    }
    let row = |name, values| MeasuredRow::new(name, vec![SubjectMetric::new("measured", values)]);
    let rows = vec![
        row("all of them booked from one connection, s", joined.fill),
        row("the log then, MiB", joined.log_mebibytes),
        row(
            "a fourth node with an empty directory, from its start to its first answer, s",
            joined.join,
        ),
        row(
            "all nodes and brokers killed, from the start of the brokers until each node answers, s",
            joined.restart,
        ),
    ];
    Ok(Section::new(
        format!("Joining a cluster with {bookings} bookings"),
        format!(
            "{} rounds. The first answer of a node contains all that was booked. `--bookings N` measures with \
             another state",
            ground.rounds
        ),
        rows,
    ))
}

fn join(cluster: &mut ClusterUnderTest, bookings: u32) -> Result<Duration> {
    let took = cluster.join()?;
    let newest = cluster.nodes.last().expect("it has just joined");
    let has = newest.figure("rooms_bookings")?;
    ensure!(
        has >= u64::from(bookings),
        "a node that has joined has {has} bookings of {bookings}"
    );
    Ok(took)
}

fn restart(cluster: &mut ClusterUnderTest) -> Result<Duration> {
    cluster.brokers.kill_all();
    for node in &mut cluster.nodes {
        node.kill()?;
    }
    let begin = Instant::now();
    cluster.brokers.restart_all()?;
    for node in &mut cluster.nodes {
        node.restart()?;
    }
    Ok(begin.elapsed())
}
