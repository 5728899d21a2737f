//! What is sold, where, and by which desk.

use std::fmt;

use turnstile_chassis::{Bytes, Kind, NotWhole, Readable, Show, Value, Words};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Bytes)]
pub struct CustomerId(pub i32);

impl Readable<'_> for CustomerId {
    type Invalid = NotWhole;

    fn read(text: &[u8]) -> Result<Self, NotWhole> {
        let number = str::from_utf8(text).ok().and_then(|text| text.parse().ok());
        number.map(Self).ok_or_else(|| NotWhole {
            min: i32::MIN.into(),
            max: i32::MAX.unsigned_abs().into(),
        })
    }

    fn kind() -> Kind {
        Kind::Signed {
            min: i32::MIN.into(),
            max: i32::MAX.into(),
        }
    }
}

impl Value for CustomerId {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.signed(i64::from(self.0))
    }

    fn kind() -> Kind {
        Kind::Signed {
            min: i32::MIN.into(),
            max: i32::MAX.into(),
        }
    }
}

impl fmt::Display for CustomerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Something that can be reserved. Bills are in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Bytes)]
pub enum Item {
    /// The cars at a location.
    #[byte(0x00)]
    Car(Location),
    /// The seats of the flight with this number.
    #[byte(0x01)]
    Flight(i32),
    /// The rooms at a location.
    #[byte(0x02)]
    Room(Location),
}

/// Why some text is not an [`Item`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidItem {
    /// It begins with none of `flight-`, `car-` and `room-`.
    Kind,
    /// What follows `flight-` is no number of 32 bits.
    Flight,
    Location(InvalidLocation),
}

impl Item {
    const KIND: Kind = Kind::Forms {
        forms: &["flight-NUMBER", "car-LOCATION", "room-LOCATION"],
        example: "flight-12",
        pattern: "^(flight--?[0-9]{1,9}|(car|room)-[!-+.-~-][ !-+.-~-]{0,30})$",
    };

    /// Parses an item as it is shown: `flight-12`, `car-rome`, `room-new york`; case does not count.
    ///
    /// # Errors
    /// Text that names no item.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidItem> {
        let dash = text.iter().position(|byte| *byte == b'-');
        let (kind, rest) = text.split_at(dash.ok_or(InvalidItem::Kind)?);
        let rest = rest.strip_prefix(b"-").unwrap_or_default();
        let location = || Location::parse(rest).map_err(InvalidItem::Location);
        if kind.eq_ignore_ascii_case(b"flight") {
            let number = str::from_utf8(rest).ok().and_then(|text| text.parse().ok());
            number.map(Self::Flight).ok_or(InvalidItem::Flight)
        } else if kind.eq_ignore_ascii_case(b"car") {
            location().map(Self::Car)
        } else if kind.eq_ignore_ascii_case(b"room") {
            location().map(Self::Room)
        } else {
            Err(InvalidItem::Kind)
        }
    }

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

impl fmt::Display for InvalidItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind => write!(f, "an item is flight-NUMBER, car-LOCATION or room-LOCATION"),
            Self::Flight => write!(
                f,
                "a flight's number is a whole number from {} to {}",
                i32::MIN,
                i32::MAX
            ),
            Self::Location(invalid) => invalid.fmt(f),
        }
    }
}

impl std::error::Error for InvalidItem {}

turnstile_chassis::readable!(Item, InvalidItem, Item::KIND);

impl Value for Item {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.display(self)
    }

    fn kind() -> Kind {
        Self::KIND
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Bytes, Words)]
pub enum Desk {
    #[byte(0x00)]
    Flights,
    #[byte(0x01)]
    Cars,
    #[byte(0x02)]
    Rooms,
    #[byte(0x03)]
    Customers,
}

impl Desk {
    pub const ALL: [Self; 4] = [Self::Flights, Self::Cars, Self::Rooms, Self::Customers];

    /// What such a word stands for, whatever the case of its letters.
    #[must_use]
    pub fn named(word: &[u8]) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|desk| desk.code().as_bytes().eq_ignore_ascii_case(word))
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

impl Value for Desks {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.list(self.iter().count(), self.iter())
    }

    fn kind() -> Kind {
        Kind::List(Box::new(<Desk as Value>::kind()))
    }
}

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

    /// Those of them that are not among the others.
    #[must_use]
    pub const fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
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
    fn an_item_is_read_as_it_is_shown() {
        let place = |text: &[u8]| Location::parse(text).unwrap();
        let rows: [(&[u8], Result<Item, InvalidItem>); 9] = [
            (b"flight-12", Ok(Item::Flight(12))),
            (b"Flight--2147483648", Ok(Item::Flight(i32::MIN))),
            (b"CAR-Rome", Ok(Item::Car(place(b"rome")))),
            (b"room-new york", Ok(Item::Room(place(b"new york")))),
            (b"car-a-b", Ok(Item::Car(place(b"a-b")))),
            (b"flight-2147483648", Err(InvalidItem::Flight)),
            (b"car-", Err(InvalidItem::Location(InvalidLocation::Empty))),
            (b"bus-3", Err(InvalidItem::Kind)),
            (b"flight", Err(InvalidItem::Kind)),
        ];
        for (text, expected) in rows {
            assert_eq!(Item::parse(text), expected);
            if let Ok(item) = expected {
                assert_eq!(Item::parse(item.to_string().as_bytes()), Ok(item));
            }
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
