//! Builds a state from the items of a copy.

use std::fmt;

use turnstile_types::{Machine as _, Malformed, Name, Position, Timestamp};

use super::{Piece, Standing};
use crate::{
    EntryState, GuestName, Rooms,
    ledger::{LedgerSlot, NO_SLOT, State},
    limits,
    snapshot::{empty_slot, seat, stop_run},
};

/// A piece that cannot be true, or not after those before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    pub piece: Box<Piece>,
    /// What is wrong with it.
    pub field: &'static str,
}

/// A state that is being put together, from pieces in their order.
#[derive(Debug)]
pub struct Assembly {
    rooms: Rooms,
    /// The bookings, to be linked in the order of their positions.
    booked: Vec<(Position, u32)>,
    /// The free slots, in their order.
    free: Vec<u32>,
    is_done: bool,
}

impl Assembly {
    /// With no pieces yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            rooms: Rooms::empty(),
            booked: Vec::new(),
            free: Vec::new(),
            is_done: false,
        }
    }

    /// Adds the next piece.
    ///
    /// # Errors
    /// It does not fit to those before it, or to what is always true of rooms.
    pub fn add(&mut self, piece: Piece) -> Result<(), Misfit> {
        let added = if self.is_done {
            Err(Malformed { field: "order" })
        } else {
            self.put(&piece)
        };
        added.map_err(|Malformed { field }| Misfit {
            piece: Box::new(piece),
            field,
        })
    }

    /// The whole state.
    ///
    /// # Errors
    /// The last piece is missing, which tells what was done.
    pub fn finish(mut self) -> Result<Rooms, Malformed> {
        Malformed::unless(self.is_done, "end")?;
        // A guest's chain is in order of the positions, and linking makes a booking the newest.
        self.booked.sort_unstable();
        for (_, slot) in self.booked {
            self.rooms.guests.link(&mut self.rooms.ledger, slot);
        }
        self.rooms.ledger.chain_free(&self.free);
        Ok(self.rooms)
    }

    fn put(&mut self, piece: &Piece) -> Result<(), Malformed> {
        match piece {
            Piece::Property { name, open } => {
                let directory = &mut self.rooms.directory;
                Malformed::unless(directory.property(name).is_none(), "property")?;
                directory.add_property(*name, *open);
                Ok(())
            }
            Piece::Room {
                property,
                name,
                room_type,
                loose,
                withdrawn,
            } => self.put_room((property, *name), *room_type, *loose, *withdrawn),
            Piece::Stopped {
                property,
                room,
                first,
                nights,
            } => {
                let room = self.room(property, room)?;
                let is_in_sale = !self.rooms.directory.room_at(room).withdrawn;
                let end = first.days().checked_add(*nights);
                Malformed::unless(is_in_sale && *nights > 0 && end.is_some(), "stopped")?;
                stop_run(&mut self.rooms, room, first.days(), *nights)
            }
            Piece::Standing(standing) => self.put_standing(standing),
            Piece::Over { slot, next } => self.put_over(*slot, *next),
            Piece::Totals(done) => {
                let counts = &mut self.rooms.counts;
                counts.booked = done.booked;
                counts.cancelled = done.cancelled;
                counts.held = done.held;
                counts.expired = done.expired;
                let standing = done.booked.checked_sub(done.cancelled);
                Malformed::unless(standing == Some(counts.bookings), "totals")?;
                self.is_done = true;
                Ok(())
            }
        }
    }

    fn put_room(
        &mut self,
        (property, name): (&Name, Name),
        room_type: Name,
        loose: bool,
        withdrawn: bool,
    ) -> Result<(), Malformed> {
        let directory = &mut self.rooms.directory;
        let property = directory.property(property);
        let property = property.ok_or(Malformed { field: "property" })?;
        let is_new = directory.room(property, name.as_bytes()).is_none();
        let is_full = directory.property_at(property).rooms == directory.rooms_max(property);
        Malformed::unless(is_new && !is_full, "room")?;
        let kind = directory.enrol_kind(property, room_type);
        let room = directory.add_room(kind, name);
        Malformed::unless(directory.is_loose(room) == loose, "loose")?;
        if !withdrawn {
            directory.offer(room, kind);
        }
        Ok(())
    }

    fn room(&self, property: &Name, room: &Name) -> Result<u32, Malformed> {
        let directory = &self.rooms.directory;
        let property = directory.property(property);
        let property = property.ok_or(Malformed { field: "property" })?;
        let room = directory.room(property, room.as_bytes());
        room.ok_or(Malformed { field: "room" })
    }

    fn put_standing(&mut self, standing: &Standing) -> Result<(), Malformed> {
        let entry = &standing.entry;
        let number = self.next_slot(entry.reference.slot)?;
        let room = self.room(&entry.property, &entry.room)?;
        let made = standing.made.unwrap_or(entry.position);
        let latest = entry.since.plus_ms(limits::HOLD_TOTAL_MS_MAX);
        let is_hold = |until: Timestamp| until <= latest && made <= entry.position;
        let state = match entry.state {
            EntryState::Booked => {
                let guest = entry.guest.as_deref().unwrap_or_default();
                let guest = GuestName::parse(guest.as_bytes());
                let guest = guest.map_err(|_invalid| Malformed { field: "guest" })?;
                let id = entry.id.ok_or(Malformed { field: "guest id" })?;
                Malformed::unless(id.last_four <= 9_999, "guest id")?;
                State::Booked(self.rooms.guests.register(guest, id))
            }
            EntryState::Held { until } => {
                Malformed::unless(is_hold(until), "hold")?;
                State::Held { until, made }
            }
            EntryState::Expired { at } => {
                Malformed::unless(is_hold(at), "hold")?;
                State::Expired { at, made }
            }
        };
        let slot = LedgerSlot {
            generation: entry.reference.generation,
            room,
            principal: self.rooms.principals.enrol(&entry.principal),
            stay: entry.stay,
            since: entry.since,
            position: entry.position,
            state,
        };
        self.rooms.ledger.restore_slot(slot);
        seat(&mut self.rooms, number, &slot, &mut self.booked)
    }

    fn put_over(&mut self, slot: u32, next: Option<u32>) -> Result<(), Malformed> {
        let number = self.next_slot(slot)?;
        Malformed::unless(next != Some(0), "generation")?;
        let mut slot = empty_slot();
        if let Some(generation) = next {
            slot.generation = generation;
            slot.state = State::Free { next: NO_SLOT };
            self.free.push(number);
        } else {
            slot.generation = u32::MAX;
        }
        self.rooms.ledger.restore_slot(slot);
        Ok(())
    }

    /// The slot, if it is the next one.
    fn next_slot(&self, slot: u32) -> Result<u32, Malformed> {
        Malformed::unless(slot == self.rooms.ledger.len() && slot < NO_SLOT, "slot")?;
        Ok(slot)
    }
}

impl Default for Assembly {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: its {} does not fit", self.piece, self.field)
    }
}

impl std::error::Error for Misfit {}
