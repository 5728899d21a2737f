//! Columns with known truth, and what becomes of each claim.

use super::*;
use crate::{
    Fate, Storage,
    rules::bookings::tests::{check, column},
};

const PLAYERS: [f64; 6] = [10.0, 100.0, 1_000.0, 1_500.0, 2_000.0, 2_100.0];

/// As theirs: a timer of 75 ms whatever the load, up to 2,000.
fn timer() -> SeriesColumn {
    let points = PLAYERS.map(|players| (players, players.min(1_900.0) / 0.079));
    let mut found = column(Storage::Embedded, &[(NO_DELAY, &points)]);
    for figure in &mut found.figures {
        (figure.response, figure.response_range) = (0.075, Some((0.074, 0.076)));
    }
    found
}

fn fast() -> SeriesColumn {
    let ours = [
        (10.0, 100_000.0),
        (100.0, 200_000.0),
        (1_000.0, 210_000.0),
        (1_500.0, 208_000.0),
        (2_000.0, 205_000.0),
        (2_100.0, 205_000.0),
    ];
    let mut found = column(
        Storage::Embedded,
        &[(NO_DELAY, &ours), (NAGLE, &[(10.0, 113.6)])],
    );
    for figure in &mut found.figures {
        figure.server_busy = Some(0.5);
        figure.memory_wait = Some(0.4);
    }
    found
}

#[test]
fn a_timer_of_tcp_is_seen_again_and_a_fast_server_refutes_it() {
    check(
        &users(&[timer()]),
        &[
            (Fate::Confirmed, "with 10 players a game takes 75.0ms"),
            (Fate::Confirmed, "1.00"),
            (Fate::Confirmed, "players"),
            (Fate::Confirmed, "with 2100, 1.00"),
            (Fate::Confirmed, "uses 0.97"),
            (Fate::Confirmed, "0.0 % of the time"),
            (Fate::NotTestable, "not testable here, because"),
        ],
    );
    check(
        &users(&[fast()]),
        &[
            (Fate::Refuted, "with the original's socket options 88.0ms"),
            (Fate::Refuted, "8.75"),
            (Fate::Refuted, "with 100 (100 to 1000) players"),
            (
                Fate::Refuted,
                "100us (98.0us to 102us) with 10 players, 10.2ms",
            ),
            (Fate::Refuted, "uses 0.50"),
            (Fate::Refuted, "40.0 % of the time"),
            (Fate::NotTestable, "at most 977 KiB/s"),
        ],
    );
}

#[test]
fn a_game_of_29_ms_is_none_of_70_to_80() {
    let mut found = timer();
    for figure in &mut found.figures {
        (figure.response, figure.response_range) = (0.028_6, Some((0.028, 0.029)));
    }
    check(&users(&[found])[..1], &[(Fate::Refuted, "takes 28.6ms")]);
}

#[test]
fn thirty_four_thousand_a_second_refute_that_24_000_are_the_most() {
    let points = PLAYERS.map(|players| (players, (players * 50.0).min(34_562.0)));
    let found = column(Storage::Embedded, &[(NO_DELAY, &points)]);
    check(
        &users(&[found])[1..2],
        &[(Fate::Refuted, "34 562/s in the embedded journal, 1.44")],
    );
}

#[test]
fn means_that_are_not_known_do_not_make_a_response_flat() {
    let mut found = timer();
    for figure in &mut found.figures {
        figure.response_range = Some((0.01, 0.27));
    }
    let wide = (Fate::NotTestable, "the intervals are too wide to decide it");
    let all = users(&[found]);
    check(&[all[0].clone(), all[3].clone()], &[wide; 2]);
}

#[test]
fn two_valid_points_are_too_few_and_few_players_say_nothing_of_many() {
    let mut found = timer();
    for figure in &mut found.figures {
        figure.is_usable = figure.x <= 100.0;
    }
    let few = (Fate::NotTestable, "too few valid points");
    check(&users(&[found.clone()])[..6], &[few; 6]);
    for figure in &mut found.figures {
        figure.is_usable = figure.x <= 1_000.0;
    }
    check(
        &users(&[found])[1..3],
        &[(
            Fate::NotTestable,
            "none beyond 1000, and 2000 is what is claimed",
        ); 2],
    );
}
