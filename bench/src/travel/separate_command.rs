//! A whole trip in one command over five processes, beside one room in one command: the trip is
//! voted for in separate logs, and staged in another beside the votes.

use anyhow::Result;

use crate::{
    ground::Ground,
    pin::CLIENT_CORE,
    probe::syncs_at_once_us,
    process::Neighbours,
    ratio::{Bound, Ratio},
    section::{Figure, Section, Subject},
};

use super::{
    one_command::{FIGURES, Question, REQUESTS, book_room, book_trip, run},
    separate::Raw,
};

/// Round trips between the middleware and a desk, one after the other: three reservations and the
/// bill, each with its vote.
const LINE_ROUND_TRIPS: f64 = 4.0;

/// Logs that are synced before the client is told, at once: those of four desks that vote, and that of
/// the middleware, which stages the trip.
const LOGS: usize = 5;

pub(super) fn measure(ground: &Ground) -> Result<Section> {
    let before = ground.probe()?;
    let neighbours = Neighbours::watch()?;
    let questions: [(&str, bool, Question); 2] = [
        ("TRAVEL.BOOK, five processes", true, book_trip),
        ("ROOMS.BOOK, one night, one process", false, book_room),
    ];
    let (mut runs, mut floors) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for round in 0..ground.rounds() {
        let raw = Raw::around(ground, CLIENT_CORE, || {
            for turn in 0..questions.len() {
                let at = (turn + round) % questions.len();
                let (name, in_five, ask) = questions[at];
                runs[at].push(run(&ground.start_travel(in_five)?, (name, ask))?);
            }
            Ok(())
        })?;
        let hops = raw.client + LINE_ROUND_TRIPS * raw.line;
        floors[0].push(hops + raw.sync);
        floors[1].push(hops + syncs_at_once_us(&ground.scratch, LOGS)?);
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
             {LINE_ROUND_TRIPS} round trips between processes beside the one to the client, and waits for \
             {LOGS} logs that are synced at once; its floor has one sync for them, the floor on one disk \
             {LOGS} raw syncs that begin together; all five processes share the servers' core",
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
    for (floor, name) in floors.iter().zip(["floor", "floor on one disk"]) {
        for (of, over, name) in [
            (
                &trip,
                floor,
                format!("a durable trip of three over separate logs / {name}"),
            ),
            (
                floor,
                &room,
                format!("the {name} of that trip / durable booking of a room"),
            ),
        ] {
            let target = format!("one client: p50 of {name}");
            section.claim_ratio(&target, Ratio::of(of, over), Bound::None);
        }
    }
    Ok(section)
}
