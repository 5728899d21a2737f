//! The services that the lab drives: one trait, and one list of those that implement it.
//!
//! A new service implements [`Service`] here and is added to [`SERVICES`]. Every command of the lab that
//! names a service finds it there.

use std::fmt;

use crate::{
    Error, LoadReport, check, exchange, games,
    pace::{Pace, Progress},
    rooms, seats,
    travel::{self, Managers},
};
use turnstile_client::ServerAddress;

/// All services, in the order in which help texts and errors name them.
pub static SERVICES: [&dyn Service; 5] = [&Rooms, &Exchange, &Travel, &Games, &Seats];

/// A service as the lab drives it.
pub trait Service: fmt::Debug + Sync {
    /// The word for it on the command line and in `run.json`.
    fn name(&self) -> &'static str;

    /// The door at which its users ask.
    fn door(&self) -> Door {
        Door::Resp
    }

    /// How many users come together: a load has a multiple of it.
    fn together(&self) -> usize {
        1
    }

    /// The option that only this service has, with its value, for `run.json`.
    fn setting(&self, _options: &Options) -> Option<(&'static str, String)> {
        None
    }

    /// Measures one point, with the proof of its answers in words.
    ///
    /// # Errors
    /// The run could not be made: settings, connections, or a server that does not do what is needed.
    /// What the server did wrong is in the proof.
    fn run(
        &self,
        load: &Load<'_>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<LoadReport<String>, Error>;

    /// Whether this load can be checked.
    ///
    /// # Errors
    /// A setting that makes no sense.
    fn check_settings(&self, _load: &Load<'_>) -> Result<(), Error> {
        Ok(())
    }

    /// The flags of a server that the lab starts to check this service.
    fn flags_when_checked(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Runs users who compete for few items at the RESP door, and checks every answer.
    ///
    /// # Errors
    /// As of [`run`](Self::run).
    fn check(
        &self,
        load: &Load<'_>,
        when: &check::When,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<check::Report, Error>;
}

/// A door of a server that the lab drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    Resp,
    /// Command lines of travel.
    Travel,
    /// The arena of games.
    Arena,
}

/// How hard a service is driven, and where.
#[derive(Clone, Debug)]
pub struct Load<'a> {
    /// The door that is driven, and when users ask.
    pub pace: &'a Pace,
    /// Number of users; each has a connection of its own.
    pub users: usize,
    /// The RESP door of the same server, if it is known.
    pub resp: Option<ServerAddress>,
    /// Whether the lab has started the server, with the flags that it needs.
    pub own: bool,
    pub options: &'a Options,
}

/// The options that only one service has.
#[derive(Clone, Debug)]
pub struct Options {
    /// rooms: weights of the operations.
    pub mix: rooms::Mix,
    /// exchange: number of symbols.
    pub symbols: usize,
    /// travel: resource managers of a journey.
    pub managers: Managers,
}

impl Load<'_> {
    /// The same load, whose answers are checked then.
    fn checked(&self, when: &check::When) -> check::Config {
        check::Config {
            pace: self.pace.clone(),
            when: when.clone(),
            users: self.users,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mix: rooms::Mix::new(70, 30).expect("it has books"),
            symbols: 8,
            managers: Managers::Several,
        }
    }
}

/// Rooms, for the commands of the lab.
#[derive(Debug)]
pub struct Rooms;

impl Service for Rooms {
    fn name(&self) -> &'static str {
        "rooms"
    }

    fn setting(&self, options: &Options) -> Option<(&'static str, String)> {
        Some(("mix", options.mix.to_string()))
    }

    fn run(
        &self,
        load: &Load<'_>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<LoadReport<String>, Error> {
        let config = rooms::Config {
            pace: load.pace.clone(),
            users: load.users,
            mix: load.options.mix,
        };
        Ok(rooms::run(&config, progress)?.in_words())
    }

    fn check(
        &self,
        load: &Load<'_>,
        when: &check::When,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<check::Report, Error> {
        check::rooms::run(&load.checked(when), progress)
    }
}

