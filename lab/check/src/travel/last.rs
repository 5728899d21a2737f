//! What must be there when the load is over.

use super::{Agency, Floating, FloatingKind, JourneyStep, NEAR_MAX, TripHold, World};
use crate::Charge;

/// What the replay leaves, held against what was read in the end.
#[derive(Debug)]
pub struct AgencyEnd {
    pub charge: Charge,
    /// How many itineraries were booked, and how many stand; nothing when that is not known.
    pub counts: Option<(u64, u64)>,
    /// Whether too many transactions are left of which nobody knows whether they were carried out.
    pub clouded: bool,
}

impl Agency {
    /// How many itineraries stand at least when the time of all holds is over; nothing when there are no
    /// holds to wait for. While the server has no more than these, no hold stands: an itinerary of which it
    /// is not known whether it stands is not counted.
    #[must_use]
    pub fn standing_without_holds(&self) -> Option<u64> {
        let ends = |one: &Floating| one.what == FloatingKind::Hold || self.must_end(one);
        if !self.floating.iter().any(ends) {
            return None;
        }
        let locators = self.itineraries.keys();
        let least = locators.filter(|&&locator| self.fading(locator).is_none());
        Some(u64::try_from(least.count()).expect("a count fits 64 bits"))
    }

    /// Whether it has happened for certain when the time of all holds is over.
    fn must_end(&self, one: &Floating) -> bool {
        match one.what {
            FloatingKind::Expiry(locator) => {
                let hold = self.itineraries.get(&locator).and_then(|one| one.hold);
                hold.as_ref().is_some_and(TripHold::must_end)
            }
            FloatingKind::HoldsEnd => true,
            FloatingKind::Transaction
            | FloatingKind::Booking
            | FloatingKind::Cancellation(_)
            | FloatingKind::Hold
            | FloatingKind::PastHold => false,
        }
    }

    /// Compares everything that was read when nobody changed anything any more and the time of all
    /// holds was over: queries of items and bills.
    #[must_use]
    pub fn last(mut self, read: &[JourneyStep]) -> AgencyEnd {
        let certain = |agency: &Self| {
            let is_certain = |one: &Floating| one.certain || agency.must_end(one);
            agency.floating.iter().position(is_certain)
        };
        while let Some(number) = certain(&self) {
            self.settle(number);
        }
        // Whether such a hold was made or not, nothing of it is left.
        let known = self.floating.is_empty();
        self.floating.retain(|one| one.what != FloatingKind::Hold);
        let standing = u64::try_from(self.itineraries.len()).expect("a count fits 64 bits");
        let counts = (self.booked, standing);
        self.settle_by_bills(read);
        let mut last = AgencyEnd {
            charge: Charge::default(),
            counts: known.then_some(counts),
            clouded: self.floating.len() > NEAR_MAX,
        };
        if !last.clouded && !self.is_explained(read) {
            for step in read {
                if let Err(sentence) = self.world.check(step) {
                    let name = self.world.named(step);
                    last.charge.add(|| format!("in the end {sentence}{name}"));
                }
            }
        }
        last
    }

    /// Settles what only one customer's bill bears on: whichever of it explain that bill take as much of
    /// each item.
    fn settle_by_bills(&mut self, read: &[JourneyStep]) {
        for step in read {
            let JourneyStep::Bill { customer, .. } = *step else {
                continue;
            };
            let is_near = |one: &Floating| one.changes.iter().any(|one| one.is_on_bill(customer));
            let near: Vec<usize> = (0..self.floating.len())
                .filter(|&number| is_near(&self.floating[number]))
                .collect();
            let is_alone = |&number: &usize| {
                let mut changes = self.floating[number].changes.iter();
                changes.all(|one| one.is_on_bill(customer))
            };
            if near.is_empty() || near.len() > NEAR_MAX || !near.iter().all(is_alone) {
                continue;
            }
            let mut ways = 0..1_u32 << near.len();
            let explains = |some: &u32| self.with(&near, *some, |world| world.check(step).is_ok());
            let Some(some) = ways.find(explains) else {
                continue;
            };
            for (bit, &number) in near.iter().enumerate().rev() {
                if some >> bit & 1 == 1 {
                    self.settle(number);
                } else {
                    self.floating.swap_remove(number);
                }
            }
        }
    }

    /// Whether all is as the replay has it, with some of what is left of unknown outcome.
    fn is_explained(&mut self, read: &[JourneyStep]) -> bool {
        let left: Vec<usize> = (0..self.floating.len()).collect();
        let agrees = |world: &mut World| read.iter().all(|step| world.check(step).is_ok());
        (0..1_u32 << left.len()).any(|some| self.with(&left, some, agrees))
    }
}
