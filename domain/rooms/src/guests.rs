//! Names of guests, and the bookings of each id number.

use crate::{
    GuestId, GuestName,
    arena::CellArena,
    ledger::{GuestLink, Ledger, NO_SLOT, State, slot_or_none},
    table::{Table, hash_of_seal},
};

/// The names, in cells of an arena, and for each sealed id number the newest booking; from there
/// the bookings themselves are chained. A booking thus costs one entry of a table at most, and a
/// guest with many bookings is as cheap as many guests with one.
#[derive(Debug)]
pub(crate) struct Guests {
    newest: Table,
    names: CellArena<u8>,
}

impl Guests {
    pub(crate) fn new() -> Self {
        Self {
            newest: Table::new(),
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

    /// The bookings of an id number, the newest first.
    pub(crate) fn bookings<'a>(
        &self,
        ledger: &'a Ledger,
        id: GuestId,
    ) -> impl Iterator<Item = u32> + use<'a> {
        std::iter::successors(self.newest(ledger, id), |&slot| {
            slot_or_none(guest_in(ledger, slot).older)
        })
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
        guest_in_mut(ledger, slot).older = older;
        guest_in_mut(ledger, older).newer = slot;
    }

    /// Makes the booking in `slot`, which is in the chain, the newest of its guest.
    pub(crate) fn renew(&mut self, ledger: &mut Ledger, slot: u32) {
        self.leave_chain(ledger, slot);
        let guest = guest_in_mut(ledger, slot);
        (guest.older, guest.newer) = (NO_SLOT, NO_SLOT);
        self.link(ledger, slot);
    }

    /// Takes the booking in `slot` out of its chain and forgets the name.
    pub(crate) fn unlink(&mut self, ledger: &mut Ledger, slot: u32) {
        self.leave_chain(ledger, slot);
        let guest = guest_in(ledger, slot);
        self.names
            .give_back(usize::from(guest.name_length), guest.name);
    }

    fn leave_chain(&mut self, ledger: &mut Ledger, slot: u32) {
        let guest = *guest_in(ledger, slot);
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
