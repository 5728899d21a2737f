//! What the machine can be asked to do.

use turnstile_chassis::{Bytes, Words};
use turnstile_types::{Name, Stay};

use crate::{GuestId, GuestName, Reference};

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

/// One whole request that may change the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Words)]
pub enum Command<'a> {
    /// Opens a property for business. In an `open` one every room name exists.
    #[byte(0x01)]
    AddProperty { property: Name, open: bool },
    /// Adds a room of a type to a property.
    #[byte(0x02)]
    AddRoom {
        property: Name,
        room: Name,
        room_type: Name,
    },
    /// Takes a room out of sale for good; refused while it is booked or held.
    #[byte(0x03)]
    WithdrawRoom { property: Name, room: Name },
    /// Stops (`stopped`) or resumes the sale of a room for nights. Bookings that stand stay.
    #[byte(0x04)]
    StopSell {
        property: Name,
        room: Name,
        stay: Stay,
        stopped: bool,
    },
    /// Books a room for every night of a stay, or for none.
    #[byte(0x05)]
    Book {
        property: Name,
        wish: Wish,
        stay: Stay,
        guest: GuestName<'a>,
        id: GuestId,
    },
    /// Keeps a room for `ttl_ms` milliseconds, to be confirmed.
    #[byte(0x06)]
    Hold {
        property: Name,
        wish: Wish,
        stay: Stay,
        ttl_ms: u32,
    },
    /// Lets a hold end `ttl_ms` milliseconds from now, up to the ceiling on its total time.
    #[byte(0x07)]
    Extend { hold: Reference, ttl_ms: u32 },
    /// Turns a hold into a booking; after its expiry, when the nights are still free.
    #[byte(0x08)]
    Confirm {
        hold: Reference,
        guest: GuestName<'a>,
        id: GuestId,
    },
    /// Gives a hold back.
    #[byte(0x09)]
    Release { hold: Reference },
    /// Cancels a booking; only with the id number that booked it.
    #[byte(0x0a)]
    Cancel { booking: Reference, id: GuestId },
}
