//! What the machine can be asked to do.

use turnstile_chassis::{
    Bytes, Fields, Kind, NotWhole, Operations, Readable, Show, Value, Words, whole,
};
use turnstile_types::{InvalidName, Name, Stay};

use crate::{
    CancelReason, Done, GuestId, GuestName, IdKey, IdNumber, InvalidIdNumber, Reference,
    about::About, outcome::seconds,
};

/// How long a hold lasts when nothing is said.
const HOLD_SECONDS: u32 = 600;

/// The longest time that fits a command, in seconds; the machine allows less.
const SECONDS_MAX: u64 = u32::MAX as u64 / 1_000;

/// What stands before the name of a type.
const TYPE: &[u8] = b"type:";

/// Which room a guest wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub enum Wish {
    /// This room and no other.
    #[byte(0x00)]
    Room(Name),
    /// Any free room of this type; of several, the one with the lowest number.
    #[byte(0x01)]
    Type(Name),
    /// Any free room; of several, the one with the lowest number.
    #[byte(0x02)]
    Any,
}

impl Wish {
    /// Reads `any`, `type:NAME`, or the name of a room. The first two are words, in letters of any case.
    ///
    /// # Errors
    /// What should be a name is none.
    #[inline]
    pub fn parse(text: &[u8]) -> Result<Self, InvalidName> {
        if text.eq_ignore_ascii_case(b"any") {
            return Ok(Self::Any);
        }
        match text.split_at_checked(TYPE.len()) {
            Some((tag, name)) if tag.eq_ignore_ascii_case(TYPE) => {
                Name::parse(name).map(Self::Type)
            }
            _ => Name::parse(text).map(Self::Room),
        }
    }
}

turnstile_chassis::readable!(
    Wish,
    InvalidName,
    Kind::Forms {
        forms: &["ROOM", "type:TYPE", "any"],
        example: "type:double",
        pattern: "^(?![Tt][Yy][Pp][Ee]:$)([Tt][Yy][Pp][Ee]:)?[A-Za-z0-9._:-]{1,64}$",
    }
);

/// As it is asked for.
impl Value for Wish {
    fn show<S: Show>(&self, show: S) -> S::Out {
        match self {
            Self::Room(room) => show.text(room),
            Self::Type(room_type) => show.display(&format_args!("type:{room_type}")),
            Self::Any => show.text("any"),
        }
    }

    fn kind() -> Kind {
        <Self as Readable>::kind()
    }
}

/// What a door knows and requests need: how id numbers are checked and sealed.
#[derive(Clone, Copy, Debug)]
pub struct Door<'a> {
    pub id_key: &'a IdKey,
    /// Whether an id number's last digit is checked.
    pub verhoeff: bool,
}

impl Door<'_> {
    /// Reads and seals an id number.
    ///
    /// # Errors
    /// Text that is none.
    #[inline]
    pub fn guest_id(self, text: &[u8]) -> Result<GuestId, InvalidIdNumber> {
        let number = IdNumber::parse(text, self.verhoeff)?;
        Ok(self.id_key.seal(number))
    }
}

/// Whole seconds, in milliseconds.
struct Seconds(u32);

impl Readable<'_> for Seconds {
    type Invalid = NotWhole;

    fn read(text: &[u8]) -> Result<Self, NotWhole> {
        let seconds: u32 = whole(text, 1, SECONDS_MAX)?;
        Ok(Self(seconds * 1_000))
    }

    fn kind() -> Kind {
        Kind::Number {
            min: 1,
            max: SECONDS_MAX,
        }
    }
}

impl From<Seconds> for u32 {
    fn from(seconds: Seconds) -> Self {
        seconds.0
    }
}

