//! Players by name, and the state of each.

use turnstile_chassis::{Slab, Table, hash_of};

use crate::PlayerId;

/// A chunk of players is a few hundred kibibytes.
const CHUNK_BITS: u32 = 12;

/// Players in the order in which they were first named; they are never forgotten. Each has a
/// number, which is the index of its row.
#[derive(Debug)]
pub(crate) struct Roster<T> {
    rows: Slab<Row<T>, CHUNK_BITS>,
    numbers: Table,
}

#[derive(Debug)]
struct Row<T> {
    id: PlayerId,
    own: T,
}

impl<T> Roster<T> {
    pub(crate) fn new() -> Self {
        Self {
            rows: Slab::empty(),
            numbers: Table::empty(),
        }
    }

    pub(crate) fn find(&self, id: &PlayerId) -> Option<u32> {
        self.numbers
            .find(hash(id), |number| self.rows.at(number).id == *id)
    }

    /// Adds a player who is not there.
    pub(crate) fn enroll(&mut self, id: PlayerId, own: T) -> u32 {
        let number = self.rows.push(Row { id, own });
        self.numbers.insert(hash(&id), number);
        number
    }

    pub(crate) const fn len(&self) -> u32 {
        self.rows.len()
    }

    pub(crate) fn id(&self, number: u32) -> PlayerId {
        self.rows.at(number).id
    }

    pub(crate) fn at(&self, number: u32) -> &T {
        &self.rows.at(number).own
    }

    pub(crate) fn at_mut(&mut self, number: u32) -> &mut T {
        &mut self.rows.at_mut(number).own
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (PlayerId, &T)> {
        self.rows.iter().map(|row| (row.id, &row.own))
    }
}

fn hash(id: &PlayerId) -> u64 {
    hash_of(0, id.padded())
}
