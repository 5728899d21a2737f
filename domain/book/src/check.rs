//! Invariants of a book.

use crate::{Book, Orders, Side, slab::NONE};

impl Book {
    /// Checks all that must hold in a book: links, sums, the order of the levels, the best ones.
    ///
    /// # Errors
    /// What is broken, in words.
    pub fn check(&self, orders: &Orders) -> Result<(), String> {
        self.census(orders).map(|_| ())
    }

    /// Checks the book and counts its orders, levels and forks.
    fn census(&self, orders: &Orders) -> Result<[u32; 3], String> {
        let mut census = [0; 3];
        for side in [Side::Buy, Side::Sell] {
            let found = self.ladder(side).check(&orders.levels);
            let found = found.map_err(|broken| format!("{side:?}: {broken}"))?;
            for &level in &found.levels {
                let count = orders.check_queue(level);
                let count = count.map_err(|broken| format!("{side:?}, level {level}: {broken}"))?;
                add(&mut census, [count, 1, 0]);
            }
            add(&mut census, [0, 0, found.forks]);
        }
        Ok(census)
    }
}

impl Orders {
    /// Checks all books, and that nothing is kept that belongs to none of them.
    ///
    /// # Errors
    /// What is broken, in words.
    pub fn check<'a>(&self, books: impl IntoIterator<Item = &'a Book>) -> Result<(), String> {
        let mut found = [0; 3];
        for (number, book) in books.into_iter().enumerate() {
            let census = book.census(self);
            let census = census.map_err(|broken| format!("book {number}: {broken}"))?;
            add(&mut found, census);
        }
        let (levels, forks) = self.levels.used();
        let kept = [self.orders.used(), levels, forks];
        if kept != found {
            return Err(format!(
                "the books have {found:?} orders, levels and forks, but {kept:?} are kept"
            ));
        }
        Ok(())
    }

    fn check_queue(&self, level: u32) -> Result<u32, String> {
        let place = self.levels.at(level);
        let (mut prev, mut count, mut sum) = (NONE, 0, 0_u128);
        for index in self.queue(level) {
            let order = self.orders.at(index);
            if order.prev != prev || order.level != level || order.quantity == 0 {
                return Err(format!("order {index} after {prev} is {order:?}"));
            }
            sum += u128::from(order.quantity);
            count += 1;
            prev = index;
        }
        let (kept, tail) = (self.levels.sum(level), place.tail);
        if (count, sum, prev) != (place.orders, kept, tail) || count == 0 {
            return Err(format!(
                "{count} orders of {sum}, the last is {prev}; but kept is {kept} and {place:?}"
            ));
        }
        Ok(count)
    }
}

fn add(sums: &mut [u32; 3], counts: [u32; 3]) {
    for (sum, count) in sums.iter_mut().zip(counts) {
        *sum += count;
    }
}