/// The exchange, for the commands of the lab.
#[derive(Debug)]
struct Exchange;

impl Service for Exchange {
    fn name(&self) -> &'static str {
        "exchange"
    }

    fn setting(&self, options: &Options) -> Option<(&'static str, String)> {
        Some(("symbols", options.symbols.to_string()))
    }

    fn run(
        &self,
        load: &Load<'_>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<LoadReport<String>, Error> {
        let config = exchange::Config {
            door: exchange::Door::Resp,
            pace: load.pace.clone(),
            proof: Some(load.pace.address.clone()),
            users: load.users,
            symbols: load.options.symbols,
            one_shot: None,
        };
        Ok(exchange::run(&config, progress)?.in_words())
    }

    fn check(
        &self,
        load: &Load<'_>,
        when: &check::When,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<check::Report, Error> {
        check::exchange::run(&load.checked(when), load.options.symbols, progress)
    }
}

/// Travel, for the commands of the lab.
#[derive(Debug)]
struct Travel;

impl Service for Travel {
    fn name(&self) -> &'static str {
        "travel"
    }

    fn door(&self) -> Door {
        Door::Travel
    }

    fn setting(&self, options: &Options) -> Option<(&'static str, String)> {
        Some(("managers", options.managers.to_string()))
    }

    fn run(
        &self,
        load: &Load<'_>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<LoadReport<String>, Error> {
        let clients = travel::Clients {
            pace: load.pace.clone(),
            number: load.users,
            witness: load.resp.clone(),
            managers: load.options.managers,
            contention: travel::Contention::Apart,
        };
        Ok(travel::measure(&clients, progress)?.in_words())
    }

    fn check_settings(&self, load: &Load<'_>) -> Result<(), Error> {
        check::travel::judge(load.pace)
    }

    /// Locks are waited for, and transactions left open, so briefly that both end many times in a run.
    fn flags_when_checked(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("--travel-wait-ms", "500"),
            ("--travel-lifetime-ms", "1000"),
        ]
    }

    fn check(
        &self,
        load: &Load<'_>,
        when: &check::When,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<check::Report, Error> {
        // Of a server of the lab's own it is known how long locks are waited for.
        let hold_late_ms_max = load.own.then_some(check::travel::HOLD_LATE_MS_MAX);
        check::travel::run(&load.checked(when), hold_late_ms_max, progress)
    }
}

/// Games, for the commands of the lab.
#[derive(Debug)]
struct Games;

impl Service for Games {
    fn name(&self) -> &'static str {
        "games"
    }

    fn door(&self) -> Door {
        Door::Arena
    }

    /// Players come in pairs.
    fn together(&self) -> usize {
        2
    }

    fn run(
        &self,
        load: &Load<'_>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<LoadReport<String>, Error> {
        let config = games::Config {
            door: if load.resp.as_ref() == Some(&load.pace.address) {
                games::Door::Resp
            } else {
                games::Door::Wire
            },
            pace: Pace {
                patience: Some(games::PATIENCE),
                ..load.pace.clone()
            },
            players: vec![load.users],
            first_player: 1,
            iterations: None,
        };
        let level = games::play(&config, load.users, progress)?;
        Ok(level.load.in_words())
    }

    fn check_settings(&self, load: &Load<'_>) -> Result<(), Error> {
        check::games::judge(load.pace, load.users)
    }

    fn check(
        &self,
        load: &Load<'_>,
        when: &check::When,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<check::Report, Error> {
        check::games::run(&load.checked(when), progress)
    }
}

/// Seats, for the commands of the lab.
#[derive(Debug)]
pub struct Seats;

impl Service for Seats {
    fn name(&self) -> &'static str {
        "seats"
    }

    fn run(
        &self,
        load: &Load<'_>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<LoadReport<String>, Error> {
        Ok(seats::run(load.pace, load.users, progress)?.in_words())
    }

    fn check(
        &self,
        load: &Load<'_>,
        when: &check::When,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<check::Report, Error> {
        check::seats::run(&load.checked(when), progress)
    }
}
