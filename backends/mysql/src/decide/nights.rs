//! Takes and frees nights.

use turnstile_types::Timestamp;

use crate::{
    known::Known,
    tables::{NightRow, PlacedStay},
};

/// Takes nights that are free by now.
pub(super) fn take(
    known: &mut Known,
    placed: &PlacedStay,
    reference: u64,
    until: Option<Timestamp>,
) {
    for night in placed.nights() {
        let free = known.taken.get(&night).flatten().is_none();
        assert!(free, "a night is left before it is taken");
        known.taken.know(night, None);
        known.taken.set(&night, NightRow { reference, until });
    }
}

/// Leaves nights. They need not have been read: what stands has all its nights.
pub(super) fn leave(
    known: &mut Known,
    placed: &PlacedStay,
    reference: u64,
    until: Option<Timestamp>,
) {
    for night in placed.nights() {
        known.taken.know(night, Some(NightRow { reference, until }));
        known.taken.remove(&night);
    }
}
