//! What runs of the games workload gave: tables for people, JSON for the rest.

use std::{collections::BTreeMap, fmt};

use serde::Serialize;
use turnstile_published as published;
use turnstile_result::{Distribution, Load, Operation, Point, Rule, Times};
use turnstile_stats::{
    Little, Summary, throughput,
    units::{Count, Nanos, PerSecond, to_float},
};

use super::{Config, Proof, Totals};
use crate::{Machine, Verdict};

/// The version of the JSON form: raised when a field changes its meaning or goes.
const FORMAT: u32 = 1;

/// The whole result.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The version of this JSON form.
    pub format: u32,
    pub workload: &'static str,
    /// How players play: here always `closed`.
    pub pacing: &'static str,
    /// The generator's version.
    pub generator: &'static str,
    pub machine: Machine,
    pub config: Config,
    pub levels: Vec<Level>,
    pub verdict: Verdict,
}

/// One number of players.
#[derive(Clone, Debug, Serialize)]
pub struct Level {
    pub players: usize,
    /// Player-games a second: a game counts for both.
    pub throughput: f64,
    /// The time of a game in nanoseconds: from a player's statistics, or its greeting, to its next.
    pub times: Summary,
    /// From the first greeting to the last statistics, in milliseconds.
    pub took_ms: f64,
    /// The check of Little's law. A run of few games fails it: players end one after the other.
    pub little: Little,
    /// What the generator itself used, in nanoseconds of processor time for each player-game.
    pub cpu_per_game: f64,
    /// What the ancestor's authors measured with so many.
    pub published: Option<published::Level>,
    pub proof: Proof,
    /// The same for `run.json`.
    #[serde(skip)]
    pub point: Point,
}

impl Level {
    pub(super) fn new(config: &Config, totals: &Totals) -> Self {
        let players = totals.players.len();
        let times = totals.times.summary();
        let rate = throughput(times.count, totals.took);
        let users = u64::try_from(players).expect("players are at most 50,000");
        debug_assert!(config.players.contains(&players));
        let proof = Proof::of(&totals.players);
        let played = config.iterations.saturating_mul(users);
        Self {
            point: point(players, played, rate, totals, proof.rule()),
            players,
            throughput: rate,
            times,
            took_ms: totals.took.as_secs_f64() * 1e3,
            little: Little::new(users, rate, times.mean),
            cpu_per_game: totals.cpu.as_secs_f64() * 1e9 / to_float(times.count.max(1)),
            published: published::Level::of(players),
            proof,
        }
    }

    const fn verdict(&self) -> Verdict {
        if !self.proof.holds() {
            Verdict::Violated
        } else if self.proof.is_whole() {
            Verdict::Fine
        } else {
            Verdict::Invalid
        }
    }
}

/// Games have neither a warm-up nor bins: they end when all have played.
fn point(players: usize, requests: u64, throughput: f64, totals: &Totals, rule: Rule) -> Point {
    let times = Distribution::of(&totals.times);
    Point {
        window_s: totals.took.as_secs_f64(),
        throughput,
        load: Load::Count {
            users: u32::try_from(players).expect("players are at most 50,000"),
            requests,
        },
        times: Times {
            response: times.clone(),
            service: times.clone(),
            ..Times::default()
        },
        operations: vec![Operation {
            name: "game".to_owned(),
            done: times.count,
            refused: BTreeMap::new(),
            errors: BTreeMap::new(),
            unknown: requests.saturating_sub(times.count),
            late: 0,
            response: times,
        }],
        proof: vec![rule],
        ..Point::blank("games")
    }
}

impl Report {
    pub(super) fn new(config: &Config, machine: Machine, levels: Vec<Level>) -> Self {
        let verdict = levels.iter().map(Level::verdict).max();
        Self {
            format: FORMAT,
            workload: "games",
            pacing: "closed",
            generator: env!("CARGO_PKG_VERSION"),
            machine,
            config: config.clone(),
            levels,
            verdict: verdict.unwrap_or(Verdict::Invalid),
        }
    }

    /// What the runs are worth, and with which code a command that made them should end.
    #[must_use]
    pub const fn verdict(&self) -> Verdict {
        self.verdict
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let config = &self.config;
        let sockets = if config.no_delay {
            "TCP_NODELAY"
        } else {
            "sockets as the ancestor's"
        };
        writeln!(
            f,
            "games over the ancestor's wire at {}, closed loop, {} games a player from number {}, \
             {} threads, {sockets}",
            config.address,
            Count(config.iterations),
            config.first_player,
            config.threads
        )?;
        writeln!(f, "{}\n", self.machine)?;
        self.write_rates(f)?;
        writeln!(f, "\n  players{} CPU/game", Summary::HEAD)?;
        for level in &self.levels {
            let cpu = Nanos(level.cpu_per_game);
            writeln!(f, "{:>9}{} {cpu:>8}", level.players, level.times)?;
        }
        for level in &self.levels {
            let (players, little, proof) = (level.players, &level.little, &level.proof);
            write!(f, "\n{players} players: {proof}\n  {little}")?;
        }
        if self.verdict == Verdict::Invalid {
            write!(
                f,
                "\nINVALID: not all games were played; do not use these figures"
            )?;
        }
        Ok(())
    }
}

impl Report {
    /// Throughput and mean beside what was published, and how many times better ours are.
    fn write_rates(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "  players        X        R        T    theirs X  theirs R   X times  R times"
        )?;
        for level in &self.levels {
            let (rate, mean) = (PerSecond(level.throughput), Nanos(level.times.mean));
            let took = Nanos(level.took_ms * 1e6);
            write!(f, "{:>9} {rate:>8} {mean:>8} {took:>8}", level.players)?;
            match level.published {
                None => writeln!(f, "{:>12}{:>10}{:>10}{:>9}", "-", "-", "-", "-")?,
                Some(theirs) => {
                    let (their_rate, their_mean) =
                        (PerSecond(theirs.throughput), Nanos(theirs.response * 1e9));
                    let more = level.throughput / theirs.throughput;
                    let sooner = theirs.response * 1e9 / level.times.mean.max(1.0);
                    writeln!(
                        f,
                        "{their_rate:>12}{their_mean:>10}{more:>10.2}{sooner:>9.2}"
                    )?;
                }
            }
        }
        writeln!(
            f,
            "X: player-games/s, a game counts for both; R: mean time of a game; T: wall time"
        )
    }
}
