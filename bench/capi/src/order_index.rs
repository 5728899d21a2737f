//! Which slot of the book each order number has.

use hashbrown::HashTable;
use turnstile_book::{Orders, Slot};
use turnstile_chassis::hash_of_pair;

/// The numbers of the orders that rest, and of no others.
///
/// A hash table of slots; the numbers themselves are in the book. The alternative, a table over
/// all order numbers, needs no hash but is looked up anywhere in megabytes: almost every new order
/// missed the caches there (38 % of the time of a message). Here one byte for each resting order
/// shows that a number is free.
#[derive(Debug)]
pub(crate) struct OrderIndex(HashTable<Slot>);

impl OrderIndex {
    /// An index with room for this many resting orders. It grows beyond.
    pub(crate) fn with_capacity(resting: usize) -> Self {
        Self(HashTable::with_capacity(resting))
    }

    /// Whether an order with this number rests.
    #[inline]
    pub(crate) fn contains(&self, orders: &Orders, number: u64) -> bool {
        let is_it = |&slot: &Slot| orders.number(slot) == number;
        self.0.find(hash(number), is_it).is_some()
    }

    /// Removes an order that rests; returns its slot.
    #[inline]
    pub(crate) fn take(&mut self, orders: &Orders, number: u64) -> Option<Slot> {
        let is_it = |&slot: &Slot| orders.number(slot) == number;
        let entry = self.0.find_entry(hash(number), is_it).ok()?;
        let (slot, _) = entry.remove();
        Some(slot)
    }

    /// Removes an order that is off the book already.
    ///
    /// # Panics
    /// The order did not rest in this slot.
    #[inline]
    pub(crate) fn remove(&mut self, number: u64, slot: Slot) {
        let entry = self.0.find_entry(hash(number), |&kept| kept == slot);
        entry.expect("a resting order is in the index").remove();
    }

    /// Adds an order that rests and is not there.
    #[inline]
    pub(crate) fn insert(&mut self, orders: &Orders, number: u64, slot: Slot) {
        let hash_of = |&slot: &Slot| hash(orders.number(slot));
        self.0.insert_unique(hash(number), slot, hash_of);
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "both halves are hashed")]
const fn hash(number: u64) -> u64 {
    hash_of_pair((number >> 32) as u32, number as u32)
}
