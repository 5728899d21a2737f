//! The order of the rooms of one type.

use turnstile_types::Stay;

use super::{Kind, PropertyDirectory, UNSHELVED};
use crate::{
    order::{key, natural},
    shelves::{Mark, SHELF_ROOMS},
};

/// Shelves of one row: a row is what an insertion may have to shift.
const ROW_SHELVES: usize = 256;

/// Shelves that follow each other. No row and no shelf is empty, so that a row holds thousands of
/// rooms: a place among millions is found by three short searches, through keys that lie beside
/// each other, and names are read only where keys are equal.
#[derive(Debug)]
pub(crate) struct Row {
    /// The key of the first room.
    pub(super) key: u128,
    /// The key of each shelf's first room, and the shelf.
    pub(super) shelves: Vec<(u128, u32)>,
}

/// Where a room is, or would be, in the order of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RoomRank {
    pub(super) row: usize,
    /// The shelf's place in the row.
    pub(super) place: usize,
    /// The room's place on the shelf.
    pub(super) inside: usize,
}

impl RoomRank {
    pub(super) const FIRST: Self = Self {
        row: 0,
        place: 0,
        inside: 0,
    };
}

impl PropertyDirectory {
    /// Puts a withdrawn room in sale, as one of a type.
    pub(crate) fn offer(&mut self, number: u32, kind: u32) {
        let (shelf, bit) = if self.kinds.at(kind).shelved {
            self.shelve(number, kind)
        } else {
            (UNSHELVED, 0)
        };
        let room = self.rooms.at_mut(number);
        (room.kind, room.shelf, room.bit) = (kind, shelf, bit);
        room.withdrawn = false;
        let property = room.property;
        self.properties.at_mut(property).in_sale += 1;
        self.in_sale += 1;
        self.kinds.at_mut(kind).rooms += 1;
    }

    /// Finds a shelf and a bit for a room, in the natural order of its type.
    fn shelve(&mut self, number: u32, kind: u32) -> (u32, u8) {
        let name = self.name_bytes(self.rooms.at(number));
        let key = key(name);
        let spot = self.spot_of(kind, key, name);
        let (spot, shelf) = self.make_place(kind, spot, key);
        let bit = self.shelves.put(shelf, spot.inside, (key, number));
        self.frontier.lower_all(kind, key);
        let kind = self.kinds.at_mut(kind);
        kind.note_first(spot, key);
        kind.split_row_if_long(spot.row);
        (shelf, bit)
    }

    /// Takes a room without nights and stop-sells out of sale.
    pub(crate) fn withdraw(&mut self, number: u32) {
        if self.rooms.at(number).shelf != UNSHELVED {
            self.unshelve(number);
        }
        let room = self.rooms.at_mut(number);
        room.withdrawn = true;
        room.shelf = UNSHELVED;
        let (property, kind) = (room.property, room.kind);
        self.properties.at_mut(property).in_sale -= 1;
        self.in_sale -= 1;
        self.kinds.at_mut(kind).rooms -= 1;
    }

    /// Takes a room without marks off its shelf, and the shelf away when it was the last one.
    fn unshelve(&mut self, number: u32) {
        let spot = self.spot_of_room(number);
        let room = self.rooms.at(number);
        let (kind, shelf) = (room.kind, room.shelf);
        self.shelves.take_off(shelf, room.bit);
        let kind = self.kinds.at_mut(kind);
        if self.shelves.len(shelf) > 0 {
            let (first, _) = self.shelves.keyed_at(shelf, 0);
            kind.note_first(RoomRank { inside: 0, ..spot }, first);
            return;
        }
        let row = kind.rows.get_mut(spot.row).expect("the room's row exists");
        let (_, removed) = row.shelves.remove(spot.place);
        assert!(removed == shelf, "the order finds the room's own shelf");
        if row.shelves.is_empty() {
            kind.rows.remove(spot.row);
        } else if let Some(&(first, _)) = row.shelves.first() {
            row.key = first;
        }
        self.shelves.remove(shelf);
    }

    /// Makes sure of a free place at a spot; the spot may move to another shelf.
    fn make_place(&mut self, kind: u32, spot: RoomRank, key: u128) -> (RoomRank, u32) {
        let rows = &mut self.kinds.at_mut(kind).rows;
        let Some(row) = rows.get_mut(spot.row) else {
            let shelf = self.shelves.add();
            let shelves = vec![(key, shelf)];
            rows.push(Row { key, shelves });
            return (spot, shelf);
        };
        let &(_, shelf) = row.shelves.get(spot.place).expect("a spot is in its row");
        if self.shelves.len(shelf) < SHELF_ROOMS {
            return (spot, shelf);
        }
        let (place, after) = (
            spot.place + 1,
            RoomRank {
                place: spot.place + 1,
                ..spot
            },
        );
        if spot.inside == SHELF_ROOMS {
            // Names that come in order fill one shelf after the other, without half-empty ones.
            let next = self.shelves.add();
            row.shelves.insert(place, (key, next));
            return (RoomRank { inside: 0, ..after }, next);
        }
        let upper = self.shelves.split(shelf);
        let (first, _) = self.shelves.keyed_at(upper, 0);
        row.shelves.insert(place, (first, upper));
        for place in 0..self.shelves.len(upper) {
            let (_, moved) = self.shelves.keyed_at(upper, place);
            self.rooms.at_mut(moved).shelf = upper;
        }
        let lower = self.shelves.len(shelf);
        if spot.inside <= lower {
            (spot, shelf)
        } else {
            let inside = spot.inside - lower;
            (RoomRank { inside, ..after }, upper)
        }
    }

