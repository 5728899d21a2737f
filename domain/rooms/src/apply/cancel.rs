//! Cancelling a booking.

use turnstile_types::Context;

use crate::{
    Done, EventKind, GuestId, Reference, Refusal, Rooms,
    ledger::{Slot, State},
};

impl Rooms {
    pub(super) fn cancel(
        &mut self,
        context: &Context<'_>,
        booking: Reference,
        id: GuestId,
    ) -> Result<Done, Refusal> {
        let slot = self.ledger.look_up(booking)?;
        let Slot {
            room, stay, state, ..
        } = *self.ledger.at(slot);
        match state {
            State::Booked(guest) if guest.id() == id => {}
            State::Booked(_) => return Err(Refusal::WrongGuest),
            State::Held { .. } | State::Expired { .. } => return Err(Refusal::NotConfirmed),
            State::Free { .. } | State::Spent => {
                unreachable!("a reference that was looked up names an entry")
            }
        }

        self.guests.unlink(&mut self.ledger, slot);
        self.vacate(room, stay, slot);
        self.ledger.remove(slot);
        self.counts.bookings -= 1;
        self.counts.cancelled += 1;
        let property = self.directory.room_at(room).property;
        let room = self.directory.room_name(room);
        self.announce(
            context,
            EventKind::Cancelled,
            (property, Some(room)),
            Some((booking, stay)),
        );
        Ok(Done::Cancelled { room, stay })
    }
}
