//! Properties, their types of rooms, and their rooms.

mod frontier;
mod rows;
mod search;
mod walk;

use std::{cell::Cell, collections::BTreeMap, ops::Bound};

use turnstile_chassis::prefetch;
use turnstile_types::Name;

pub(crate) use search::{Due, ShelfSearch};
pub(crate) use walk::Step;

use self::{frontier::Frontier, rows::Row};
use crate::{
    arena::CellArena,
    calendar::Diary,
    limits,
    shelves::Shelves,
    slab::{ChunkSlab, LINES},
    table::{Table, hash_of_name, scoped},
};

/// Bytes of a room's name that are kept beside the room: longer names lie in an arena.
const NEAR: usize = 33;

/// The type of rooms that nobody added.
pub(crate) const OPEN_TYPE: &[u8] = b"open";

/// The shelf of a room that lies on none.
pub(crate) const UNSHELVED: u32 = u32::MAX;

/// No room: the end of a chain.
const NO_ROOM: u32 = u32::MAX;

#[derive(Debug)]
pub(crate) struct Property {
    pub(crate) name: Name,
    pub(crate) open: bool,
    /// Rooms that have a name here, withdrawn ones with them.
    pub(crate) rooms: u32,
    /// Rooms in sale.
    pub(crate) in_sale: u32,
    /// The types of its rooms, in order of appearance.
    pub(crate) kinds: Vec<u32>,
    /// All numbers from 1 up to, not including, this one are names of rooms; only a shortcut.
    numbered: u32,
    /// The ends of the chain of its rooms, or `NO_ROOM`.
    first: u32,
    last: u32,
}

/// A type of rooms in one property.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) property: u32,
    pub(crate) name: Name,
    /// Rooms in sale.
    pub(crate) rooms: u32,
    /// Whether its rooms lie on shelves, in natural order. Those of the type `open` in an open
    /// property do not: they are loose. Whoever names a room there makes it, so that nobody needs
    /// one of the old ones, and a booking that names a new room pays for no order among millions.
    pub(crate) shelved: bool,
    /// The shelves with the rooms.
    rows: Vec<Row>,
}

/// One room, in one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct RoomEntry {
    pub(crate) property: u32,
    pub(crate) kind: u32,
    /// `UNSHELVED` for a loose room, and for a withdrawn one.
    pub(crate) shelf: u32,
    /// The next room of the property in order of appearance, or `NO_ROOM`.
    next: u32,
    pub(crate) nights: Diary,
    pub(crate) bit: u8,
    pub(crate) withdrawn: bool,
    length: u8,
    text: [u8; NEAR],
}

const _: () = assert!(size_of::<RoomEntry>() == 64);

/// Everything that has a name, numbered in order of appearance. Numbers are never reused: they
/// stand in cursors. A withdrawn room keeps its number, and gets it back when it is added again.
#[derive(Debug)]
pub(crate) struct PropertyDirectory {
    properties: ChunkSlab<Property>,
    property_numbers: BTreeMap<Name, u32>,
    property_table: Table,
    /// The property asked for last: a pipeline mostly names the same one again. It decides
    /// nothing: whatever stands here, the answer is the same.
    last_property: Cell<u32>,
    kinds: ChunkSlab<Kind>,
    kind_table: Table,
    rooms: ChunkSlab<RoomEntry, LINES>,
    room_table: Table,
    long_names: CellArena<u8>,
    pub(crate) shelves: Shelves,
    frontier: Frontier,
    pub(crate) in_sale: u64,
}

impl PropertyDirectory {
    pub(crate) fn new() -> Self {
        Self {
            properties: ChunkSlab::empty(),
            property_numbers: BTreeMap::new(),
            property_table: Table::new(),
            last_property: Cell::new(0),
            kinds: ChunkSlab::empty(),
            kind_table: Table::new(),
            rooms: ChunkSlab::empty(),
            room_table: Table::new(),
            long_names: CellArena::new(),
            shelves: Shelves::new(),
            frontier: Frontier::new(),
            in_sale: 0,
        }
    }

    // Properties

    pub(crate) fn add_property(&mut self, name: Name, open: bool) -> u32 {
        let number = self.properties.push(Property {
            name,
            open,
            rooms: 0,
            in_sale: 0,
            kinds: Vec::new(),
            numbered: 1,
            first: NO_ROOM,
            last: NO_ROOM,
        });
        self.property_numbers.insert(name, number);
        self.property_table
            .insert(hash_of_name(name.as_bytes()), number);
        number
    }

    pub(crate) fn property(&self, name: &Name) -> Option<u32> {
        if let Some(last) = self.last_property(name) {
            return Some(last);
        }
        let hash = hash_of_name(name.as_bytes());
        let found = self
            .property_table
            .find(hash, |number| self.is_called(number, name))?;
        self.last_property.set(found);
        Some(found)
    }

    /// The property asked for last, if it has this name.
    pub(crate) fn last_property(&self, name: &Name) -> Option<u32> {
        let last = self.last_property.get();
        self.is_called(last, name).then_some(last)
    }

    fn is_called(&self, property: u32, name: &Name) -> bool {
        let property = self.properties.get(property);
        property.is_some_and(|property| property.name == *name)
    }

    pub(crate) fn property_at(&self, number: u32) -> &Property {
        self.properties.at(number)
    }

    pub(crate) const fn properties(&self) -> &ChunkSlab<Property> {
        &self.properties
    }

