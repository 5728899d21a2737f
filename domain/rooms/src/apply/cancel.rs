//! Cancelling a booking.

use turnstile_types::Context;

use crate::{
    CancelReason, Done, EventKind, GuestId, Reference, Refusal, Rooms,
    ledger::{LedgerSlot, Taken},
};

impl Rooms {
    pub(super) fn cancel(
        &mut self,
        context: &Context<'_>,
        booking: Reference,
        id: GuestId,
    ) -> Result<Done, Refusal> {
        let (slot, guest) = self.booked(booking)?;
        if guest != id {
            return Err(Refusal::WrongGuest);
        }
        Ok(self.end_booking(context, booking, slot, None))
    }

    pub(super) fn cancel_for_guest(
        &mut self,
        context: &Context<'_>,
        booking: Reference,
        reason: CancelReason<'_>,
    ) -> Result<Done, Refusal> {
        let (slot, _) = self.booked(booking)?;
        Ok(self.end_booking(context, booking, slot, Some(reason)))
    }

    /// The slot of a booking, and the id number that booked it.
    pub(super) fn booked(&self, booking: Reference) -> Result<(u32, GuestId), Refusal> {
        match self.ledger.look_up(booking)? {
            (slot, Taken::Booked(guest)) => Ok((slot, guest.id())),
            (_, Taken::Held { .. } | Taken::Expired { .. }) => Err(Refusal::NotConfirmed),
        }
    }

    fn end_booking(
        &mut self,
        context: &Context<'_>,
        booking: Reference,
        slot: u32,
        reason: Option<CancelReason<'_>>,
    ) -> Done {
        let LedgerSlot { room, stay, .. } = *self.ledger.at(slot);

        self.guests.unlink(&mut self.ledger, slot);
        self.vacate(room, stay, slot);
        self.ledger.remove(slot);
        self.counts.bookings -= 1;
        self.counts.cancelled += 1;
        let property = self.directory.room_at(room).property;
        let room = self.directory.room_name(room);
        self.announce_with(
            context,
            EventKind::Cancelled,
            (property, Some(room)),
            Some((booking, stay)),
            (reason, None),
        );
        Done::Cancelled { room, stay }
    }
}
