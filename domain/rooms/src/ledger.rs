//! Every booking and hold, by its reference.

use turnstile_types::{PartitionNumber, Position, Stay, Timestamp};

use crate::{GuestId, Reference, Refusal, reference::SLOTS_PER_PARTITION, slab::ChunkSlab};

/// The end of a chain of slots.
pub(crate) const NO_SLOT: u32 = u32::MAX;

/// One booking or hold, or the place for one: 56 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LedgerSlot {
    /// How many entries had lain here before the present or the next one.
    pub(crate) generation: u32,
    pub(crate) room: u32,
    pub(crate) principal: u32,
    pub(crate) stay: Stay,
    /// When it was booked or held.
    pub(crate) since: Timestamp,
    /// The record that last changed it.
    pub(crate) position: Position,
    pub(crate) state: State,
}

const _: () = assert!(size_of::<LedgerSlot>() == 64 || size_of::<LedgerSlot>() == 56);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The next entry lies here; `next` is the free slot that is used after this one.
    Free {
        next: u32,
    },
    /// Used so often that no reference is left for another entry.
    Spent,
    Booked(GuestLink),
    /// `made` is the position of the record that made the hold; it orders a caller's holds.
    Held {
        until: Timestamp,
        made: Position,
    },
    Expired {
        at: Timestamp,
        made: Position,
    },
}

/// The entry of a slot that has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    Booked(GuestLink),
    Held { until: Timestamp, made: Position },
    Expired { at: Timestamp, made: Position },
}

impl State {
    pub(crate) const fn taken(self) -> Option<Taken> {
        match self {
            Self::Free { .. } | Self::Spent => None,
            Self::Booked(guest) => Some(Taken::Booked(guest)),
            Self::Held { until, made } => Some(Taken::Held { until, made }),
            Self::Expired { at, made } => Some(Taken::Expired { at, made }),
        }
    }

    /// The slot after this one in the chain of free slots.
    fn next_free(self) -> u32 {
        let Self::Free { next } = self else {
            unreachable!("a slot in the free chain is free");
        };
        next
    }
}

/// A booking's guest, as a link in the chain of all bookings of one id number. Packed, so that a slot takes no
/// more than 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, packed(4))]
pub(crate) struct GuestLink {
    pub(crate) seal: u64,
    /// The cell of the name in the arena of names.
    pub(crate) name: u32,
    pub(crate) older: u32,
    pub(crate) newer: u32,
    /// How many older bookings there are up to the next milestone or the end, at most, and itself; 0: it is a
    /// milestone.
    pub(crate) steps: u8,
    pub(crate) last_four: u16,
    /// The name's length in bytes: 1 to 400.
    pub(crate) name_length: u16,
}

impl GuestLink {
    pub(crate) const fn id(&self) -> GuestId {
        GuestId {
            seal: self.seal,
            last_four: self.last_four,
        }
    }
}

/// All slots, and the chain of the free ones: the last one freed is used first, so that the
/// memory in use stays small and warm. The order of the chain is state, as it decides the next
/// reference.
#[derive(Debug)]
pub(crate) struct Ledger {
    slots: ChunkSlab<LedgerSlot>,
    /// What references call the first slot.
    first: u32,
    /// How many slots there may be.
    most: u32,
    free: u32,
    free_count: u32,
}

impl Ledger {
    pub(crate) const fn new() -> Self {
        Self {
            slots: ChunkSlab::empty(),
            first: 0,
            most: NO_SLOT,
            free: NO_SLOT,
            free_count: 0,
        }
    }

    /// Has references say that they are of this partition, of several.
    pub(crate) fn found_in(&mut self, partition: PartitionNumber) {
        self.first = u32::from(partition.get()) * SLOTS_PER_PARTITION;
        self.most = SLOTS_PER_PARTITION;
    }

    /// Asserts that there is a slot for another entry.
    ///
    /// # Errors
    /// As many entries stand as references tell apart.
    pub(crate) const fn check_room(&self) -> Result<(), Refusal> {
        if self.next_slot() < self.most {
            Ok(())
        } else {
            Err(Refusal::Full { limit: self.most })
        }
    }

    pub(crate) const fn len(&self) -> u32 {
        self.slots.len()
    }

    pub(crate) fn at(&self, slot: u32) -> &LedgerSlot {
        self.slots.at(slot)
    }

    pub(crate) fn get(&self, slot: u32) -> Option<&LedgerSlot> {
        self.slots.get(slot)
    }

