//! Which of several partitions is asked, by what a request says.

use turnstile_types::{Name, PartitionNumber};

use crate::Cursor;

/// Where a request is decided when a cluster has several partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionRoute {
    /// By the first partition: it has everything that is not spread.
    First,
    /// By the partition of [this name](PartitionNumber::of_name).
    Named(Name),
    /// By the partition that has given the reference.
    Given(PartitionNumber),
    /// A listing that goes from partition to partition: the next page is of the one that its cursor names.
    Pages(Option<Cursor>),
    /// By all partitions: their answers are added.
    All,
}

/// Something that is asked of a service, and which partition is asked. Derived with
/// [`Operations`](turnstile_derive::Operations).
pub trait Routed {
    /// Whether some of it is spread over the partitions of a cluster.
    const IS_SPREAD: bool = false;

    fn route(&self) -> PartitionRoute;

    /// The cursor of a listing that goes from partition to partition.
    fn cursor_mut(&mut self) -> Option<&mut Option<Cursor>> {
        None
    }
}

/// A value that says which partition is asked.
pub trait Routing {
    fn route(&self) -> PartitionRoute;
}

impl Routing for Name {
    fn route(&self) -> PartitionRoute {
        PartitionRoute::Named(*self)
    }
}

/// Where the number of a partition begins in a cursor, which stays a positive number of 64 bits.
const NUMBER: u32 = 57;

impl Cursor {
    /// A place in a listing over several partitions: in this one, behind what its own cursor names.
    #[must_use]
    pub const fn within(partition: PartitionNumber, behind: Option<Self>) -> Self {
        let inside = match behind {
            None => 0,
            Some(Self(place)) => place.saturating_add(1) & ((1 << NUMBER) - 1),
        };
        Self((partition.get() as u64) << NUMBER | inside)
    }

    /// The partition of such a place, and the cursor inside.
    #[must_use]
    pub fn apart(self) -> (PartitionNumber, Option<Self>) {
        let number = u8::try_from(self.0 >> NUMBER).ok();
        let number = number.and_then(PartitionNumber::new);
        let inside = self.0 & ((1 << NUMBER) - 1);
        (
            number.unwrap_or(PartitionNumber::FIRST),
            inside.checked_sub(1).map(Self),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_listing_names_its_partition_and_the_place_there() {
        for number in [0, 1, 63] {
            let partition = PartitionNumber::new(number).unwrap();
            for inside in [None, Some(Cursor(0)), Some(Cursor(u64::MAX >> 8))] {
                let place = Cursor::within(partition, inside);
                assert_eq!(place.apart(), (partition, inside));
            }
        }
    }
}