    /// The key of a room's name in the natural order.
    pub(crate) fn key_of(&self, number: u32) -> u128 {
        key(self.name_bytes(self.rooms.at(number)))
    }

    pub(super) fn spot_of_room(&self, number: u32) -> RoomRank {
        let room = self.rooms.at(number);
        let name = self.name_bytes(room);
        self.spot_of(room.kind, key(name), name)
    }

    /// Where a name belongs in a type's order.
    pub(super) fn spot_of(&self, kind: u32, key: u128, name: &[u8]) -> RoomRank {
        let compare = |(other, room): (u128, u32)| {
            other
                .cmp(&key)
                .then_with(|| natural(self.name_bytes(self.rooms.at(room)), name))
        };
        let first_on = |shelf: u32| self.shelves.keyed_at(shelf, 0).1;
        let rows = &self.kinds.at(kind).rows;
        let row = rows
            .partition_point(|row| {
                row.key < key
                    || row.key == key
                        && row.shelves.first().is_some_and(|&(first, shelf)| {
                            compare((first, first_on(shelf))).is_le()
                        })
            })
            .saturating_sub(1);
        let mut spot = RoomRank {
            row,
            ..RoomRank::FIRST
        };
        let Some(row) = rows.get(row) else {
            return spot;
        };
        spot.place = row
            .shelves
            .partition_point(|&(first, shelf)| {
                first < key || first == key && compare((first, first_on(shelf))).is_le()
            })
            .saturating_sub(1);
        let &(_, shelf) = row.shelves.get(spot.place).expect("a place in the row");
        let mut high = self.shelves.len(shelf);
        while spot.inside < high {
            let middle = usize::midpoint(spot.inside, high);
            if compare(self.shelves.keyed_at(shelf, middle)).is_lt() {
                spot.inside = middle + 1;
            } else {
                high = middle;
            }
        }
        spot
    }

    /// Whether tables, order and shelves lead back to the room with this number; a loose or
    /// withdrawn one must not be on a shelf.
    pub(crate) fn finds(&self, number: u32) -> bool {
        let room = self.rooms.at(number);
        if self.room(room.property, self.name_bytes(room)) != Some(number) {
            return false;
        }
        if room.withdrawn || !self.kinds.at(room.kind).shelved {
            return room.shelf == UNSHELVED;
        }
        let spot = self.spot_of_room(number);
        let row = self.kinds.at(room.kind).rows.get(spot.row);
        let shelf = row.and_then(|row| row.shelves.get(spot.place));
        let key = key(self.name_bytes(room));
        shelf.is_some_and(|&(_, shelf)| shelf == room.shelf)
            && self.shelves.keyed_at(room.shelf, spot.inside) == (key, number)
            && self.shelves.first_of(room.shelf, 1 << room.bit) == Some(number)
    }

    /// Whether the keys of rows and shelves are those of their first rooms.
    pub(crate) fn keys_are_right(&self, kind: &Kind) -> bool {
        kind.rows.iter().all(|row| {
            row.shelves.first().is_some_and(|first| first.0 == row.key)
                && row
                    .shelves
                    .iter()
                    .all(|&(key, shelf)| self.shelves.keyed_at(shelf, 0).0 == key)
        })
    }

    /// Marks or clears nights of a room in the words that searches read; a loose room has none.
    pub(crate) fn mark(&mut self, room: u32, mark: Mark, stay: Stay, set: bool) {
        let number = room;
        let room = self.rooms.at(number);
        if room.shelf == UNSHELVED {
            return;
        }
        self.shelves.mark(room.shelf, room.bit, mark, stay, set);
        if !set && !self.frontier.is_empty() {
            let key = key(self.name_bytes(room));
            self.frontier.lower(room.kind, stay, key);
        }
    }
}

impl Kind {
    pub(crate) fn shelves(&self) -> impl Iterator<Item = u32> + '_ {
        self.shelves_from(0)
    }

    /// The shelves that may hold rooms whose keys are not below a key.
    pub(crate) fn shelves_from(&self, key: u128) -> impl Iterator<Item = u32> + '_ {
        let row = self
            .rows
            .partition_point(|row| row.key < key)
            .saturating_sub(1);
        let place = self.rows.get(row).map_or(0, |row| {
            row.shelves
                .partition_point(|&(first, _)| first < key)
                .saturating_sub(1)
        });
        self.rows
            .iter()
            .skip(row)
            .flat_map(|row| &row.shelves)
            .skip(place)
            .map(|&(_, shelf)| shelf)
    }

    /// Whether a search through all shelves takes so long that it is worth a shortcut.
    pub(crate) const fn is_long(&self) -> bool {
        self.rows.len() > 1
    }

    /// Keeps the keys of the first rooms, when the room at a spot is one.
    fn note_first(&mut self, spot: RoomRank, key: u128) {
        if spot.inside > 0 {
            return;
        }
        let row = self.rows.get_mut(spot.row).expect("the spot's row exists");
        row.shelves
            .get_mut(spot.place)
            .expect("the spot's shelf is in its row")
            .0 = key;
        if spot.place == 0 {
            row.key = key;
        }
    }

    fn split_row_if_long(&mut self, row: usize) {
        let shelves = &mut self.rows.get_mut(row).expect("the row exists").shelves;
        if shelves.len() > ROW_SHELVES {
            let shelves = shelves.split_off(ROW_SHELVES / 2);
            let &(key, _) = shelves.first().expect("half of a row is not empty");
            self.rows.insert(row + 1, Row { key, shelves });
        }
    }
}
