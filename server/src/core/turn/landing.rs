//! Answers of databases, on their way to those who asked.

use turnstile_contract::Failure;
use turnstile_types::Position;

use super::FastLoop;
use crate::{
    core::{
        conversation::Doors,
        remote::{Decided, Housed, Landed, Landing, Remote},
    },
    counters::{Counted, ErrorCode},
};

impl<D: Doors> FastLoop<D> {
    /// Gives what databases have answered to those who asked.
    pub(super) fn take_landed(&mut self) {
        let mut is_told = false;
        while let Some(landed) = self.landings.next() {
            match landed {
                Landed::Rooms(landing) => {
                    is_told |= landing.is_asked();
                    let seen = self.land(landing);
                    note_seen(self.engine.remotes.rooms.as_mut(), seen);
                }
                Landed::Exchange(landing) => {
                    is_told |= landing.is_asked();
                    let seen = self.land(landing);
                    note_seen(self.engine.remotes.exchange.as_mut(), seen);
                }
            }
        }
        if is_told {
            self.inbox.note_answered();
        }
    }

    /// Counts answers and passes them on; answers the highest of their positions. Whoever asked and
    /// has gone meanwhile is not waited for.
    fn land<M: Counted + Housed>(&mut self, landing: Landing<M>) -> Position {
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
            }
        } else {
            landing.answer();
        }
        seen
    }

    fn count<M: Counted + Housed>(&self, (request, result): &Decided<M>) -> Position {
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

/// Notes the last position that a database has told.
fn note_seen<M: Housed>(remote: Option<&mut Remote<M>>, seen: Position) {
    if let Some(remote) = remote {
        remote.seen = remote.seen.max(seen);
    }
}
