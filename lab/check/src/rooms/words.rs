//! What can be asked of rooms, and what is answered.

use crate::compact::{Compact, compact};

/// A reference in place: up to 16 bytes, zeros behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InlineReference(u128);

/// Some text that is no reference: empty, longer than 16 bytes, or with a zero byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoReference;

/// A room of the table and its nights, all by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub room: u32,
    /// The first night.
    pub night: u16,
    /// How many, 1 to 64.
    pub nights: u16,
}

/// Rooms with neighbouring numbers, of which the server gives the first that is free in all of these
/// nights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Wish {
    /// The first room.
    pub first: u32,
    /// How many, 1 at least.
    pub rooms: u32,
    /// The first night.
    pub night: u16,
    /// How many, 1 to 64.
    pub nights: u16,
}

/// What was asked, and what was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Book {
        place: Place,
        /// The id number that books.
        id: u64,
        answer: Booked,
    },
    Cancel {
        reference: InlineReference,
        /// The id number; nothing where a manager cancels, who needs none.
        id: Option<u64>,
        answer: Cancelled,
    },
    /// Somebody keeps a place for so many milliseconds.
    Hold {
        place: Place,
        ttl_ms: u64,
        answer: Held,
    },
    /// A hold ends so many milliseconds from now.
    Extend {
        reference: InlineReference,
        ttl_ms: u64,
        answer: Extended,
    },
    /// A hold becomes a booking.
    Confirm {
        reference: InlineReference,
        id: u64,
        answer: Confirmed,
    },
    Release {
        reference: InlineReference,
        answer: Released,
    },
    /// A booking leaves its place for one of these rooms. Only loads that get all answers ask for it.
    Move {
        reference: InlineReference,
        id: u64,
        wish: Wish,
        answer: Moved,
    },
    /// Somebody books or keeps one of several rooms.
    Pick { wish: Wish, answer: Picked },
    /// Somebody looks who has a night; `place` has one.
    Look {
        place: Place,
        found: Option<(InlineReference, Place)>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Booked {
    Done(InlineReference),
    /// Bit k: the k-th night of the stay is not free.
    SoldOut(u64),
    Unknown,
    /// A refusal that this load cannot get.
    Strange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// It was a booking for this.
    Done(Place),
    /// There is no such booking any more.
    Gone,
    WrongGuest,
    Unknown,
    /// A refusal that this load cannot get.
    Strange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Until this time of the server, in milliseconds.
    Done {
        reference: InlineReference,
        until: u64,
    },
    /// Bit k: the k-th night of the stay is not free.
    SoldOut(u64),
    Unknown,
    /// A refusal that this load cannot get.
    Strange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picked {
    Booked {
        room: u32,
        /// The id number that books.
        id: u64,
        reference: InlineReference,
    },
    Held {
        room: u32,
        ttl_ms: u64,
        reference: InlineReference,
        /// Until this time of the server, in milliseconds.
        until: u64,
    },
    /// Bit k: in the k-th night of the stay none of the rooms is free.
    SoldOut(u64),
    Unknown {
        /// A hold was asked for, not a booking.
        holds: bool,
    },
    /// A refusal that this load cannot get.
    Strange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extended {
    /// Until this time of the server, in milliseconds.
    Done(u64),
    Refused(NoHold),
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirmed {
    Done {
        room: u32,
        /// It had ended, but its nights were free still.
        late: bool,
    },
    Refused(NoHold),
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    Done {
        room: u32,
        /// Where it was before.
        from: Place,
    },
    /// Bit k: in the k-th night of the stay none of the rooms is free.
    SoldOut(u64),
    /// There is no such booking any more.
    Gone,
    WrongGuest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Released {
    Done,
    Refused(NoHold),
    Unknown,
}

/// Why there is no hold any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoHold {
    /// Its time is over.
    Expired,
    /// It is a booking.
    Confirmed,
    /// It was given back, or what it became was cancelled.
    Gone,
    /// A refusal that this load cannot get.
    Strange,
}

compact!(struct Place { room, night, nights });
compact!(struct Wish { first, rooms, night, nights });
compact!(enum Operation {
    0 = Book { place, id, answer },
    1 = Cancel { reference, id, answer },
    2 = Look { place, found },
    3 = Hold { place, ttl_ms, answer },
    4 = Extend { reference, ttl_ms, answer },
    5 = Confirm { reference, id, answer },
    6 = Release { reference, answer },
    7 = Pick { wish, answer },
    8 = Move { reference, id, wish, answer },
});
compact!(enum Picked {
    0 = Booked { room, id, reference },
    1 = Held { room, ttl_ms, reference, until },
    2 = SoldOut(nights),
    3 = Unknown { holds },
    4 = Strange,
});
compact!(enum Booked { 0 = Done(reference), 1 = SoldOut(nights), 2 = Unknown, 3 = Strange });
compact!(enum Cancelled { 0 = Done(place), 1 = Gone, 2 = WrongGuest, 3 = Unknown, 4 = Strange });

compact!(enum Held {
    0 = Done { reference, until },
    1 = SoldOut(nights),
    2 = Unknown,
    3 = Strange,
});
compact!(enum Extended { 0 = Done(until), 1 = Refused(reason), 2 = Unknown });
compact!(enum Confirmed { 0 = Done { room, late }, 1 = Refused(reason), 2 = Unknown });
compact!(enum Moved {
    0 = Done { room, from },
    1 = SoldOut(nights),
    2 = Gone,
    3 = WrongGuest,
});
compact!(enum Released { 0 = Done, 1 = Refused(reason), 2 = Unknown });
compact!(enum NoHold { 0 = Expired, 1 = Confirmed, 2 = Gone, 3 = Strange });

impl Operation {
    /// The time of the server's clock at its record, in milliseconds: what ends so long after it tells
    /// that.
    #[must_use]
    pub fn time(&self) -> Option<u64> {
        match *self {
            Self::Hold {
                ttl_ms,
                answer: Held::Done { until, .. },
                ..
            }
            | Self::Extend {
                ttl_ms,
                answer: Extended::Done(until),
                ..
            }
            | Self::Pick {
                answer: Picked::Held { ttl_ms, until, .. },
                ..
            } => Some(until.saturating_sub(ttl_ms)),
            _ => None,
        }
    }
}

/// Its length, and its text.
impl Compact for InlineReference {
    fn put(&self, out: &mut Vec<u8>) {
        let bytes = self.bytes();
        let text = &bytes[..self.length()];
        text.len().put(out);
        out.extend_from_slice(text);
    }

    fn take(bytes: &mut &[u8]) -> Option<Self> {
        let length = usize::take(bytes)?;
        let (text, rest) = bytes.split_at_checked(length)?;
        *bytes = rest;
        Self::parse(text).ok()
    }
}

impl InlineReference {
    /// Reads one.
    ///
    /// # Errors
    /// It is none.
    pub fn parse(text: &[u8]) -> Result<Self, NoReference> {
        let mut bytes = [0; 16];
        let place = bytes.get_mut(..text.len()).ok_or(NoReference)?;
        place.copy_from_slice(text);
        if text.is_empty() || text.contains(&0) {
            return Err(NoReference);
        }
        Ok(Self(u128::from_be_bytes(bytes)))
    }

    /// Its text, with zeros behind it.
    #[must_use]
    pub const fn bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// Of its text: the zeros behind it are those of the number.
    const fn length(self) -> usize {
        16 - (self.0.trailing_zeros() / 8) as usize
    }

    /// Appends its text.
    pub fn put_text(self, text: &mut Vec<u8>) {
        text.extend_from_slice(&self.bytes()[..self.length()]);
    }
}

impl std::fmt::Display for InlineReference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.bytes()[..self.length()]))
    }
}

