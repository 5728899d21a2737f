//! What the machine answers to a command: done or refused, both with data.

use turnstile_chassis::{Bytes, Tagged as _};
use turnstile_types::{Name, Night, Stay, Timestamp};

use crate::Reference;

/// What is answered to a command.
pub type Outcome = turnstile_types::Outcome<Done, Refusal>;

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub enum Done {
    #[byte(0x01)]
    PropertyAdded,
    #[byte(0x02)]
    RoomAdded,
    #[byte(0x03)]
    RoomWithdrawn,
    #[byte(0x04)]
    SaleStopped,
    #[byte(0x05)]
    SaleResumed,
    #[byte(0x06)]
    Booked { reference: Reference, room: Name },
    #[byte(0x07)]
    Held {
        reference: Reference,
        room: Name,
        until: Timestamp,
    },
    #[byte(0x08)]
    Extended { until: Timestamp },
    /// `late`: the hold had expired, and the nights were still free.
    #[byte(0x09)]
    Confirmed {
        reference: Reference,
        room: Name,
        late: bool,
    },
    #[byte(0x0a)]
    Released,
    #[byte(0x0b)]
    Cancelled { room: Name, stay: Stay },
}

/// Why nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub enum Refusal {
    #[byte(0x81)]
    UnknownProperty,
    #[byte(0x82)]
    UnknownRoom,
    /// No room of the property has this type.
    #[byte(0x83)]
    UnknownType,
    #[byte(0x84)]
    PropertyExists,
    #[byte(0x85)]
    RoomExists,
    /// The room cannot be withdrawn: it is booked or held; the field holds the first such night.
    #[byte(0x86)]
    RoomInUse { night: Night },
    /// The property has as many rooms as it may have.
    #[byte(0x87)]
    TooManyRooms { limit: u32 },
    /// No room is free. The nights are those on which none is; when there are none of those, every
    /// night has a free room, but no single room is free on all of them.
    #[byte(0x88)]
    SoldOut { nights: Nights },
    /// The sale is stopped on these nights.
    #[byte(0x89)]
    StopSell { nights: Nights },
    /// There never was such a booking or hold.
    #[byte(0x8a)]
    NotFound,
    /// The id number is not the one that booked.
    #[byte(0x8b)]
    WrongGuest,
    /// The booking was cancelled, or the hold released, or it expired so long ago that it is
    /// forgotten.
    #[byte(0x8c)]
    Ended,
    /// The hold has expired; for a confirmation also: and the nights are taken.
    #[byte(0x8d)]
    HoldExpired,
    /// It is a booking, not a hold.
    #[byte(0x8e)]
    AlreadyConfirmed,
    /// It is a hold, not a booking: it is released, not cancelled.
    #[byte(0x8f)]
    NotConfirmed,
    /// The caller has as many open holds as it may have.
    #[byte(0x90)]
    TooManyHolds { limit: u32 },
    /// A hold lasts at most so long at a time.
    #[byte(0x91)]
    HoldTooLong { ttl_ms_max: u32 },
    /// The hold cannot be extended beyond this instant, the ceiling on its total time.
    #[byte(0x92)]
    HoldCeiling { until_max: Timestamp },
}

/// Some nights of a stay: bit k stands for the k-th night after `first`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub struct Nights {
    pub first: Night,
    /// A stay has at most 90 nights, so 128 bits are enough.
    pub bits: u128,
}

impl Nights {
    /// The nights, in order.
    pub fn iter(self) -> impl Iterator<Item = Night> {
        (0..128_u16)
            .filter(move |night| self.bits >> night & 1 == 1)
            .filter_map(move |night| self.first.checked_add(night))
    }
}

impl Refusal {
    /// The first of its stable bytes. Kinds are numbered from 0x81, without gaps.
    #[must_use]
    pub fn kind(&self) -> u8 {
        self.byte()
    }

    /// The stable word for this refusal on every door and in every metric.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::UnknownProperty => "unknown_property",
            Self::UnknownRoom => "unknown_room",
            Self::UnknownType => "unknown_type",
            Self::PropertyExists => "property_exists",
            Self::RoomExists => "room_exists",
            Self::RoomInUse { .. } => "room_in_use",
            Self::TooManyRooms { .. } => "too_many_rooms",
            Self::SoldOut { .. } => "sold_out",
            Self::StopSell { .. } => "stop_sell",
            Self::NotFound => "not_found",
            Self::WrongGuest => "wrong_guest",
            Self::Ended => "ended",
            Self::HoldExpired => "hold_expired",
            Self::AlreadyConfirmed => "already_confirmed",
            Self::NotConfirmed => "not_confirmed",
            Self::TooManyHolds { .. } => "too_many_holds",
            Self::HoldTooLong { .. } => "hold_too_long",
            Self::HoldCeiling { .. } => "hold_ceiling",
        }
    }
}
