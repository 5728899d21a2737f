//! The memory of idempotency keys: principal and key -> what was first asked and answered.

use std::collections::VecDeque;

use hashbrown::{HashTable, hash_table::Entry};
use turnstile_types::{
    Key, Malformed, Position, Principal, Reader, Sink, Timestamp, put_bytes, put_u8, put_u64,
};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// How long a key is remembered, in logged time: a day, so that a client that was away overnight
/// may still retry.
pub const KEY_MS: u64 = 24 * 60 * 60 * 1_000;

/// How many keys are remembered: the newest four million, about 160 bytes each, so that a flood
/// of keys cannot take all memory.
pub const KEYS_MAX: usize = 4 << 20;

/// Entries lie in chunks of this many bytes, so that growing never copies what is there.
const CHUNK_BYTES: usize = 1 << 20;

/// No entry spans two chunks; this many bytes are enough for one.
const ENTRY_BYTES_MAX: usize = 4096;

/// Where the snapshot of an earlier version does not say what service a key was for.
pub const SERVICE_UNKNOWN: u8 = 0;

/// What was first answered under a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct First<'a> {
    pub position: Position,
    /// The hash of the command's bytes, by which a retry is told from another command
    /// ([`content_of`](crate::content_of)).
    pub content: u64,
    /// The machine that decided the command, or [`SERVICE_UNKNOWN`].
    pub service: u8,
    /// The machine's encoding of the outcome.
    pub outcome: &'a [u8],
}

/// Whether a snapshot of the keys says what service each is for: earlier versions did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Services {
    Noted,
    NotNoted,
}

/// Keys in the order in which they came, in a ring of byte chunks: the oldest are forgotten from
/// the front, and nothing is allocated for a key once the ring has its size.
///
/// It is part of the replicated state: it changes only when a record is applied, so a replay
/// remembers and forgets the same keys.
#[derive(Debug)]
pub(crate) struct Keys {
    chunks: VecDeque<Vec<u8>>,
    /// A chunk that was emptied, kept for the next one that is needed.
    spare: Option<Vec<u8>>,
    /// The number of the first chunk; an address is the chunk's number times its size, plus an
    /// offset, and is never reused.
    first_chunk: u64,
    /// Where the oldest entry lies.
    head: u64,
    length: usize,
    length_max: usize,
    table: HashTable<u64>,
}

impl Keys {
    pub(crate) fn new(length_max: usize) -> Self {
        Self {
            chunks: VecDeque::new(),
            spare: None,
            first_chunk: 0,
            head: 0,
            length: 0,
            length_max,
            table: HashTable::new(),
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.length
    }

    /// What was answered first under this key, if it is still remembered at `now`.
    pub(crate) fn find(
        &self,
        now: Timestamp,
        principal: &Principal,
        key: Key<'_>,
    ) -> Option<First<'_>> {
        let hash = hash_of(principal, key);
        let address = self
            .table
            .find(hash, |&address| self.at(address).is(principal, key))?;
        let entry = self.at(*address);
        (now.ms_since(entry.time) < KEY_MS).then_some(entry.first)
    }

    /// Remembers the first answer under a key, and forgets what is too old or too many.
    pub(crate) fn insert(
        &mut self,
        now: Timestamp,
        principal: &Principal,
        key: Key<'_>,
        first: First<'_>,
    ) {
        self.forget(now);
        self.put(now, principal, key, first);
    }

    /// Remembers the first answer under a key, and forgets nothing.
    pub(crate) fn put(
        &mut self,
        now: Timestamp,
        principal: &Principal,
        key: Key<'_>,
        first: First<'_>,
    ) {
        let address = self.append(now, principal, key, first);
        let Self {
            table,
            chunks,
            first_chunk,
            ..
        } = self;
        let entry_at = |address: u64| entry_at(chunks, *first_chunk, address);
        let found = table.entry(
            hash_of(principal, key),
            |&known| entry_at(known).is(principal, key),
            |&known| entry_at(known).hash(),
        );
        match found {
            // The older entry under the same key stays in the ring until its turn to go.
            Entry::Occupied(mut known) => *known.get_mut() = address,
            Entry::Vacant(place) => {
                place.insert(address);
            }
        }
    }

