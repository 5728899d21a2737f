//! When memory gets large pages.

use crate::Lot;

/// Looks that pay for one lot: for two mebibytes, moving them takes about as long as so many looks
/// save.
const PRICE: u32 = 1 << 15;

/// Looks at items which may be anywhere in a row of lots. All lots but the last are full.
///
/// Large pages are worth their price where looks go everywhere, and not where items are only put one
/// behind the other. Nobody knows beforehand, so it is as with skis, to rent or to buy: looks go
/// through small pages until they have cost what a large one costs, and then the first lot that has
/// none moves. It takes about a millisecond for two mebibytes, once. What is asked and answered
/// does not depend on it.
#[derive(Debug)]
pub struct Looks {
    /// The first lot that is not in large pages.
    small: usize,
    unpaid: u32,
}

impl Looks {
    pub const NONE: Self = Self {
        small: 0,
        unpaid: 0,
    };

    /// Notes a look at an item in one of the lots, which may all be moved then.
    #[inline]
    pub fn note<T>(&mut self, lots: &mut [Lot<T>], lot: usize) {
        let growing = lots.len().saturating_sub(1);
        if self.small < growing && lot < growing {
            self.pay(lots);
        }
    }

    #[cold]
    fn pay<T>(&mut self, lots: &mut [Lot<T>]) {
        self.unpaid += 1;
        if self.unpaid == PRICE {
            self.unpaid = 0;
            if let Some(lot) = lots.get_mut(self.small) {
                lot.enlarge();
            }
            self.small += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Looks, PRICE};
    use crate::{LARGE_PAGE, Lot};

    #[test]
    fn so_many_looks_bring_one_full_lot_to_large_pages() {
        let mut lots: Vec<Lot<[u8; 64]>> = Vec::new();
        for lot in 0..3_u8 {
            lots.push(Lot::with_room(LARGE_PAGE / 64));
            lots[usize::from(lot)].push([lot; 64]);
        }
        let places = |lots: &[Lot<[u8; 64]>]| -> Vec<usize> {
            lots.iter().map(|lot| lot.as_ptr().addr()).collect()
        };
        let before = places(&lots);
        let mut looks = Looks::NONE;
        let mut moved = Vec::new();
        for look in 0..PRICE * 4 {
            looks.note(&mut lots, 2);
            looks.note(&mut lots, 1);
            let now = places(&lots);
            moved = (0..3).filter(|&lot| now[lot] != before[lot]).collect();
            assert_eq!(moved.len(), ((look + 1) / PRICE).min(2) as usize);
        }
        assert_eq!(moved, [0, 1]);
        for (lot, mark) in lots.iter().zip(0..) {
            assert_eq!(**lot, [[mark; 64]]);
        }
    }
}
