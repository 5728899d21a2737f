//! A whole trip in one command, beside one room in one command: within one log, both are one record.

use std::{thread, time::Instant};

use anyhow::{Result, ensure};
use turnstile_client::Connection;

use crate::{
    booking::{is_done, request},
    driver::World,
    ground::{Ground, tell},
    pin::{CLIENT_CORE, pin},
    probe::{joined, median_us},
    process::Neighbours,
    ratio::{Bound, Ratio},
    section::{Figure, Section, Subject},
    server::Company,
};

/// Asked in one run.
pub(super) const REQUESTS: u32 = 4_000;

/// Not measured: the first finds cold caches.
const WARM_UP: usize = 200;

/// What a run gives, in their order.
pub(super) const FIGURES: [&str; 2] = ["p50, us", "server CPU, us/request"];

/// Asks once and checks the answer; the number makes each question another one.
pub(super) type Question = fn(&mut Connection, u32) -> Result<()>;

pub(super) fn measure(ground: &Ground) -> Result<Section> {
    let before = ground.probe()?;
    let neighbours = Neighbours::watch()?;
    let questions: [(&str, Question); 2] = [
        ("TRAVEL.BOOK, a flight, a car and a room", book_trip),
        ("ROOMS.BOOK, one night", book_room),
    ];
    let mut runs = [Vec::new(), Vec::new()];
    for round in 0..ground.rounds() {
        for turn in 0..questions.len() {
            let at = (turn + round) % questions.len();
            runs[at].push(run(&ground.start_travel(false)?, questions[at])?);
        }
    }
    let figure = |runs: &[[f64; 2]], at: usize| runs.iter().map(|run| run[at]).collect::<Vec<_>>();
    let subjects = questions
        .iter()
        .zip(&runs)
        .map(|((name, _), runs)| Subject {
            name: format!("turnstile sync, {name}"),
            figures: (0..FIGURES.len())
                .map(|at| Figure {
                    name: FIGURES[at],
                    values: figure(runs, at),
                })
                .collect(),
        });
    let mut section = Section {
        title: "One client, one command",
        setting: format!(
            "1 connection over RESP x 1 under way, {REQUESTS} requests, {} rounds",
            ground.rounds()
        ),
        before,
        after: ground.probe()?,
        neighbours_percent: neighbours.percent()?,
        subjects: subjects.collect(),
        claims: Vec::new(),
    };
    for (at, what, bound) in [
        (
            0,
            "p50 of a durable trip of three / durable booking of a room",
            Bound::AtMost(1.1),
        ),
        (
            1,
            "server CPU of a durable trip of three / durable booking of a room",
            Bound::None,
        ),
    ] {
        let [trip, room] = runs.each_ref().map(|runs| figure(runs, at));
        let target = format!("one client: {what}");
        section.claim_ratio(&target, Ratio::of(&trip, &room), bound);
    }
    Ok(section)
}

/// Asks servers that have nothing in them yet.
pub(super) fn run(company: &Company, (name, ask): (&str, Question)) -> Result<[f64; 2]> {
    World::make(company.lines())?;
    let mut connection = company.connect()?;
    let cpu = company.cpu()?;
    let client = thread::spawn(move || {
        pin(CLIENT_CORE)?;
        let mut times = Vec::new();
        for number in 0..REQUESTS {
            let begin = Instant::now();
            ask(&mut connection, number)?;
            times.push(begin.elapsed());
        }
        Ok(times.split_off(WARM_UP))
    });
    let p50_us = median_us(joined(client)?);
    let cpu_us = (company.cpu()? - cpu).as_secs_f64() * 1e6 / f64::from(REQUESTS);
    tell(&format!(
        "One command: {name}: p50 {p50_us:.1} us, CPU {cpu_us:.1} us"
    ))?;
    Ok([p50_us, cpu_us])
}

pub(super) fn book_trip(connection: &mut Connection, number: u32) -> Result<()> {
    let key = number % World::KEYS;
    let words = [
        "TRAVEL.BOOK".to_owned(),
        World::customer(key).to_string(),
        format!("flight-{key}"),
        format!("car-L{key}"),
        format!("room-L{key}"),
    ];
    let reply = connection.command(&words.each_ref().map(|word| word.as_bytes()))?;
    ensure!(is_done(&reply), "refused: {reply:?}");
    Ok(())
}

pub(super) fn book_room(connection: &mut Connection, number: u32) -> Result<()> {
    let room = format!("single:{number}");
    let reply = connection.command(&request(room.as_bytes()))?;
    ensure!(is_done(&reply), "refused: {reply:?}");
    Ok(())
}
