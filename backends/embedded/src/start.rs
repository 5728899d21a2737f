//! What travel and games are told first after a start: their settings, and that they have started
//! anew.

use std::{collections::VecDeque, fmt};

use turnstile_games::Games;
use turnstile_journal::Log;
use turnstile_sequencer::{ExecuteError, Sequencer};
use turnstile_travel::Travel;
use turnstile_types::{Author, Hosts, Machine, Outcome, Principal, Timestamp};

use crate::Services;

/// The commands that come before all others of travel and of games. Nothing for a service that was
/// never used and that nobody has configured, so that such a server writes no record for it.
#[derive(Debug, Default)]
pub(crate) struct Start {
    travel: VecDeque<turnstile_travel::Command>,
    games: VecDeque<turnstile_games::Command>,
}

/// A service cannot be played by these settings: a time is zero or too long, or the roles are not
/// those with which the directory began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsoundSettings {
    Travel,
    Games,
}

impl Start {
    /// With the settings that the state has.
    pub(crate) fn of(services: &Services) -> Self {
        let mut start = Self::default();
        if !services.travel().is_new() {
            start.travel.push_back(turnstile_travel::Command::Recover);
        }
        let games = services.games();
        if !games.is_new() && games.settings().roles.arena {
            start.games.push_back(turnstile_games::Command::Restarted);
        }
        start
    }

    pub(crate) fn configure_travel(
        &mut self,
        travel: &Travel,
        settings: turnstile_travel::Settings,
    ) -> Result<(), UnsoundSettings> {
        use turnstile_travel::{Command, Settings};

        if !travel.accepts(&settings) {
            return Err(UnsoundSettings::Travel);
        }
        self.travel.clear();
        if travel.is_new() && settings == Settings::FIRST {
            return Ok(());
        }
        if *travel.settings() != settings {
            self.travel.push_back(Command::Configure(settings));
        }
        self.travel.push_back(Command::Recover);
        Ok(())
    }

    pub(crate) fn configure_games(
        &mut self,
        games: &Games,
        settings: turnstile_games::Settings,
    ) -> Result<(), UnsoundSettings> {
        use turnstile_games::{Command, Settings};

        if !games.accepts(&settings) {
            return Err(UnsoundSettings::Games);
        }
        self.games.clear();
        if games.is_new() && settings == Settings::FIRST {
            return Ok(());
        }
        if *games.settings() != settings {
            self.games.push_back(Command::Configure(settings));
        }
        // Whoever only counts has nobody connected.
        if settings.roles.arena {
            self.games.push_back(Command::Restarted);
        }
        Ok(())
    }

    /// Tells of settings only: nothing has ended.
    pub(crate) fn keep_settings(&mut self) {
        self.travel
            .retain(|command| matches!(command, turnstile_travel::Command::Configure(_)));
        self.games
            .retain(|command| matches!(command, turnstile_games::Command::Configure(_)));
    }

    /// Whether everybody has been told everything.
    pub(crate) fn is_over(&self) -> bool {
        self.travel.is_empty() && self.games.is_empty()
    }

    /// Whether a service with this number has been told everything.
    pub(crate) fn is_over_for(&self, service: u8) -> bool {
        match service {
            Travel::SERVICE => self.travel.is_empty(),
            Games::SERVICE => self.games.is_empty(),
            _ => true,
        }
    }

    /// Tells what is left to tell.
    ///
    /// # Errors
    /// A command was not taken: it stays to be told.
    pub(crate) fn tell<L: Log>(
        &mut self,
        sequencer: &mut Sequencer<Services, L>,
        now: Timestamp,
    ) -> Result<(), ExecuteError> {
        tell_all::<Travel, _>(&mut self.travel, sequencer, now, |outcome| {
            matches!(outcome, turnstile_travel::Outcome::Done(_))
        })?;
        tell_all::<Games, _>(&mut self.games, sequencer, now, |outcome| {
            matches!(outcome, Outcome::Done(_))
        })
    }
}

fn tell_all<M, L: Log>(
    commands: &mut VecDeque<M::Command<'_>>,
    sequencer: &mut Sequencer<Services, L>,
    now: Timestamp,
    is_done: fn(&M::Outcome) -> bool,
) -> Result<(), ExecuteError>
where
    M: Machine,
    Services: Hosts<M>,
{
    while let Some(command) = commands.front() {
        let principal = Principal::local();
        let reply = sequencer.execute::<M>(now, Author::server(&principal), None, command, None)?;
        assert!(is_done(&reply.outcome), "the settings were accepted");
        commands.pop_front();
    }
    Ok(())
}

impl fmt::Display for UnsoundSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (service, longest) = match self {
            Self::Travel => ("travel", "a day"),
            Self::Games => ("games", "30 days"),
        };
        write!(
            f,
            "{service} cannot be configured so: times are 1 ms to {longest}, and the roles of a \
             directory that was used stay as they are"
        )
    }
}

impl std::error::Error for UnsoundSettings {}
