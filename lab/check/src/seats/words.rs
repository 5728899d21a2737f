//! What is asked about the seats of a show, and what is answered, by numbers.

use std::{fmt, io::Write as _};

use crate::compact::compact;

/// The most rows of a section of which a map can be checked.
pub const MAP_ROWS: usize = 8;

/// Seats of one row, as bits: seat 1 is the lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeatBlock {
    /// A number within the run.
    pub section: u16,
    /// From 0.
    pub row: u8,
    pub bits: u64,
}

/// Which seats somebody wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeatWish {
    /// These and no others.
    Named(SeatBlock),
    /// So many adjacent ones: in the foremost row that has them, nearest to its middle.
    Best { section: u16, count: u8 },
}

/// What is asked. Buyers and sections are numbers within the run. What is about a booking or hold names
/// the section of its seats, which tells what other requests it may concern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShowRequest {
    Book {
        wish: SeatWish,
        buyer: u16,
    },
    Hold {
        wish: SeatWish,
        ttl_ms: u64,
    },
    Confirm {
        number: u64,
        section: u16,
        buyer: u16,
    },
    Release {
        number: u64,
        section: u16,
    },
    Cancel {
        number: u64,
        section: u16,
        buyer: u16,
    },
    /// Closes the sale of the show, or opens it again.
    Sale {
        closed: bool,
    },
    /// Looks at all seats of a section.
    Map {
        section: u16,
    },
    /// Looks at a booking or hold.
    LookUp {
        number: u64,
        section: u16,
    },
}

/// What is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShowAnswer {
    Booked {
        number: u64,
        seats: SeatBlock,
    },
    Held {
        number: u64,
        seats: SeatBlock,
        /// In milliseconds of the server.
        until: u64,
    },
    Confirmed(SeatBlock),
    Released,
    Cancelled(SeatBlock),
    /// The sale is closed now, or open again.
    Sale {
        closed: bool,
    },
    /// Refused: these of the wanted seats are somebody's.
    Taken(SeatBlock),
    /// Refused: no row has so many adjacent free seats.
    NotAdjacent {
        /// Free seats of the section.
        free: u32,
    },
    /// Refused: the sale is closed.
    NotOnSale,
    /// Refused: it was cancelled or released, or the time of the hold is over.
    Ended,
    WrongBuyer,
    AlreadyConfirmed,
    NotConfirmed,
    /// The taken seats of each row.
    Map([u64; MAP_ROWS]),
    Entry(SoldEntry),
    Unknown,
    /// Something that this load cannot be answered.
    Strange,
}

/// What the server says of a booking or hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoldEntry {
    pub seats: SeatBlock,
    pub holder: SeatHolder,
}

/// Who has seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeatHolder {
    Buyer(u16),
    /// A hold, until then, in milliseconds of the server.
    Until(u64),
}

/// What was asked, and what was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShowOperation {
    pub ask: ShowRequest,
    pub answer: ShowAnswer,
}

compact!(struct SeatBlock { section, row, bits });
compact!(enum SeatWish { 0 = Named(seats), 1 = Best { section, count } });
compact!(enum ShowRequest {
    0 = Book { wish, buyer },
    1 = Hold { wish, ttl_ms },
    2 = Confirm { number, section, buyer },
    3 = Release { number, section },
    4 = Cancel { number, section, buyer },
    5 = Sale { closed },
    6 = Map { section },
    7 = LookUp { number, section },
});
compact!(enum ShowAnswer {
    0 = Booked { number, seats },
    1 = Held { number, seats, until },
    2 = Confirmed(seats),
    3 = Released,
    4 = Cancelled(seats),
    5 = Sale { closed },
    6 = Taken(seats),
    7 = NotAdjacent { free },
    8 = NotOnSale,
    9 = Ended,
    10 = WrongBuyer,
    11 = AlreadyConfirmed,
    12 = NotConfirmed,
    13 = Map(rows),
    14 = Entry(entry),
    15 = Unknown,
    16 = Strange,
});
compact!(struct SoldEntry { seats, holder });
compact!(enum SeatHolder { 0 = Buyer(buyer), 1 = Until(until) });
compact!(struct ShowOperation { ask, answer });

impl SeatBlock {
    /// So many adjacent seats of a row, of which the first is `first`, from 0.
    ///
    /// # Panics
    /// There are none, or a seat has a number above 64.
    #[must_use]
    pub const fn adjacent(section: u16, row: u8, first: u32, count: u32) -> Self {
        assert!(
            count > 0 && first + count <= u64::BITS,
            "a row has 64 seats at most"
        );
        let bits = u64::MAX >> (u64::BITS - count) << first;
        Self { section, row, bits }
    }

