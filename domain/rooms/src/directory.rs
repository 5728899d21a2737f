//! Properties, their types of rooms, and their rooms.

mod search;

use std::{collections::BTreeMap, ops::Bound};

use turnstile_types::{Name, Stay};

pub(crate) use search::{Due, Search};

use crate::{
    arena::Arena,
    index::Index,
    limits,
    order::natural,
    shelves::{Mark, SHELF_ROOMS, Shelves},
    slab::Slab,
    table::{Table, hash_of_name},
};

/// Bytes of a room's name that are kept beside the room: longer names lie in an arena.
const NEAR: usize = 41;

/// Shelves of one row: a row is what an insertion may have to shift.
const ROW_SHELVES: usize = 256;

/// The type of rooms that nobody added.
pub(crate) const OPEN_TYPE: &[u8] = b"open";

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
}

/// A type of rooms in one property.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) property: u32,
    pub(crate) name: Name,
    /// Rooms in sale.
    pub(crate) rooms: u32,
    /// The shelves with the rooms, in natural order of the rooms; no row and no shelf is empty.
    rows: Vec<Vec<u32>>,
}

/// One room, in one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Room {
    pub(crate) property: u32,
    pub(crate) kind: u32,
    pub(crate) shelf: u32,
    pub(crate) nights: Index,
    pub(crate) bit: u8,
    pub(crate) withdrawn: bool,
    length: u8,
    text: [u8; NEAR],
}

const _: () = assert!(size_of::<Room>() == 64);

/// Everything that has a name, numbered in order of appearance. Numbers are never reused: they
/// stand in cursors. A withdrawn room keeps its number, and gets it back when it is added again.
#[derive(Debug)]
pub(crate) struct Directory {
    properties: Slab<Property>,
    property_numbers: BTreeMap<Name, u32>,
    property_table: Table,
    kinds: Slab<Kind>,
    kind_table: Table,
    rooms: Slab<Room>,
    room_table: Table,
    long_names: Arena<u8>,
    pub(crate) shelves: Shelves,
    pub(crate) in_sale: u64,
}

