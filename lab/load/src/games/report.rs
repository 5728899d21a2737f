//! What runs of the games workload gave: tables for people; `run.json` has the rest.

use std::{fmt, time::Duration};

use turnstile_published as published;
use turnstile_stats::{
    Little, Summary,
    units::{Count, Nanos, PerSecond, to_float},
};

use super::{Config, Door, Proof};
use crate::{
    LoadReport, Verdict,
    pace::{Pace, Totals, User},
    point,
};

/// A game counts for each.
const PLAYERS: f64 = 2.0;

/// The whole result.
#[derive(Clone, Debug)]
pub struct Report {
    pub config: Config,
    pub levels: Vec<Level>,
    pub verdict: Verdict,
}

/// One number of players.
#[derive(Clone, Debug)]
pub struct Level {
    pub players: usize,
    /// Player-games a second: a game counts for both.
    pub throughput: f64,
    /// The time of a game in nanoseconds, from the instant at which it was due until who began it has
    /// its statistics; in a closed loop that is from one's statistics to its next.
    pub times: Summary,
    /// From the start to the last answer, in milliseconds.
    pub took_ms: f64,
    /// The check of Little's law, for pairs; it is about a closed loop without thought. A run of few games fails it: players end one after the other.
    pub little: Little,
    /// What the generator itself used, in nanoseconds of processor time for each player-game.
    pub cpu_per_game: f64,
    /// What the ancestor's authors measured with so many.
    pub published: Option<published::Level>,
    /// The proof, and the same for `run.json`.
    pub load: LoadReport<Proof>,
}

/// What is kept of a run of one number of players.
#[derive(Debug)]
pub(super) struct GamesRun {
    /// From due to done, of each game.
    times: Summary,
    /// Games a second.
    throughput: f64,
    took: Duration,
    cpu: Duration,
    load: LoadReport<Proof>,
}

impl GamesRun {
    pub(super) fn of<U: User>(pace: &Pace, totals: &Totals<U>, proof: Proof) -> Self {
        Self {
            times: totals.times().summary(),
            throughput: totals.figures().throughput,
            took: totals.took,
            cpu: totals.cpu,
            load: LoadReport {
                server: None,
                point: point::point("games", pace, totals, vec![proof.rule()]),
                proof,
            },
        }
    }
}

impl Level {
    pub(super) fn new(config: &Config, players: usize, kept: GamesRun) -> Self {
        let GamesRun {
            times,
            mut throughput,
            took,
            cpu,
            mut load,
        } = kept;
        let pairs = u64::try_from(players / 2).expect("players are at most 50,000");
        if let Some(games) = config.iterations {
            let games = games.get().saturating_mul(pairs);
            point::count(&mut load.point, took, pairs, games);
            throughput = load.point.throughput;
        }
        Self {
            players,
            throughput: PLAYERS * throughput,
            times,
            took_ms: took.as_secs_f64() * 1e3,
            little: Little::new(pairs, throughput, times.mean),
            cpu_per_game: cpu.as_secs_f64() * 1e9 / (PLAYERS * to_float(times.count.max(1))),
            published: published::Level::of(players),
            load,
        }
    }
}

impl Report {
    /// The report of levels that were [played](super::play).
    #[must_use]
    pub fn new(config: &Config, levels: Vec<Level>) -> Self {
        let verdict = levels.iter().map(|level| level.load.verdict()).max();
        Self {
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
        let pace = &config.pace;
        let (door, sockets) = match (config.door, pace.no_delay) {
            (Door::Resp, true) => ("RESP", ""),
            (Door::Wire, true) => ("the original's wire", ", TCP_NODELAY"),
            (Door::Resp, false) => ("RESP", ", with Nagle's algorithm"),
            (Door::Wire, false) => ("the original's wire", ", sockets as the original's"),
        };
        let (address, first) = (&pace.address, config.first_player);
        let pacing = pace.rhythm.name();
        write!(f, "games over {door} at {address}, {pacing} loop, ")?;
        if let Some(games) = config.iterations {
            write!(f, "{} games a player, ", Count(games.get()))?;
        }
        let threads = pace.threads;
        writeln!(f, "players from number {first}, {threads} threads{sockets}")?;
        writeln!(f)?;
        self.write_rates(f)?;
        writeln!(f, "\n  players{} CPU/game", Summary::HEAD)?;
        for level in &self.levels {
            let cpu = Nanos(level.cpu_per_game);
            writeln!(f, "{:>9}{} {cpu:>8}", level.players, level.times)?;
        }
        for level in &self.levels {
            let (players, little, proof) = (level.players, &level.little, &level.load.proof);
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
