//! One client that waits for each answer, against what the bare machine needs for it.

use std::{
    net::SocketAddr,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use turnstile_client::{Connection, resp::Value};

use crate::{
    booking::{is_done, request},
    ground::{Ground, tell},
    pin::{CLIENT_CORE, pin},
    probe::{joined, median_us},
    process::Neighbours,
    ratio::{Bound, Ratio},
    section::{Figure, Section, Subject},
    server::{Durability, Kind, Persistence},
};

const REQUESTS: usize = 4_000;

/// Not measured: the first finds cold caches.
const WARM_UP: usize = 200;

const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Asks once and checks the answer; the number makes each question another one.
type Question = fn(&mut Connection, usize) -> Result<()>;

pub(super) fn measure(ground: &Ground) -> Result<Section> {
    let first = ground.probe()?;
    let neighbours = Neighbours::watch()?;
    let mut before = first;
    let (mut ours, mut peers, mut floors) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ground.rounds() {
        ours.push(p50_us(ground, Kind::Turnstile(Durability::Sync), book)?);
        // The floor of a round is what the machine did right before and right after.
        let after = ground.probe()?;
        floors.push(f64::midpoint(before.sum_us(), after.sum_us()));
        peers.push(p50_us(ground, Kind::Redis(Persistence::Always), set)?);
        before = ground.probe()?;
    }
    let ratio = Ratio::of(&ours, &floors);
    let compared = Ratio::of(&ours, &peers);
    let subject = |name: &str, values| Subject {
        name: name.to_owned(),
        figures: vec![Figure {
            name: "p50, us",
            values,
        }],
    };
    let mut section = Section {
        title: "One client",
        setting: format!(
            "1 connection x 1 under way, {REQUESTS} requests, {} rounds",
            ground.rounds()
        ),
        before: first,
        after: before,
        neighbours_percent: neighbours.percent()?,
        subjects: vec![
            subject("turnstile sync, ROOMS.BOOK", ours),
            subject("raw sync + raw loopback round trip", floors),
            subject("redis appendfsync always, SET", peers),
        ],
        claims: Vec::new(),
    };
    let target = "one client: p50 of a durable booking / (raw sync + raw loopback)";
    section.claim_ratio(target, ratio, Bound::AtMost(1.25));
    let target = "one client: p50 of a durable booking / redis always SET";
    section.claim_ratio(target, compared, Bound::None);
    Ok(section)
}

/// The median time of an answer, of a server that has nothing else to do.
fn p50_us(ground: &Ground, kind: Kind, ask: Question) -> Result<f64> {
    let server = ground.start(kind)?;
    let address = server.resp();
    let client = thread::spawn(move || times(address, ask));
    let p50_us = median_us(joined(client)?);
    tell(&format!("One client: {kind}: p50 {p50_us:.1} us"))?;
    Ok(p50_us)
}

fn times(address: SocketAddr, ask: Question) -> Result<Vec<Duration>> {
    pin(CLIENT_CORE)?;
    let mut connection = Connection::connect(address, ANSWER_TIMEOUT)?;
    let mut times = Vec::with_capacity(WARM_UP + REQUESTS);
    for number in 0..WARM_UP + REQUESTS {
        let start = Instant::now();
        ask(&mut connection, number)?;
        times.push(start.elapsed());
    }
    Ok(times.split_off(WARM_UP))
}

fn book(connection: &mut Connection, number: usize) -> Result<()> {
    let room = format!("single:{number}");
    let reply = connection.command(&request(room.as_bytes()))?;
    ensure!(is_done(&reply), "refused: {reply:?}");
    Ok(())
}

fn set(connection: &mut Connection, number: usize) -> Result<()> {
    let key = format!("key:{number}");
    let reply = connection.command(&[b"SET", key.as_bytes(), &[b'x'; 64]])?;
    ensure!(reply == Value::Simple("OK".into()), "refused: {reply:?}");
    Ok(())
}
