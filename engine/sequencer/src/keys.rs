//! Idempotency keys: principal and key -> first request and first answer.

mod image;

use std::collections::BTreeMap;

use hashbrown::HashTable;
use turnstile_types::{Effect, Key, Position, Principal, Timestamp};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::{
    places::Places,
    remembered::{First, OUTCOME_BYTES_MAX, Remembered, size_of},
    ring::Ring,
};

/// How long a key is remembered, in milliseconds of logged time: a day, so that a client that was away
/// overnight may still retry.
pub const KEY_MS: u64 = 24 * 60 * 60 * 1_000;

/// Bytes of the refusals that are remembered: the newest 128 MiB, about a million. A refusal has
/// changed nothing, so a flood of refusals may push out older ones; it never pushes out a key whose
/// command was done. It is part of the rules of replay, and therefore no setting.
pub const REFUSED_BYTES_MAX: u64 = 128 << 20;

/// Bytes that a key takes beside its entry: 13 in the table, which is at least 7/16 full.
const PLACE_BYTES: u64 = 32;

/// Entries of each kind that are dropped, at most, when one is added: more than one, so that the memory
/// shrinks again; few, so that no command pays for a whole day.
const DROPPED_AT_ONCE: usize = 16;

/// Entries of each ring that are looked at, at most, to tell a principal when its oldest key is forgotten:
/// one that asks again and again costs the others little.
const KEY_LOOKS: usize = 64;

/// A principal is given another key while it holds at most so many times the room that is left. One
/// principal alone gets 8/9 of the capacity, two get 8/17 each, and a newcomer always finds room.
const SHARE: u64 = 8;

/// The mark in an address that the entry lies in the ring of refusals.
const REFUSED: u64 = 1 << 63;

/// What is kept under idempotency keys, for those who watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyFigures {
    /// Keys in memory; those that are a day old are dropped when others come.
    pub kept: usize,
    /// Bytes that count against the capacity: those of all keys but of refusals.
    pub bytes: u64,
    /// When the oldest was first used.
    pub oldest: Option<Timestamp>,
}

/// First answers in the order in which they came: a ring for what was done or waits for its final
/// answer, a ring for refusals, and one table over both.
///
/// It is part of the replicated state: it changes only when a record is applied, by rules that know
/// nothing but records and logged time, so a replay remembers and forgets the same keys. What is done
/// is kept for a day however much comes after it; that this does not take all memory is seen to
/// before a command becomes a record ([`admits`](Self::admits)). Keeping the newest keys up to a
/// number was rejected: then whoever sends many makes others buy twice.
#[derive(Debug)]
pub(crate) struct Keys {
    done: Ring,
    refused: Ring,
    refused_bytes_max: u64,
    /// The address of each key's latest entry.
    table: Places,
    shares: HashTable<KeyShare>,
    /// Where the entries lie of commands that wait for their final answers, by their positions.
    pending: BTreeMap<Position, u64>,
    /// Where the last entries lie of commands whose final answers were too long, by their positions.
    /// Their entries stay in the ring until their turn to go, and no snapshot has them.
    forgotten: BTreeMap<Position, u64>,
}

/// What a principal has here.
#[derive(Clone, Copy, Debug)]
struct KeyShare {
    principal: Principal,
    /// In the ring of what was done.
    bytes: u64,
    /// Its keys in the table, those of refusals included.
    keys: u32,
}

impl Keys {
    pub(crate) fn new(refused_bytes_max: u64) -> Self {
        Self {
            done: Ring::new(),
            refused: Ring::new(),
            refused_bytes_max,
            table: Places::new(),
            shares: HashTable::new(),
            pending: BTreeMap::new(),
            forgotten: BTreeMap::new(),
        }
    }

    pub(crate) fn figures(&self) -> KeyFigures {
        let rings = [&self.done, &self.refused];
        let oldest = rings.into_iter().filter_map(Ring::oldest_time);
        KeyFigures {
            kept: self.table.len(),
            bytes: self.used(),
            oldest: oldest.min(),
        }
    }

