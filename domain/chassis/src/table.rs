//! A hash table of 32-bit indexes that grows in small steps, so that no command waits for a rehash.

use hashbrown::HashTable;

/// Parts of a table. Each grows by itself, so that growing moves a 64th of the entries.
const SHARDS: usize = 64;

/// An odd constant whose multiples are spread over all 64 bits: 2^64 divided by the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// From hashes to indexes. The keys live in the items, so the caller compares them; an entry keeps
/// 32 bits of the hash beside the index, so that growing reads no item, and looking up hardly ever
/// a wrong one.
///
/// The hash is not secret: a caller who may name things can choose colliding names and make
/// probes long. The order of entries is never observable.
#[derive(Debug)]
pub struct Table {
    shards: Vec<HashTable<Entry>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    tag: u32,
    index: u32,
}

impl Entry {
    const fn new(hash: u64, index: u32) -> Self {
        Self {
            tag: tag_of(hash),
            index,
        }
    }

    /// What the shard sorts the entry by: a function of the tag alone.
    const fn hash(self) -> u64 {
        (self.tag as u64).wrapping_mul(SPREAD)
    }
}

impl Table {
    #[must_use]
    pub fn empty() -> Self {
        Self {
            shards: vec![HashTable::new(); SHARDS],
        }
    }

    /// The index under this hash for which `is_it` holds.
    #[must_use]
    pub fn find(&self, hash: u64, mut is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        let wanted = Entry::new(hash, 0);
        self.shards
            .get(shard_of(hash))?
            .find(wanted.hash(), |entry| {
                entry.tag == wanted.tag && is_it(entry.index)
            })
            .map(|entry| entry.index)
    }

    /// Adds an index that is not there.
    ///
    /// # Panics
    /// Never: every hash has its part of the table.
    pub fn insert(&mut self, hash: u64, index: u32) {
        let entry = Entry::new(hash, index);
        let shard = self.shard_mut(hash);
        shard.insert_unique(entry.hash(), entry, |entry| entry.hash());
    }

    /// Removes an index that is there.
    ///
    /// # Panics
    /// When it is not.
    pub fn remove(&mut self, hash: u64, index: u32) {
        let wanted = Entry::new(hash, index);
        self.shard_mut(hash)
            .find_entry(wanted.hash(), |&entry| entry == wanted)
            .expect("what is removed is in the table")
            .remove();
    }

    fn shard_mut(&mut self, hash: u64) -> &mut HashTable<Entry> {
        self.shards
            .get_mut(shard_of(hash))
            .expect("six bits choose one of 64 shards")
    }
}

/// The hash of a name; the scope keeps equal names of two owners apart.
#[must_use]
pub fn hash_of(scope: u32, name: &[u8]) -> u64 {
    // Small seeds would not do: XXH3 mixes the seed of a short name by one exclusive or.
    xxhash_rust::xxh3::xxh3_64_with_seed(name, u64::from(scope).wrapping_mul(SPREAD))
}

/// The hash of two numbers.
#[must_use]
pub const fn hash_of_pair(left: u32, right: u32) -> u64 {
    let mixed = ((left as u64) << 32 | right as u64).wrapping_mul(SPREAD);
    (mixed ^ mixed >> 32).wrapping_mul(SPREAD)
}

const fn shard_of(hash: u64) -> usize {
    (hash >> 58) as usize
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the lower half of a hash is a hash"
)]
const fn tag_of(hash: u64) -> u32 {
    hash as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_finds_what_was_put_in_and_nothing_else() {
        let mut table = Table::empty();
        // Few distinct hashes: the indexes themselves decide.
        let hash = |index: u32| hash_of_pair(index % 37, 0);
        for index in 0..2_000 {
            table.insert(hash(index), index);
        }
        for index in (0..2_000).filter(|index| index % 3 == 0) {
            table.remove(hash(index), index);
        }
        for index in 0..2_000 {
            let found = table.find(hash(index), |found| found == index);
            assert_eq!(found, (index % 3 != 0).then_some(index));
        }
    }

    #[test]
    fn equal_names_of_two_owners_have_different_hashes() {
        assert_ne!(hash_of(1, b"a"), hash_of(2, b"a"));
        assert_ne!(hash_of_pair(1, 2), hash_of_pair(2, 1));
    }
}
