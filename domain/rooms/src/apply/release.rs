//! Releasing a hold.

use turnstile_types::{Context, Position, Timestamp};

use crate::{
    Done, EventKind, Reference, Refusal, Rooms,
    ledger::{State, Taken},
};

impl Rooms {
    pub(super) fn release(
        &mut self,
        context: &Context<'_>,
        hold: Reference,
    ) -> Result<Done, Refusal> {
        let (slot, ..) = self.open_hold(hold)?;

        self.tell(context, EventKind::Released, slot);
        let entry = self.ledger.at(slot);
        let (room, stay) = (entry.room, entry.stay);
        self.end_hold(slot);
        self.vacate(room, stay, slot);
        self.ledger.remove(slot);
        Ok(Done::Released)
    }

    /// The slot of an open hold, when the hold ends, and which record made it.
    pub(super) fn open_hold(&self, hold: Reference) -> Result<(u32, Timestamp, Position), Refusal> {
        match self.ledger.look_up(hold)? {
            (slot, Taken::Held { until, made }) => Ok((slot, until, made)),
            (_, Taken::Expired { .. }) => Err(Refusal::HoldExpired),
            (_, Taken::Booked(_)) => Err(Refusal::AlreadyConfirmed),
        }
    }

    /// Takes an open hold from its caller's list and from the deadlines.
    pub(super) fn end_hold(&mut self, slot: u32) {
        let entry = self.ledger.at(slot);
        if let State::Held { until, made } = entry.state {
            self.deadlines.remove(&(until, slot));
            self.principals.remove_hold(entry.principal, made, slot);
        }
    }
}
