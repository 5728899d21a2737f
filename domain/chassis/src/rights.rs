//! What an operation needs of its caller: a right of its service, for the things that it is about.

use turnstile_types::{Name, Principal};

/// What a caller may do with a service, from the weakest to the strongest. A stronger right holds the
/// weaker ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Right {
    /// To ask without changing anything.
    Read,
    /// To do what customers do: book, hold, trade, play.
    Use,
    /// To set up what is sold, and to act for others.
    Manage,
}

impl Right {
    pub const ALL: [Self; 3] = [Self::Read, Self::Use, Self::Manage];

    /// Its stable word.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Use => "use",
            Self::Manage => "manage",
        }
    }
}

/// Something that is asked of a service, and what it needs of its caller. Derived with
/// [`Operations`](turnstile_derive::Operations).
pub trait Needs {
    /// What each operation needs, by the place of its word.
    const NEEDED: &'static [Needed];

    /// What this operation needs.
    fn needed(&self) -> Needed;
}

/// What an operation needs of its caller and of the server, whatever it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "none of them says anything about another"
)]
pub struct Needed {
    pub right: Right,
    /// Whether it uses a hold or a transaction, which belongs to the caller who made it.
    pub of_holder: bool,
    /// Whether it needs a turn where there is a waiting room.
    pub waits_in_line: bool,
    /// Whether it opens something of which there may be only so much at a time, such as a hold.
    pub opens: bool,
    /// Whether it may be answered late, because it waits for what another caller has.
    pub may_wait: bool,
}

impl Needed {
    /// The most that an operation needs, also of what nobody may ask for.
    pub const MANAGE: Self = Self::only(Right::Manage);

    /// A right of the service, and nothing else.
    #[must_use]
    pub const fn only(right: Right) -> Self {
        Self {
            right,
            of_holder: false,
            waits_in_line: false,
            opens: false,
            may_wait: false,
        }
    }

    /// Whether a caller may ask for it without a look at its subject. `has` says whether the caller
    /// has a right for the whole service.
    #[must_use]
    #[inline]
    pub fn is_met(self, has: impl Fn(Right) -> bool) -> bool {
        let right = if self.of_holder {
            Right::Manage
        } else {
            self.right
        };
        has(right)
    }
}

/// What one request is about, as far as rights are limited to it.
///
/// A caller needs the right of the operation by a grant that covers its subject:
///
/// | subject | who may |
/// | --- | --- |
/// | [`Caller`](Self::Caller) | every caller with a key, without any right |
/// | [`Public`](Self::Public) | whoever has the right, limited or not |
/// | [`Things`](Self::Things) | a grant without limits, or grants whose limits match each name; and see its holder |
/// | [`All`](Self::All), [`Unknown`](Self::Unknown) | only a grant without limits |
/// | [`AllHeldBy`](Self::AllHeldBy) | the same, of the holder or with the right to manage |
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The caller alone.
    Caller,
    /// What every user of the service sees or shares.
    Public,
    /// All things of the service, or of some of them more than their own users may see.
    All,
    /// The same, in a transaction of this principal. Any other caller needs [`Right::Manage`].
    AllHeldBy(Principal),
    /// These things: properties, accounts, players, customers or shows, whichever the service limits
    /// its grants to.
    Things {
        /// No name: no limit applies.
        names: [Option<Name>; 2],
        /// Who has the hold or the transaction that is to be used. Any other caller needs
        /// [`Right::Manage`] for the same things.
        holder: Option<Principal>,
    },
    /// A reference that the state here does not know. The machine answers that itself, but a limited
    /// caller is refused, and so learns nothing about the things of others.
    Unknown,
}

impl Subject {
    /// One thing that belongs to no principal.
    #[must_use]
    pub const fn of(name: Name) -> Self {
        Self::Things {
            names: [Some(name), None],
            holder: None,
        }
    }

    /// Two things that belong to no principal.
    #[must_use]
    pub const fn of_both(first: Name, second: Name) -> Self {
        Self::Things {
            names: [Some(first), Some(second)],
            holder: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_holder_has_is_looked_at_unless_its_caller_manages() {
        let plain = Needed::only(Right::Use);
        let held = Needed {
            of_holder: true,
            ..plain
        };
        let met = |needed: Needed, held: Right| needed.is_met(|right| right <= held);
        let all = |needed| Right::ALL.map(|held| met(needed, held));
        assert_eq!(all(plain), [false, true, true]);
        assert_eq!(all(held), [false, false, true]);
        assert_eq!(all(Needed::MANAGE), [false, false, true]);
    }

    #[test]
    fn a_stronger_right_is_greater() {
        assert!(Right::ALL.is_sorted());
        assert_eq!(Right::ALL.map(Right::code), ["read", "use", "manage"]);
        assert!(Right::Read < Right::Use && Right::Use < Right::Manage);
    }
}
