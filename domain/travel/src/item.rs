//! What is sold, where, and by which desk.

use std::fmt;

/// The longest location, in bytes.
const LOCATION_BYTES_MAX: usize = 31;

/// The place of cars and rooms: 1 to 31 visible ASCII characters and inner blanks, no comma.
/// Locations ignore case: they are kept in lower case.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    bytes: [u8; LOCATION_BYTES_MAX],
    length: u8,
}

/// Why some text is not a [`Location`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidLocation {
    Empty,
    /// Longer than 31 bytes; the field holds the length found.
    TooLong(usize),
    /// The byte offset, in the trimmed text, of the first character that is not allowed.
    Character(usize),
}

impl Location {
    /// Parses a location; blanks around it do not count.
    ///
    /// # Errors
    /// Text that is empty, too long, or has a comma, a control character or a letter beyond ASCII.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidLocation> {
        let text = text.trim_ascii();
        if text.is_empty() {
            return Err(InvalidLocation::Empty);
        }
        let refused = |byte: &u8| !(byte.is_ascii_graphic() || *byte == b' ') || *byte == b',';
        if let Some(at) = text.iter().position(refused) {
            return Err(InvalidLocation::Character(at));
        }
        let mut bytes = [0; LOCATION_BYTES_MAX];
        let room = bytes.get_mut(..text.len());
        room.ok_or(InvalidLocation::TooLong(text.len()))?
            .copy_from_slice(text);
        bytes.make_ascii_lowercase();
        let length = u8::try_from(text.len()).expect("at most 31 bytes");
        Ok(Self { bytes, length })
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        let text = self.bytes.get(..usize::from(self.length));
        str::from_utf8(text.expect("the length is at most 31")).expect("a location is ASCII")
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for InvalidLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "a location has at least one character"),
            Self::TooLong(length) => write!(
                f,
                "a location has at most {LOCATION_BYTES_MAX} characters, this one has {length}"
            ),
            Self::Character(at) => write!(
                f,
                "a location is ASCII without commas, character {} is not allowed",
                at + 1
            ),
        }
    }
}

impl std::error::Error for InvalidLocation {}

/// A customer's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CustomerId(pub i32);

impl fmt::Display for CustomerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Something that can be reserved. Bills are in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Item {
    /// The cars at a location.
    Car(Location),
    /// The seats of the flight with this number.
    Flight(i32),
    /// The rooms at a location.
    Room(Location),
}

impl Item {
    /// The desk that sells it.
    #[must_use]
    pub const fn desk(&self) -> Desk {
        match self {
            Self::Flight(_) => Desk::Flights,
            Self::Car(_) => Desk::Cars,
            Self::Room(_) => Desk::Rooms,
        }
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Car(location) => write!(f, "car-{location}"),
            Self::Flight(number) => write!(f, "flight-{number}"),
            Self::Room(location) => write!(f, "room-{location}"),
        }
    }
}

/// One of those who take part in transactions: a resource manager of the ancestor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Desk {
    Flights,
    Cars,
    Rooms,
    Customers,
}

impl Desk {
    pub const ALL: [Self; 4] = [Self::Flights, Self::Cars, Self::Rooms, Self::Customers];

    /// The stable word on every door and in the configuration.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Flights => "flights",
            Self::Cars => "cars",
            Self::Rooms => "rooms",
            Self::Customers => "customers",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl fmt::Display for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

/// Some of the desks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Desks(u8);

impl Desks {
    pub const NONE: Self = Self(0);
    pub const ALL: Self = Self(15);

    #[must_use]
    pub const fn only(desk: Desk) -> Self {
        Self(desk.bit())
    }

    #[must_use]
    pub const fn contains(self, desk: Desk) -> bool {
        self.0 & desk.bit() != 0
    }

    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub const fn insert(&mut self, desk: Desk) {
        self.0 |= desk.bit();
    }

    pub const fn remove(&mut self, desk: Desk) {
        self.0 &= !desk.bit();
    }

    /// Those that are not among them.
    #[must_use]
    pub const fn others(self) -> Self {
        Self(!self.0 & Self::ALL.0)
    }

    /// The one desk, when there is just one.
    #[must_use]
    pub fn sole(self) -> Option<Desk> {
        let mut desks = self.iter();
        desks.next().filter(|_| desks.next().is_none())
    }

    pub fn iter(self) -> impl Iterator<Item = Desk> {
        Desk::ALL
            .into_iter()
            .filter(move |desk| self.contains(*desk))
    }

    /// One bit for each desk, in the order of [`Desk::ALL`], from the lowest.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The desks of such bits; None when there are more bits than desks.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Option<Self> {
        if bits <= Self::ALL.0 {
            Some(Self(bits))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_ignores_case_and_blanks_around_it() {
        let rows: [(&[u8], Result<&str, InvalidLocation>); 6] = [
            (b"Montreal", Ok("montreal")),
            (b"  New York ", Ok("new york")),
            (b" ", Err(InvalidLocation::Empty)),
            (b"a,b", Err(InvalidLocation::Character(1))),
            (b"caf\xc3\xa9", Err(InvalidLocation::Character(3))),
            (&[b'x'; 32], Err(InvalidLocation::TooLong(32))),
        ];
        for (text, expected) in rows {
            let parsed = Location::parse(text);
            assert_eq!(
                parsed.as_ref().map(Location::as_str),
                expected.as_ref().copied()
            );
        }
    }

    #[test]
    fn desks_are_a_set() {
        let mut desks = Desks::only(Desk::Cars);
        assert_eq!(desks.sole(), Some(Desk::Cars));
        desks.insert(Desk::Customers);
        assert_eq!(desks.sole(), None);
        assert_eq!(
            desks.iter().collect::<Vec<_>>(),
            [Desk::Cars, Desk::Customers]
        );
        desks.remove(Desk::Cars);
        assert_eq!(desks, Desks::only(Desk::Customers));
        assert_eq!(Desks::from_bits(16), None);
    }
}
