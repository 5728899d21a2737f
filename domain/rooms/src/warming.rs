//! Prefetches what waiting commands will touch.

use turnstile_chassis::prefetch;
use turnstile_types::{Name, Night};

use crate::{
    Command, Rooms, Wish,
    expected::Target,
    ledger::{LedgerSlot, State},
    table::{hash_of_name, scoped},
};

impl Rooms {
    /// Puts a command on the belt.
    pub(crate) fn expect_command(&self, command: &Command<'_>) {
        let target = if let Command::Book {
            property,
            wish: Wish::Room(room),
            stay,
            id,
            ..
        } = command
        {
            self.guests.prefetch(id.seal);
            self.named(property, room, stay.arrival())
        } else if let Command::Hold {
            property,
            wish: Wish::Room(room),
            stay,
            ..
        } = command
        {
            self.named(property, room, stay.arrival())
        } else if let Some(slot) = command
            .entry()
            .and_then(|reference| self.ledger.slot_of(reference))
        {
            Target::Entry { slot }
        } else {
            return;
        };
        let mut expected = self.expected.borrow_mut();
        expected.put(target, |link, target| self.ask(link, target));
    }

    /// A command is about to be decided: those behind it move on.
    pub(crate) fn warm(&self) {
        let mut expected = self.expected.borrow_mut();
        expected.advance_one(|link, target| self.ask(link, target));
    }

    /// Asks memory for one link of a command's chain; the link before it has arrived.
    fn ask(&self, link: usize, target: &mut Target) {
        let (directory, calendar) = (&self.directory, &self.calendar);
        match (link, *target) {
            (0, Target::Named { property, .. }) => directory.prefetch_property_name(property),
            (0, Target::Scoped { room, .. }) => directory.prefetch_room_name(room),
            (0, Target::Entry { slot }) => {
                self.ledger.get(slot).map(prefetch);
            }
            (
                1,
                Target::Named {
                    property,
                    room,
                    night,
                },
            ) => {
                let property = directory.prefetch_property(property);
                *target = property.map_or(Target::Lost, |property| {
                    let room = scoped(property, room);
                    directory.prefetch_room_name(room);
                    Target::Scoped { room, night }
                });
            }
            (1, Target::Entry { slot }) => {
                let entry = self.ledger.get(slot);
                *target = entry.map_or(Target::Lost, |entry| self.spot_of(entry));
            }
            (2, Target::Scoped { room, night }) => {
                let room = directory.prefetch_room(room);
                *target = room.map_or(Target::Lost, |room| Target::Spot { room, night });
            }
            (3, Target::Spot { room, .. }) => {
                let room = directory.room_at(room);
                calendar.prefetch_index(&room.nights);
                directory.shelves.prefetch(room.shelf);
            }
            (4, Target::Spot { room, night }) => {
                let room = directory.room_at(room);
                calendar.prefetch(&room.nights, night);
                directory.shelves.prefetch_index(room.shelf);
            }
            (5, Target::Spot { room, night }) => {
                let room = directory.room_at(room);
                directory.shelves.prefetch_night(room.shelf, night);
            }
            _ => {}
        }
    }

    /// The first link of a booking or hold that names its room. Mostly the property is the one that
    /// was asked for last, and need not be found.
    fn named(&self, property: &Name, room: &Name, night: Night) -> Target {
        let room = hash_of_name(room.as_bytes());
        match self.directory.last_property(property) {
            Some(property) => Target::Scoped {
                room: scoped(property, room),
                night,
            },
            None => Target::Named {
                property: hash_of_name(property.as_bytes()),
                room,
                night,
            },
        }
    }

    /// Asks memory for the room of a booking or hold, and for its guest.
    fn spot_of(&self, entry: &LedgerSlot) -> Target {
        if let State::Booked(guest) = entry.state {
            self.guests.prefetch(guest.seal);
        }
        prefetch(self.directory.room_at(entry.room));
        Target::Spot {
            room: entry.room,
            night: entry.stay.arrival(),
        }
    }
}