    fn forget(&mut self, now: Timestamp) {
        while self.length > 0 {
            let oldest = self.at(self.head);
            if self.length < self.length_max && now.ms_since(oldest.time) < KEY_MS {
                return;
            }
            let (hash, size, address) = (oldest.hash(), oldest.size, self.head);
            if let Ok(known) = self.table.find_entry(hash, |&known| known == address) {
                known.remove();
            }
            self.length -= 1;
            self.advance(size);
        }
    }

    /// Moves the head past an entry of `size` bytes, and drops the chunk that it leaves.
    fn advance(&mut self, size: usize) {
        self.head += size as u64;
        let offset = usize::try_from(self.head % CHUNK_BYTES as u64).expect("below a chunk");
        let first = self
            .chunks
            .front()
            .expect("the head lies in the first chunk");
        if offset != first.len() && offset != 0 {
            return;
        }
        if self.chunks.len() == 1 {
            return;
        }
        self.spare = self.chunks.pop_front();
        self.first_chunk += 1;
        self.head = self.first_chunk * CHUNK_BYTES as u64;
    }

    fn append(
        &mut self,
        now: Timestamp,
        principal: &Principal,
        key: Key<'_>,
        first: First<'_>,
    ) -> u64 {
        let fits = |chunk: &Vec<u8>| chunk.len() + ENTRY_BYTES_MAX <= CHUNK_BYTES;
        if !self.chunks.back().is_some_and(fits) {
            self.open_chunk();
        }
        let number = self.first_chunk + self.chunks.len() as u64 - 1;
        let chunk = self.chunks.back_mut().expect("there is a chunk now");
        let offset = chunk.len();
        put_entry(chunk, now, principal, key, first);
        let size = chunk.len() - offset;
        assert!(size <= ENTRY_BYTES_MAX, "an entry of {size} bytes");
        self.length += 1;
        number * CHUNK_BYTES as u64 + offset as u64
    }

    fn open_chunk(&mut self) {
        if self.length == 0 {
            self.first_chunk += self.chunks.len() as u64;
            self.spare = self.chunks.pop_front();
            self.chunks.clear();
            self.head = self.first_chunk * CHUNK_BYTES as u64;
        }
        let mut chunk = self
            .spare
            .take()
            .unwrap_or_else(|| Vec::with_capacity(CHUNK_BYTES));
        chunk.clear();
        self.chunks.push_back(chunk);
    }

    fn at(&self, address: u64) -> Remembered<'_> {
        entry_at(&self.chunks, self.first_chunk, address)
    }

    /// What is remembered at `now`, the oldest first.
    pub(crate) fn remembered(&self, now: Timestamp) -> impl Iterator<Item = Remembered<'_>> {
        let mut address = self.head;
        let entries = (0..self.length).map(move |_entry| {
            let entry = self.at(address);
            let here = address;
            address = self.after(here, entry.size);
            (here, entry)
        });
        entries
            .filter(move |(address, entry)| {
                let is_young = now.ms_since(entry.time) < KEY_MS;
                is_young
                    && self
                        .table
                        .find(entry.hash(), |known| known == address)
                        .is_some()
            })
            .map(|(_, entry)| entry)
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

    /// Every entry, the oldest first, in the bytes in which [`Self::restore`] reads them.
    pub(crate) fn snapshot(&self, out: &mut dyn Sink) {
        out.put(&(self.length as u64).to_le_bytes());
        for (number, chunk) in self.chunks.iter().enumerate() {
            let start = if number == 0 {
                usize::try_from(self.head - self.first_chunk * CHUNK_BYTES as u64)
                    .expect("the head lies in the first chunk")
            } else {
                0
            };
            out.put(chunk.get(start..).expect("the head lies in its chunk"));
        }
    }

    pub(crate) fn restore(
        reader: &mut Reader<'_>,
        length_max: usize,
        services: Services,
    ) -> Result<Self, Malformed> {
        let mut keys = Self::new(length_max);
        let mut previous = Timestamp(0);
        for _ in 0..reader.u64("number of keys")? {
            let entry = Remembered::read(reader, services)?;
            if entry.time < previous {
                return Err(Malformed {
                    field: "order of keys",
                });
            }
            previous = entry.time;
            keys.insert(entry.time, &entry.principal, entry.key, entry.first);
        }
        Ok(keys)
    }
}

