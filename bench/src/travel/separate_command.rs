//! A whole trip in one command over five processes, beside one room in one command: the trip is
//! voted for in separate logs, and decided in another.

use anyhow::Result;

use crate::{
    ground::Ground,
    process::Neighbours,
    ratio::{Bound, Ratio},
    section::{Figure, Section, Subject},
};

use super::one_command::{FIGURES, Question, REQUESTS, book_room, book_trip, run};

/// Round trips between the middleware and a desk, one after the other: three reservations, the
/// bill, and the votes.
const LINE_ROUND_TRIPS: f64 = 5.0;

pub(super) fn measure(ground: &Ground) -> Result<Section> {
    let before = ground.probe()?;
    let neighbours = Neighbours::watch()?;
    let questions: [(&str, bool, Question); 2] = [
        ("TRAVEL.BOOK, five processes", true, book_trip),
        ("ROOMS.BOOK, one night, one process", false, book_room),
    ];
    let mut runs = [Vec::new(), Vec::new()];
    for round in 0..ground.rounds() {
        for turn in 0..questions.len() {
            let at = (turn + round) % questions.len();
            let (name, in_five, ask) = questions[at];
            runs[at].push(run(&ground.start_travel(in_five)?, (name, ask))?);
        }
    }
    let figure = |runs: &[[f64; 2]], at: usize| runs.iter().map(|run| run[at]).collect::<Vec<_>>();
    let subjects = questions.iter().zip(&runs).map(|((name, ..), runs)| {
        let figures = FIGURES.iter().enumerate().map(|(at, name)| Figure {
            name,
            values: figure(runs, at),
        });
        Subject {
            name: format!("turnstile sync, {name}"),
            figures: figures.collect(),
        }
    });
    let mut section = Section {
        title: "One client, one command, five processes",
        setting: format!(
            "1 connection over RESP x 1 under way, {REQUESTS} requests, {} rounds; the trip takes \
             {LINE_ROUND_TRIPS} round trips between processes and 2 syncs in series, where the \
             room takes 1 sync",
            ground.rounds()
        ),
        before,
        after: ground.probe()?,
        neighbours_percent: neighbours.percent()?,
        subjects: subjects.collect(),
        claims: Vec::new(),
    };
    let [trip, room] = runs.each_ref().map(|runs| figure(runs, 0));
    section.claim_ratio(
        "one client: p50 of a durable trip of three over separate logs / durable booking of a room",
        Ratio::of(&trip, &room),
        Bound::AtMost(2.2),
    );
    Ok(section)
}
