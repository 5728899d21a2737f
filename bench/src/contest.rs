//! Servers under the same load in turns: rounds of one sample each, in rotated order.

use std::{
    fmt,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};

use crate::{
    driver::{self, Load, Work, us_each},
    ground::{Ground, tell},
    process,
    ratio::Ratio,
    section::{Figure, Section, Subject},
    server::{Kind, Server},
};

pub(crate) const RATE: &str = "requests/s";
pub(crate) const SERVER_CPU: &str = "server CPU, us/request";
pub(crate) const CLIENT_CPU: &str = "client CPU, us/request";
const REFUSED: &str = "refused, %";
/// What neither the server nor its client used, of one core: builds, other machines on the host.
const NEIGHBOURS: &str = "neighbours, % of a core";

/// One server and what is asked of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contender {
    pub(crate) kind: Kind,
    pub(crate) work: Work,
}

/// One measurement of one contender.
#[derive(Clone, Copy, Debug)]
struct Sample {
    rate: f64,
    server_us: f64,
    client_us: f64,
    refused_percent: f64,
    neighbours_percent: f64,
}

/// CPU time until a moment.
struct Usage {
    server: Duration,
    /// Of generators that have ended.
    clients: Duration,
    machine: Duration,
}

/// Runs the contest. Each sample has a new server with an empty directory.
pub(crate) fn run(
    ground: &Ground,
    title: &'static str,
    load: Load,
    contenders: &[Contender],
) -> Result<Section> {
    let rounds = ground.rounds();
    let before = ground.probe()?;
    let mut samples = vec![Vec::with_capacity(rounds); contenders.len()];
    for round in 0..rounds {
        for turn in 0..contenders.len() {
            let number = (turn + round) % contenders.len();
            let sample = sample(ground, contenders[number], load)?;
            tell(&format!("{title}: {}: {sample}", contenders[number]))?;
            samples[number].push(sample);
        }
    }
    let subjects = contenders.iter().zip(&samples);
    Ok(Section {
        title,
        setting: format!(
            "{} connections x {} under way, {} requests (wrk and lab: {} s), {rounds} rounds",
            load.connections, load.depth, load.requests, load.seconds
        ),
        before,
        after: ground.probe()?,
        neighbours_percent: Some(neighbours_percent(&samples)),
        subjects: subjects
            .map(|(contender, samples)| Subject {
                name: contender.to_string(),
                figures: figures(samples),
            })
            .collect(),
        claims: Vec::new(),
    })
}

fn sample(ground: &Ground, contender: Contender, load: Load) -> Result<Sample> {
    let server = ground.start(contender.kind)?;
    let accepted_before = server.accepted()?;
    let begin = Instant::now();
    let before = Usage::of(&server)?;
    let tally = driver::drive(contender.work, &server, load, &ground.turnstile)?;
    let after = Usage::of(&server)?;
    let elapsed = begin.elapsed().as_secs_f64();
    let cpu = after.server - before.server;
    let ours = cpu + (after.clients - before.clients);
    let neighbours = (after.machine - before.machine).saturating_sub(ours);
    let accepted = u32::try_from(server.accepted()? - accepted_before)?;
    ensure!(accepted > 0, "{contender}: no request was accepted");
    Ok(Sample {
        rate: tally.rate,
        server_us: us_each(cpu, tally.requests),
        client_us: tally.client_us,
        // wrk may end with some answers on the way that it does not count.
        refused_percent: (1.0 - f64::from(accepted) / f64::from(tally.requests)).max(0.0) * 100.0,
        neighbours_percent: neighbours.as_secs_f64() / elapsed * 100.0,
    })
}

impl Usage {
    fn of(server: &Server) -> Result<Self> {
        Ok(Self {
            server: server.cpu()?,
            clients: process::cpu_of_ended_children()?,
            machine: process::cpu_of_the_machine()?,
        })
    }
}

/// The median of all samples.
fn neighbours_percent(samples: &[Vec<Sample>]) -> f64 {
    let all = samples
        .iter()
        .flatten()
        .map(|sample| sample.neighbours_percent);
    Ratio::spread(&all.collect::<Vec<f64>>()).median
}

fn figures(samples: &[Sample]) -> Vec<Figure> {
    let figure = |name, value: fn(&Sample) -> f64| Figure {
        name,
        values: samples.iter().map(value).collect(),
    };
    vec![
        figure(RATE, |sample| sample.rate),
        figure(SERVER_CPU, |sample| sample.server_us),
        figure(CLIENT_CPU, |sample| sample.client_us),
        figure(REFUSED, |sample| sample.refused_percent),
        figure(NEIGHBOURS, |sample| sample.neighbours_percent),
    ]
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, ", self.kind)?;
        match self.work {
            Work::Command(words) => f.write_str(words[0]),
            Work::Http => f.write_str("HTTP by wrk"),
            Work::Lab => f.write_str("ROOMS.BOOK by our lab"),
        }
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.0} requests/s, CPU {:.2} us server, {:.2} us client, {:.1} % refused",
            self.rate, self.server_us, self.client_us, self.refused_percent
        )
    }
}
