//! Names of guests, and the bookings of each id number.

use std::collections::BTreeSet;

use turnstile_types::Position;

use crate::{
    GuestId, GuestName,
    arena::CellArena,
    ledger::{GuestLink, Ledger, NO_SLOT, State, slot_or_none},
    table::{Table, hash_of_seal},
};

/// How many bookings a page may walk past in a chain before it is where its cursor says, at most.
const STEPS_MAX: u8 = u8::MAX;

/// The names, in cells of an arena, and for each sealed id number the newest booking; from there
/// the bookings themselves are chained. A booking thus costs one entry of a table at most, and a
/// guest with many bookings is as cheap as many guests with one.
///
/// Of a chain longer than [`STEPS_MAX`], some bookings are milestones, by which a page finds its place: each
/// booking that is not one has at most so many older ones up to the next milestone or the end. An index of all
/// bookings would take half as much memory as they do.
#[derive(Debug)]
pub(crate) struct Guests {
    newest: Table,
    milestones: BTreeSet<(GuestId, Position, u32)>,
    names: CellArena<u8>,
}

impl Guests {
    pub(crate) fn new() -> Self {
        Self {
            newest: Table::new(),
            milestones: BTreeSet::new(),
            names: CellArena::new(),
        }
    }

    /// Keeps a name; the guest is not in any chain yet.
    pub(crate) fn register(&mut self, name: GuestName<'_>, id: GuestId) -> GuestLink {
        let bytes = name.as_str().as_bytes();
        let cell = self.names.take(bytes.len());
        self.names.run_mut(bytes.len(), cell).copy_from_slice(bytes);
        GuestLink {
            seal: id.seal,
            name: cell,
            older: NO_SLOT,
            newer: NO_SLOT,
            steps: 1,
            last_four: id.last_four,
            name_length: u16::try_from(bytes.len()).expect("a name has at most 400 bytes"),
        }
    }

    pub(crate) fn name(&self, guest: &GuestLink) -> &str {
        let bytes = self.names.run(usize::from(guest.name_length), guest.name);
        str::from_utf8(bytes).expect("a guest name was parsed as UTF-8")
    }

    /// The newest booking of an id number.
    pub(crate) fn newest(&self, ledger: &Ledger, id: GuestId) -> Option<u32> {
        self.newest.find(hash_of_seal(id.seal), |slot| {
            guest_in(ledger, slot).id() == id
        })
    }

