//! Open holds by principal.

use std::{cell::Cell, collections::BTreeSet};

use turnstile_types::{Name, Position, Principal};

use crate::{
    slab::ChunkSlab,
    table::{Table, hash_of_name},
};

/// The callers that have booked or held, in the order of their first success, and the open holds
/// of each. They are never forgotten: there are as many as the operator gives keys to.
#[derive(Debug)]
pub(crate) struct Principals {
    callers: ChunkSlab<HoldingPrincipal>,
    numbers: Table,
    /// The caller asked for last; it decides nothing.
    last: Cell<u32>,
    /// Caller, position of the record that made the hold, slot.
    holds: BTreeSet<(u32, Position, u32)>,
}

#[derive(Debug)]
struct HoldingPrincipal {
    name: Name,
    holds: u32,
}

impl Principals {
    pub(crate) fn new() -> Self {
        Self {
            callers: ChunkSlab::empty(),
            numbers: Table::new(),
            last: Cell::new(0),
            holds: BTreeSet::new(),
        }
    }

    pub(crate) fn number(&self, principal: &Principal) -> Option<u32> {
        let last = self.last.get();
        if self.is_called(last, principal) {
            return Some(last);
        }
        let found = self.numbers.find(hash_of(principal), |number| {
            self.is_called(number, principal)
        })?;
        self.last.set(found);
        Some(found)
    }

    fn is_called(&self, number: u32, principal: &Principal) -> bool {
        let caller = self.callers.get(number);
        caller.is_some_and(|caller| caller.name == principal.0)
    }

    /// The number of a caller, a new one at its first success.
    pub(crate) fn enrol(&mut self, principal: &Principal) -> u32 {
        self.number(principal).unwrap_or_else(|| {
            let number = self.callers.push(HoldingPrincipal {
                name: principal.0,
                holds: 0,
            });
            self.numbers.insert(hash_of(principal), number);
            number
        })
    }

    pub(crate) const fn len(&self) -> u32 {
        self.callers.len()
    }

    pub(crate) fn name(&self, number: u32) -> Principal {
        Principal(self.callers.at(number).name)
    }

    pub(crate) fn holds_count(&self, number: u32) -> u32 {
        self.callers.at(number).holds
    }

    pub(crate) fn add_hold(&mut self, number: u32, made: Position, slot: u32) {
        self.callers.at_mut(number).holds += 1;
        self.holds.insert((number, made, slot));
    }

    pub(crate) fn remove_hold(&mut self, number: u32, made: Position, slot: u32) {
        self.callers.at_mut(number).holds -= 1;
        let was_there = self.holds.remove(&(number, made, slot));
        assert!(was_there, "an open hold is in its caller's list");
    }

    /// A caller's open holds made at or after a position, the oldest first: the position of the record
    /// that made each, and its slot.
    pub(crate) fn holds_from(
        &self,
        number: u32,
        from: Position,
    ) -> impl Iterator<Item = (Position, u32)> + '_ {
        self.holds
            .range((number, from, 0)..=(number, Position(u64::MAX), u32::MAX))
            .map(|&(_, made, slot)| (made, slot))
    }

    /// How many holds are open.
    pub(crate) fn open(&self) -> usize {
        self.holds.len()
    }
}

fn hash_of(principal: &Principal) -> u64 {
    hash_of_name(principal.0.as_bytes())
}
