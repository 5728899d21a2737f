//! Cancelling a booking.

use turnstile_types::Context;

use crate::{
    Done, EventKind, GuestId, Reference, Refusal, Rooms,
    ledger::{Slot, Taken},
};

impl Rooms {
    pub(super) fn cancel(
        &mut self,
        context: &Context<'_>,
        booking: Reference,
        id: GuestId,
    ) -> Result<Done, Refusal> {
        let (slot, entry) = self.ledger.look_up(booking)?;
        match entry {
            Taken::Booked(guest) if guest.id() == id => {}
            Taken::Booked(_) => return Err(Refusal::WrongGuest),
            Taken::Held { .. } | Taken::Expired { .. } => return Err(Refusal::NotConfirmed),
        }
        let Slot { room, stay, .. } = *self.ledger.at(slot);

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
