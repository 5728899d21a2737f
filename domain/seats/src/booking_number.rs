//! The numbers under which bookings and holds are found.

use std::fmt;

use turnstile_chassis::{Bytes, Kind, PartitionRoute, Routing, Show, Value};
use turnstile_types::PartitionNumber;

/// The longest text: `S` and the digits of the largest number.
const LENGTH_MAX: usize = 21;

/// Where the number of a partition begins in that of a booking, in a cluster with several partitions.
const PARTITION: u32 = 40;

/// The number of one booking or hold, from 1 in the order in which they were made; never reused. Its text
/// is `S` and the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Bytes)]
pub struct BookingNumber(pub u64);

/// Text that is no [`BookingNumber`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidBookingNumber;

impl BookingNumber {
    /// The number before the first of a partition.
    pub(crate) const fn before_those_of(partition: PartitionNumber) -> Self {
        Self((partition.get() as u64) << PARTITION)
    }

    /// The partition that has given it, of several; the first, if none can have.
    #[must_use]
    pub fn partition(self) -> PartitionNumber {
        let number = u8::try_from(self.0 >> PARTITION).ok();
        number.and_then(PartitionNumber::new).unwrap_or_default()
    }

    /// Parses the text that `Display` writes; a small letter is as good.
    ///
    /// # Errors
    /// Any other text.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidBookingNumber> {
        let Some((b'S' | b's', digits @ [b'1'..=b'9', ..])) = text.split_first() else {
            return Err(InvalidBookingNumber);
        };
        let is_plain = text.len() <= LENGTH_MAX && digits.iter().all(u8::is_ascii_digit);
        let digits = str::from_utf8(digits).ok().filter(|_| is_plain);
        let number = digits.and_then(|digits| digits.parse().ok());
        number.map(Self).ok_or(InvalidBookingNumber)
    }
}

impl BookingNumber {
    const KIND: Kind = Kind::Pattern {
        example: "S1042",
        pattern: "^[Ss][1-9][0-9]{0,18}$",
    };
}

impl Routing for BookingNumber {
    fn route(&self) -> PartitionRoute {
        PartitionRoute::Given(self.partition())
    }
}

turnstile_chassis::readable!(BookingNumber, InvalidBookingNumber, BookingNumber::KIND);

impl Value for BookingNumber {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.display(self)
    }

    fn kind() -> Kind {
        Self::KIND
    }
}

impl fmt::Display for BookingNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "S{}", self.0)
    }
}

impl fmt::Display for InvalidBookingNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a reference is an S and a number, such as S1042")
    }
}

impl std::error::Error for InvalidBookingNumber {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_reads_back_from_its_text_and_nothing_else_does() {
        for number in [1, 42, u64::MAX] {
            let text = BookingNumber(number).to_string();
            for text in [text.to_ascii_lowercase(), text] {
                let read = BookingNumber::parse(text.as_bytes());
                assert_eq!(read, Ok(BookingNumber(number)), "{text}");
            }
        }
        let too_large = "S18446744073709551616";
        for text in ["", "S", "S0", "S01", "S+1", "1", "R1", "S1x", too_large] {
            let read = BookingNumber::parse(text.as_bytes());
            assert_eq!(read, Err(InvalidBookingNumber), "{text}");
        }
    }
}
