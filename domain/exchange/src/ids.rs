//! Maps order ids to the slots of the orders.

use hashbrown::HashTable;

use crate::{OrderId, slab::NONE};

/// Ids of one page: a page is a kibibyte, so that a single old order keeps no more than that.
const PAGE: usize = 256;

/// Pages that are kept for the ids to come.
const SPARE_MAX: usize = 64;

/// Ids are given one after the other, so that neighbours share a page of plain indexes: four bytes
/// an order. A page whose orders are all forgotten is dropped; few old orders thus keep few pages,
/// however many ids have been given since.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    pages: HashTable<Page>,
    #[expect(
        clippy::vec_box,
        reason = "a page moves between the table and this list, its rows do not"
    )]
    spare: Vec<Box<[u32; PAGE]>>,
}

#[derive(Debug)]
struct Page {
    number: u64,
    /// Orders on the page.
    used: u32,
    rows: Box<[u32; PAGE]>,
}

impl Ids {
    pub(crate) fn find(&self, id: OrderId) -> Option<u32> {
        let number = number_of(id);
        let page = self
            .pages
            .find(hash_of(number), |page| page.number == number)?;
        let row = *page.rows.get(place_of(id))?;
        (row != NONE).then_some(row)
    }

    /// Adds an id that is not there.
    pub(crate) fn insert(&mut self, id: OrderId, row: u32) {
        let number = number_of(id);
        let page = self
            .pages
            .find_mut(hash_of(number), |page| page.number == number);
        if let Some(page) = page {
            page.put(id, row);
            return;
        }
        let mut rows = self.spare.pop().unwrap_or_else(|| Box::new([NONE; PAGE]));
        rows.fill(NONE);
        let mut page = Page {
            number,
            used: 0,
            rows,
        };
        page.put(id, row);
        self.pages
            .insert_unique(hash_of(number), page, |page| hash_of(page.number));
    }

    /// Removes an id that is there.
    pub(crate) fn remove(&mut self, id: OrderId) {
        let number = number_of(id);
        let mut entry = self
            .pages
            .find_entry(hash_of(number), |page| page.number == number)
            .expect("a known id is on its page");
        let page = entry.get_mut();
        let row = page.rows.get_mut(place_of(id));
        *row.expect("a place is on its page") = NONE;
        page.used -= 1;
        if page.used == 0 {
            let (page, _) = entry.remove();
            if self.spare.len() < SPARE_MAX {
                self.spare.push(page.rows);
            }
        }
    }
}

impl Page {
    fn put(&mut self, id: OrderId, row: u32) {
        let place = self.rows.get_mut(place_of(id));
        *place.expect("a place is on its page") = row;
        self.used += 1;
    }
}

const fn number_of(id: OrderId) -> u64 {
    id.0 / PAGE as u64
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a place is less than the size of a page"
)]
const fn place_of(id: OrderId) -> usize {
    (id.0 % PAGE as u64) as usize
}

const fn hash_of(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_forgotten_orders_are_dropped_and_used_again() {
        let mut ids = Ids::default();
        for id in 1..=100_000_u32 {
            ids.insert(OrderId(u64::from(id)), id + 7);
            if id > 1_000 && id % 10_000 != 0 {
                ids.remove(OrderId(u64::from(id)));
            }
        }
        for id in 1..=100_000_u32 {
            let kept = id <= 1_000 || id % 10_000 == 0;
            assert_eq!(ids.find(OrderId(u64::from(id))), kept.then_some(id + 7));
        }
        assert_eq!(ids.find(OrderId(0)), None);
        assert_eq!(ids.find(OrderId(u64::MAX)), None);
        assert_eq!((ids.pages.len(), ids.spare.len()), (4 + 10, 0));
        ids.remove(OrderId(10_000));
        assert_eq!((ids.pages.len(), ids.spare.len()), (4 + 9, 1));
    }
}