    /// The numbers of the properties in order of their names, after a name.
    pub(crate) fn properties_after(&self, after: Option<Name>) -> impl Iterator<Item = u32> + '_ {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.property_numbers
            .range((from, Bound::Unbounded))
            .map(|(_, &number)| number)
    }

    /// How many rooms a property may have.
    pub(crate) fn rooms_max(&self, property: u32) -> u32 {
        if self.properties.at(property).open {
            limits::ROOMS_PER_OPEN_PROPERTY_MAX
        } else {
            limits::ROOMS_PER_PROPERTY_MAX
        }
    }

    // Types

    pub(crate) fn kind(&self, property: u32, name: &[u8]) -> Option<u32> {
        let is_it = |number| {
            let kind = self.kinds.at(number);
            kind.property == property && kind.name.as_bytes() == name
        };
        // Most properties have one type, or are asked for the first one most.
        let first = self.properties.at(property).kinds.first();
        if let Some(&first) = first.filter(|&&first| is_it(first)) {
            return Some(first);
        }
        self.kind_table
            .find(scoped(property, hash_of_name(name)), is_it)
    }

    pub(crate) fn kind_at(&self, number: u32) -> &Kind {
        self.kinds.at(number)
    }

    pub(crate) const fn kinds(&self) -> &ChunkSlab<Kind> {
        &self.kinds
    }

    /// The number of a type, a new one at its first appearance.
    pub(crate) fn enrol_kind(&mut self, property: u32, name: Name) -> u32 {
        if let Some(number) = self.kind(property, name.as_bytes()) {
            return number;
        }
        let open = self.properties.at(property).open;
        let number = self.kinds.push(Kind {
            property,
            name,
            rooms: 0,
            shelved: !open || name.as_bytes() != OPEN_TYPE,
            rows: Vec::new(),
        });
        self.kind_table
            .insert(scoped(property, hash_of_name(name.as_bytes())), number);
        self.properties.at_mut(property).kinds.push(number);
        number
    }

    // Rooms

    pub(crate) fn room(&self, property: u32, name: &[u8]) -> Option<u32> {
        self.room_table
            .find(scoped(property, hash_of_name(name)), |number| {
                let room = self.rooms.at(number);
                room.property == property && self.name_bytes(room) == name
            })
    }

    pub(crate) fn room_at(&self, number: u32) -> &RoomEntry {
        self.rooms.at(number)
    }

    pub(crate) const fn rooms(&self) -> &ChunkSlab<RoomEntry, LINES> {
        &self.rooms
    }

    pub(crate) fn room_mut(&mut self, number: u32) -> &mut RoomEntry {
        self.rooms.at_mut(number)
    }

    /// Notes that somebody looks for a room which may be anywhere.
    pub(crate) fn look(&mut self, number: u32) {
        self.rooms.look(number);
    }

    // Early reads: see `warming`.

    pub(crate) fn prefetch_property_name(&self, hash: u64) {
        self.property_table.prefetch(hash);
    }

    /// Asks memory for the property that is probably the one under a hash.
    pub(crate) fn prefetch_property(&self, hash: u64) -> Option<u32> {
        let property = self.property_table.guess(hash)?;
        prefetch(self.properties.at(property));
        Some(property)
    }

    pub(crate) fn prefetch_room_name(&self, hash: u64) {
        self.room_table.prefetch(hash);
    }

    /// Asks memory for the room that is probably the one under a hash.
    pub(crate) fn prefetch_room(&self, hash: u64) -> Option<u32> {
        let room = self.room_table.guess(hash)?;
        prefetch(self.rooms.at(room));
        Some(room)
    }

    pub(crate) fn room_name(&self, number: u32) -> Name {
        Name::parse(self.name_bytes(self.rooms.at(number))).expect("a room was named by a name")
    }

    fn name_bytes<'a>(&'a self, room: &'a RoomEntry) -> &'a [u8] {
        let length = usize::from(room.length);
        room.text.get(..length).unwrap_or_else(|| {
            let cell = room.text.first_chunk().expect("33 bytes begin with four");
            self.long_names.run(length, u32::from_le_bytes(*cell))
        })
    }

    /// Adds a room that its property does not know, withdrawn: [`Self::offer`] puts it in sale.
    pub(crate) fn add_room(&mut self, kind: u32, name: Name) -> u32 {
        let property = self.kinds.at(kind).property;
        let bytes = name.as_bytes();
        let mut text = [0; NEAR];
        if let Some(near) = text.get_mut(..bytes.len()) {
            near.copy_from_slice(bytes);
        } else {
            let cell = self.long_names.take(bytes.len());
            self.long_names
                .run_mut(bytes.len(), cell)
                .copy_from_slice(bytes);
            *text.first_chunk_mut().expect("33 bytes begin with four") = cell.to_le_bytes();
        }
        let number = self.rooms.push(RoomEntry {
            property,
            kind,
            shelf: UNSHELVED,
            next: NO_ROOM,
            nights: Diary::default(),
            bit: 0,
            withdrawn: true,
            length: u8::try_from(bytes.len()).expect("a name has at most 64 bytes"),
            text,
        });
        self.room_table
            .insert(scoped(property, hash_of_name(bytes)), number);
        let property = self.properties.at_mut(property);
        property.rooms += 1;
        let before = std::mem::replace(&mut property.last, number);
        if before == NO_ROOM {
            property.first = number;
        } else {
            self.rooms.at_mut(before).next = number;
        }
        number
    }

    /// The lowest positive number that is not yet a room's name in an open property.
    pub(crate) fn fresh_number(&self, property: u32) -> (u32, Name) {
        let mut number = self.properties.at(property).numbered;
        loop {
            let name = Name::parse(number.to_string().as_bytes()).expect("a number is a name");
            if self.room(property, name.as_bytes()).is_none() {
                return (number, name);
            }
            number += 1;
        }
    }

    /// Remembers what [`Self::fresh_number`] found, so that it starts there the next time.
    pub(crate) fn note_numbered(&mut self, property: u32, number: u32) {
        self.properties.at_mut(property).numbered = number;
    }
}
