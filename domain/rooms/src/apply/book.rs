//! Booking a room at once.

use turnstile_types::{Context, Name, Stay};

use crate::{
    Done, EventKind, GuestId, GuestName, Refusal, Rooms, Wish,
    ledger::{LedgerSlot, State},
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
        self.ledger.check_room()?;

        let room = self.settle(property, place);
        let guest = self.guests.register(guest, id);
        let slot = self.enter(context, room, stay, State::Booked(guest));
        self.guests.link(&mut self.ledger, slot);
        self.counts.bookings += 1;
        self.counts.booked += 1;
        let room = match wish {
            Wish::Room(name) => *name,
            Wish::Type(_) | Wish::Any => self.directory.room_name(room),
        };
        let reference = self.ledger.reference(slot);
        self.announce(
            context,
            EventKind::Booked,
            (property, Some(room)),
            Some((reference, stay)),
        );
        Ok(Done::Booked { reference, room })
    }

    /// Keeps a new entry, which has its nights from now on, and answers its slot.
    pub(super) fn enter(
        &mut self,
        context: &Context<'_>,
        room: u32,
        stay: Stay,
        state: State,
    ) -> u32 {
        let slot = self.ledger.next_slot();
        self.occupy(room, stay, slot);
        let principal = self.principals.enrol(context.principal);
        let added = self.ledger.add(LedgerSlot {
            generation: 0,
            room,
            principal,
            stay,
            since: context.now,
            position: context.position,
            state,
        });
        assert!(added == slot, "the entry lies where it was announced");
        slot
    }
}
