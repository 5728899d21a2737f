//! The conclusions of the report on games.

use turnstile_published::{GAMES_USERS, stated};
use turnstile_stats::{
    Interval,
    units::{Bytes, Nanos, PerSecond},
};

use super::evidence::{
    Knee, Level, SAME_KNEE, above, enough, judge, levels, ratio, response, shown, throughput, told,
    users as players, within,
};
use crate::{
    Conclusion, Figure, SeriesColumn,
    experiment::{NAGLE, NO_DELAY},
};

/// How far a figure may be from what was published to be the same: plots were read, on other machines.
const SAME: f64 = 0.1;

/// What grows by less is flat.
const FLAT: f64 = 1.5;

/// A claim about all numbers of players needs points so far apart.
const SPREAD: f64 = 10.0;

/// Processors that a server with one core must use to be held up by it.
const BUSY: f64 = 0.85;

/// From this share of the time on in which somebody waits for memory, it is what limits.
const MEMORY_WAIT: f64 = 0.05;

pub(super) fn users(columns: &[SeriesColumn]) -> Vec<Conclusion> {
    // The ancestor's servers were two processes: of these is the last column.
    let Some(column) = columns.last() else {
        return Vec::new();
    };
    vec![
        floor(column),
        most(column),
        knee(column),
        flat(column),
        server_1(column),
        memory(column),
        network(column),
    ]
}

fn time(seconds: Interval) -> String {
    shown(seconds, |seconds| Nanos(seconds * 1e9))
}

/// Response times of at least three numbers of players.
fn times(column: &SeriesColumn) -> Result<Vec<Level>, String> {
    let times = levels(column, NO_DELAY, response);
    enough(times.len())?;
    Ok(times)
}

/// Each number of players must take that long; one that surely does not is enough to refute.
fn floor(column: &SeriesColumn) -> Conclusion {
    let (low, high) = stated(GAMES_USERS, "game time");
    let claim = format!(
        "a game takes the servers {:.0} to {:.0} ms",
        low * 1e3,
        high * 1e3
    );
    let found = times(column).map(|times| {
        let (least, most) = (low * (1.0 - SAME), high * (1.0 + SAME));
        let each = || times.iter().map(|level| within(level.value, least, most));
        let is_so = if each().any(|found| found == Some(false)) {
            Some(false)
        } else {
            each().all(|found| found == Some(true)).then_some(true)
        };
        let first = times[0];
        let mut why = format!(
            "with {} players a game takes {}",
            first.x,
            time(first.value)
        );
        if let Some(stalled) = levels(column, NAGLE, response).first() {
            why += &format!(
                ", with the original's socket options {}, for the same servers",
                time(stalled.value)
            );
        }
        (is_so, why)
    });
    judge(claim, found)
}

fn most(column: &SeriesColumn) -> Conclusion {
    let (most_players, most) = (
        stated(GAMES_USERS, "most players").0,
        stated(GAMES_USERS, "most rate").0,
    );
    let claim = format!(
        "{most_players} players and {} player-games a second are the most that a core of each server \
         serves",
        PerSecond(most)
    );
    let found = Knee::of(&levels(column, NO_DELAY, throughput), most_players).map(|knee| {
        let times = knee.most.map(|rate| rate / most);
        let why = format!(
            "{}/s in {}, {} times as many",
            PerSecond(knee.most.estimate),
            column.name,
            told(times)
        );
        (within(times, 1.0 - SAME, 1.0 + SAME), why)
    });
    judge(claim, found)
}

fn knee(column: &SeriesColumn) -> Conclusion {
    let most = stated(GAMES_USERS, "most players").0;
    let claim = format!("the throughput grows with the players up to {most}");
    let found = Knee::of(&levels(column, NO_DELAY, throughput), most).map(|knee| {
        let why = format!(
            "95 % of the highest {}/s is reached with {} players",
            PerSecond(knee.most.estimate),
            players(knee.users)
        );
        (above(knee.users, most / SAME_KNEE), why)
    });
    judge(claim, found)
}

fn flat(column: &SeriesColumn) -> Conclusion {
    let claim = "the response does not depend on the number of players".to_owned();
    let found = times(column).and_then(|times| {
        let (first, last) = (times[0], times[times.len() - 1]);
        if last.x < SPREAD * first.x {
            return Err(format!(
                "too few valid points: only from {} to {} players",
                first.x, last.x
            ));
        }
        let growth = ratio(last.value, first.value);
        let why = format!(
            "{} with {} players, {} with {}, {} times as long: in a closed loop past saturation it is \
             players / throughput",
            time(first.value),
            first.x,
            time(last.value),
            last.x,
            told(growth)
        );
        Ok((within(growth, 1.0 / FLAT, FLAT), why))
    });
    judge(claim, found)
}

/// What figures near the most players tell.
fn there(column: &SeriesColumn, of: fn(&Figure) -> Option<f64>) -> Result<Interval, String> {
    let least = stated(GAMES_USERS, "most players").0 / SAME_KNEE;
    let figures = column.usable(NO_DELAY).into_iter();
    let figures = figures.filter(|figure| figure.x >= least);
    let each: Vec<f64> = figures.filter_map(of).collect();
    enough(each.len())?;
    Interval::of_mean(&each).ok_or_else(|| "no points".to_owned())
}

fn server_1(column: &SeriesColumn) -> Conclusion {
    let claim = format!(
        "with {} players server_1 (the arena) uses {:.0} % of its core, which is the bottleneck",
        stated(GAMES_USERS, "most players").0,
        stated(GAMES_USERS, "server_1 percent").0
    );
    let found = there(column, |figure| figure.server_busy).map(|busy| {
        let why = format!(
            "in {} the process that players talk to uses {} processors with about that many",
            column.name,
            told(busy)
        );
        (above(busy, BUSY), why)
    });
    judge(claim, found)
}

fn memory(column: &SeriesColumn) -> Conclusion {
    let claim = "memory is no bottleneck".to_owned();
    let found = there(column, |figure| figure.memory_wait).map(|waits| {
        let why = format!(
            "with about {} players some process waits for memory {:.1} % of the time",
            stated(GAMES_USERS, "most players").0,
            waits.estimate * 100.0
        );
        (within(waits, f64::NEG_INFINITY, MEMORY_WAIT), why)
    });
    judge(claim, found)
}

fn network(column: &SeriesColumn) -> Conclusion {
    let claim = "the network is no bottleneck".to_owned();
    let figures = column.usable(NO_DELAY).into_iter();
    let most = figures.filter_map(|figure| figure.network_bytes);
    let most = most.reduce(f64::max).map_or_else(String::new, |most| {
        format!("; at most {}/s go over it", Bytes(whole(most)))
    });
    let why = format!(
        "not testable here, because players and servers share a machine, and the loopback has no line \
         that could be full{most}"
    );
    Conclusion::untested(claim, why)
}

/// A rate of bytes without its fraction.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate of bytes is positive, and far below 2^64"
)]
const fn whole(rate: f64) -> u64 {
    rate as u64
}

#[cfg(test)]
mod tests;
