//! What was acknowledged: who bought which journey how often.

use std::sync::atomic::{AtomicU32, Ordering};

use super::stock::OfferCatalogue;

/// A count for each customer and journey. Clients on different threads add to the same counts: a
/// few times in each transaction, without a lock.
#[derive(Debug)]
pub(super) struct PurchaseCounts {
    journeys: usize,
    counts: Box<[AtomicU32]>,
}

impl PurchaseCounts {
    pub(super) fn of(stock: &OfferCatalogue) -> Self {
        let journeys = stock.journeys.len();
        let counts = (0..stock.customers.len() * journeys).map(|_| AtomicU32::new(0));
        Self {
            journeys,
            counts: counts.collect(),
        }
    }

    /// A journey was bought.
    pub(super) fn add(&self, customer: usize, journey: usize) {
        let place = customer * self.journeys + journey;
        self.counts[place].fetch_add(1, Ordering::Relaxed);
    }

    /// How often each journey was bought by a customer: the number of the journey, and the count
    /// where it is not zero.
    pub(super) fn of_customer(&self, customer: usize) -> impl Iterator<Item = (usize, u64)> {
        let counts = &self.counts[customer * self.journeys..][..self.journeys];
        let counts = counts.iter().map(|count| count.load(Ordering::Relaxed));
        let bought = counts.enumerate().filter(|(_, count)| *count > 0);
        bought.map(|(journey, count)| (journey, u64::from(count)))
    }

    pub(super) fn total(&self) -> u64 {
        let counts = self.counts.iter();
        counts
            .map(|count| u64::from(count.load(Ordering::Relaxed)))
            .sum()
    }
}
