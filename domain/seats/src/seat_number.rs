//! Seats as tickets name them, and which of them a buyer wants.

use std::fmt;

use turnstile_chassis::{Bytes, Decode, Encode, Kind, Show, Value, whole};
use turnstile_types::{Malformed, Reader};

use crate::{UpTo, limits};

/// The most seats of one booking.
const SEATS: usize = limits::BOOKING_SEATS_MAX as usize;

/// What stands before a number of seats.
const BEST: &[u8] = b"best:";

/// One seat of a section, both numbers from 1. Its text is `ROW-NUMBER`, such as `3-12`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Bytes)]
pub struct SeatNumber {
    pub row: u16,
    pub number: u16,
}

/// Text that does not name seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidSeats {
    /// Neither seats nor a number of seats.
    Form,
    /// The seat is named twice.
    Twice(SeatNumber),
    /// More seats than one booking may have.
    TooMany,
}

impl SeatNumber {
    fn parse(text: &[u8]) -> Result<Self, InvalidSeats> {
        let dash = text.iter().position(|&byte| byte == b'-');
        let (row, number) = dash
            .and_then(|at| text.split_at_checked(at))
            .ok_or(InvalidSeats::Form)?;
        let number = number.strip_prefix(b"-").ok_or(InvalidSeats::Form)?;
        let read =
            |digits, max| whole(digits, 1, u64::from(max)).map_err(|_invalid| InvalidSeats::Form);
        Ok(Self {
            row: read(row, limits::ROWS_MAX)?,
            number: read(number, limits::ROW_SEATS_MAX)?,
        })
    }

    const fn is_sound(self) -> bool {
        self.row >= 1 && self.row <= limits::ROWS_MAX && self.number >= 1 && {
            self.number <= limits::ROW_SEATS_MAX
        }
    }
}

impl fmt::Display for SeatNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.row, self.number)
    }
}

impl Value for SeatNumber {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.display(self)
    }

    fn kind() -> Kind {
        Kind::Text("3-12")
    }
}

/// Seats of one section: at least one, at most [`limits::BOOKING_SEATS_MAX`], none twice, in order of their
/// rows and numbers.
///
/// They are kept in place: a decision and its answer allocate nothing for them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SeatNumbers {
    count: u8,
    /// Zeros behind the last.
    seats: [SeatNumber; SEATS],
}

impl SeatNumbers {
    /// Puts seats in order.
    ///
    /// # Errors
    /// There are none or too many, a number is out of bounds, or one is named twice.
    pub fn new(seats: impl IntoIterator<Item = SeatNumber>) -> Result<Self, InvalidSeats> {
        let nothing = SeatNumber { row: 0, number: 0 };
        let (mut count, mut kept) = (0, [nothing; SEATS]);
        for seat in seats {
            if !seat.is_sound() {
                return Err(InvalidSeats::Form);
            }
            *kept
                .get_mut(usize::from(count))
                .ok_or(InvalidSeats::TooMany)? = seat;
            count += 1;
        }
        let used = kept.get_mut(..usize::from(count)).unwrap_or_default();
        used.sort_unstable();
        let same = used.windows(2).find_map(|pair| match pair {
            [one, other] if one == other => Some(*one),
            _ => None,
        });
        match same {
            Some(seat) => Err(InvalidSeats::Twice(seat)),
            None if count == 0 => Err(InvalidSeats::Form),
            None => Ok(Self { count, seats: kept }),
        }
    }

    /// Reads `3-12,3-13`.
    ///
    /// # Errors
    /// Any other text.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidSeats> {
        let mut seats = Vec::with_capacity(SEATS);
        for part in text.split(|&byte| byte == b',').take(SEATS + 1) {
            seats.push(SeatNumber::parse(part)?);
        }
        Self::new(seats)
    }

    /// The seats in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = SeatNumber> + '_ {
        let used = self.seats.get(..usize::from(self.count));
        used.unwrap_or_default().iter().copied()
    }

    /// How many there are.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is always one")]
    pub fn len(&self) -> u32 {
        u32::from(self.count)
    }

    /// The foremost of them, with the lowest number.
    pub(crate) const fn first(&self) -> SeatNumber {
        let [first, ..] = self.seats;
        first
    }
}

impl fmt::Debug for SeatNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SeatNumbers({self})")
    }
}

impl fmt::Display for SeatNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, seat) in self.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(f, "{comma}{seat}")?;
        }
        Ok(())
    }
}

/// A count in one byte, then the seats in order.
impl Encode for SeatNumbers {
    fn encode(&self, out: &mut Vec<u8>) {
        self.count.encode(out);
        self.iter().for_each(|seat| seat.encode(out));
    }
}

