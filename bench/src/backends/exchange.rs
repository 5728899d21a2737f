//! Orders over XML, kept in our journal and in PostgreSQL, over one connection and over many.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};

use super::{
    home::{Databases, Home},
    visit::{self, RATE, Sample, Seen, Visit},
};
use crate::{
    driver::{self, Load, Order, Speech, Tally, Work},
    ground::{Ground, tell},
    process::Neighbours,
    ratio::Bound,
    section::{Section, Subject},
};

const HOMES: [Home; 2] = [Home::Embedded, Home::Postgres];

const CONNECTIONS: [u32; 6] = [1, 4, 8, 16, 32, 64];

const ORDERS: Work = Work::Speech(Speech::Orders(Order::Xml));

/// Requests of each connection with which a server is warmed, and by which its rate is guessed.
const WARM_UP: u32 = 100;

/// Of the flow that is sent, so many are done at least; the others are orders that were filled when
/// they were to be cancelled.
const DONE_MIN: f64 = 0.9;

pub(super) fn measure(ground: &Ground) -> Result<Section> {
    let (rounds, seconds) = if ground.quick { (1, 0.5) } else { (2, 1.5) };
    let before = ground.probe()?;
    let neighbours = Neighbours::watch()?;
    let databases = Databases::default();
    let rows = CONNECTIONS.map(|connections| HOMES.map(|home| (connections, home)));
    let (rows, mut settings) = (rows.concat(), BTreeSet::new());
    let mut samples: Vec<Vec<Sample>> = vec![Vec::new(); rows.len()];
    for round in 0..rounds {
        for turn in 0..rows.len() {
            let at = (turn + round) % rows.len();
            let (connections, home) = rows[at];
            let visit = Visit::begin(ground, &databases, home, "exchange")?;
            let sample = sample(ground, &visit, (connections, seconds))?;
            tell(&format!("{}: {sample}", name(rows[at])))?;
            settings.insert(visit.durability()?);
            samples[at].push(sample);
        }
    }
    drop(databases);
    let settings: Vec<String> = settings.into_iter().collect();
    let subjects = rows.iter().zip(&samples).map(|(&row, samples)| Subject {
        name: name(row),
        figures: visit::figures(samples),
    });
    let mut section = Section {
        title: "The exchange over XML, in the journal and in PostgreSQL",
        setting: format!(
            "A balanced flow of orders and cancels, each in a document of its own; one under way on each \
             connection, for some {seconds} s, {rounds} rounds; each sample has a new server of ours and \
             an empty database. Turnstile and the database share a core, the traders have the other. \
             The mean is that of a closed loop, connections over rate. As each says of itself: {}",
            settings.join("; ")
        ),
        before,
        after: ground.probe()?,
        neighbours_percent: neighbours.percent()?,
        subjects: subjects.collect(),
        claims: Vec::new(),
    };
    for (number, connections) in CONNECTIONS.into_iter().enumerate() {
        let target = format!("XML, {connections} x 1: rate of the journal / PostgreSQL");
        let pair = (2 * number, 2 * number + 1);
        section.claim(&target, RATE, pair, Bound::None);
    }
    Ok(section)
}

fn name((connections, home): (u32, Home)) -> String {
    format!("{connections} x 1, {home}")
}

fn sample(
    ground: &Ground,
    visit: &Visit<'_>,
    (connections, seconds): (u32, f64),
) -> Result<Sample> {
    let load = |requests| Load {
        connections,
        depth: 1,
        requests,
        seconds: 1,
    };
    let trade = |requests| driver::drive(ORDERS, &visit.server, load(requests), &ground.turnstile);
    driver::prepare(ORDERS, &visit.server, load(0))?;
    let warm = trade(WARM_UP * connections)?;
    let before = visit.read()?;
    let Tally {
        requests,
        accepted,
        rate,
        ..
    } = trade(driver::nearest(warm.rate * seconds).max(connections))?;
    let done = f64::from(accepted.unwrap_or(0)) / f64::from(requests);
    ensure!(done >= DONE_MIN, "only {done} of the orders were done");
    let seen = Seen {
        requests,
        rate,
        mean_ms: f64::from(connections) / rate * 1e3,
    };
    visit.sample(before, seen)
}
