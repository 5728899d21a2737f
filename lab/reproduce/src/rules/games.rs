//! The conclusions of the report on games.

use turnstile_published::games;
use turnstile_stats::units::{Nanos, PerSecond};

use super::{NO_FIGURES, saturation};
use crate::{
    Column, Conclusion, Fate, Figure,
    experiment::{NAGLE, NO_DELAY},
};

/// A game that takes less is not held up by a timer of TCP.
const NO_TIMER_S: f64 = 0.02;

pub(super) fn users(columns: &[Column]) -> Vec<Conclusion> {
    let figures = columns
        .first()
        .map(|column| column.usable(NO_DELAY))
        .unwrap_or_default();
    let stalled = columns
        .first()
        .map(|column| column.usable(NAGLE))
        .unwrap_or_default();
    vec![
        floor(&figures, &stalled),
        most(&figures),
        knee(&figures),
        flat(&figures),
    ]
}

fn time(seconds: f64) -> String {
    Nanos(seconds * 1e9).to_string()
}

fn floor(figures: &[&Figure], stalled: &[&Figure]) -> Conclusion {
    let claim = "a game takes the servers 70 to 80 ms";
    let Some(fewest) = figures.first() else {
        return Conclusion::untested(claim, NO_FIGURES.to_owned());
    };
    let mut why = format!(
        "with {} players a game takes {}",
        fewest.x,
        time(fewest.response)
    );
    if let Some(stalled) = stalled.first() {
        why += &format!(
            "; with the ancestor's socket options it takes {}, for the same servers: timers of TCP, \
             not work",
            time(stalled.response)
        );
    }
    Conclusion::new(claim, Fate::if_so(fewest.response >= NO_TIMER_S), why)
}

fn most(figures: &[&Figure]) -> Conclusion {
    let claim = "2,000 players and 24,000 player-games a second are the most that a core of each server serves";
    let Some((_, most)) = saturation(figures) else {
        return Conclusion::untested(claim, NO_FIGURES.to_owned());
    };
    let theirs = games()
        .iter()
        .map(|level| level.throughput)
        .fold(0.0, f64::max);
    let why = format!(
        "{}/s here, {:.1} times as many, with arena and scores on one core",
        PerSecond(most),
        most / theirs
    );
    Conclusion::new(claim, Fate::if_so(most < 1.5 * theirs), why)
}

fn knee(figures: &[&Figure]) -> Conclusion {
    let claim = "the throughput grows with the players up to 2,000";
    let Some((players, most)) = saturation(figures) else {
        return Conclusion::untested(claim, NO_FIGURES.to_owned());
    };
    let why = format!(
        "95 % of the highest {}/s is reached with {players} players",
        PerSecond(most)
    );
    Conclusion::new(claim, Fate::if_so(players >= 1_300.0), why)
}

fn flat(figures: &[&Figure]) -> Conclusion {
    let claim = "the response does not depend on the number of players";
    let (Some(first), Some(last)) = (figures.first(), figures.last()) else {
        return Conclusion::untested(claim, NO_FIGURES.to_owned());
    };
    if last.x < 10.0 * first.x {
        return Conclusion::untested(claim, NO_FIGURES.to_owned());
    }
    let why = format!(
        "{} with {} players, {} with {}: in a closed loop past saturation it is players / throughput",
        time(first.response),
        first.x,
        time(last.response),
        last.x
    );
    Conclusion::new(
        claim,
        Fate::if_so(last.response < 1.5 * first.response),
        why,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Storage,
        rules::bookings::tests::{check, column},
    };

    #[test]
    fn a_flat_response_and_a_late_knee_are_a_timer() {
        let theirs: Vec<(f64, f64)> = [10.0, 100.0, 1_000.0, 2_000.0]
            .map(|players| (players, players / 0.075))
            .into();
        check(
            &users(&[column(Storage::Embedded, &[(NO_DELAY, &theirs)])]),
            &[
                (Fate::Confirmed, "with 10 players a game takes 75.0ms"),
                (Fate::Confirmed, "1.1 times as many"),
                (Fate::Confirmed, "with 2000 players"),
                (Fate::Confirmed, "75.0ms with 10 players, 75.0ms with 2000"),
            ],
        );
        let ours = [
            (10.0, 100_000.0),
            (100.0, 200_000.0),
            (1_000.0, 210_000.0),
            (2_000.0, 205_000.0),
        ];
        let stalled = [(10.0, 113.6)];
        check(
            &users(&[column(
                Storage::Embedded,
                &[(NO_DELAY, &ours), (NAGLE, &stalled)],
            )]),
            &[
                (
                    Fate::Refuted,
                    "takes 100us; with the ancestor's socket options it takes 88.0ms",
                ),
                (Fate::Refuted, "8.7 times as many"),
                (Fate::Refuted, "with 100 players"),
                (Fate::Refuted, "100us with 10 players, 9.76ms with 2000"),
            ],
        );
    }
}
