//! What the machine answers to a command: done or refused, both with data.

use turnstile_types::{Name, Night, Stay, Timestamp};

use crate::Reference;

/// What is answered to a command.
pub type Outcome = turnstile_types::Outcome<Done, Refusal>;

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    PropertyAdded,
    RoomAdded,
    RoomWithdrawn,
    SaleStopped,
    SaleResumed,
    Booked {
        reference: Reference,
        room: Name,
    },
    Held {
        reference: Reference,
        room: Name,
        until: Timestamp,
    },
    Extended {
        until: Timestamp,
    },
    /// `late`: the hold had expired, and the nights were still free.
    Confirmed {
        reference: Reference,
        room: Name,
        late: bool,
    },
    Released,
    Cancelled {
        room: Name,
        stay: Stay,
    },
}

/// Why nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    UnknownProperty,
    UnknownRoom,
    /// No room of the property has this type.
    UnknownType,
    PropertyExists,
    RoomExists,
    /// The room cannot be withdrawn: it is booked or held; the field holds the first such night.
    RoomInUse {
        night: Night,
    },
    /// The property has as many rooms as it may have.
    TooManyRooms {
        limit: u32,
    },
    /// No room is free. The nights are those on which none is; when there are none of those, every
    /// night has a free room, but no single room is free on all of them.
    SoldOut {
        nights: Nights,
    },
    /// The sale is stopped on these nights.
    StopSell {
        nights: Nights,
    },
    /// There never was such a booking or hold.
    NotFound,
    /// The id number is not the one that booked.
    WrongGuest,
    /// The booking was cancelled, or the hold released, or it expired so long ago that it is
    /// forgotten.
    Ended,
    /// The hold has expired; for a confirmation also: and the nights are taken.
    HoldExpired,
    /// It is a booking, not a hold.
    AlreadyConfirmed,
    /// It is a hold, not a booking: it is released, not cancelled.
    NotConfirmed,
    /// The caller has as many open holds as it may have.
    TooManyHolds {
        limit: u32,
    },
    /// A hold lasts at most so long at a time.
    HoldTooLong {
        ttl_ms_max: u32,
    },
    /// The hold cannot be extended beyond this instant, the ceiling on its total time.
    HoldCeiling {
        until_max: Timestamp,
    },
}

/// Some nights of a stay: bit k stands for the k-th night after `first`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    pub const fn kind(&self) -> u8 {
        match self {
            Self::UnknownProperty => 0x81,
            Self::UnknownRoom => 0x82,
            Self::UnknownType => 0x83,
            Self::PropertyExists => 0x84,
            Self::RoomExists => 0x85,
            Self::RoomInUse { .. } => 0x86,
            Self::TooManyRooms { .. } => 0x87,
            Self::SoldOut { .. } => 0x88,
            Self::StopSell { .. } => 0x89,
            Self::NotFound => 0x8a,
            Self::WrongGuest => 0x8b,
            Self::Ended => 0x8c,
            Self::HoldExpired => 0x8d,
            Self::AlreadyConfirmed => 0x8e,
            Self::NotConfirmed => 0x8f,
            Self::TooManyHolds { .. } => 0x90,
            Self::HoldTooLong { .. } => 0x91,
            Self::HoldCeiling { .. } => 0x92,
        }
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
