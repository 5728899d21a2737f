//! Maps the hash of a key to its address in the ring.

use hashbrown::{HashTable, hash_table::Entry as Found};

/// Parts of the table. Each grows by itself, so that growing moves a 256th of the entries.
const SHARDS: usize = 256;

/// Addresses by the hashes of their keys.
///
/// An entry keeps 32 bits of the hash beside the address, so that growing reads no key: keys are
/// spread over gigabytes, and a table that hashed them again would wait for memory at each.
#[derive(Debug)]
pub(crate) struct Places {
    shards: Vec<HashTable<Place>>,
    length: usize,
}

/// Twelve bytes: the hash's lower half, the address's upper and lower half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place([u32; 3]);

#[expect(
    clippy::cast_possible_truncation,
    reason = "the two halves of an address, and half of a hash"
)]
impl Place {
    const fn new(hash: u64, address: u64) -> Self {
        Self([hash as u32, (address >> 32) as u32, address as u32])
    }

    const fn address(self) -> u64 {
        let [_, high, low] = self.0;
        (high as u64) << 32 | low as u64
    }

    /// What the shard sorts the entry by: a function of the kept half of the hash alone.
    const fn hash(self) -> u64 {
        let [tag, ..] = self.0;
        // An odd constant spreads the half over all bits: 2^64 divided by the golden ratio.
        (tag as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    const fn is_of(self, hash: u64) -> bool {
        let [tag, ..] = self.0;
        tag == hash as u32
    }
}

impl Places {
    pub(crate) fn new() -> Self {
        Self {
            shards: vec![HashTable::new(); SHARDS],
            length: 0,
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.length
    }

    /// The address under this hash for which `is_it` holds.
    pub(crate) fn find(&self, hash: u64, mut is_it: impl FnMut(u64) -> bool) -> Option<u64> {
        let shard = self.shards.get(shard_of(hash))?;
        let fits = |place: &Place| place.is_of(hash) && is_it(place.address());
        let found = shard.find(Place::new(hash, 0).hash(), fits);
        found.map(|place| place.address())
    }

    /// Puts an address in the place of the one for which `is_it` holds, or adds it. Says whether it was
    /// added.
    pub(crate) fn put(
        &mut self,
        hash: u64,
        address: u64,
        mut is_it: impl FnMut(u64) -> bool,
    ) -> bool {
        let place = Place::new(hash, address);
        let fits = |known: &Place| known.is_of(hash) && is_it(known.address());
        let shard = self.shard_mut(hash);
        match shard.entry(place.hash(), fits, |known| known.hash()) {
            Found::Occupied(mut known) => {
                *known.get_mut() = place;
                false
            }
            Found::Vacant(vacant) => {
                vacant.insert(place);
                self.length += 1;
                true
            }
        }
    }

    /// Removes an address, if it is there. Says whether it was.
    pub(crate) fn remove(&mut self, hash: u64, address: u64) -> bool {
        let place = Place::new(hash, address);
        let is_it = |known: &Place| *known == place;
        let found = self.shard_mut(hash).find_entry(place.hash(), is_it);
        let is_there = found.map(|known| known.remove()).is_ok();
        self.length -= usize::from(is_there);
        is_there
    }

    fn shard_mut(&mut self, hash: u64) -> &mut HashTable<Place> {
        let shard = self.shards.get_mut(shard_of(hash));
        shard.expect("eight bits choose one of 256 shards")
    }
}

const fn shard_of(hash: u64) -> usize {
    (hash >> 56) as usize
}

#[cfg(test)]
mod tests {
    use super::Places;

    #[test]
    fn places_hold_what_was_put_in_last_and_nothing_else() {
        let mut places = Places::new();
        // Few distinct hashes: the addresses decide, also those that differ above 32 bits only.
        let hash = |number: u64| (number % 37).wrapping_mul(0x0123_4567_89ab_cdef);
        let address = |number: u64| number << 31;
        for number in 0..2_000 {
            places.put(hash(number), address(number), |_| false);
        }
        for number in (0..2_000).filter(|number| number % 3 == 0) {
            places.remove(hash(number), address(number));
            places.remove(hash(number), address(number));
        }
        for number in (0..2_000).filter(|number| number % 3 == 1) {
            let old = |known| known == address(number);
            places.put(hash(number), address(number) | 1, old);
        }
        assert_eq!(places.len(), 1_333);
        for number in 0..2_000 {
            let found = |wanted| places.find(hash(number), |known| known == wanted);
            let (old, new) = (address(number), address(number) | 1);
            assert_eq!(found(old), (number % 3 == 2).then_some(old));
            assert_eq!(found(new), (number % 3 == 1).then_some(new));
        }
    }
}
