//! A hash table of 32-bit indexes that grows in small steps, so that no command waits for a rehash.

use turnstile_chassis::prefetch;

use crate::{
    cells::{Cell, Cells, EMPTY},
    widths::low_32,
};

/// Parts of a table. Each grows by itself, so that growing moves a 256th of the entries at most.
const SHARDS: usize = 256;

/// How far behind its home an entry, or the gap where it is missed, lies in most probes: in the home's
/// cache line or in the next.
const NEAR: usize = 4;

/// From hashes to indexes, by linear probing over 8-byte entries: the upper half is a part of the
/// hash, the lower the index. A probe touches one cache line almost always, and the item itself
/// only when 32 bits of the hash agree. The keys live in the items, so the caller compares them.
///
/// The hash is not secret: a caller who may name things can choose colliding names and make
/// probes long. Only those who may write can do so, and `prefix` limits what they can name.
/// The order of entries is never observable.
#[derive(Debug)]
pub(crate) struct Table {
    shards: Vec<Shard>,
    cells: Cells,
    length: u32,
}

#[derive(Clone, Copy, Debug)]
struct Shard {
    cell: Cell,
    length: usize,
}

/// An odd constant whose multiples are spread over all 64 bits: 2^64 divided by the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The hash of a name.
pub(crate) fn hash_of_name(name: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(name)
}

/// The hash of a name within a scope, which keeps equal names of two properties apart. It is found
/// without the name, so that a scope may become known later.
///
/// The scope is no seed: XXH3 mixes the seed of a short name by one exclusive or, and rooms 1 and 2
/// of one property would share their hashes with rooms 2 and 1 of the next.
pub(crate) fn scoped(scope: u32, hash: u64) -> u64 {
    hash ^ u64::from(scope).wrapping_mul(SPREAD)
}

/// Spreads a number that already is a keyed hash over all bits that the table uses.
pub(crate) const fn hash_of_seal(seal: u64) -> u64 {
    seal.wrapping_mul(SPREAD).rotate_left(29)
}

impl Table {
    pub(crate) fn new() -> Self {
        let mut cells = Cells::new();
        let shards = (0..SHARDS).map(|_| Shard {
            cell: cells.take(Cells::SMALLEST),
            length: 0,
        });
        Self {
            shards: shards.collect(),
            cells,
            length: 0,
        }
    }

    pub(crate) const fn len(&self) -> u32 {
        self.length
    }

    fn shard_mut(&mut self, hash: u64) -> &mut Shard {
        self.shards
            .get_mut(shard_of(hash))
            .expect("eight bits choose one of 256 shards")
    }

    fn shard(&self, hash: u64) -> &Shard {
        self.shards
            .get(shard_of(hash))
            .expect("eight bits choose one of 256 shards")
    }

    fn slots(&self, hash: u64) -> &[u64] {
        self.cells.slots(self.shard(hash).cell)
    }

    fn slots_mut(&mut self, hash: u64) -> &mut [u64] {
        self.cells.slots_mut(self.shard(hash).cell)
    }

    /// The index under this hash for which `is_it` holds.
    pub(crate) fn find(&self, hash: u64, mut is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        let tag = tag_of(hash);
        let is_it = |entry| tag_in(entry) == tag && is_it(low_32(entry));
        probe(self.slots(hash), tag, is_it).map(|(_, entry)| low_32(entry))
    }

    /// The first index that may be the one under this hash, without a look at the item: where a
    /// look would wait for memory.
    pub(crate) fn guess(&self, hash: u64) -> Option<u32> {
        self.find(hash, |_| true)
    }

    /// Asks memory for the entry's home and what is near behind it; see `warming`.
    pub(crate) fn prefetch(&self, hash: u64) {
        let slots = self.slots(hash);
        let home = tag_of(hash) as usize & mask(slots);
        for place in [home, home + NEAR] {
            slots.get(place).map(prefetch);
        }
    }

    /// Adds an index that is not there.
    pub(crate) fn insert(&mut self, hash: u64, index: u32) {
        self.grow_if_full(hash);
        put(self.slots_mut(hash), entry(tag_of(hash), index));
        self.shard_mut(hash).length += 1;
        self.length += 1;
    }

    /// Puts an index in the place of another one with the same key.
    pub(crate) fn replace(&mut self, hash: u64, old: u32, new: u32) {
        let tag = tag_of(hash);
        let slots = self.slots_mut(hash);
        let (at, _) = probe(slots, tag, |found| found == entry(tag, old))
            .expect("what is replaced is in the table");
        *slots.get_mut(at).expect("the probe found it there") = entry(tag, new);
    }

