//! Whole trips, each in one command, pipelined.

use anyhow::Result;

use crate::{
    contest::{self, Contender, RATE, SERVER_CPU},
    driver::{Places, Speech, Work},
    ground::Ground,
    ratio::{Bound, Ratio},
    section::Section,
    server::{Durability::Sync, Kind::Turnstile},
};

/// What saturated the ancestor, in transactions a second, and how much more we promise.
const ANCESTOR: f64 = 1_000.0;
const TIMES: f64 = 50.0;

pub(super) fn measure(ground: &Ground) -> Result<Section> {
    let speeches = [
        Speech::Itineraries(Places::Own),
        Speech::Itineraries(Places::Popular),
        Speech::Bookings,
    ];
    let contenders = speeches.map(|speech| Contender {
        kind: Turnstile(Sync),
        work: Work::Speech(speech),
    });
    let title = "Trips in one command, 64 x 16";
    let mut section = contest::run(ground, title, ground.load(64, 16), &contenders)?;
    for (at, who) in [(0, "places of their own"), (1, "100 places by Zipf 0.99")] {
        let figures = &section.subjects[at].figures;
        let rates = figures.iter().find(|figure| figure.name == RATE);
        let rates = rates.expect("a contest has rates").values.clone();
        let wanted = vec![ANCESTOR * TIMES; rates.len()];
        let target = format!("64 x 16, {who}: durable trips / 50 times the ancestor's 1,000/s");
        section.claim_ratio(&target, Ratio::of(&rates, &wanted), Bound::AtLeast(1.0));
    }
    section.claim(
        "64 x 16: server CPU of a durable trip of three / durable booking of a room",
        SERVER_CPU,
        (0, 2),
        Bound::None,
    );
    Ok(section)
}
