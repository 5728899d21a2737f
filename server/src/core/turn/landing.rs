//! Answers of databases and of the shared log, on their way to those who asked.

use turnstile_contract::Failure;
use turnstile_types::Position;

use super::{Broken, FastLoop};
use crate::{
    core::{
        conversation::{Conversation as _, Doors},
        remote::{Decided, Housed, Landed, Landing},
        tickets::LateWaiter,
    },
    counters::ErrorCode,
};

/// Gives what a database has answered to whoever asked its service; says whether somebody at the gate
/// had.
macro_rules! take_one {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        fn take_one(&mut self, landed: Landed) -> bool {
            match landed {
                $(Landed::$machine(landing) => self.land(landing),)+
            }
        }
    };
}

impl<D: Doors> FastLoop<D> {
    /// Gives what databases have answered to those who asked.
    pub(super) fn take_landed(&mut self) {
        let mut is_told = false;
        while let Some(landed) = self.landings.next() {
            is_told |= self.take_one(landed);
        }
        if is_told {
            self.inbox.note_answered();
        }
    }

    /// Applies what the shared log has ordered, and gives the answers to those who asked.
    pub(super) fn take_ordered(&mut self) -> Result<(), Broken> {
        let landed = self.engine.take_ordered().map_err(Broken::Cluster)?;
        let mut is_told = false;
        for landed in landed {
            is_told |= self.take_one(landed);
        }
        if is_told {
            self.inbox.note_answered();
        }
        Ok(())
    }

    turnstile_services::services!(take_one);

    /// Counts answers and passes them on; says whether somebody at the gate had asked. Whoever asked
    /// and has gone meanwhile is not waited for.
    fn land<M: Housed>(&mut self, landing: Landing<M>) -> bool {
        let is_asked = landing.is_asked();
        let mut seen = Position(0);
        if let Landing::Commands(decided, _) = &landing {
            seen = decided
                .iter()
                .map(|one| self.count::<M>(one))
                .max()
                .unwrap_or(seen);
        }
        landing.timed().end(&self.engine.counters.durations);
        if let Some((place, client)) = landing.connection() {
            if let Some(connection) = self.connections.get_mut(place) {
                connection.put_landed(client, M::landed(landing));
                self.open.places.push(place);
                let tickets = &mut self.tickets;
                let mut wait = |ticket| tickets.add(ticket, LateWaiter::Connection(place));
                if self.engine.cluster.is_some() {
                    connection.conversation().awaited(&mut wait);
                }
            }
        } else {
            landing.answer();
        }
        if let Some(remote) = M::remote_mut(&mut self.engine.remotes) {
            remote.seen = remote.seen.max(seen);
        }
        is_asked
    }

    fn count<M: Housed>(&self, (request, result): &Decided<M>) -> Position {
        let counters = &self.engine.counters;
        match result {
            Ok(reply) => {
                let command = request.command::<M>();
                counters.command::<M>(&command.expect("it was a command when it was sent"), reply);
                reply.position
            }
            Err(failure) => {
                counters.error(match failure {
                    Failure::KeyReused { .. } => ErrorCode::KeyReused,
                    Failure::Forbidden(_) => ErrorCode::Forbidden,
                    Failure::Unsupported { .. } => ErrorCode::Invalid,
                    Failure::Unavailable { .. }
                    | Failure::Unknown { .. }
                    | Failure::Broken { .. } => ErrorCode::Backend,
                });
                Position(0)
            }
        }
    }
}