    /// Removes an index that is there.
    pub(crate) fn remove(&mut self, hash: u64, index: u32) {
        let tag = tag_of(hash);
        let slots = self.slots_mut(hash);
        let (at, _) = probe(slots, tag, |found| found == entry(tag, index))
            .expect("what is removed is in the table");
        close_gap(slots, at);
        self.shard_mut(hash).length -= 1;
        self.length -= 1;
    }

    /// Of a shard at most two thirds are used, so that gaps are near.
    fn grow_if_full(&mut self, hash: u64) {
        let Shard { cell, length } = *self.shard(hash);
        if (length + 1) * 3 <= cell.size() * 2 {
            return;
        }
        let larger = self.cells.take(cell.size() * 2);
        for place in 0..cell.size() {
            let entry = self.cells.slots(cell).get(place);
            let &entry = entry.expect("a place below the size");
            if entry != EMPTY {
                put(self.cells.slots_mut(larger), entry);
            }
        }
        self.cells.give_back(cell);
        self.shard_mut(hash).cell = larger;
    }
}

const fn mask(slots: &[u64]) -> usize {
    slots.len() - 1
}

/// The first slot from the tag's home on whose entry fits, unless a gap comes first.
fn probe(slots: &[u64], tag: u32, mut fits: impl FnMut(u64) -> bool) -> Option<(usize, u64)> {
    let mut at = tag as usize & mask(slots);
    loop {
        let &entry = slots.get(at)?;
        if entry == EMPTY {
            return None;
        }
        if fits(entry) {
            return Some((at, entry));
        }
        at = (at + 1) & mask(slots);
    }
}

/// Fills the first gap from the entry's home on.
fn put(slots: &mut [u64], entry: u64) {
    let mask = mask(slots);
    let mut at = tag_in(entry) as usize & mask;
    loop {
        let slot = slots.get_mut(at).expect("masked by the length");
        if *slot == EMPTY {
            *slot = entry;
            return;
        }
        at = (at + 1) & mask;
    }
}

/// Empties a slot and moves later entries up, so that every probe still ends at a true gap.
fn close_gap(slots: &mut [u64], mut gap: usize) {
    let mask = mask(slots);
    let mut at = gap;
    loop {
        at = (at + 1) & mask;
        let entry = *slots.get(at).expect("masked by the length");
        if entry == EMPTY {
            break;
        }
        let home = tag_in(entry) as usize & mask;
        // The entry may move to the gap unless its home lies between the two, cyclically.
        let from_home = at.wrapping_sub(home) & mask;
        let from_gap = at.wrapping_sub(gap) & mask;
        if from_home >= from_gap {
            *slots.get_mut(gap).expect("masked by the length") = entry;
            gap = at;
        }
    }
    *slots.get_mut(gap).expect("masked by the length") = EMPTY;
}

const fn shard_of(hash: u64) -> usize {
    (hash >> 56) as usize
}

fn tag_of(hash: u64) -> u32 {
    low_32(hash)
}

fn tag_in(entry: u64) -> u32 {
    low_32(entry >> 32)
}

fn entry(tag: u32, index: u32) -> u64 {
    u64::from(tag) << 32 | u64::from(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_in_many_scopes_have_different_hashes() {
        let mut hashes = std::collections::BTreeSet::new();
        for scope in 0..1_000 {
            for room in 101..=200_u32 {
                let hash = hash_of_name(room.to_string().as_bytes());
                hashes.insert(scoped(scope, hash));
            }
        }
        assert_eq!(hashes.len(), 100_000);
    }

    #[test]
    fn a_table_finds_what_was_put_in_and_nothing_else_through_growth_and_removal() {
        let mut table = Table::new();
        // Few distinct hashes in one shard: long runs of probes that wrap around.
        let hash = |index: u32| u64::from(index % 37) * 3;
        for index in 0..2_000_u32 {
            table.insert(hash(index), index);
        }
        for index in (0..2_000).filter(|index| index % 3 == 0) {
            table.remove(hash(index), index);
        }
        for index in (0..2_000).filter(|index| index % 3 == 1) {
            table.replace(hash(index), index, index + 10_000);
        }
        for index in 0..2_000 {
            let found = |wanted| table.find(hash(index), |found| found == wanted);
            assert_eq!(found(index), (index % 3 == 2).then_some(index));
            assert_eq!(
                found(index + 10_000),
                (index % 3 == 1).then_some(index + 10_000)
            );
        }
        assert_eq!(table.len(), 1_333);
    }
}
