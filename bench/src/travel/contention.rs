//! Transactions of nine requests that are in each other's way: how many commit, how many abort.

use anyhow::Result;

use crate::{
    driver::{Journey, Load, Managers, Places, REQUESTS, World, travel},
    ground::{Ground, tell},
    process::Neighbours,
    section::{Figure, Section, Subject},
    server::{Durability, Kind},
};

const CLIENTS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];

pub(super) fn measure(ground: &Ground) -> Result<Section> {
    let before = ground.probe()?;
    let neighbours = Neighbours::watch()?;
    let transactions: u32 = if ground.quick { 2_000 } else { 10_000 };
    let mut samples = vec![(Vec::new(), Vec::new()); CLIENTS.len()];
    for round in 0..ground.rounds() {
        for turn in 0..CLIENTS.len() {
            let at = (turn + round) % CLIENTS.len();
            let (rate, aborted) = sample(ground, CLIENTS[at], transactions)?;
            samples[at].0.push(rate);
            samples[at].1.push(aborted);
        }
    }
    let subjects = CLIENTS.iter().zip(samples);
    Ok(Section {
        title: "Contention: nine requests, 100 places by Zipf 0.99",
        setting: format!(
            "{transactions} transactions of three managers in one process over the lines door, each \
             client waits for each answer, {} rounds. A query locks what the reservation after it \
             changes, so two clients at one place deadlock; the younger is aborted at once, and \
             begins anew elsewhere",
            ground.rounds()
        ),
        before,
        after: ground.probe()?,
        neighbours_percent: neighbours.percent()?,
        subjects: subjects
            .map(|(clients, samples)| subject(*clients, samples))
            .collect(),
        claims: Vec::new(),
    })
}

fn subject(clients: u32, (rates, aborted): (Vec<f64>, Vec<f64>)) -> Subject {
    let figure = |name, values| Figure { name, values };
    Subject {
        name: format!("turnstile sync, {clients} clients"),
        figures: vec![
            figure("committed transactions/s", rates),
            figure("aborted, %", aborted),
        ],
    }
}

fn sample(ground: &Ground, clients: u32, transactions: u32) -> Result<(f64, f64)> {
    let server = ground.start(Kind::Turnstile(Durability::Sync))?;
    World::make(server.lines())?;
    let journey = Journey {
        managers: Managers::Three,
        places: Places::Popular,
    };
    let load = Load {
        connections: clients,
        depth: 1,
        requests: transactions * u32::try_from(REQUESTS)?,
        seconds: 0,
    };
    let travels = travel(journey, &server, load)?;
    let (rate, aborted) = (travels.rate(), travels.aborted_percent());
    tell(&format!(
        "Contention, {clients} clients: {rate:.0}/s, {aborted:.1} % aborted"
    ))?;
    Ok((rate, aborted))
}