/// One entry, read where it lies.
#[derive(Clone, Copy, Debug)]
pub struct Remembered<'a> {
    /// The time of the group in which the command was decided.
    pub time: Timestamp,
    pub principal: Principal,
    pub key: Key<'a>,
    pub first: First<'a>,
    /// Bytes in the ring.
    size: usize,
}

impl<'a> Remembered<'a> {
    fn read(reader: &mut Reader<'a>, services: Services) -> Result<Self, Malformed> {
        let before = reader.remaining();
        let time = Timestamp(reader.u64("time of a key")?);
        let position = Position(reader.u64("position of a key")?);
        let content = reader.u64("content of a key")?;
        let service = match services {
            Services::Noted => reader.u8("service of a key")?,
            Services::NotNoted => SERVICE_UNKNOWN,
        };
        let principal = Principal(reader.name("principal of a key")?);
        let key =
            Key::parse(reader.bytes("key")?).map_err(|_invalid| Malformed { field: "key" })?;
        let outcome = reader.bytes("outcome of a key")?;
        let size = before - reader.remaining();
        if size > ENTRY_BYTES_MAX {
            return Err(Malformed {
                field: "size of a key",
            });
        }
        Ok(Self {
            time,
            principal,
            key,
            first: First {
                position,
                content,
                service,
                outcome,
            },
            size,
        })
    }

    fn is(&self, principal: &Principal, key: Key<'_>) -> bool {
        self.key == key && self.principal == *principal
    }

    fn hash(&self) -> u64 {
        hash_of(&self.principal, self.key)
    }
}

fn entry_at(chunks: &VecDeque<Vec<u8>>, first_chunk: u64, address: u64) -> Remembered<'_> {
    let number = usize::try_from(address / CHUNK_BYTES as u64 - first_chunk)
        .expect("an address is not before the ring");
    let offset = usize::try_from(address % CHUNK_BYTES as u64).expect("below a chunk");
    let bytes = chunks.get(number).and_then(|chunk| chunk.get(offset..));
    let mut reader = Reader::new(bytes.expect("an address lies in the ring"));
    Remembered::read(&mut reader, Services::Noted).expect("the ring holds what was put there")
}

fn put_entry(
    out: &mut Vec<u8>,
    time: Timestamp,
    principal: &Principal,
    key: Key<'_>,
    first: First<'_>,
) {
    put_u64(out, time.0);
    put_u64(out, first.position.0);
    put_u64(out, first.content);
    put_u8(out, first.service);
    put_bytes(out, principal.0.as_bytes());
    put_bytes(out, key.as_str().as_bytes());
    put_bytes(out, first.outcome);
}

