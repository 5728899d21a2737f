//! Turning a hold into a booking.

use turnstile_types::Context;

use crate::{
    Done, EventKind, GuestId, GuestName, Reference, Refusal, Rooms,
    ledger::{LedgerSlot, State, Taken},
    limits,
};

impl Rooms {
    pub(super) fn confirm(
        &mut self,
        context: &Context<'_>,
        hold: Reference,
        guest: GuestName<'_>,
        id: GuestId,
    ) -> Result<Done, Refusal> {
        let (slot, entry) = self.ledger.look_up(hold)?;
        let late = match entry {
            Taken::Held { .. } => {
                self.end_hold(slot);
                false
            }
            Taken::Expired { .. } => {
                self.revive(slot)?;
                true
            }
            Taken::Booked(_) => return Err(Refusal::AlreadyConfirmed),
        };

        let guest = self.guests.register(guest, id);
        let entry = self.ledger.at_mut(slot);
        entry.state = State::Booked(guest);
        entry.position = context.position;
        let room = entry.room;
        self.guests.link(&mut self.ledger, slot);
        self.counts.bookings += 1;
        self.counts.booked += 1;
        self.tell(context, EventKind::Confirmed, slot);
        Ok(Done::Confirmed {
            reference: hold,
            room: self.directory.room_name(room),
            late,
        })
    }

    /// Gives an expired hold its nights back, when they are free and in sale.
    fn revive(&mut self, slot: u32) -> Result<(), Refusal> {
        let LedgerSlot {
            room, stay, state, ..
        } = *self.ledger.at(slot);
        let conflict = self.conflict(room, stay, &[]);
        let taken = conflict.occupied | conflict.stopped != 0;
        if taken || self.directory.room_at(room).withdrawn {
            return Err(Refusal::HoldExpired);
        }
        if let State::Expired { at, .. } = state {
            self.deadlines
                .remove(&(at.plus_ms(limits::LATE_CONFIRM_MS), slot));
        }
        self.occupy(room, stay, slot);
        Ok(())
    }
}