impl Directory {
    pub(crate) fn new() -> Self {
        Self {
            properties: Slab::new(),
            property_numbers: BTreeMap::new(),
            property_table: Table::new(),
            kinds: Slab::new(),
            kind_table: Table::new(),
            rooms: Slab::new(),
            room_table: Table::new(),
            long_names: Arena::new(),
            shelves: Shelves::new(),
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
        });
        self.property_numbers.insert(name, number);
        self.property_table
            .insert(hash_of_name(0, name.as_bytes()), number);
        number
    }

    pub(crate) fn property(&self, name: &Name) -> Option<u32> {
        self.property_table
            .find(hash_of_name(0, name.as_bytes()), |number| {
                self.properties.at(number).name == *name
            })
    }

    pub(crate) fn property_at(&self, number: u32) -> &Property {
        self.properties.at(number)
    }

    pub(crate) const fn properties(&self) -> &Slab<Property> {
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
        self.kind_table
            .find(hash_of_name(property, name), |number| {
                let kind = self.kinds.at(number);
                kind.property == property && kind.name.as_bytes() == name
            })
    }

    pub(crate) fn kind_at(&self, number: u32) -> &Kind {
        self.kinds.at(number)
    }

    pub(crate) const fn kinds(&self) -> &Slab<Kind> {
        &self.kinds
    }

    /// The number of a type, a new one at its first appearance.
    pub(crate) fn enrol_kind(&mut self, property: u32, name: Name) -> u32 {
        if let Some(number) = self.kind(property, name.as_bytes()) {
            return number;
        }
        let number = self.kinds.push(Kind {
            property,
            name,
            rooms: 0,
            rows: Vec::new(),
        });
        self.kind_table
            .insert(hash_of_name(property, name.as_bytes()), number);
        self.properties.at_mut(property).kinds.push(number);
        number
    }

    // Rooms

    pub(crate) fn room(&self, property: u32, name: &[u8]) -> Option<u32> {
        self.room_table
            .find(hash_of_name(property, name), |number| {
                let room = self.rooms.at(number);
                room.property == property && self.name_bytes(room) == name
            })
    }

    pub(crate) fn room_at(&self, number: u32) -> &Room {
        self.rooms.at(number)
    }

    pub(crate) const fn rooms(&self) -> &Slab<Room> {
        &self.rooms
    }

    pub(crate) fn room_mut(&mut self, number: u32) -> &mut Room {
        self.rooms.at_mut(number)
    }

    /// Where a room's name may be found under its hash, without a look at the room.
    pub(crate) fn guess_room(&self, property: u32, name: &[u8]) -> Option<u32> {
        self.room_table.guess(hash_of_name(property, name))
    }

    pub(crate) fn room_name(&self, number: u32) -> Name {
        Name::parse(self.name_bytes(self.rooms.at(number))).expect("a room was named by a name")
    }

    fn name_bytes<'a>(&'a self, room: &'a Room) -> &'a [u8] {
        let length = usize::from(room.length);
        room.text.get(..length).unwrap_or_else(|| {
            let cell = room.text.first_chunk().expect("41 bytes begin with four");
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
            *text.first_chunk_mut().expect("41 bytes begin with four") = cell.to_le_bytes();
        }
        let number = self.rooms.push(Room {
            property,
            kind,
            shelf: 0,
            nights: Index::default(),
            bit: 0,
            withdrawn: true,
            length: u8::try_from(bytes.len()).expect("a name has at most 64 bytes"),
            text,
        });
        self.room_table
            .insert(hash_of_name(property, bytes), number);
        self.properties.at_mut(property).rooms += 1;
        number
    }

    /// Puts a withdrawn room in sale, as one of a type.
    pub(crate) fn offer(&mut self, number: u32, kind: u32) {
        let (row, shelf, place) = self.shelf_for(kind, number);
        let bit = self.shelves.put(shelf, place, number);
        let room = self.rooms.at_mut(number);
        (room.kind, room.shelf, room.bit) = (kind, shelf, bit);
        room.withdrawn = false;
        let property = room.property;
        self.properties.at_mut(property).in_sale += 1;
        self.in_sale += 1;
        let kind = self.kinds.at_mut(kind);
        kind.rooms += 1;
        kind.split_row_if_long(row);
    }

    /// Takes a room without nights and stop-sells out of sale.
    pub(crate) fn withdraw(&mut self, number: u32) {
        let (row, place, _) = self.place(self.rooms.at(number).kind, number);
        let room = self.rooms.at_mut(number);
        room.withdrawn = true;
        let (property, kind, shelf) = (room.property, room.kind, room.shelf);
        self.shelves.take_off(shelf, room.bit);
        self.properties.at_mut(property).in_sale -= 1;
        self.in_sale -= 1;
        let kind = self.kinds.at_mut(kind);
        kind.rooms -= 1;
        if self.shelves.len(shelf) == 0 {
            let shelves = kind.rows.get_mut(row).expect("the room's row exists");
            let removed = shelves.remove(place);
            assert!(
                removed == shelf,
                "the order of shelves finds the room's own"
            );
            if shelves.is_empty() {
                kind.rows.remove(row);
            }
            self.shelves.remove(shelf);
        }
    }

    /// The shelf where a room of a type belongs, with a free place in it: the row, the shelf and
    /// the place in its order.
    fn shelf_for(&mut self, kind: u32, room: u32) -> (usize, u32, usize) {
        let (row, place, inside) = self.place(kind, room);
        let rows = &mut self.kinds.at_mut(kind).rows;
        let Some(shelves) = rows.get_mut(row) else {
            let shelf = self.shelves.add();
            rows.push(vec![shelf]);
            return (row, shelf, 0);
        };
        let &shelf = shelves.get(place).expect("a place in a row is in the row");
        if self.shelves.len(shelf) < SHELF_ROOMS {
            return (row, shelf, inside);
        }
        if inside == SHELF_ROOMS {
            // Names that come in order fill one shelf after the other, without half-empty ones.
            let next = self.shelves.add();
            shelves.insert(place + 1, next);
            return (row, next, 0);
        }
        let upper = self.shelves.split(shelf);
        shelves.insert(place + 1, upper);
        for place in 0..self.shelves.len(upper) {
            let moved = self
                .shelves
                .room_at(upper, place)
                .expect("counted just now");
            self.rooms.at_mut(moved).shelf = upper;
        }
        let lower = self.shelves.len(shelf);
        if inside <= lower {
            (row, shelf, inside)
        } else {
            (row, upper, inside - lower)
        }
    }

    /// Where a room belongs in a type's order: the row, the shelf's place in the row, and the
    /// place on the shelf.
    fn place(&self, kind: u32, room: u32) -> (usize, usize, usize) {
        let name = self.name_bytes(self.rooms.at(room));
        self.place_of_name(kind, name)
    }

    fn place_of_name(&self, kind: u32, name: &[u8]) -> (usize, usize, usize) {
        let not_after = |room: u32| natural(self.name_bytes(self.rooms.at(room)), name).is_le();
        let begins_not_after =
            |shelf: u32| not_after(self.shelves.room_at(shelf, 0).expect("no shelf is empty"));
        let rows = &self.kinds.at(kind).rows;
        let row = rows
            .partition_point(|row| begins_not_after(*row.first().expect("no row is empty")))
            .saturating_sub(1);
        let Some(shelves) = rows.get(row) else {
            return (0, 0, 0);
        };
        let place = shelves
            .partition_point(|&shelf| begins_not_after(shelf))
            .saturating_sub(1);
        let &shelf = shelves.get(place).expect("a place in a row is in the row");
        let (mut low, mut high) = (0, self.shelves.len(shelf));
        while low < high {
            let middle = usize::midpoint(low, high);
            let room = self
                .shelves
                .room_at(shelf, middle)
                .expect("below the length");
            if natural(self.name_bytes(self.rooms.at(room)), name).is_lt() {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (row, place, low)
    }

    /// Whether tables, order and shelves lead back to the room with this number.
    pub(crate) fn finds(&self, number: u32) -> bool {
        let room = self.rooms.at(number);
        if self.room(room.property, self.name_bytes(room)) != Some(number) {
            return false;
        }
        if room.withdrawn {
            return true;
        }
        let (row, place, inside) = self.place(room.kind, number);
        let shelf = self
            .kinds
            .at(room.kind)
            .rows
            .get(row)
            .and_then(|row| row.get(place));
        shelf == Some(&room.shelf)
            && self.shelves.room_at(room.shelf, inside) == Some(number)
            && self.shelves.first_of(room.shelf, 1 << room.bit) == Some(number)
    }

    /// Marks or clears nights of a room in the words that searches read.
    pub(crate) fn mark(&mut self, room: u32, mark: Mark, stay: Stay, set: bool) {
        let room = self.rooms.at(room);
        self.shelves.mark(room.shelf, room.bit, mark, stay, set);
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

impl Kind {
    pub(crate) fn shelves(&self) -> impl Iterator<Item = u32> + '_ {
        self.rows.iter().flatten().copied()
    }

    fn split_row_if_long(&mut self, row: usize) {
        let shelves = self.rows.get_mut(row).expect("the room's row exists");
        if shelves.len() > ROW_SHELVES {
            let upper = shelves.split_off(ROW_SHELVES / 2);
            self.rows.insert(row + 1, upper);
        }
    }
}
