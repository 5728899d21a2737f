//! Servers under the same load in turns: rounds of one sample each, in rotated order.

use std::fmt;

use anyhow::{Context as _, Result, ensure};

use crate::{
    driver::{self, Load, Work, us_each},
    ground::{Ground, tell},
    process::Neighbours,
    section::{Figure, Section, Subject},
    server::Kind,
};

pub(crate) const RATE: &str = "requests/s";
pub(crate) const SERVER_CPU: &str = "server CPU, us/request";
pub(crate) const CLIENT_CPU: &str = "client CPU, us/request";
const REFUSED: &str = "refused, %";

/// One server and what is asked of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contender {
    pub(crate) kind: Kind,
    pub(crate) work: Work,
}

/// One measurement of one contender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) rate: f64,
    pub(crate) server_us: f64,
    pub(crate) client_us: f64,
    pub(crate) refused_percent: f64,
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
    let neighbours = Neighbours::watch()?;
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
            "{} connections x {} under way, {}, {rounds} rounds",
            load.connections,
            load.depth,
            length(load, contenders)
        ),
        before,
        after: ground.probe()?,
        neighbours_percent: neighbours.percent()?,
        subjects: subjects
            .map(|(contender, samples)| Subject {
                name: contender.to_string(),
                figures: figures(samples),
            })
            .collect(),
        claims: Vec::new(),
    })
}

/// How long the generators run; some are told a time.
fn length(load: Load, contenders: &[Contender]) -> String {
    let timed = |contender: &Contender| matches!(contender.work, Work::Http | Work::Lab);
    let requests = format!("{} requests", load.requests);
    if contenders.iter().any(timed) {
        return format!("{requests} (wrk and lab: {} s)", load.seconds);
    }
    requests
}

pub(crate) fn sample(ground: &Ground, contender: Contender, load: Load) -> Result<Sample> {
    let server = ground.start(contender.kind)?;
    driver::prepare(contender.work, &server, load)?;
    let accepted_before = server.accepted()?;
    let cpu_before = server.cpu()?;
    let tally = driver::drive(contender.work, &server, load, &ground.turnstile)
        .with_context(|| format!("{contender}: {}", server.last_words().unwrap_or_default()))?;
    let cpu = server.cpu()? - cpu_before;
    let accepted = match tally.accepted {
        Some(accepted) => accepted,
        None => u32::try_from(server.accepted()? - accepted_before)?,
    };
    ensure!(accepted > 0, "{contender}: no request was accepted");
    Ok(Sample {
        rate: tally.rate,
        server_us: us_each(cpu, tally.requests),
        client_us: tally.client_us,
        // wrk may end with some answers on the way that it does not count.
        refused_percent: (1.0 - f64::from(accepted) / f64::from(tally.requests)).max(0.0) * 100.0,
    })
}

pub(crate) fn figures(samples: &[Sample]) -> Vec<Figure> {
    let figure = |name, value: fn(&Sample) -> f64| Figure {
        name,
        values: samples.iter().map(value).collect(),
    };
    vec![
        figure(RATE, |sample| sample.rate),
        figure(SERVER_CPU, |sample| sample.server_us),
        figure(CLIENT_CPU, |sample| sample.client_us),
        figure(REFUSED, |sample| sample.refused_percent),
    ]
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, ", self.kind)?;
        match self.work {
            Work::Command(words) => f.write_str(words[0]),
            Work::Http => f.write_str("HTTP by wrk"),
            Work::Lab => f.write_str("ROOMS.BOOK by our lab"),
            Work::Speech(speech) => speech.fmt(f),
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
