//! Moving a booking to other nights or another room.

use turnstile_types::{Context, Stay};

use crate::{
    Done, EventKind, FormerPlace, GuestId, Reference, Refusal, Rooms, Wish,
    apply::{Place, WishTarget},
    calendar::Conflict,
    ledger::LedgerSlot,
};

impl Rooms {
    /// The booking leaves its nights and takes the new ones in one decision, or keeps what it has.
    pub(super) fn move_booking(
        &mut self,
        context: &Context<'_>,
        booking: Reference,
        (wish, stay): (&Wish, Stay),
        id: GuestId,
    ) -> Result<Done, Refusal> {
        let (slot, guest) = self.booked(booking)?;
        if guest != id {
            return Err(Refusal::WrongGuest);
        }
        let LedgerSlot {
            room: own,
            stay: before,
            ..
        } = *self.ledger.at(slot);
        let property = self.directory.room_at(own).property;
        let choice = self.choice(property, wish)?;
        let place = if self.may_stay(&choice, own, (before, stay)) {
            Place::Room(own)
        } else {
            // Its own nights are free for it, as those of a hold that is over.
            self.place(property, &choice, stay, &[(own, before)])?
        };

        let from = FormerPlace {
            room: self.directory.room_name(own),
            stay: before,
        };
        let room = self.settle(property, place);
        let name = self.directory.room_name(room);
        if (room, stay) != (own, before) {
            self.vacate(own, before, slot);
            self.occupy(room, stay, slot);
            let entry = self.ledger.at_mut(slot);
            (entry.room, entry.stay) = (room, stay);
            self.guests.renew(&mut self.ledger, slot, context.position);
            self.announce_with(
                context,
                EventKind::Moved,
                (property, Some(name)),
                Some((booking, stay)),
                (None, Some(from)),
            );
        }
        Ok(Done::Moved { room: name, from })
    }

    /// Whether a booking with the nights `before` of a room may have the nights `stay` of the same room.
    /// One that takes no others than it has does not mind that their sale was stopped.
    fn may_stay(&self, choice: &WishTarget, room: u32, (before, stay): (Stay, Stay)) -> bool {
        let fits = match choice {
            WishTarget::Room(wanted) => *wanted == room,
            WishTarget::Kind(kind) => *kind == Some(self.directory.room_at(room).kind),
            WishTarget::Unnamed(_) => false,
            WishTarget::Any => true,
        };
        let conflict = || self.conflict(room, stay, &[(room, before)]);
        fits && (before.covers(stay) || conflict() == Conflict::default())
    }
}