/// One whole request that may change the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields, Words, Operations)]
#[operations(door = Door<'d>, answers = Done, about = About, routed)]
pub enum Command<'a> {
    /// Adds a property. In an open one every room name exists.
    #[byte(0x01)]
    #[operation(answer = PropertyAdded, right = manage, about = Property(*property), route = property)]
    AddProperty { property: Name, open: bool },
    /// Adds a room of a type to a property.
    #[byte(0x02)]
    #[operation(answer = RoomAdded, right = manage, about = Property(*property), route = property)]
    AddRoom {
        property: Name,
        room: Name,
        #[parameter(name = "type")]
        room_type: Name,
    },
    /// Takes a room out of sale for good; refused while it is booked or held.
    #[byte(0x03)]
    #[operation(answer = RoomWithdrawn, right = manage, about = Property(*property), route = property)]
    WithdrawRoom { property: Name, room: Name },
    /// Stops the sale of a room for some nights. Bookings that stand stay.
    #[byte(0x04)]
    #[word(stopped, "stop_sell", "resume_sell")]
    #[operation(answer = SaleStopped | SaleResumed, otherwise = "Resumes the sale of a room for some nights", right = manage, about = Property(*property), route = property)]
    StopSell {
        property: Name,
        room: Name,
        #[parameter(flatten)]
        stay: Stay,
        #[field(skip)]
        stopped: bool,
    },
    /// Books a room for every night of a stay, or for none.
    #[byte(0x05)]
    #[operation(answer = Booked, waits_in_line, about = Property(*property), route = property)]
    Book {
        property: Name,
        wish: Wish,
        #[parameter(flatten)]
        stay: Stay,
        guest: GuestName<'a>,
        #[parameter(name = "id_number", door = guest_id, kind = IdNumber::KIND)]
        id: GuestId,
    },
    /// Keeps a room for a while (600 seconds), to be confirmed.
    #[byte(0x06)]
    #[operation(answer = Held, waits_in_line, opens, about = Property(*property), route = property)]
    Hold {
        property: Name,
        wish: Wish,
        #[parameter(flatten)]
        stay: Stay,
        #[parameter(name = "ttl_seconds", read_as = Seconds, default = HOLD_SECONDS * 1_000, shown = HOLD_SECONDS)]
        #[field(name = "ttl_seconds", with = seconds)]
        ttl_ms: u32,
    },
    /// Sets the end of a hold to `ttl_seconds` from now, up to the ceiling on its total time.
    #[byte(0x07)]
    #[operation(answer = Extended, of_holder, about = Hold(*hold), route = hold)]
    Extend {
        hold: Reference,
        #[parameter(name = "ttl_seconds", read_as = Seconds)]
        #[field(name = "ttl_seconds", with = seconds)]
        ttl_ms: u32,
    },
    /// Turns a hold into a booking; after its expiry, when the nights are still free.
    #[byte(0x08)]
    #[operation(answer = Confirmed, of_holder, about = Hold(*hold), route = hold)]
    Confirm {
        hold: Reference,
        guest: GuestName<'a>,
        #[parameter(name = "id_number", door = guest_id, kind = IdNumber::KIND)]
        id: GuestId,
    },
    /// Gives a hold back.
    #[byte(0x09)]
    #[operation(answer = Released, of_holder, about = Hold(*hold), route = hold)]
    Release { hold: Reference },
    /// Cancels a booking; only with the id number that booked it.
    #[byte(0x0a)]
    #[operation(answer = Cancelled, about = Entry(*booking), route = booking)]
    Cancel {
        #[parameter(name = "reference")]
        booking: Reference,
        #[parameter(name = "id_number", door = guest_id, kind = IdNumber::KIND)]
        id: GuestId,
    },
    /// Cancels a booking for its guest, without the id number but with a reason.
    #[byte(0x0b)]
    #[operation(answer = Cancelled, right = manage, about = Entry(*booking), route = booking)]
    CancelForGuest {
        #[parameter(name = "reference")]
        booking: Reference,
        reason: CancelReason<'a>,
    },
    /// Moves a booking to other nights or another room of its property; only with the id number that booked
    /// it. Its own nights are not in the way. It stays in its room where the wish and the nights allow that.
    #[byte(0x0c)]
    #[operation(answer = Moved, waits_in_line, about = Entry(*booking), route = booking)]
    Move {
        #[parameter(name = "reference")]
        booking: Reference,
        wish: Wish,
        #[parameter(flatten)]
        stay: Stay,
        #[parameter(name = "id_number", door = guest_id, kind = IdNumber::KIND)]
        id: GuestId,
    },
}

impl Command<'_> {
    /// The booking or hold that it names.
    #[must_use]
    pub const fn entry(&self) -> Option<Reference> {
        match *self {
            Self::Extend {
                hold: reference, ..
            }
            | Self::Confirm {
                hold: reference, ..
            }
            | Self::Release { hold: reference }
            | Self::Cancel {
                booking: reference, ..
            }
            | Self::CancelForGuest {
                booking: reference, ..
            }
            | Self::Move {
                booking: reference, ..
            } => Some(reference),
            Self::AddProperty { .. }
            | Self::AddRoom { .. }
            | Self::WithdrawRoom { .. }
            | Self::StopSell { .. }
            | Self::Book { .. }
            | Self::Hold { .. } => None,
        }
    }
}
