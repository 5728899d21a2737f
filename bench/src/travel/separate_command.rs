//! A whole trip in one command over five processes, beside one room in one command: the trip is
//! voted for in separate logs, and decided in another.

use anyhow::Result;

use crate::{
    ground::Ground,
    pin::CLIENT_CORE,
    process::Neighbours,
    ratio::{Bound, Ratio},
    section::{Figure, Section, Subject},
};

use super::{
    one_command::{FIGURES, Question, REQUESTS, book_room, book_trip, run},
    separate::{Raw, SYNCS},
};

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
    let (mut runs, mut floors) = ([Vec::new(), Vec::new()], Vec::new());
    for round in 0..ground.rounds() {
        let raw = Raw::around(ground, CLIENT_CORE, || {
            for turn in 0..questions.len() {
                let at = (turn + round) % questions.len();
                let (name, in_five, ask) = questions[at];
                runs[at].push(run(&ground.start_travel(in_five)?, (name, ask))?);
            }
            Ok(())
        })?;
        floors.push(raw.client + LINE_ROUND_TRIPS * raw.line + SYNCS * raw.sync);
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
             {LINE_ROUND_TRIPS} round trips between processes and {SYNCS} syncs in series beside the \
             one to the client, which is its floor; all five processes share the servers' core",
            ground.rounds()
        ),
        before,
        after: ground.probe()?,
        neighbours_percent: neighbours.percent()?,
        subjects: subjects.collect(),
        claims: Vec::new(),
    };
    let [trip, room] = runs.each_ref().map(|runs| figure(runs, 0));
    let ratio = Ratio::of(&trip, &room);
    let target = "one client: p50 of a durable trip of three over separate logs / durable booking of \
                  a room";
    section.claim_ratio(target, ratio, Bound::AtMost(2.2));
    let ratio = Ratio::of(&trip, &floors);
    let target = "one client: p50 of a durable trip of three over separate logs / floor";
    section.claim_ratio(target, ratio, Bound::None);
    Ok(section)
}
