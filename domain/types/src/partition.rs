//! Partitions: several logs of one cluster, each of which decides about its share of the things.

use xxhash_rust::xxh3::xxh3_64;

use crate::Name;

/// The most partitions that a cluster has: references keep six bits for their partition.
pub const PARTITIONS_MAX: u8 = 64;

/// The number of a partition, from 0 in the order of their list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionNumber(u8);

impl PartitionNumber {
    /// The partition that decides about everything that has no other.
    pub const FIRST: Self = Self(0);

    /// A number below [`PARTITIONS_MAX`].
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        if number < PARTITIONS_MAX {
            Some(Self(number))
        } else {
            None
        }
    }

    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }

    /// The partition, of so many, that decides about what has this name: the remainder of XXH3-64 of the
    /// name, without a seed. It never changes: what a name stands for lies there.
    #[must_use]
    pub fn of_name(name: &Name, count: u8) -> Self {
        if count < 2 {
            return Self::FIRST;
        }
        let number = xxh3_64(name.as_bytes()) % u64::from(count);
        Self(u8::try_from(number).expect("it is below the count"))
    }

    /// This partition, if there are so many; the first otherwise. What names another is nowhere, and the
    /// first says so.
    #[must_use]
    pub const fn among(self, count: u8) -> Self {
        if self.0 < count { self } else { Self::FIRST }
    }
}

/// What a state is that belongs to one of several partitions, from its first record on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionFounding {
    pub number: PartitionNumber,
    /// How many partitions the cluster has, 2 to [`PARTITIONS_MAX`]. It never changes.
    pub count: u8,
    /// A hash of their names, in the order of their numbers.
    pub list: u64,
}

impl PartitionFounding {
    /// The founding of a partition of these; nothing if there are fewer than two or too many, or if the
    /// number is none of theirs.
    #[must_use]
    pub fn of<'a>(
        number: PartitionNumber,
        names: impl ExactSizeIterator<Item = &'a str>,
    ) -> Option<Self> {
        let count = u8::try_from(names.len()).ok()?;
        if !(2..=PARTITIONS_MAX).contains(&count) || number.get() >= count {
            return None;
        }
        let mut list = String::new();
        for name in names {
            list.push_str(name);
            list.push('\n');
        }
        Some(Self {
            number,
            count,
            list: xxh3_64(list.as_bytes()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// These must never change: what has one of these names would be looked for elsewhere.
    #[test]
    fn a_name_belongs_to_the_same_partition_for_ever() {
        let names = ["a", "hotel", "bench", "hotel-1", "hotel-2", "Hotel-2"];
        let found = names.map(|text| {
            let name = Name::parse(text.as_bytes()).unwrap();
            [1, 2, 3, 64].map(|count| PartitionNumber::of_name(&name, count).get())
        });
        let golden = [
            [0, 1, 1, 31],
            [0, 0, 2, 4],
            [0, 1, 0, 51],
            [0, 0, 2, 42],
            [0, 1, 0, 25],
            [0, 1, 2, 59],
        ];
        assert_eq!(found, golden);
    }

    #[test]
    fn names_spread_over_all_partitions() {
        let mut found = [0_u32; 64];
        for number in 0..6_400 {
            let name = Name::parse(format!("hotel-{number}").as_bytes()).unwrap();
            let partition = PartitionNumber::of_name(&name, PARTITIONS_MAX);
            *found.get_mut(usize::from(partition.get())).unwrap() += 1;
        }
        assert!(
            found.iter().all(|count| (50..150).contains(count)),
            "{found:?}"
        );
    }

    #[test]
    fn a_founding_knows_the_names_and_their_order() {
        let of = |number, names: &[&'static str]| {
            let number = PartitionNumber::new(number).unwrap();
            PartitionFounding::of(number, names.iter().copied())
        };
        assert_eq!(of(0, &["main"]), None, "one is not several");
        assert_eq!(of(2, &["main", "b"]), None);
        assert_eq!(of(0, &["p"; 65]), None);
        let second = of(1, &["main", "b"]).unwrap();
        assert_eq!((second.number.get(), second.count), (1, 2));
        assert_ne!(second.list, of(1, &["b", "main"]).unwrap().list);
        assert_eq!(second.list, of(0, &["main", "b"]).unwrap().list);
        assert_eq!(PartitionNumber::new(64), None);
        assert_eq!(second.number.among(1), PartitionNumber::FIRST);
    }
}
