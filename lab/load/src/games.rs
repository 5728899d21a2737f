//! The games workload: pairs of players on the ancestor's wire, and the proof that each game was
//! counted once.
//!
//! Players do not ask and get answered, they wait for each other: a loop of its own, with the same
//! sockets as [`pace`](crate::pace). Each message is one write, and each read is compared with one
//! message: an arena that lets two be read at once would lose the ancestor's clients.

mod player;
mod proof;
mod report;
mod worker;

use std::{
    net::{SocketAddr, TcpStream},
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use serde::Serialize;
use turnstile_duel::{Greeting, Player as Name};
use turnstile_stats::Histogram;

pub use proof::Proof;
pub use report::{Level, Report};

use crate::{
    Error, Machine,
    crew::{self, USERS_MAX, connect},
};
use player::Player;
use worker::Worker;

/// What to drive, and how hard.
#[derive(Clone, Debug, Serialize)]
pub struct Config {
    /// The arena's door. Nobody else may play under these names meanwhile.
    pub address: SocketAddr,
    /// How many players there are, one run after the other; each an even number.
    pub players: Vec<usize>,
    /// The number of the first player; it plays the next, and so on in pairs.
    pub first_player: u32,
    /// How many games each plays.
    pub iterations: u64,
    /// Generator threads; one for each core that the generator may use.
    pub threads: usize,
    /// Whether what is sent leaves at once. Without it the sockets are as the ancestor's are: a
    /// second small message waits until the first is acknowledged.
    pub no_delay: bool,
    /// How long nothing may come from the arena before those who wait are given up.
    pub patience: Duration,
}

/// How a run is going.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// How many play.
    pub players: usize,
    /// Since the first greeting.
    pub elapsed: Duration,
    /// Games so far; each counts for both.
    pub played: u64,
    /// Of how many.
    pub planned: u64,
}

/// What one run left.
#[derive(Debug)]
struct Totals {
    players: Vec<Player>,
    /// From a player's statistics (before its first game: its greeting) to its next.
    times: Histogram,
    /// From the first greeting to the last statistics.
    took: Duration,
    /// User and system time of the generator's threads.
    cpu: Duration,
}

/// Lets all play, one number of players after the other.
///
/// # Errors
/// The run could not be made: settings, or players that cannot connect. What the arena did wrong is
/// in the report's proofs.
pub fn run(config: &Config, progress: &mut dyn FnMut(&Progress)) -> Result<Report, Error> {
    check(config)?;
    let machine = Machine::this();
    let mut levels = Vec::with_capacity(config.players.len());
    for &players in &config.players {
        let totals = play(config, players, progress)?;
        levels.push(Level::new(config, &totals));
    }
    Ok(Report::new(config, machine, levels))
}

fn check(config: &Config) -> Result<(), Error> {
    let pairs = |&players: &usize| players > 0 && players <= USERS_MAX && players % 2 == 0;
    if config.players.is_empty() || !config.players.iter().all(pairs) {
        return Err(Error::Setting("there are 2 to 50,000 players, in pairs"));
    }
    let most = config.players.iter().max().copied().unwrap_or_default();
    let last = u32::try_from(most).map(|most| config.first_player.checked_add(most));
    if !matches!(last, Ok(Some(_))) {
        return Err(Error::Setting("a player's number is below 2^32"));
    }
    if config.threads == 0 {
        return Err(Error::Setting("there is at least one thread"));
    }
    if config.iterations == 0 {
        return Err(Error::Setting("each plays at least one game"));
    }
    Ok(())
}

/// Who plays, in pairs: the first with the second, the third with the fourth.
fn greetings(first: u32, players: usize) -> impl Iterator<Item = Greeting> {
    (first..).take(players).enumerate().map(|(number, own)| {
        let opponent = if number % 2 == 0 { own + 1 } else { own - 1 };
        Greeting {
            own: Name(own),
            opponent: Name(opponent),
        }
    })
}

fn play(
    config: &Config,
    players: usize,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Totals, Error> {
    crew::allow(players)?;
    let threads = config.threads.min(players / 2);
    let mut shares: Vec<Vec<(Player, TcpStream)>> = (0..threads).map(|_| Vec::new()).collect();
    for (user, greeting) in greetings(config.first_player, players).enumerate() {
        let stream = connect(config.address, config.no_delay)
            .map_err(|error| Error::Connect { user, error })?;
        // Both of a pair are on one thread: one of them always waits for the other.
        shares[user / 2 % threads].push((Player::new(greeting, config.iterations), stream));
    }
    let boards: Vec<AtomicU64> = (0..threads).map(|_| AtomicU64::new(0)).collect();
    let mut workers = Vec::new();
    for (share, board) in shares.into_iter().zip(&boards) {
        workers.push(Worker::new(share, config.patience, board).map_err(Error::Poll)?);
    }
    let both = u64::try_from(players).expect("players are at most 50,000");
    let ends = crew::run(workers, Worker::run, |elapsed| {
        let told = boards.iter().map(|board| board.load(Ordering::Relaxed));
        progress(&Progress {
            players,
            elapsed,
            played: told.sum::<u64>() / 2,
            planned: config.iterations.saturating_mul(both) / 2,
        });
    })?;
    let mut totals = Totals {
        players: Vec::with_capacity(players),
        times: Histogram::new(),
        took: Duration::ZERO,
        cpu: Duration::ZERO,
    };
    for end in ends {
        totals.players.extend(end.players);
        totals.times.merge(&end.times);
        totals.took = totals.took.max(end.took);
        totals.cpu += end.cpu;
    }
    Ok(totals)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        Config {
            address: "127.0.0.1:1".parse().unwrap(),
            players: vec![2],
            first_player: 1,
            iterations: 1,
            threads: 1,
            no_delay: true,
            patience: Duration::from_secs(10),
        }
    }

    #[test]
    fn settings_make_sense() {
        let broken: [fn(&mut Config); 6] = [
            |config| config.players = Vec::new(),
            |config| config.players = vec![2, 3],
            |config| config.players = vec![USERS_MAX + 2],
            |config| config.first_player = u32::MAX,
            |config| config.iterations = 0,
            |config| config.threads = 0,
        ];
        for breaks in broken {
            let mut config = config();
            breaks(&mut config);
            let error = run(&config, &mut |_progress| {}).unwrap_err();
            assert!(matches!(error, Error::Setting(_)), "{error}");
        }
        let error = run(&config(), &mut |_progress| {}).unwrap_err();
        assert!(matches!(error, Error::Connect { user: 0, .. }), "{error}");
    }

    #[test]
    fn players_are_paired_in_order() {
        let pairs: Vec<(u32, u32)> = greetings(7, 4)
            .map(|greeting| (greeting.own.0, greeting.opponent.0))
            .collect();
        assert_eq!(pairs, [(7, 8), (8, 7), (9, 10), (10, 9)]);
    }
}
