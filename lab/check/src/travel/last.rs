//! What must be there when the load is over.

use super::{Agency, NEAR_MAX, Step};
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
    /// Compares everything that was read when nobody changed anything any more: queries of items and
    /// bills.
    #[must_use]
    pub fn last(mut self, read: &[Step]) -> Last {
        let certain = |agency: &Self| agency.floating.iter().position(|one| one.certain);
        while let Some(number) = certain(&self) {
            self.settle(number);
        }
        let standing = u64::try_from(self.itineraries.len()).expect("a count fits 64 bits");
        let counts = (self.booked, standing);
        let mut last = Last {
            charge: Charge::default(),
            counts: self.floating.is_empty().then_some(counts),
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
