//! Pairs of players over RESP, at so many tables on each connection.

use anyhow::Result;

use crate::{
    contest::{self, Contender, RATE, SERVER_CPU},
    driver::{REQUESTS_OF_A_GAME, Speech, Work},
    ground::Ground,
    ratio::{Bound, Ratio},
    section::Section,
    server::{
        Durability::{Memory, Sync},
        Kind::Turnstile,
    },
};

/// The ancestor's best, in games that a player has played in a second, and how much more we promise.
const ANCESTOR: f64 = 24_100.0;
const TIMES: f64 = 10.0;

/// Each game is one of either player.
const PLAYERS: f64 = 2.0;

pub(super) fn pipelined(ground: &Ground) -> Result<Section> {
    compare(ground, "Pairs of players, 50 x 16", 16)
}

pub(super) fn deep(ground: &Ground) -> Result<Section> {
    compare(ground, "Pairs of players, 50 x 64", 64)
}

/// Compares the games of 50 connections with so many tables each.
fn compare(ground: &Ground, title: &'static str, tables: u32) -> Result<Section> {
    let contender = |durability, speech| Contender {
        kind: Turnstile(durability),
        work: Work::Speech(speech),
    };
    let contenders = [
        contender(Sync, Speech::Matches),
        contender(Sync, Speech::Bookings),
        contender(Memory, Speech::Matches),
    ];
    let mut section = contest::run(ground, title, ground.load(50, tables), &contenders)?;
    let figures = &section.subjects[0].figures;
    let rates = figures.iter().find(|figure| figure.name == RATE);
    let rates = &rates.expect("a contest has rates").values;
    let games = |rate: &f64| rate * PLAYERS / f64::from(REQUESTS_OF_A_GAME);
    let games: Vec<f64> = rates.iter().map(games).collect();
    let wanted = vec![ANCESTOR * TIMES; games.len()];
    section.claim_ratio(
        &format!("50 x {tables}: durable games of a player / 10 times the ancestor's 24,100/s"),
        Ratio::of(&games, &wanted),
        Bound::AtLeast(1.0),
    );
    section.claim(
        &format!(
            "50 x {tables}: server CPU of a durable request of a game / durable booking of a room"
        ),
        SERVER_CPU,
        (0, 1),
        Bound::None,
    );
    section.claim(
        &format!("50 x {tables}: rate of durable games / the same in memory"),
        RATE,
        (0, 2),
        Bound::None,
    );
    Ok(section)
}
