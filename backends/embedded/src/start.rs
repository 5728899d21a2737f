//! What travel is told first after a start: its settings, and that it has started anew.

use std::{collections::VecDeque, fmt};

use turnstile_journal::Log;
use turnstile_sequencer::{ExecuteError, Sequencer};
use turnstile_travel::{Command, Done, Outcome, Settings, Travel};
use turnstile_types::{Principal, Timestamp};

use crate::Services;

/// The commands that come before all others of travel. Nothing where it was never used and nobody
/// has configured it, so that such a server writes no record for it.
#[derive(Debug, Default)]
pub(crate) struct Start(VecDeque<Command>);

/// Travel cannot be played by these settings: a time is zero or longer than a day, or the roles are
/// not those with which the directory began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsoundSettings;

impl Start {
    /// With the settings that the state has.
    pub(crate) fn of(travel: &Travel) -> Self {
        let is_used = !travel.is_new();
        Self(is_used.then_some(Command::Recover).into_iter().collect())
    }

    pub(crate) fn with(travel: &Travel, settings: Settings) -> Result<Self, UnsoundSettings> {
        if !travel.accepts(&settings) {
            return Err(UnsoundSettings);
        }
        if travel.is_new() && settings == Settings::FIRST {
            return Ok(Self::default());
        }
        let differs = *travel.settings() != settings;
        let configure = differs.then_some(Command::Configure(settings));
        Ok(Self(
            configure.into_iter().chain([Command::Recover]).collect(),
        ))
    }

    /// Whether travel has been told everything.
    pub(crate) fn is_over(&self) -> bool {
        self.0.is_empty()
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
        while let Some(command) = self.0.front() {
            let principal = Principal::local();
            let reply = sequencer.execute::<Travel>(now, &principal, None, command)?;
            assert!(
                matches!(
                    reply.outcome,
                    Outcome::Done(Done::Configured | Done::Recovered)
                ),
                "the settings were accepted"
            );
            self.0.pop_front();
        }
        Ok(())
    }
}

impl fmt::Display for UnsoundSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "travel cannot be configured so: times are 1 ms to a day, and the roles of a directory \
             that was used stay as they are",
        )
    }
}

impl std::error::Error for UnsoundSettings {}
