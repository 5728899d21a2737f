//! Who asks a service and who knows what it may answer.

use std::fmt::Debug;

use turnstile_seed::Random;
use turnstile_types::{Machine, Position, Timestamp};

/// The simulated clients of a service: a small world, so that they get in each other's way.
pub(crate) trait SimulatedClients<M: Machine>: Debug + Default {
    /// The commands with which every history begins.
    fn opening() -> Vec<M::Command<'static>> {
        Vec::new()
    }

    /// One more command, made at `now`.
    fn next(&self, random: &mut Random, now: Timestamp) -> M::Command<'static>;

    /// Remembers what was given out with an outcome.
    fn note(&mut self, outcome: &M::Outcome);
}

/// An independent model of a service. It decides nothing: it is shown each record in order of position, and
/// says whether such a record was possible.
pub(crate) trait RulesModel<M: Machine>: Debug + Default {
    /// Shows the record at this position and its logged time: what happened here, and the command with its
    /// outcome if it was for this service.
    fn show(
        &mut self,
        record: (Position, Timestamp),
        asked: Option<(&M::Command<'_>, &M::Outcome)>,
        events: &[M::Event],
    ) -> Result<(), String>;

    /// Compares what it knows with the machine.
    fn agrees(&self, now: Timestamp, machine: &M) -> Result<(), String>;
}
