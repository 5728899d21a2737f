//! A ring of byte chunks that holds first answers: added at the end, dropped from the front.

use std::collections::VecDeque;

use crate::remembered::{ENTRY_BYTES_MAX, Remembered, RememberedField};
use turnstile_types::{Reader, Timestamp};

/// Entries lie in chunks of this many bytes, so that growing never copies what is there.
const CHUNK_BYTES: usize = 1 << 20;

const _: () = assert!(ENTRY_BYTES_MAX <= CHUNK_BYTES, "an entry is in one chunk");

/// Entries in the order in which they came. Once the ring has its size, nothing is allocated.
#[derive(Debug)]
pub(crate) struct Ring {
    chunks: VecDeque<Vec<u8>>,
    /// A chunk that was emptied, kept for the next one that is needed.
    spare: Option<Vec<u8>>,
    /// The number of the first chunk. An address is the chunk's number times its size, plus an
    /// offset, and is never reused.
    first_chunk: u64,
    /// Where the oldest entry lies.
    head: u64,
    length: usize,
    bytes: u64,
}

impl Ring {
    pub(crate) const fn new() -> Self {
        Self {
            chunks: VecDeque::new(),
            spare: None,
            first_chunk: 0,
            head: 0,
            length: 0,
            bytes: 0,
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.length
    }

    /// Bytes of all entries.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds an entry, and answers its address.
    pub(crate) fn push(&mut self, entry: &Remembered<'_>) -> u64 {
        let size = entry.size();
        assert!(size <= ENTRY_BYTES_MAX, "an entry of {size} bytes");
        let fits = |chunk: &Vec<u8>| chunk.len() + size <= CHUNK_BYTES;
        if !self.chunks.back().is_some_and(fits) {
            let chunk = self.spare.take();
            let chunk = chunk.unwrap_or_else(|| Vec::with_capacity(CHUNK_BYTES));
            self.chunks.push_back(chunk);
        }
        let number = self.first_chunk + self.chunks.len() as u64 - 1;
        let chunk = self.chunks.back_mut().expect("there is a chunk now");
        let address = number * CHUNK_BYTES as u64 + chunk.len() as u64;
        entry.put(chunk);
        self.length += 1;
        self.bytes += size as u64;
        address
    }

    /// Drops the oldest entry, and the chunk that it was the last of.
    pub(crate) fn pop(&mut self) {
        let Some((address, oldest)) = self.oldest() else {
            return;
        };
        let size = oldest.size();
        self.head = self.after(address, size);
        self.length -= 1;
        self.bytes -= size as u64;
        if self.head / CHUNK_BYTES as u64 > self.first_chunk {
            self.first_chunk += 1;
            self.spare = self.chunks.pop_front();
            self.spare.iter_mut().for_each(Vec::clear);
        }
    }

    /// The oldest entry with its address.
    pub(crate) fn oldest(&self) -> Option<(u64, Remembered<'_>)> {
        (self.length > 0).then(|| (self.head, self.at(self.head)))
    }

    /// The time of the oldest entry, without a look at the rest of it.
    pub(crate) fn oldest_time(&self) -> Option<Timestamp> {
        let offset = usize::try_from(self.head % CHUNK_BYTES as u64).ok()?;
        let entry = self.chunks.front()?.get(offset..)?;
        let (time, _) = entry.split_first_chunk()?;
        Some(Timestamp(u64::from_le_bytes(*time)))
    }

    /// The entry that [`push`](Self::push) has put at an address. It must not have been dropped.
    pub(crate) fn at(&self, address: u64) -> Remembered<'_> {
        let number = usize::try_from(address / CHUNK_BYTES as u64 - self.first_chunk)
            .expect("an address is not before the ring");
        let offset = usize::try_from(address % CHUNK_BYTES as u64).expect("below a chunk");
        let bytes = self
            .chunks
            .get(number)
            .and_then(|chunk| chunk.get(offset..));
        let mut reader = Reader::new(bytes.expect("an address lies in the ring"));
        Remembered::read(&mut reader, RememberedField::Noted)
            .expect("the ring holds what was put there")
    }

