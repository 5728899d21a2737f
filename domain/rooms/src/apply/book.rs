//! Booking a room at once.

use turnstile_types::{Context, Name, Stay};

use crate::{
    Done, EventKind, GuestId, GuestName, Reference, Refusal, Rooms, Wish,
    ledger::{Slot, State},
};

impl Rooms {
    pub(super) fn book(
        &mut self,
        context: &Context<'_>,
        (property, wish, stay): (&Name, &Wish, Stay),
        guest: GuestName<'_>,
        id: GuestId,
    ) -> Result<Done, Refusal> {
        let property = self
            .directory
            .property(property)
            .ok_or(Refusal::UnknownProperty)?;
        let choice = self.choice(property, wish)?;
        self.prepare_search(property, &choice, stay);
        let place = self.place(property, &choice, stay, &[])?;

        let room = self.settle(property, place);
        let guest = self.guests.register(guest, id);
        let reference = self.enter(context, room, stay, State::Booked(guest));
        self.guests.link(&mut self.ledger, reference.slot);
        self.counts.bookings += 1;
        self.counts.booked += 1;
        let room = match wish {
            Wish::Room(name) => *name,
            Wish::Type(_) | Wish::Any => self.directory.room_name(room),
        };
        self.announce(
            context,
            EventKind::Booked,
            (property, Some(room)),
            Some((reference, stay)),
        );
        Ok(Done::Booked { reference, room })
    }

    /// Keeps a new entry, which has its nights from now on.
    pub(super) fn enter(
        &mut self,
        context: &Context<'_>,
        room: u32,
        stay: Stay,
        state: State,
    ) -> Reference {
        let slot = self.ledger.next_slot();
        self.occupy(room, stay, slot);
        let principal = self.principals.enrol(context.principal);
        let reference = self.ledger.add(Slot {
            generation: 0,
            room,
            principal,
            stay,
            since: context.now,
            position: context.position,
            state,
        });
        assert!(
            reference.slot == slot,
            "the entry lies where it was announced"
        );
        reference
    }
}
