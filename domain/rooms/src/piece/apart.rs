//! Reads the machine's state, item by item.

use turnstile_types::{Night, Timestamp};

use super::{Counted, Piece, Standing};
use crate::{
    EntryState, Rooms,
    ledger::{LedgerSlot, State},
    limits,
    order::natural,
    queries::View,
    snapshot::runs_of,
};

impl Rooms {
    /// The pieces of the state as it is at an instant.
    ///
    /// Memory: four bytes for each room of the property that is being told.
    pub fn pieces(&self, now: Timestamp) -> impl Iterator<Item = Piece> + '_ {
        let properties = self.directory.properties_after(None).map(|number| {
            let property = self.directory.property_at(number);
            Piece::Property {
                name: property.name,
                open: property.open,
            }
        });
        let rooms = self.directory.properties_after(None);
        let stopped = self.directory.properties_after(None);
        let view = View::new(self, now);
        let expired = self.counts.expired + view.due();
        let done = Counted {
            booked: self.counts.booked,
            cancelled: self.counts.cancelled,
            held: self.counts.held,
            expired,
        };
        let slots = (0..self.ledger.len()).map(move |slot| view.slot(slot));
        properties
            .chain(rooms.flat_map(|property| self.rooms_of(property)))
            .chain(stopped.flat_map(|property| self.stopped_of(property)))
            .chain(slots)
            .chain(std::iter::once(Piece::Totals(done)))
    }

    /// How many slots bookings and holds have had so far.
    #[must_use]
    pub const fn slots_used(&self) -> u32 {
        self.ledger.len()
    }

    fn rooms_of(&self, property: u32) -> impl Iterator<Item = Piece> + '_ {
        let directory = &self.directory;
        let is_loose = |&room: &u32| directory.is_loose(room);
        let mut added: Vec<u32> = directory
            .chain(property)
            .filter(|room| !is_loose(room))
            .collect();
        added.sort_unstable_by(|&left, &right| {
            let keys = directory.key_of(left).cmp(&directory.key_of(right));
            keys.then_with(|| {
                let (left, right) = (directory.room_name(left), directory.room_name(right));
                natural(left.as_bytes(), right.as_bytes())
            })
        });
        let loose = directory.chain(property).filter(is_loose);
        let name = directory.property_at(property).name;
        added.into_iter().chain(loose).map(move |number| {
            let room = directory.room_at(number);
            Piece::Room {
                property: name,
                name: directory.room_name(number),
                room_type: directory.kind_at(room.kind).name,
                loose: directory.is_loose(number),
                withdrawn: room.withdrawn,
            }
        })
    }

    fn stopped_of(&self, property: u32) -> impl Iterator<Item = Piece> + '_ {
        let directory = &self.directory;
        let nights = |room| self.calendar.stopped(&directory.room_at(room).nights);
        let is_stopped = |&room: &u32| nights(room).next().is_some();
        let mut rooms: Vec<u32> = directory.chain(property).filter(is_stopped).collect();
        rooms.sort_unstable_by_key(|&room| directory.room_name(room));
        let name = directory.property_at(property).name;
        rooms.into_iter().flat_map(move |number| {
            let room = directory.room_name(number);
            let runs = runs_of(self.calendar.stopped(&directory.room_at(number).nights));
            runs.into_iter().map(move |(first, nights)| Piece::Stopped {
                property: name,
                room,
                first: Night::from_days(first),
                nights,
            })
        })
    }
}

impl View<'_> {
    fn slot(&self, slot: u32) -> Piece {
        let LedgerSlot {
            generation, state, ..
        } = *self.rooms.ledger.at(slot);
        let made = match state {
            State::Free { .. } => {
                let next = Some(generation);
                return Piece::Over { slot, next };
            }
            State::Spent => return Piece::Over { slot, next: None },
            State::Booked(_) => None,
            State::Held { made, .. } | State::Expired { made, .. } => Some(made),
        };
        let entry = self.entry(slot);
        if let EntryState::Expired { at } = entry.state
            && at.plus_ms(limits::LATE_CONFIRM_MS) <= self.now
        {
            let next = generation.checked_add(1);
            return Piece::Over { slot, next };
        }
        Piece::Standing(Box::new(Standing { entry, made }))
    }
}
