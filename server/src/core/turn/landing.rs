//! Answers of databases and of the shared log, on their way to those who asked.

use turnstile_contract::Failure;
use turnstile_types::{PartitionNumber, Position};

use super::{Broken, FastLoop};
use crate::{
    core::{
        conversation::{Conversation as _, DoorSet},
        remote::{Decided, Housed, Landed, Landing},
        shares::Opens,
        tickets::LateWaiter,
    },
    counters::ErrorCode,
};

/// Gives what a database has answered to whoever asked its service; says whether somebody at the gate
/// had.
macro_rules! take_one {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        fn take_one(&mut self, landed: Landed) -> bool {
            if let Some((to, answer)) = landed.for_node() {
                self.engine.answer_node(to, &answer);
                return false;
            }
            let Some(landed) = self.engine.gathered(landed) else {
                return false;
            };
            match landed {
                $(Landed::$machine(landing) => self.land(landing),)+
            }
        }
    };
}

impl<D: DoorSet> FastLoop<D> {
    /// Gives what databases and other partitions have answered to those who asked.
    pub(super) fn take_landed(&mut self) {
        let mut is_told = false;
        while let Some(landed) = self.landings.next() {
            if landed.partition() != PartitionNumber::FIRST
                && let Some(partitions) = &mut self.engine.partitions
            {
                partitions.note_answered();
            }
            is_told |= self.take_one(landed);
        }
        if is_told {
            self.inbox.note_answered();
        }
    }

    /// Applies what the shared log has ordered, and gives the answers to those who asked.
    pub(super) fn take_ordered(&mut self) -> Result<(), Broken> {
        let landed = self.engine.take_ordered().map_err(Broken::Cluster)?;
        if let Some(home) = &self.home {
            home.answer(landed);
            return Ok(());
        }
        let mut is_told = false;
        for landed in landed {
            is_told |= self.take_one(landed);
        }
        if is_told {
            self.inbox.note_answered();
        }
        Ok(())
    }

    /// Takes what the loop of the first partition hands over, and says how this one stands.
    pub(super) fn take_relayed(&mut self) {
        let Some(home) = &self.home else { return };
        while let Some(asker) = home.next() {
            home.answer(self.engine.take_relayed(asker));
        }
        home.publish(&self.engine.partition_figures());
    }

    /// Takes what has come from other nodes: requests for partitions of this one, and answers.
    pub(super) fn take_from_nodes(&mut self) {
        if self.signals.is_ending() || self.signals.is_draining() {
            self.engine.leave_nodes();
        }
        let mut is_told = false;
        for landed in self.engine.take_from_nodes() {
            is_told |= self.take_one(landed);
        }
        if is_told {
            self.inbox.note_answered();
        }
    }

    turnstile_services::services!(take_one);

    /// Counts answers and passes them on; says whether somebody at the gate had asked. Whoever asked
    /// and has gone meanwhile is not waited for.
    fn land<M: Housed + Opens>(&mut self, mut landing: Landing<M>) -> bool {
        if let Some(partitions) = &self.engine.partitions {
            landing.turn_pages(partitions.count());
        }
        let is_asked = landing.is_asked();
        if let (true, Landing::Commands(decided, _)) = (is_asked, &landing) {
            for reply in decided
                .iter()
                .filter_map(|(_, result)| result.as_ref().ok())
            {
                self.shares.note::<M>(&reply.outcome, reply.replayed);
            }
        }
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
                if let Some(sent) = landing.take_noted() {
                    self.engine
                        .notes
                        .land::<M>(&sent, landing.outcomes().into_iter());
                }
                connection.put_landed(client, M::landed(landing));
                if let Some(note) = connection.take_note() {
                    self.engine.notes.add(note);
                }
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