impl Place {
    /// The nights, by number.
    pub fn each(self) -> impl Iterator<Item = u16> {
        self.night..self.night + self.nights
    }

    /// This room and no other.
    pub(super) const fn wish(self) -> Wish {
        Wish {
            first: self.room,
            rooms: 1,
            night: self.night,
            nights: self.nights,
        }
    }
}

impl Wish {
    /// The rooms, by number, the preferred one first.
    pub(super) fn each(self) -> impl Iterator<Item = u32> {
        self.first..self.first + self.rooms
    }

    /// Its nights in one of its rooms.
    pub(super) const fn at(self, room: u32) -> Place {
        Place {
            room,
            night: self.night,
            nights: self.nights,
        }
    }

    /// Whether it can be fulfilled by this.
    pub(super) fn allows(self, place: Place) -> bool {
        self.at(place.room) == place && self.each().any(|room| room == place.room)
    }

    pub(super) fn covers(self, room: u32, night: u16) -> bool {
        self.each().any(|one| one == room) && self.at(room).each().any(|one| one == night)
    }
}

impl std::fmt::Display for Wish {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.at(self.first))?;
        if self.rooms > 1 {
            write!(f, " (or a room up to {})", self.first + self.rooms - 1)?;
        }
        Ok(())
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "room {}, night {}", self.room, self.night)?;
        if self.nights > 1 {
            write!(f, " to {}", self.night + self.nights - 1)?;
        }
        Ok(())
    }
}
