//! What the lab asks of a service that it drives.
//!
//! A new service implements [`Service`] in its own module and is added to [`SERVICES`](crate::SERVICES). Every
//! command of the lab that names a service finds it there.

use std::fmt;

use crate::{
    Error, LoadReport, check,
    mix::Mix,
    pace::{Pace, Progress},
};
use turnstile_client::ServerAddress;
use turnstile_published::Managers;

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
        watch: &mut dyn check::Watch,
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
    pub mix: Mix,
    /// exchange: number of symbols.
    pub symbols: usize,
    /// travel: resource managers of a journey.
    pub managers: Managers,
}

impl Load<'_> {
    /// The same load, whose answers are checked then.
    pub(crate) fn checked(&self, when: &check::When) -> check::Config {
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
            mix: Mix::new(70, 30).expect("it has books"),
            symbols: 8,
            managers: Managers::Several,
        }
    }
}
