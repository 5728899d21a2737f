//! What principals may have open, and how much of it each has.

use std::collections::BTreeMap;

use turnstile_types::{Name, Principal};

/// Things of which a principal may have only so many open at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Countable {
    /// Holds of rooms and seats, together.
    Holds,
    /// Transactions of travel that were started.
    Transactions,
    /// Orders of the exchange that wait on a book.
    Orders,
}

/// How many open things each principal has.
///
/// A machine keeps it beside the things themselves, changes both together and derives it again when it
/// reads a snapshot. So it is no part of the snapshot, and it cannot drift.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenCounts(BTreeMap<Name, u32>);

impl OpenCounts {
    #[must_use]
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    pub fn add(&mut self, principal: Name) {
        *self.0.entry(principal).or_default() += 1;
    }

    /// Takes away one that was [added](Self::add).
    ///
    /// # Panics
    /// There is none.
    pub fn remove(&mut self, principal: Name) {
        let open = self.0.get_mut(&principal);
        let open = open.expect("what ends was counted when it began");
        *open -= 1;
        if *open == 0 {
            self.0.remove(&principal);
        }
    }

    #[must_use]
    pub fn of(&self, principal: &Principal) -> u32 {
        self.0.get(&principal.0).copied().unwrap_or(0)
    }
}

impl FromIterator<Name> for OpenCounts {
    fn from_iter<I: IntoIterator<Item = Name>>(principals: I) -> Self {
        let mut counts = Self::new();
        for principal in principals {
            counts.add(principal);
        }
        counts
    }
}
