//! The invariants of the whole state.

use std::collections::{BTreeMap, BTreeSet};

use turnstile_chassis::Faults;
use turnstile_types::{Position, Timestamp};

use crate::{
    Rooms,
    directory::UNSHELVED,
    ledger::{GuestLink, LedgerSlot, NO_SLOT, State},
    limits,
    shelves::Mark,
};

impl Rooms {
    pub(crate) fn examine(&self) -> Result<(), Vec<String>> {
        let mut faults = Faults::default();
        self.check_nights(&mut faults);
        self.check_rooms(&mut faults);
        self.check_kinds(&mut faults);
        self.check_holds(&mut faults);
        self.check_guests(&mut faults);
        self.check_free_slots(&mut faults);
        faults.verdict()
    }

    fn slots(&self) -> impl Iterator<Item = (u32, &LedgerSlot)> {
        (0..).zip(self.ledger.iter())
    }

    /// Every entry that stands has exactly its nights, and nobody else has any; shelves say the
    /// same, and nothing about loose rooms.
    fn check_nights(&self, faults: &mut Faults) {
        let (mut owed, mut marks) = (0, 0);
        for (slot, entry) in self.slots() {
            match entry.state {
                State::Booked(_) | State::Held { .. } => {}
                State::Free { .. } | State::Spent | State::Expired { .. } => continue,
            }
            owed += u64::from(entry.stay.nights());
            let room = self.directory.room_at(entry.room);
            let (from, to) = (entry.stay.arrival(), entry.stay.departure());
            let owners: Vec<u32> = self.calendar.owners(&room.nights, from, to).collect();
            let occupied = self.calendar.conflict(&room.nights, entry.stay).occupied;
            let nights = u32::from(entry.stay.nights());
            faults.unless(
                owners == [slot] && occupied.count_ones() == nights && !room.withdrawn,
                || format!("slot {slot} does not have all of its nights"),
            );
            if room.shelf == UNSHELVED {
                continue;
            }
            marks += u64::from(entry.stay.nights());
            let words = self
                .directory
                .shelves
                .words(room.shelf, Mark::Occupied, entry.stay);
            let mut marked = 0;
            words.each(|_, word| marked += u32::from(word >> room.bit & 1 == 1));
            faults.unless(marked == nights, || {
                format!("slot {slot} is not marked on its shelf on all of its nights")
            });
        }
        let had: u64 = self
            .directory
            .rooms()
            .iter()
            .map(|room| self.calendar.census(&room.nights).2)
            .sum();
        faults.unless(had == owed, || {
            format!("{had} nights are taken in the calendar, {owed} in the ledger")
        });
        let marked: u64 = self.shelves().map(|(_, [occupied, _])| occupied).sum();
        faults.unless(marked == marks, || {
            format!("{marked} nights are taken on the shelves, {marks} in the ledger")
        });
    }

    /// Pages and marks of all shelves that hold rooms.
    fn shelves(&self) -> impl Iterator<Item = (u32, [u64; 2])> {
        let kinds = self.directory.kinds().iter();
        kinds
            .flat_map(|kind| kind.shelves())
            .map(|shelf| self.directory.shelves.census_of(shelf))
    }

    /// Every room is found by its name and in its order, and its stop-sells are on its shelf,
    /// if it has one.
    fn check_rooms(&self, faults: &mut Faults) {
        let (mut blocks, mut stops) = (0, 0);
        for (number, room) in (0..).zip(self.directory.rooms().iter()) {
            let name = || self.directory.room_name(number);
            faults.unless(self.directory.finds(number), || {
                format!("room {} is not found where it belongs", name())
            });
            let (count, empty, _) = self.calendar.census(&room.nights);
            blocks += count;
            faults.unless(empty == 0, || format!("room {} keeps empty blocks", name()));
            for night in self.calendar.stopped(&room.nights) {
                faults.unless(!room.withdrawn, || {
                    format!("the withdrawn room {} has stop-sells", name())
                });
                if room.shelf == UNSHELVED {
                    continue;
                }
                stops += 1;
                let stay = night
                    .checked_add(1)
                    .and_then(|next| turnstile_types::Stay::new(night, next).ok());
                let marked = stay.is_some_and(|stay| {
                    let stopped = self.directory.shelves.any(room.shelf, Mark::Stopped, stay);
                    stopped >> room.bit & 1 == 1
                });
                faults.unless(marked, || {
                    format!(
                        "the stop-sell of room {} on {night} is not on its shelf",
                        name()
                    )
                });
            }
        }
        let used = self.calendar.blocks_used();
        faults.unless(blocks == used, || {
            format!("rooms have {blocks} blocks, {used} are in use")
        });
        let marked: u64 = self.shelves().map(|(_, [_, stopped])| stopped).sum();
        faults.unless(marked == stops, || {
            format!("{marked} stop-sells on the shelves, {stops} in the calendar")
        });
        let pages: u32 = self.shelves().map(|(pages, _)| pages).sum();
        let shelves = u32::try_from(self.shelves().count()).unwrap_or(u32::MAX);
        let used = self.directory.shelves.census();
        faults.unless((pages, shelves) == used, || {
            format!("{pages} pages on {shelves} shelves, but {used:?} are in use")
        });
    }