    /// The bookings of an id number that are older than this position, the newest first.
    pub(crate) fn bookings<'a>(
        &self,
        ledger: &'a Ledger,
        id: GuestId,
        before: Option<Position>,
    ) -> impl Iterator<Item = (Position, u32)> + use<'a> {
        let milestone = before.and_then(|before| {
            let mut newer = self.milestones.range((id, before, 0)..);
            let &(of, _, slot) = newer.next()?;
            (of == id).then_some(slot)
        });
        let first = milestone.or_else(|| self.newest(ledger, id));
        std::iter::successors(first, |&slot| slot_or_none(guest_in(ledger, slot).older))
            .map(|slot| (ledger.at(slot).position, slot))
            .skip_while(move |&(position, _)| before.is_some_and(|before| position >= before))
    }

    /// Whether a booking is where a page may begin to look for its place.
    pub(crate) fn is_milestone(&self, ledger: &Ledger, slot: u32) -> bool {
        self.milestones.contains(&milestone(ledger, slot))
    }

    /// How many bookings are milestones.
    pub(crate) fn milestones(&self) -> usize {
        self.milestones.len()
    }

    /// Makes the booking in `slot` the newest of its guest.
    pub(crate) fn link(&mut self, ledger: &mut Ledger, slot: u32) {
        let id = guest_in(ledger, slot).id();
        let hash = hash_of_seal(id.seal);
        let Some(older) = self.newest(ledger, id) else {
            self.newest.insert(hash, slot);
            return;
        };
        self.newest.replace(hash, older, slot);
        guest_in_mut(ledger, older).newer = slot;
        let steps = guest_in(ledger, older).steps;
        guest_in_mut(ledger, slot).older = older;
        if steps == STEPS_MAX {
            self.place_milestone(ledger, slot);
        } else {
            guest_in_mut(ledger, slot).steps = steps + 1;
        }
    }

    /// Makes the booking in `slot`, which is in the chain and was changed by the record at this position, the
    /// newest of its guest.
    pub(crate) fn renew(&mut self, ledger: &mut Ledger, slot: u32, position: Position) {
        self.leave_chain(ledger, slot);
        ledger.at_mut(slot).position = position;
        let guest = guest_in_mut(ledger, slot);
        (guest.older, guest.newer, guest.steps) = (NO_SLOT, NO_SLOT, 1);
        self.link(ledger, slot);
    }

    /// Takes the booking in `slot` out of its chain and forgets the name.
    pub(crate) fn unlink(&mut self, ledger: &mut Ledger, slot: u32) {
        self.leave_chain(ledger, slot);
        let guest = guest_in(ledger, slot);
        self.names
            .give_back(usize::from(guest.name_length), guest.name);
    }

    fn place_milestone(&mut self, ledger: &mut Ledger, slot: u32) {
        guest_in_mut(ledger, slot).steps = 0;
        self.milestones.insert(milestone(ledger, slot));
    }

    fn leave_chain(&mut self, ledger: &mut Ledger, slot: u32) {
        let guest = *guest_in(ledger, slot);
        if guest.steps == 0 {
            self.milestones.remove(&milestone(ledger, slot));
            // Those behind it are found from the next newer one, which is no farther away from them.
            let newer = slot_or_none(guest.newer);
            if let Some(newer) = newer.filter(|&newer| guest_in(ledger, newer).steps > 0) {
                self.place_milestone(ledger, newer);
            }
        }
        if guest.older != NO_SLOT {
            guest_in_mut(ledger, guest.older).newer = guest.newer;
        }
        let hash = hash_of_seal(guest.seal);
        if guest.newer != NO_SLOT {
            guest_in_mut(ledger, guest.newer).older = guest.older;
        } else if guest.older != NO_SLOT {
            self.newest.replace(hash, slot, guest.older);
        } else {
            self.newest.remove(hash, slot);
        }
    }

    /// How many id numbers have bookings.
    pub(crate) const fn len(&self) -> u32 {
        self.newest.len()
    }

    /// How many names are kept.
    pub(crate) fn names_used(&self) -> u32 {
        self.names.used()
    }

    /// Asks memory for the place where the chain of a booking's guest is found.
    pub(crate) fn prefetch_of(&self, ledger: &Ledger, slot: u32) {
        self.prefetch(guest_in(ledger, slot).seal);
    }

    /// Asks memory for the place where the chain of an id number is found; see `warming`.
    pub(crate) fn prefetch(&self, seal: u64) {
        self.newest.prefetch(hash_of_seal(seal));
    }
}

fn milestone(ledger: &Ledger, slot: u32) -> (GuestId, Position, u32) {
    let id = guest_in(ledger, slot).id();
    (id, ledger.at(slot).position, slot)
}

fn guest_in(ledger: &Ledger, slot: u32) -> &GuestLink {
    match &ledger.at(slot).state {
        State::Booked(guest) => guest,
        State::Free { .. } | State::Spent | State::Held { .. } | State::Expired { .. } => {
            unreachable!("only bookings are in a guest's chain")
        }
    }
}

fn guest_in_mut(ledger: &mut Ledger, slot: u32) -> &mut GuestLink {
    match &mut ledger.at_mut(slot).state {
        State::Booked(guest) => guest,
        State::Free { .. } | State::Spent | State::Held { .. } | State::Expired { .. } => {
            unreachable!("only bookings are in a guest's chain")
        }
    }
}