    /// What was answered first under this key, if it is still remembered at `now`.
    pub(crate) fn find(
        &self,
        now: Timestamp,
        principal: &Principal,
        key: Key<'_>,
    ) -> Option<First<'_>> {
        let hash = hash_of(principal, key);
        let is_it = |address| self.at(address).is(principal, key);
        let entry = self.at(self.table.find(hash, is_it)?);
        entry.is_young(now).then_some(entry.first)
    }

    /// Whether there is room for another key of a principal in so many bytes. If not: how long it takes
    /// until the oldest key is forgotten, in milliseconds.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn admits(
        &self,
        now: Timestamp,
        principal: &Principal,
        key: Key<'_>,
        bytes_max: u64,
    ) -> Result<(), u64> {
        let cost = size_of(principal, key, 0) as u64 + PLACE_BYTES;
        let free = bytes_max.saturating_sub(self.used());
        let left = free.saturating_sub(cost);
        let fits = |held: u64| cost <= free && held <= left.saturating_mul(SHARE);
        // Nobody holds more than all: the share is looked up where that is not enough.
        if fits(self.used()) || fits(self.held_by(principal)) {
            return Ok(());
        }
        // Those that will be dropped for it make room, however much there is of all.
        let old = self.done.iter().take(DROPPED_AT_ONCE);
        let old = old.take_while(|(_, entry)| !entry.is_young(now));
        if old.map(|(_, entry)| cost_of(&entry)).sum::<u64>() >= cost {
            return Ok(());
        }
        let oldest = self.done.oldest_time();
        let age = oldest.map_or(0, |oldest| now.ms_since(oldest));
        Err(KEY_MS.saturating_sub(age))
    }

    /// Whether a principal that may have so many keys may have another. If not: how long it takes, at
    /// least, until one of its own is forgotten, in milliseconds.
    ///
    /// # Errors
    /// It has as many.
    pub(crate) fn admits_within(
        &self,
        now: Timestamp,
        principal: &Principal,
        most: u32,
    ) -> Result<(), u64> {
        let kept = self.kept_by(principal);
        if kept < most {
            return Ok(());
        }
        let rings = [(&self.done, 0), (&self.refused, REFUSED)];
        // Those that will be dropped for it make room. While many are too old, memory shrinks in any case.
        let mut ending = 0;
        for (ring, mark) in rings {
            let old = ring.iter().take(DROPPED_AT_ONCE);
            let old = old.take_while(|(_, entry)| !entry.is_young(now));
            let (mut all, mut own) = (0, 0);
            for (address, entry) in old {
                let is_latest = |known| known == address | mark;
                let is_own = entry.principal == *principal;
                all += 1;
                own += u32::from(is_own && self.table.find(entry.hash(), is_latest).is_some());
            }
            if all == DROPPED_AT_ONCE {
                return Ok(());
            }
            ending += own;
        }
        if kept - ending < most {
            return Ok(());
        }
        let waits = rings.iter().filter_map(|(ring, _)| {
            let of_oldest = oldest_of(ring, now, principal)?;
            Some(KEY_MS.saturating_sub(now.ms_since(of_oldest)))
        });
        Err(waits.min().unwrap_or(KEY_MS))
    }

    /// Remembers what was answered under a key, and drops some of what is too old or too much.
    pub(crate) fn insert(&mut self, entry: &Remembered<'_>, effect: Effect) {
        self.drop_some(entry.time);
        self.put(entry, effect);
    }

    /// Remembers what was answered under a key, and drops nothing. An answer that is too long is not
    /// remembered, and neither is that its command waited for it.
    pub(crate) fn put(&mut self, entry: &Remembered<'_>, effect: Effect) {
        // A final answer has the position of its command.
        let waited = self.pending.remove(&entry.first.position);
        if entry.first.outcome.len() > OUTCOME_BYTES_MAX {
            if let Some(address) = waited {
                self.forget(&entry.principal, entry.hash(), address);
                self.forgotten.insert(entry.first.position, address);
            }
            return;
        }
        // A final answer stays as long as the wait before it, which would else be the latest again.
        let (address, bytes) = if effect == Effect::Refused && !entry.is_late {
            (self.refused.push(entry) | REFUSED, 0)
        } else {
            (self.done.push(entry), cost_of(entry))
        };
        let (done, refused) = (&self.done, &self.refused);
        // An older entry under the same key stays in its ring until its turn to go.
        let is_new = self.table.put(entry.hash(), address, |known| {
            at((done, refused), known).is(&entry.principal, entry.key)
        });
        let share = self.share_of(&entry.principal);
        share.bytes += bytes;
        share.keys += u32::from(is_new);
        if effect == Effect::Pending {
            self.pending.insert(entry.first.position, address);
        }
    }

    /// Whether a command under a key waits for its final answer.
    pub(crate) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Remembers the final answer to the command at this position, if it has a key and waits. Says
    /// whether it is so.
    pub(crate) fn settle(
        &mut self,
        now: Timestamp,
        position: Position,
        effect: Effect,
        outcome: &[u8],
    ) -> bool {
        let Some(&address) = self.pending.get(&position) else {
            return false;
        };
        let waited = self.at(address);
        // The entry moves, its key is read where it lay.
        let text = waited.key.as_str().to_owned();
        let entry = Remembered {
            time: now,
            principal: waited.principal,
            key: Key::parse(text.as_bytes()).expect("it was a key"),
            first: First {
                outcome,
                position,
                content: waited.first.content,
                service: waited.first.service,
            },
            is_late: true,
        };
        self.put(&entry, effect);
        true
    }

    fn drop_some(&mut self, now: Timestamp) {
        for _ in 0..DROPPED_AT_ONCE {
            let is_old = |time| !is_young(time, now);
            if !self.done.oldest_time().is_some_and(is_old) {
                break;
            }
            self.drop_oldest_done();
        }
        for _ in 0..DROPPED_AT_ONCE {
            let is_much = self.refused.bytes() > self.refused_bytes_max;
            let is_over = |time| is_much || !is_young(time, now);
            if !self.refused.oldest_time().is_some_and(is_over) {
                break;
            }
            self.drop_oldest_refused();
        }
    }

    fn drop_oldest_done(&mut self) {
        let Some((address, entry)) = self.done.oldest() else {
            return;
        };
        let (hash, principal) = (entry.hash(), entry.principal);
        let (position, cost) = (entry.first.position, cost_of(&entry));
        self.forget(&principal, hash, address);
        for addresses in [&mut self.pending, &mut self.forgotten] {
            if addresses.get(&position) == Some(&address) {
                addresses.remove(&position);
            }
        }
        self.give_back(&principal, (cost, 0));
        self.done.pop();
    }

    fn drop_oldest_refused(&mut self) {
        let Some((address, entry)) = self.refused.oldest() else {
            return;
        };
        let (hash, principal) = (entry.hash(), entry.principal);
        self.forget(&principal, hash, address | REFUSED);
        self.refused.pop();
    }

    /// Takes an entry out of the table, unless a later one under its key is there.
    fn forget(&mut self, principal: &Principal, hash: u64, address: u64) {
        if self.table.remove(hash, address) {
            self.give_back(principal, (0, 1));
        }
    }

    fn at(&self, address: u64) -> Remembered<'_> {
        at((&self.done, &self.refused), address)
    }

    /// Bytes that count against the capacity.
    const fn used(&self) -> u64 {
        self.done.bytes() + self.done.len() as u64 * PLACE_BYTES
    }

    fn held_by(&self, principal: &Principal) -> u64 {
        self.known_share(principal).map_or(0, |share| share.bytes)
    }

    /// How many keys of a principal are in memory.
    fn kept_by(&self, principal: &Principal) -> u32 {
        self.known_share(principal).map_or(0, |share| share.keys)
    }

    fn known_share(&self, principal: &Principal) -> Option<&KeyShare> {
        let is_it = |share: &KeyShare| share.principal == *principal;
        self.shares.find(hash_of_principal(principal), is_it)
    }

    fn share_of(&mut self, principal: &Principal) -> &mut KeyShare {
        let found = self.shares.entry(
            hash_of_principal(principal),
            |share| share.principal == *principal,
            |share| hash_of_principal(&share.principal),
        );
        let none = KeyShare {
            principal: *principal,
            bytes: 0,
            keys: 0,
        };
        found.or_insert(none).into_mut()
    }

    fn give_back(&mut self, principal: &Principal, (bytes, keys): (u64, u32)) {
        let is_it = |share: &KeyShare| share.principal == *principal;
        let hash = hash_of_principal(principal);
        let mut share = self
            .shares
            .find_entry(hash, is_it)
            .expect("who has a key has a share");
        share.get_mut().bytes -= bytes;
        share.get_mut().keys -= keys;
        if (share.get().bytes, share.get().keys) == (0, 0) {
            share.remove();
        }
    }

    /// What is remembered at `now`, the oldest first.
    pub(crate) fn remembered(&self, now: Timestamp) -> impl Iterator<Item = Remembered<'_>> {
        self.entries()
            .filter(move |(address, entry)| {
                let is_latest = |known| known == *address;
                entry.is_young(now) && self.table.find(entry.hash(), is_latest).is_some()
            })
            .map(|(_, entry)| entry)
    }

    /// The entries of both rings with their addresses, in the order in which they came.
    fn entries(&self) -> impl Iterator<Item = (u64, Remembered<'_>)> {
        let mut done = self.done.iter().peekable();
        let refused = self.refused.iter();
        let refused = refused.map(|(address, entry)| (address | REFUSED, entry));
        let mut refused = refused.peekable();
        std::iter::from_fn(move || {
            let (Some((_, one)), Some((_, other))) = (done.peek(), refused.peek()) else {
                return done.next().or_else(|| refused.next());
            };
            if (one.time, one.first.position) < (other.time, other.first.position) {
                done.next()
            } else {
                refused.next()
            }
        })
    }
}

