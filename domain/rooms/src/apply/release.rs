//! Releasing a hold.

use turnstile_types::{Context, Position, Timestamp};

use crate::{Done, EventKind, Reference, Refusal, Rooms, ledger::State};

impl Rooms {
    pub(super) fn release(
        &mut self,
        context: &Context<'_>,
        hold: Reference,
    ) -> Result<Done, Refusal> {
        let slot = self.ledger.look_up(hold)?;
        self.open_hold(slot)?;

        self.tell(context, EventKind::Released, slot);
        let entry = self.ledger.at(slot);
        let (room, stay) = (entry.room, entry.stay);
        self.end_hold(slot);
        self.vacate(room, stay, slot);
        self.ledger.remove(slot);
        Ok(Done::Released)
    }

    /// When the open hold in a slot ends, and which record made it.
    pub(super) fn open_hold(&self, slot: u32) -> Result<(Timestamp, Position), Refusal> {
        match self.ledger.at(slot).state {
            State::Held { until, made } => Ok((until, made)),
            State::Expired { .. } => Err(Refusal::HoldExpired),
            State::Booked(_) => Err(Refusal::AlreadyConfirmed),
            State::Free { .. } | State::Spent => {
                unreachable!("a reference that was looked up names an entry")
            }
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