impl Decode<'_> for SeatNumbers {
    fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        let mut seats = Vec::with_capacity(SEATS);
        for _ in 0..reader.u8(field)? {
            let seat = SeatNumber::decode(reader, field)?;
            let is_next = seats.last().is_none_or(|last| *last < seat);
            Malformed::unless(is_next && seats.len() < SEATS, field)?;
            seats.push(seat);
        }
        Self::new(seats).map_err(|_invalid| Malformed { field })
    }
}

impl Value for SeatNumbers {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.list(self.iter().len(), self.iter())
    }

    fn kind() -> Kind {
        Kind::List(Box::new(SeatNumber::kind()))
    }
}

/// Which seats a buyer wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub enum Choice {
    /// These seats and no others.
    #[byte(0x00)]
    Named(SeatNumbers),
    /// So many adjacent seats: in the foremost row that has them, nearest to its middle.
    #[byte(0x01)]
    Best(UpTo<{ limits::BOOKING_SEATS_MAX }>),
}

impl Choice {
    /// Reads `3-12,3-13` or `best:2`.
    ///
    /// # Errors
    /// Any other text.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidSeats> {
        match text.split_at_checked(BEST.len()) {
            Some((tag, count)) if tag.eq_ignore_ascii_case(BEST) => {
                let count: u16 =
                    whole(count, 1, u64::from(u16::MAX)).map_err(|_invalid| InvalidSeats::Form)?;
                UpTo::new(count)
                    .map(Self::Best)
                    .ok_or(InvalidSeats::TooMany)
            }
            _ => SeatNumbers::parse(text).map(Self::Named),
        }
    }
}

impl Choice {
    /// Rows and seats have numbers up to 200, and a booking has up to 20 seats.
    const KIND: Kind = Kind::Pattern {
        example: "3-12,3-13",
        pattern: concat!(
            "^([Bb][Ee][Ss][Tt]:([1-9]|1[0-9]|20)",
            "|([1-9][0-9]?|1[0-9]{2}|200)-([1-9][0-9]?|1[0-9]{2}|200)",
            "(,([1-9][0-9]?|1[0-9]{2}|200)-([1-9][0-9]?|1[0-9]{2}|200)){0,19})$",
        ),
    };
}

/// As it is asked for.
impl Value for Choice {
    fn show<S: Show>(&self, show: S) -> S::Out {
        match self {
            Self::Named(seats) => show.display(seats),
            Self::Best(count) => show.display(&format_args!("best:{}", count.get())),
        }
    }

    fn kind() -> Kind {
        Self::KIND
    }
}

turnstile_chassis::readable!(Choice, InvalidSeats, Choice::KIND);

impl fmt::Display for InvalidSeats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => f.write_str("seats are written as 3-12,3-13 or best:2"),
            Self::Twice(seat) => write!(f, "seat {seat} is named twice"),
            Self::TooMany => write!(f, "one booking has at most {SEATS} seats"),
        }
    }
}

impl std::error::Error for InvalidSeats {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_are_read_in_any_order_and_shown_in_theirs() {
        let rows: [(&str, Result<&str, InvalidSeats>); 10] = [
            ("3-12", Ok("3-12")),
            ("3-13,1-200,3-12", Ok("1-200,3-12,3-13")),
            (
                "3-12,3-12",
                Err(InvalidSeats::Twice(SeatNumber { row: 3, number: 12 })),
            ),
            ("", Err(InvalidSeats::Form)),
            ("3", Err(InvalidSeats::Form)),
            ("3-0", Err(InvalidSeats::Form)),
            ("3-1,", Err(InvalidSeats::Form)),
            ("201-1", Err(InvalidSeats::Form)),
            ("1-1-1", Err(InvalidSeats::Form)),
            ("1-+1", Err(InvalidSeats::Form)),
        ];
        for (text, expected) in rows {
            let read = SeatNumbers::parse(text.as_bytes()).map(|seats| seats.to_string());
            assert_eq!(read, expected.map(str::to_owned), "{text}");
        }
        let many: Vec<String> = (1..=21).map(|number| format!("1-{number}")).collect();
        let read = |count: usize| SeatNumbers::parse(many[..count].join(",").as_bytes());
        assert_eq!(read(20).map(|seats| seats.len()), Ok(20));
        assert_eq!(read(21), Err(InvalidSeats::TooMany));
    }

    #[test]
    fn a_choice_is_seats_or_a_number_of_them() {
        let best = |count| UpTo::new(count).map(Choice::Best).unwrap();
        assert_eq!(Choice::parse(b"best:2"), Ok(best(2)));
        assert_eq!(Choice::parse(b"BEST:20"), Ok(best(20)));
        assert_eq!(Choice::parse(b"best:21"), Err(InvalidSeats::TooMany));
        assert_eq!(Choice::parse(b"best:0"), Err(InvalidSeats::Form));
        let seats = SeatNumbers::parse(b"1-2").unwrap();
        assert_eq!(Choice::parse(b"1-2"), Ok(Choice::Named(seats)));
    }
}