    pub(crate) fn at_mut(&mut self, slot: u32) -> &mut LedgerSlot {
        self.slots.at_mut(slot)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &LedgerSlot> {
        self.slots.iter()
    }

    /// The slots that wait for an entry, the next one first.
    pub(crate) fn free(&self) -> impl Iterator<Item = u32> {
        std::iter::successors(slot_or_none(self.free), |&slot| {
            slot_or_none(self.slots.at(slot).state.next_free())
        })
    }

    pub(crate) const fn free_count(&self) -> u32 {
        self.free_count
    }

    /// Appends a slot as a snapshot has it. Free ones are chained by [`Self::chain_free`].
    pub(crate) fn restore_slot(&mut self, slot: LedgerSlot) {
        self.slots.push(slot);
    }

    /// Chains the free slots, the next one first. Whether each is free and named once is the
    /// caller's to have checked.
    pub(crate) fn chain_free(&mut self, order: &[u32]) {
        for &slot in order.iter().rev() {
            self.slots.at_mut(slot).state = State::Free { next: self.free };
            self.free = slot;
            self.free_count += 1;
        }
    }

    /// The slot that the next entry gets.
    pub(crate) const fn next_slot(&self) -> u32 {
        if self.free == NO_SLOT {
            self.slots.len()
        } else {
            self.free
        }
    }

    /// Keeps an entry in the next slot, and answers which; the generation is the slot's own.
    pub(crate) fn add(&mut self, mut entry: LedgerSlot) -> u32 {
        let slot = self.free;
        if slot == NO_SLOT {
            entry.generation = 0;
            return self.slots.push(entry);
        }
        let place = self.slots.at_mut(slot);
        self.free = place.state.next_free();
        entry.generation = place.generation;
        *place = entry;
        self.free_count -= 1;
        slot
    }

    /// Forgets an entry: from now on its reference is a used-up one.
    pub(crate) fn remove(&mut self, slot: u32) {
        let next = self.free;
        let place = self.slots.at_mut(slot);
        let Some(generation) = place.generation.checked_add(1) else {
            place.state = State::Spent;
            return;
        };
        place.generation = generation;
        place.state = State::Free { next };
        self.free = slot;
        self.free_count += 1;
    }

    /// The slot of a reference that somebody shows, and its entry.
    ///
    /// # Errors
    /// `Ended` for one that was given and is used up, `NotFound` for one never given.
    pub(crate) fn look_up(&self, reference: Reference) -> Result<(u32, Taken), Refusal> {
        let number = self.slot_of(reference).ok_or(Refusal::NotFound)?;
        let slot = self.slots.get(number).ok_or(Refusal::NotFound)?;
        if reference.generation < slot.generation {
            return Err(Refusal::Ended);
        }
        if reference.generation > slot.generation {
            return Err(Refusal::NotFound);
        }
        match slot.state.taken() {
            Some(entry) => Ok((number, entry)),
            None if slot.state == State::Spent => Err(Refusal::Ended),
            None => Err(Refusal::NotFound),
        }
    }

    /// The slot that a reference names; nothing if it is of another partition.
    pub(crate) fn slot_of(&self, reference: Reference) -> Option<u32> {
        let slot = reference.slot.checked_sub(self.first)?;
        (slot < self.most).then_some(slot)
    }

    pub(crate) fn reference(&self, slot: u32) -> Reference {
        Reference {
            slot: self.first + slot,
            generation: self.slots.at(slot).generation,
        }
    }
}

pub(crate) const fn slot_or_none(slot: u32) -> Option<u32> {
    if slot == NO_SLOT { None } else { Some(slot) }
}

#[cfg(test)]
mod tests {
    use turnstile_types::Night;

    use super::*;

    fn held(generation: u32) -> LedgerSlot {
        LedgerSlot {
            generation,
            room: 0,
            principal: 0,
            stay: Stay::new(Night::from_days(1), Night::from_days(2)).unwrap(),
            since: Timestamp(1),
            position: Position(1),
            state: State::Held {
                until: Timestamp(2),
                made: Position(1),
            },
        }
    }

    fn added(ledger: &mut Ledger) -> Reference {
        let slot = ledger.add(held(0));
        ledger.reference(slot)
    }

    fn slot_of(ledger: &Ledger, reference: Reference) -> Result<u32, Refusal> {
        ledger.look_up(reference).map(|(slot, _)| slot)
    }

    #[test]
    fn the_slot_freed_last_is_used_first_under_a_new_reference() {
        let mut ledger = Ledger::new();
        let given: Vec<Reference> = (0..3).map(|_| added(&mut ledger)).collect();
        ledger.remove(0);
        ledger.remove(2);
        assert_eq!(ledger.free().collect::<Vec<_>>(), [2, 0]);
        let again = added(&mut ledger);
        assert_eq!((again.slot, again.generation), (2, 1));
        assert_eq!(slot_of(&ledger, given[2]), Err(Refusal::Ended));
        assert_eq!(slot_of(&ledger, given[1]), Ok(1));
        assert_eq!(slot_of(&ledger, again), Ok(2));
        let next = Reference {
            slot: 0,
            generation: 1,
        };
        assert_eq!(slot_of(&ledger, next), Err(Refusal::NotFound));
    }

    #[test]
    fn a_slot_whose_references_are_all_given_is_never_used_again() {
        let mut ledger = Ledger::new();
        ledger.restore_slot(held(u32::MAX));
        let last = Reference {
            slot: 0,
            generation: u32::MAX,
        };
        assert_eq!(slot_of(&ledger, last), Ok(0));
        ledger.remove(0);
        assert_eq!(slot_of(&ledger, last), Err(Refusal::Ended));
        assert_eq!(ledger.add(held(0)), 1);
    }

    #[test]
    fn references_of_another_partition_are_not_found() {
        let mut ledgers = [0, 3].map(|number| {
            let mut ledger = Ledger::new();
            ledger.found_in(PartitionNumber::new(number).unwrap());
            ledger
        });
        let [of_first, of_fourth] = ledgers.each_mut().map(added);
        assert_eq!((of_first.slot, of_fourth.slot), (0, 3 << 26));
        assert_eq!(of_fourth.partition().get(), 3);
        let [first, fourth] = &ledgers;
        assert_eq!(slot_of(fourth, of_fourth), Ok(0));
        assert_eq!(slot_of(fourth, of_first), Err(Refusal::NotFound));
        assert_eq!(slot_of(first, of_fourth), Err(Refusal::NotFound));
    }

    #[test]
    fn a_partition_has_as_many_entries_as_its_references_tell_apart() {
        let mut ledger = Ledger::new();
        ledger.found_in(PartitionNumber::FIRST);
        ledger.most = 2;
        let first = ledger.add(held(0));
        assert_eq!(ledger.check_room(), Ok(()));
        ledger.add(held(0));
        assert_eq!(ledger.check_room(), Err(Refusal::Full { limit: 2 }));
        ledger.remove(first);
        assert_eq!(ledger.check_room(), Ok(()), "a slot is used again");
    }
}
