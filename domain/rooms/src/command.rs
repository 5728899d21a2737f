//! What the machine can be asked to do.

use turnstile_types::{Name, Stay};

use crate::{GuestId, GuestName, Reference};

/// Which room a guest wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// This room and no other.
    Room(Name),
    /// Any free room of this type; of several, the one with the lowest number.
    Type(Name),
    /// Any free room; of several, the one with the lowest number.
    Any,
}

/// One whole request that may change the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command<'a> {
    /// Opens a property for business. In an `open` one every room name exists.
    AddProperty { property: Name, open: bool },
    /// Adds a room of a type to a property.
    AddRoom {
        property: Name,
        room: Name,
        room_type: Name,
    },
    /// Takes a room out of sale for good; refused while it is booked or held.
    WithdrawRoom { property: Name, room: Name },
    /// Stops (`stopped`) or resumes the sale of a room for nights. Bookings that stand stay.
    StopSell {
        property: Name,
        room: Name,
        stay: Stay,
        stopped: bool,
    },
    /// Books a room for every night of a stay, or for none.
    Book {
        property: Name,
        wish: Wish,
        stay: Stay,
        guest: GuestName<'a>,
        id: GuestId,
    },
    /// Keeps a room for `ttl_ms` milliseconds, to be confirmed.
    Hold {
        property: Name,
        wish: Wish,
        stay: Stay,
        ttl_ms: u32,
    },
    /// Lets a hold end `ttl_ms` milliseconds from now, up to the ceiling on its total time.
    Extend { hold: Reference, ttl_ms: u32 },
    /// Turns a hold into a booking; after its expiry, when the nights are still free.
    Confirm {
        hold: Reference,
        guest: GuestName<'a>,
        id: GuestId,
    },
    /// Gives a hold back.
    Release { hold: Reference },
    /// Cancels a booking; only with the id number that booked it.
    Cancel { booking: Reference, id: GuestId },
}

impl Command<'_> {
    /// The word for what it asks, in metrics and where a back end does not offer it.
    #[must_use]
    pub const fn operation(&self) -> &'static str {
        match self {
            Self::AddProperty { .. } => "add_property",
            Self::AddRoom { .. } => "add_room",
            Self::WithdrawRoom { .. } => "withdraw_room",
            Self::StopSell { .. } => "stop_sell",
            Self::Book { .. } => "book",
            Self::Hold { .. } => "hold",
            Self::Extend { .. } => "extend",
            Self::Confirm { .. } => "confirm",
            Self::Release { .. } => "release",
            Self::Cancel { .. } => "cancel",
        }
    }
}
