//! The games workload: pairs of players over the ancestor's wire or over RESP, and the proof that
//! each game was counted once.
//!
//! Every load over RESP has the same user, a [`Steward`]; its plan says what it asks for. A run of
//! [`ScriptedPlay`] compares at its end what its pairs have played with the scores. [`crate::games::check`]
//! has a plan that competes, and a witness for every answer.
//!
//! Over the wire each player has a connection of its own, and they wait for each other. Over RESP a
//! connection says nothing of a player, and so has both of a pair: their moves go over it in turn.

pub(crate) mod answer;
pub mod check;
pub(crate) mod plan;
mod player;
mod proof;
mod report;
mod standings;
mod steward;
pub(crate) mod words;
mod workload;

use std::{num::NonZeroU64, sync::Arc, time::Duration};

use turnstile_duel::{Greeting, Player as Name};

pub use proof::Proof;
pub use report::{Level, Report};
pub use workload::Games;

pub(crate) use answer::PlayerNames;
pub(crate) use steward::Steward;

use crate::{
    Error,
    again::Keyed,
    crew::USERS_MAX,
    pace::{self, Length, Pace, Progress},
};
use plan::ScriptedPlay;
use player::WirePlayer;
use report::GamesRun;
use standings::Standings;

/// Pairs of players who play over RESP.
type Tables = [Keyed<Steward<ScriptedPlay>>];

/// The longest run of a number of games.
const COUNTED_MAX: Duration = Duration::from_secs(3_600);

/// How long a server may leave all players unanswered.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// How a server is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// `GAMES.BEGIN` and `GAMES.MOVE`, both players of a pair on one connection.
    Resp,
    /// The ancestor's unframed messages to its arena, each player on a connection.
    Wire,
}

/// What to drive, and how hard.
#[derive(Clone, Debug)]
pub struct Config {
    pub door: Door,
    /// How that door is driven: what is due are games of pairs. Nobody else may play under these
    /// names meanwhile.
    pub pace: Pace,
    /// How many players there are, one run after the other; each an even number.
    pub players: Vec<usize>,
    /// The number of the first player; it plays the next, and so on in pairs.
    pub first_player: u32,
    /// How many games each plays; none: as many as the run has time for.
    pub iterations: Option<NonZeroU64>,
}

/// Lets all play, one number of players after the other.
///
/// # Errors
/// The run could not be made: settings, or players that cannot connect. What the server did wrong is
/// in the report's proofs.
pub fn run(config: &Config, progress: &mut dyn FnMut(&Progress)) -> Result<Report, Error> {
    config.check()?;
    let mut levels = Vec::with_capacity(config.players.len());
    for &players in &config.players {
        levels.push(play(config, players, progress)?);
    }
    Ok(Report::new(config, levels))
}

/// Lets so many of the players play, and proves that their games were counted once.
///
/// # Errors
/// As of [`run`].
pub fn play(
    config: &Config,
    players: usize,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Level, Error> {
    config.check_players(players)?;
    let pace = config.paced();
    let pairs = || pairs(config.first_player, players);
    let kept = match config.door {
        Door::Wire => {
            let both = pairs().flat_map(|[one, two]| [greeting(one, two), greeting(two, one)]);
            let users = both.map(|greeting| WirePlayer::new(greeting, config.iterations));
            let totals = pace::run(&pace, users.collect(), progress)?;
            let proof = Proof::of_players(&totals.users, config.iterations.is_some());
            GamesRun::of(&pace, &totals, proof)
        }
        Door::Resp => {
            let names = Arc::new(PlayerNames::numbered(config.first_player, players));
            let pairs: Vec<[u16; 2]> = (0..)
                .step_by(2)
                .map(|one| [one, one + 1])
                .take(players / 2)
                .collect();
            let before = Standings::ask(&pace.address, &names, &pairs)?;
            let table = |&pair: &[u16; 2]| {
                let plan = ScriptedPlay::new(pair, config.iterations);
                Keyed::plain(Steward::new(plan, Arc::clone(&names)))
            };
            let tables = pairs.iter().map(table).collect();
            let totals = pace::run(&pace, tables, progress)?;
            let after = Standings::ask(&pace.address, &names, &pairs)?;
            let proof = standings::prove(&totals.users, &names, &before, &after);
            GamesRun::of(&pace, &totals, proof)
        }
    };
    Ok(Level::new(config, players, kept))
}

impl Config {
    /// Whether all its players can play.
    ///
    /// # Errors
    /// A setting that makes no sense.
    pub fn check(&self) -> Result<(), Error> {
        self.players
            .iter()
            .try_for_each(|&players| self.check_players(players))
    }

    fn check_players(&self, players: usize) -> Result<(), Error> {
        if players == 0 || players > USERS_MAX || !players.is_multiple_of(2) {
            return Err(Error::Setting("there are 2 to 50,000 players, in pairs"));
        }
        let last = u32::try_from(players).map(|players| self.first_player.checked_add(players));
        if !matches!(last, Ok(Some(_))) {
            return Err(Error::Setting("a player's number is below 2^32"));
        }
        Ok(())
    }

    /// How the run goes: a number of games has its own end.
    #[must_use]
    pub fn paced(&self) -> Pace {
        let mut pace = self.pace.clone();
        if self.iterations.is_some() {
            pace.length = Length::Fixed {
                warm_up: Duration::ZERO,
                duration: COUNTED_MAX,
            };
        }
        pace
    }
}

/// Who plays whom: the first the second, the third the fourth.
fn pairs(first: u32, players: usize) -> impl Iterator<Item = [u32; 2]> {
    (first..)
        .step_by(2)
        .take(players / 2)
        .map(|one| [one, one + 1])
}

const fn greeting(own: u32, opponent: u32) -> Greeting {
    Greeting {
        own: Name(own),
        opponent: Name(opponent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        let address = std::net::SocketAddr::from(([127, 0, 0, 1], 1));
        Config {
            door: Door::Wire,
            pace: Pace::closed(address, Duration::ZERO, Duration::from_secs(1)),
            players: vec![2],
            first_player: 1,
            iterations: NonZeroU64::new(1),
        }
    }

    #[test]
    fn settings_make_sense() {
        let broken: [fn(&mut Config); 6] = [
            |config| config.players = vec![0],
            |config| config.players = vec![3],
            |config| config.players = vec![USERS_MAX + 2],
            |config| config.first_player = u32::MAX,
            |config| config.pace.threads = 0,
            |config| config.pace.pipeline = 2,
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
        let pairs: Vec<[u32; 2]> = pairs(7, 4).collect();
        assert_eq!(pairs, [[7, 8], [9, 10]]);
    }
}