    /// The rooms of properties and types are counted right.
    fn check_kinds(&self, faults: &mut Faults) {
        let directory = &self.directory;
        let mut by_property: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
        let mut by_kind: BTreeMap<u32, u32> = BTreeMap::new();
        for room in directory.rooms().iter() {
            let (rooms, in_sale) = by_property.entry(room.property).or_default();
            *rooms += 1;
            *in_sale += u32::from(!room.withdrawn);
            *by_kind.entry(room.kind).or_default() += u32::from(!room.withdrawn);
        }
        let mut total = 0;
        for (number, property) in (0..).zip(directory.properties().iter()) {
            let counted = by_property.get(&number).copied().unwrap_or_default();
            total += u64::from(counted.1);
            faults.unless(
                counted == (property.rooms, property.in_sale)
                    && counted.0 <= directory.rooms_max(number),
                || format!("the rooms of property {} are miscounted", property.name),
            );
            faults.unless(self.chain_is_right(number), || {
                format!("the chain of property {} is broken", property.name)
            });
            faults.unless(directory.property(&property.name) == Some(number), || {
                format!("property {} is not found", property.name)
            });
        }
        faults.unless(total == directory.in_sale, || {
            format!(
                "{total} rooms are in sale, {} are counted",
                directory.in_sale
            )
        });
        for (number, kind) in (0..).zip(directory.kinds().iter()) {
            let counted = by_kind.get(&number).copied().unwrap_or_default();
            let shelved: usize = kind
                .shelves()
                .map(|shelf| directory.shelves.len(shelf))
                .sum();
            let on_shelves = if kind.shelved { counted } else { 0 };
            faults.unless(
                counted == kind.rooms
                    && u32::try_from(shelved) == Ok(on_shelves)
                    && directory.keys_are_right(kind)
                    && directory.frontier_holds(number),
                || {
                    format!(
                        "the rooms of type {} are not counted or kept right",
                        kind.name
                    )
                },
            );
            faults.unless(
                directory.kind(kind.property, kind.name.as_bytes()) == Some(number),
                || format!("type {} is not found", kind.name),
            );
        }
    }

    /// The chain of a property holds all of its rooms, and no others, in order of their numbers.
    fn chain_is_right(&self, property: u32) -> bool {
        let directory = &self.directory;
        let rooms = directory.property_at(property).rooms;
        let bound = usize::try_from(rooms).map_or(usize::MAX, |rooms| rooms + 1);
        let chain: Vec<u32> = directory.chain(property).take(bound).collect();
        u32::try_from(chain.len()) == Ok(rooms)
            && chain.is_sorted_by(|left, right| left < right)
            && chain
                .iter()
                .all(|&room| directory.room_at(room).property == property)
    }