/// Whether a key that was used at this time is remembered.
const fn is_young(time: Timestamp, now: Timestamp) -> bool {
    now.ms_since(time) < KEY_MS
}

impl Remembered<'_> {
    fn is_young(&self, now: Timestamp) -> bool {
        is_young(self.time, now)
    }

    fn hash(&self) -> u64 {
        hash_of(&self.principal, self.key)
    }
}

fn at<'a>((done, refused): (&'a Ring, &'a Ring), address: u64) -> Remembered<'a> {
    if address & REFUSED == 0 {
        done.at(address)
    } else {
        refused.at(address ^ REFUSED)
    }
}

/// When the oldest key of a principal in a ring that is not yet over was used first, or a time before that;
/// nothing when it has none there.
fn oldest_of(ring: &Ring, now: Timestamp, principal: &Principal) -> Option<Timestamp> {
    let mut last = None;
    for (_, entry) in ring.iter().take(KEY_LOOKS) {
        if entry.principal == *principal && entry.is_young(now) {
            return Some(entry.time);
        }
        last = Some(entry.time);
    }
    last.filter(|_| ring.len() > KEY_LOOKS)
}

fn cost_of(entry: &Remembered<'_>) -> u64 {
    entry.size() as u64 + PLACE_BYTES
}

fn hash_of(principal: &Principal, key: Key<'_>) -> u64 {
    xxh3_64_with_seed(key.as_str().as_bytes(), hash_of_principal(principal))
}

fn hash_of_principal(principal: &Principal) -> u64 {
    xxh3_64_with_seed(principal.0.as_bytes(), 0)
}

#[cfg(test)]
mod tests;
