//! Clients who ask for what the suite of back ends asks for.

use turnstile_contract::conformance::Suite;
use turnstile_seed::Random;
use turnstile_types::Timestamp;

use crate::actors::SimulatedClients;

/// Makes the suite's commands, and remembers what was made.
#[derive(Debug)]
pub(crate) struct SuiteClients<M: Suite> {
    made: Vec<M::Made>,
}

impl<M: Suite> Default for SuiteClients<M> {
    fn default() -> Self {
        Self { made: Vec::new() }
    }
}

impl<M: Suite> SimulatedClients<M> for SuiteClients<M> {
    fn opening() -> Vec<M::Command<'static>> {
        M::furniture()
    }

    fn next(&self, random: &mut Random, now: Timestamp) -> M::Command<'static> {
        M::draw_command(random, now, &self.made)
    }

    fn note(&mut self, outcome: &M::Outcome) {
        self.made.extend(M::made(outcome));
    }
}
