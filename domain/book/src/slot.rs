//! The handle of a resting order.

use std::num::NonZeroU32;

use crate::{Side, slab::INDEX_END};

/// The handle of a resting order; valid from [`Book::rest`](crate::Book::rest) until the order is
/// off the book, and then used again for another order.
///
/// It takes four bytes, also where it may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(NonZeroU32);

impl Slot {
    /// The index with the side in its top bit, turned over: `NONE` is no index, so no slot is zero.
    #[inline]
    pub(crate) fn new(side: Side, index: u32) -> Self {
        let bits = match side {
            Side::Buy => index,
            Side::Sell => index | INDEX_END,
        };
        Self(NonZeroU32::new(!bits).expect("an index is not `NONE`"))
    }

    /// The side of the book that the order rests on.
    #[inline]
    #[must_use]
    pub const fn side(self) -> Side {
        if !self.0.get() < INDEX_END {
            Side::Buy
        } else {
            Side::Sell
        }
    }

    #[inline]
    pub(crate) const fn index(self) -> u32 {
        !self.0.get() & !INDEX_END
    }
}
