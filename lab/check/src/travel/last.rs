//! What must be there when the load is over.

use super::{Agency, Floating, Hold, NEAR_MAX, Step, What};
use crate::Charge;

/// What the replay leaves, held against what was read in the end.
#[derive(Debug)]
pub struct Last {
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
        let ends = |one: &Floating| one.what == What::Hold || self.must_end(one);
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
            What::Expiry(locator) => {
                let hold = self.itineraries.get(&locator).and_then(|one| one.hold);
                hold.as_ref().is_some_and(Hold::must_end)
            }
            What::HoldsEnd => true,
            What::Transaction
            | What::Booking
            | What::Cancellation(_)
            | What::Hold
            | What::PastHold => false,
        }
    }

    /// Compares everything that was read when nobody changed anything any more and the time of all
    /// holds was over: queries of items and bills.
    #[must_use]
    pub fn last(mut self, read: &[Step]) -> Last {
        let certain = |agency: &Self| {
            let is_certain = |one: &Floating| one.certain || agency.must_end(one);
            agency.floating.iter().position(is_certain)
        };
        while let Some(number) = certain(&self) {
            self.settle(number);
        }
        // Whether such a hold was made or not, nothing of it is left.
        let known = self.floating.is_empty();
        self.floating.retain(|one| one.what != What::Hold);
        let standing = u64::try_from(self.itineraries.len()).expect("a count fits 64 bits");
        let counts = (self.booked, standing);
        let mut last = Last {
            charge: Charge::default(),
            counts: known.then_some(counts),
            clouded: self.floating.len() > NEAR_MAX,
        };
        if !last.clouded && !self.is_explained(read) {
            for sentence in read.iter().filter_map(|step| self.world.check(step).err()) {
                last.charge.add(|| format!("in the end {sentence}"));
            }
        }
        last
    }

    /// Whether all is as the replay has it, with some of what is left of unknown outcome.
    fn is_explained(&mut self, read: &[Step]) -> bool {
        (0..1_u32 << self.floating.len()).any(|some| {
            let mut made = Vec::new();
            for bit in (0..self.floating.len()).filter(|bit| some >> bit & 1 == 1) {
                made.extend(self.world.make(&self.floating[bit].changes));
            }
            let agrees = read.iter().all(|step| self.world.check(step).is_ok());
            self.world.undo(made);
            agrees
        })
    }
}