    /// All entries with their addresses, the oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, Remembered<'_>)> {
        let mut next = self.head;
        (0..self.length).map(move |_entry| {
            let address = next;
            let entry = self.at(address);
            next = self.after(address, entry.size());
            (address, entry)
        })
    }

    /// Where the entry lies that comes after one of `size` bytes at an address.
    fn after(&self, address: u64, size: usize) -> u64 {
        let next = address + size as u64;
        let chunk = address / CHUNK_BYTES as u64;
        let number = usize::try_from(chunk - self.first_chunk).expect("it lies in the ring");
        let length = self.chunks.get(number).map_or(0, Vec::len) as u64;
        if next < chunk * CHUNK_BYTES as u64 + length {
            return next;
        }
        (chunk + 1) * CHUNK_BYTES as u64
    }
}

#[cfg(test)]
mod tests {
    use turnstile_seed::Random;
    use turnstile_types::{Key, Position, Principal};

    use super::*;
    use crate::remembered::First;

    /// A ring, and a list of what must be in it.
    struct Pair {
        ring: Ring,
        list: VecDeque<(u64, u64, Vec<u8>)>,
        next: u64,
    }

    impl Pair {
        fn push(&mut self, outcome: Vec<u8>) {
            self.next += 1;
            let entry = Remembered {
                time: Timestamp(self.next),
                principal: Principal::local(),
                key: Key::parse(b"k").unwrap(),
                first: First {
                    position: Position(self.next),
                    content: 7,
                    service: 3,
                    outcome: &outcome,
                },
                is_late: false,
            };
            let address = self.ring.push(&entry);
            assert!(self.list.iter().all(|(known, ..)| *known < address));
            self.list.push_back((address, self.next, outcome));
        }

        fn compare(&self) {
            for ((address, entry), expected) in self.ring.iter().zip(&self.list) {
                let First {
                    position, outcome, ..
                } = entry.first;
                assert_eq!((address, position.0), (expected.0, expected.1));
                assert!(outcome == expected.2);
            }
            assert_eq!(self.ring.iter().count(), self.list.len());
            let bytes = self
                .list
                .iter()
                .map(|(.., outcome)| 37 + outcome.len() as u64);
            assert_eq!(self.ring.bytes(), bytes.sum::<u64>());
            assert_eq!(self.ring.len(), self.list.len());
            let oldest = self
                .ring
                .oldest()
                .map(|(address, entry)| (address, entry.time));
            let first = self.list.front();
            let expected = first.map(|(address, number, _)| (*address, Timestamp(*number)));
            assert_eq!(oldest, expected);
            assert_eq!(self.ring.oldest_time(), expected.map(|(_, time)| time));
        }
    }

    #[test]
    fn a_ring_agrees_with_a_list_however_it_grows_and_shrinks() {
        for seed in 0..8 {
            let mut random = Random::new(seed);
            let mut pair = Pair {
                ring: Ring::new(),
                list: VecDeque::new(),
                next: 0,
            };
            for round in 0..200 {
                for _ in 0..random.below(6) {
                    let length = usize::try_from(random.below(30_000)).unwrap();
                    pair.push(vec![round; length]);
                }
                for _ in 0..random.below(6) {
                    pair.ring.pop();
                    pair.list.pop_front();
                }
                pair.compare();
            }
            let needed = usize::try_from(pair.ring.bytes()).unwrap() / (CHUNK_BYTES - 30_037) + 2;
            assert!(pair.ring.chunks.len() <= needed, "chunks are dropped");
        }
    }

    #[test]
    fn an_emptied_ring_keeps_one_chunk_and_uses_it_again() {
        let mut pair = Pair {
            ring: Ring::new(),
            list: VecDeque::new(),
            next: 0,
        };
        pair.push(vec![1; 100]);
        let chunk = pair.ring.chunks[0].as_ptr();
        for _ in 0..3 {
            pair.ring.pop();
            pair.list.clear();
            assert!(pair.ring.chunks.is_empty() && pair.ring.spare.is_some());
            pair.ring.pop();
            pair.compare();
            pair.push(vec![2; 100]);
            assert_eq!(pair.ring.chunks[0].as_ptr(), chunk);
            pair.compare();
        }
    }
}