fn hash_of(principal: &Principal, key: Key<'_>) -> u64 {
    let seed = xxh3_64_with_seed(principal.0.as_bytes(), 0);
    xxh3_64_with_seed(key.as_str().as_bytes(), seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(position: u64, outcome: &[u8]) -> First<'_> {
        First {
            position: Position(position),
            content: position * 7,
            service: 3,
            outcome,
        }
    }

    fn key(text: &str) -> Key<'_> {
        Key::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_key_is_remembered_for_its_principal_and_its_day() {
        let (ada, bob) = (
            Principal::local(),
            Principal(turnstile_types::Name::parse(b"bob").unwrap()),
        );
        let mut keys = Keys::new(10);
        keys.insert(Timestamp(5), &ada, key("k"), first(1, b"one"));
        assert_eq!(
            keys.find(Timestamp(6), &ada, key("k")),
            Some(first(1, b"one"))
        );
        assert_eq!(keys.find(Timestamp(6), &bob, key("k")), None);
        assert_eq!(keys.find(Timestamp(6), &ada, key("K")), None);
        assert_eq!(
            keys.find(Timestamp(4 + KEY_MS), &ada, key("k")),
            Some(first(1, b"one"))
        );
        assert_eq!(keys.find(Timestamp(5 + KEY_MS), &ada, key("k")), None);
        keys.insert(Timestamp(5 + KEY_MS), &ada, key("k"), first(2, b"two"));
        assert_eq!(
            keys.find(Timestamp(6 + KEY_MS), &ada, key("k")),
            Some(first(2, b"two"))
        );
        assert_eq!(keys.len(), 1);
    }

    #[test]
    fn the_oldest_keys_go_first_and_the_ring_agrees_with_a_list() {
        let ada = Principal::local();
        let mut keys = Keys::new(3_000);
        let mut naive: Vec<(u64, String)> = Vec::new();
        let outcome = vec![9; 900];
        for number in 0..20_000_u64 {
            let text = format!("key-{}", number % 7_000);
            keys.insert(Timestamp(number), &ada, key(&text), first(number, &outcome));
            naive.push((number, text));
            if naive.len() > 3_000 {
                naive.remove(0);
            }
            if number % 997 == 0 {
                for (position, text) in &naive {
                    let found = keys.find(Timestamp(number), &ada, key(text)).unwrap();
                    assert_eq!(found.position, Position(*position));
                }
                let gone = format!("key-{}", (number + 3_000) % 7_000);
                assert_eq!(keys.find(Timestamp(number), &ada, key(&gone)), None);
            }
        }
        assert_eq!(keys.len(), 3_000);
        assert!(
            keys.chunks.len() < 6,
            "chunks are dropped: {}",
            keys.chunks.len()
        );
    }

    #[test]
    fn what_is_remembered_is_told_once_and_the_oldest_first() {
        let ada = Principal::local();
        let mut keys = Keys::new(2_000);
        let step = KEY_MS / 1_500;
        for number in 0..5_000_u64 {
            let text = format!("key-{}", number % 1_700);
            let now = Timestamp(number * step);
            keys.insert(now, &ada, key(&text), first(number, &[1; 900]));
        }
        let now = Timestamp(4_999 * step);
        let told = |keys: &Keys| -> Vec<u64> {
            let told = keys.remembered(now).map(|entry| {
                assert_eq!(keys.find(now, &ada, entry.key), Some(entry.first));
                entry.first.position.0
            });
            told.collect()
        };
        assert!(told(&keys).into_iter().eq(3_500..5_000));
        // A key that is given again, as after the clock went back, is told as it was given last.
        keys.put(now, &ada, key("key-101"), first(5_000, b"again"));
        let expected = (3_500..5_001).filter(|number| number % 1_700 != 101 || *number == 5_000);
        assert!(told(&keys).into_iter().eq(expected));
    }

    #[test]
    fn a_snapshot_that_notes_no_services_is_restored_without_them() {
        let mut bytes = Vec::new();
        put_u64(&mut bytes, 1);
        put_u64(&mut bytes, 5);
        put_u64(&mut bytes, 9);
        put_u64(&mut bytes, 63);
        for field in [&b"local"[..], b"k", b"one"] {
            put_bytes(&mut bytes, field);
        }
        let restored = Keys::restore(&mut Reader::new(&bytes), 10, Services::NotNoted).unwrap();
        let expected = First {
            service: SERVICE_UNKNOWN,
            ..first(9, b"one")
        };
        let found = restored.find(Timestamp(6), &Principal::local(), key("k"));
        assert_eq!(found, Some(expected));
    }

    #[test]
    fn a_snapshot_restores_the_same_memory() {
        let ada = Principal::local();
        let mut keys = Keys::new(2_000);
        for number in 0..5_000_u64 {
            let text = format!("key-{}", number % 1_700);
            keys.insert(
                Timestamp(number),
                &ada,
                key(&text),
                first(number, &[1; 600]),
            );
        }
        let mut bytes = Vec::new();
        keys.snapshot(&mut bytes);
        let restored = Keys::restore(&mut Reader::new(&bytes), 2_000, Services::Noted).unwrap();
        let mut again = Vec::new();
        restored.snapshot(&mut again);
        assert_eq!(bytes, again);
        for number in 3_300..5_000 {
            let text = format!("key-{}", number % 1_700);
            let found = restored.find(Timestamp(5_000), &ada, key(&text)).unwrap();
            assert_eq!(found.position, Position(number));
        }
        for cut in 0..200 {
            let short = &bytes[..bytes.len() - 1 - cut];
            assert!(Keys::restore(&mut Reader::new(short), 2_000, Services::Noted).is_err());
        }
    }
}