    /// Open holds are in their caller's list, and every hold has its deadline.
    fn check_holds(&self, faults: &mut Faults) {
        let mut deadlines: BTreeSet<(Timestamp, u32)> = BTreeSet::new();
        let mut open: BTreeMap<u32, Vec<(Position, u32)>> = BTreeMap::new();
        for (slot, entry) in self.slots() {
            match entry.state {
                State::Held { until, made } => {
                    deadlines.insert((until, slot));
                    open.entry(entry.principal).or_default().push((made, slot));
                    let latest = entry.since.plus_ms(limits::HOLD_TOTAL_MS_MAX);
                    faults.unless(until <= latest, || {
                        format!("the hold in slot {slot} lasts longer than a hold may")
                    });
                }
                State::Expired { at, .. } => {
                    deadlines.insert((at.plus_ms(limits::LATE_CONFIRM_MS), slot));
                }
                State::Free { .. } | State::Spent | State::Booked(_) => {}
            }
        }
        faults.unless(deadlines == self.deadlines, || {
            "the deadlines are not those of the holds".into()
        });
        let mut total = 0;
        for number in 0..self.principals.len() {
            let mut expected = open.remove(&number).unwrap_or_default();
            expected.sort_unstable();
            total += expected.len();
            let expected: Vec<u32> = expected.into_iter().map(|(_, slot)| slot).collect();
            let listed = self.principals.holds_from(number, Position(0));
            let listed: Vec<u32> = listed.map(|(_, slot)| slot).collect();
            let count = self.principals.holds_count(number);
            faults.unless(
                listed == expected
                    && u32::try_from(expected.len()) == Ok(count)
                    && count <= limits::HOLDS_PER_PRINCIPAL_MAX,
                || {
                    format!(
                        "the holds of {} are not its own",
                        self.principals.name(number)
                    )
                },
            );
        }
        faults.unless(open.is_empty() && total == self.principals.open(), || {
            "an unknown principal has holds".into()
        });
    }

    /// The bookings of a guest are chained both ways, the newest first.
    fn check_guests(&self, faults: &mut Faults) {
        let (mut bookings, mut heads, mut milestones) = (0, 0, 0);
        let guest_in = |slot: u32| match self.ledger.get(slot)?.state {
            State::Booked(guest) => Some((guest, self.ledger.at(slot).position)),
            State::Free { .. } | State::Spent | State::Held { .. } | State::Expired { .. } => None,
        };
        for slot in 0..self.ledger.len() {
            let Some((guest, position)) = guest_in(slot) else {
                continue;
            };
            bookings += 1;
            let linked =
                |other: u32, back: fn(&GuestLink) -> u32, newer: bool| match guest_in(other) {
                    None => other == NO_SLOT,
                    Some((next, at)) => {
                        next.id() == guest.id()
                            && back(&next) == slot
                            && (at, other) != (position, slot)
                            && ((at, other) > (position, slot)) == newer
                    }
                };
            let sound = linked(guest.older, |guest| guest.newer, false)
                && linked(guest.newer, |guest| guest.older, true);
            milestones += usize::from(guest.steps == 0);
            let behind = guest_in(guest.older).map_or(0, |(older, _)| older.steps);
            let found = (guest.steps == 0) == self.guests.is_milestone(&self.ledger, slot);
            faults.unless(
                sound && found && (guest.steps == 0 || guest.steps > behind),
                || format!("the guest's chain at slot {slot} is broken"),
            );
            if guest.newer == NO_SLOT {
                heads += 1;
                faults.unless(
                    self.guests.newest(&self.ledger, guest.id()) == Some(slot),
                    || format!("the newest booking of the guest in slot {slot} is not found"),
                );
            }
        }
        let names = self.guests.names_used();
        faults.unless(
            u64::from(bookings) == self.counts.bookings && names == bookings,
            || {
                format!(
                    "{bookings} bookings stand, {names} names, {:?}",
                    self.counts
                )
            },
        );
        faults.unless(milestones == self.guests.milestones(), || {
            format!("a milestone is no booking, {milestones} are")
        });
        faults.unless(heads == self.guests.len(), || {
            format!(
                "{heads} guests have bookings, {} are known",
                self.guests.len()
            )
        });
        let ended = self.counts.booked.checked_sub(self.counts.cancelled);
        faults.unless(ended == Some(self.counts.bookings), || {
            format!("bookings appeared or vanished: {:?}", self.counts)
        });
    }

    /// Every free slot is in the chain once.
    fn check_free_slots(&self, faults: &mut Faults) {
        let free: BTreeSet<u32> = self
            .slots()
            .filter(|(_, entry)| matches!(entry.state, State::Free { .. }))
            .map(|(slot, _)| slot)
            .collect();
        let count = self.ledger.free_count() as usize;
        let chained: BTreeSet<u32> = self.ledger.free().take(count + 1).collect();
        faults.unless(free == chained && free.len() == count, || {
            format!("{} slots are free, {count} are chained", free.len())
        });
    }
}