    /// The seats that these texts name, such as `3-12` and `3-13`; nothing when they are not of one row, or
    /// none are named.
    pub fn parse<'a>(section: u16, texts: impl IntoIterator<Item = &'a [u8]>) -> Option<Self> {
        let mut seats: Option<Self> = None;
        for text in texts {
            let (row, number) = parse_seat(text)?;
            let all = seats.get_or_insert(Self {
                section,
                row,
                bits: 0,
            });
            let bit = 1 << number;
            if all.row != row || all.bits & bit != 0 {
                return None;
            }
            all.bits |= bit;
        }
        seats
    }

    /// How many there are.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.bits.count_ones()
    }

    /// Whether they are next to each other.
    #[must_use]
    pub const fn are_adjacent(&self) -> bool {
        let low = self.bits >> (self.bits.trailing_zeros() % u64::BITS);
        low & low.wrapping_add(1) == 0
    }

    /// Their numbers in the row, from 0.
    pub fn each(&self) -> impl Iterator<Item = u32> + use<> {
        let bits = self.bits;
        (0..u64::BITS).filter(move |bit| bits >> bit & 1 == 1)
    }

    /// Appends them as a request names them: `3-12,3-13`.
    pub fn put_text(&self, out: &mut Vec<u8>) {
        let row = u32::from(self.row) + 1;
        for (place, number) in self.each().enumerate() {
            let comma = if place > 0 { "," } else { "" };
            let number = number + 1;
            write!(out, "{comma}{row}-{number}").expect("writing to memory does not fail");
        }
    }
}

impl fmt::Display for SeatBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        self.put_text(&mut text);
        let seats = String::from_utf8_lossy(&text);
        write!(f, "{seats} of section {}", self.section)
    }
}

/// Row and number in the row, from 0.
fn parse_seat(text: &[u8]) -> Option<(u8, u32)> {
    let (row, number) = str::from_utf8(text).ok()?.split_once('-')?;
    let row = row.parse::<u8>().ok()?.checked_sub(1)?;
    let number = number.parse::<u32>().ok()?.checked_sub(1)?;
    (number < u64::BITS).then_some((row, number))
}

impl SeatWish {
    #[must_use]
    pub const fn section(&self) -> u16 {
        match self {
            Self::Named(seats) => seats.section,
            Self::Best { section, .. } => *section,
        }
    }

    /// Whether these are such seats.
    #[must_use]
    pub fn is_met_by(&self, seats: &SeatBlock) -> bool {
        match self {
            Self::Named(named) => named == seats,
            Self::Best { section, count } => {
                let right = (*section, u32::from(*count)) == (seats.section, seats.count());
                right && seats.are_adjacent()
            }
        }
    }
}

impl ShowRequest {
    /// The section that it is about; nothing when it is about the show.
    #[must_use]
    pub const fn section(&self) -> Option<u16> {
        match self {
            Self::Book { wish, .. } | Self::Hold { wish, .. } => Some(wish.section()),
            Self::Confirm { section, .. }
            | Self::Release { section, .. }
            | Self::Cancel { section, .. }
            | Self::Map { section }
            | Self::LookUp { section, .. } => Some(*section),
            Self::Sale { .. } => None,
        }
    }

    /// The booking or hold that it is about.
    #[must_use]
    pub const fn about(&self) -> Option<u64> {
        match self {
            Self::Confirm { number, .. }
            | Self::Release { number, .. }
            | Self::Cancel { number, .. }
            | Self::LookUp { number, .. } => Some(*number),
            Self::Book { .. } | Self::Hold { .. } | Self::Sale { .. } | Self::Map { .. } => None,
        }
    }

    /// Whether it changes nothing.
    #[must_use]
    pub const fn is_reading(&self) -> bool {
        matches!(self, Self::Map { .. } | Self::LookUp { .. })
    }
}

impl ShowAnswer {
    /// The seats that somebody has by this answer.
    #[must_use]
    pub const fn sold(&self) -> Option<SeatBlock> {
        match self {
            Self::Booked { seats, .. } | Self::Held { seats, .. } | Self::Confirmed(seats) => {
                Some(*seats)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SeatBlock, SeatWish};

    #[test]
    fn seats_are_read_as_they_are_written() {
        let seats = SeatBlock::adjacent(9, 39, 46, 4);
        let mut text = Vec::new();
        seats.put_text(&mut text);
        assert_eq!(text, b"40-47,40-48,40-49,40-50");
        let parse = |text: &str| SeatBlock::parse(9, text.split(',').map(str::as_bytes));
        assert_eq!(parse("40-47,40-48,40-49,40-50"), Some(seats));
        assert!(seats.are_adjacent());
        let apart = parse("1-1,1-64").unwrap();
        assert_eq!((apart.count(), apart.are_adjacent()), (2, false));
        for text in ["", "1", "0-1", "257-1", "1-0", "1-65", "1-1,2-2", "1-1,1-1"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_wish_is_met_by_what_was_asked_for() {
        let best = SeatWish::Best {
            section: 1,
            count: 2,
        };
        let rows = [
            (SeatBlock::adjacent(1, 0, 3, 2), true),
            (SeatBlock::adjacent(2, 0, 3, 2), false),
            (SeatBlock::adjacent(1, 0, 3, 3), false),
            (SeatBlock::parse(1, [&b"1-1"[..], b"1-3"]).unwrap(), false),
        ];
        for (seats, is_met) in rows {
            assert_eq!(best.is_met_by(&seats), is_met, "{seats}");
            assert!(SeatWish::Named(seats).is_met_by(&seats));
        }
        let named = SeatWish::Named(SeatBlock::adjacent(1, 0, 3, 2));
        assert!(!named.is_met_by(&SeatBlock::adjacent(1, 0, 4, 2)));
    }
}
