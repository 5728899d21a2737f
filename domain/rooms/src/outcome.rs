//! What the machine answers to a command: done or refused, both with data.

use turnstile_chassis::{Bytes, Field, Fields, Kind, Show, Value, Visitor, Words};
use turnstile_types::{Name, Night, Stay, Timestamp};

use crate::Reference;

/// What is answered to a command.
pub type Outcome = turnstile_types::Outcome<Done, Refusal>;

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields, Words)]
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
        /// When the hold expires.
        until: Timestamp,
    },
    #[byte(0x08)]
    Extended { until: Timestamp },
    #[byte(0x09)]
    Confirmed {
        reference: Reference,
        room: Name,
        /// Whether the hold had expired, and the nights were still free.
        late: bool,
    },
    #[byte(0x0a)]
    Released,
    #[byte(0x0b)]
    Cancelled {
        room: Name,
        #[field(flatten)]
        stay: Stay,
    },
    /// The booking has this room for the nights that were asked for. Where it has been there before,
    /// nothing has changed.
    #[byte(0x0c)]
    Moved {
        room: Name,
        #[field(flatten)]
        from: FormerPlace,
    },
}

/// The room and the nights that a booking had before it was moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub struct FormerPlace {
    pub room: Name,
    pub stay: Stay,
}

impl Fields for FormerPlace {
    fn visit(&self, visitor: &mut impl Visitor) {
        visitor.field("from_room", &self.room);
        visitor.field("from_arrival", &self.stay.arrival());
        visitor.field("from_departure", &self.stay.departure());
    }

    fn describe() -> Vec<Field> {
        let field = |name, kind| Field::new(name, "", kind);
        vec![
            field("from_room", Name::kind()),
            field("from_arrival", Kind::Night),
            field("from_departure", Kind::Night),
        ]
    }
}

/// Why nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields, Words)]
pub enum Refusal {
    #[byte(0x81)]
    #[refusal(not_found, "There is no such property")]
    UnknownProperty,
    #[byte(0x82)]
    #[refusal(not_found, "The property has no such room")]
    UnknownRoom,
    /// No room of the property has this type.
    #[byte(0x83)]
    #[refusal(not_found, "The property has no room of this type")]
    UnknownType,
    #[byte(0x84)]
    #[refusal(conflict, "The property exists")]
    PropertyExists,
    #[byte(0x85)]
    #[refusal(conflict, "The room exists")]
    RoomExists,
    /// The room cannot be withdrawn: it is booked or held; the field holds the first such night.
    #[byte(0x86)]
    #[refusal(conflict, "The room is booked or held")]
    RoomInUse { night: Night },
    /// The property has as many rooms as it may have.
    #[byte(0x87)]
    #[refusal(conflict, "The property has as many rooms as it may have")]
    TooManyRooms { limit: u32 },
    /// No room is free. The nights are those on which none is; when there are none of those, every
    /// night has a free room, but no single room is free on all of them.
    #[byte(0x88)]
    #[refusal(conflict, "No room is free for all of these nights")]
    SoldOut { nights: Nights },
    /// The sale is stopped on these nights.
    #[byte(0x89)]
    #[refusal(conflict, "The sale is stopped for some of these nights")]
    StopSell { nights: Nights },
    /// There never was such a booking or hold.
    #[byte(0x8a)]
    #[refusal(not_found, "There never was such a booking or hold")]
    NotFound,
    /// The id number is not the one that booked.
    #[byte(0x8b)]
    #[refusal(forbidden, "The id number is not the one that booked")]
    WrongGuest,
    /// The booking was cancelled, or the hold released, or it expired so long ago that it is
    /// forgotten.
    #[byte(0x8c)]
    #[refusal(gone, "The booking was cancelled, or the hold is over")]
    Ended,
    /// The hold has expired; for a confirmation also: and the nights are taken.
    #[byte(0x8d)]
    #[refusal(gone, "The hold has expired")]
    HoldExpired,
    /// It is a booking, not a hold.
    #[byte(0x8e)]
    #[refusal(conflict, "It is a booking already")]
    AlreadyConfirmed,
    /// It is a hold, not a booking: it is released, not cancelled.
    #[byte(0x8f)]
    #[refusal(conflict, "It is a hold, not a booking: release it")]
    NotConfirmed,
    /// The caller has as many open holds as it may have.
    #[byte(0x90)]
    #[refusal(conflict, "The caller has as many open holds as it may have")]
    TooManyHolds { limit: u32 },
    /// A hold lasts at most so long at a time.
    #[byte(0x91)]
    #[refusal(conflict, "A hold does not last so long")]
    HoldTooLong {
        #[field(name = "ttl_seconds_max", with = seconds)]
        ttl_ms_max: u32,
    },
    /// The hold cannot be extended beyond this instant, the ceiling on its total time.
    #[byte(0x92)]
    #[refusal(conflict, "The hold cannot be extended so far")]
    HoldCeiling { until_max: Timestamp },
    /// The partition has as many bookings and holds as its references tell apart.
    #[byte(0x93)]
    #[refusal(
        conflict,
        "The partition has as many bookings and holds as it may have"
    )]
    Full { limit: u32 },
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
        let mut bits = self.bits;
        std::iter::from_fn(move || {
            let offset = u16::try_from(bits.trailing_zeros()).ok()?;
            bits &= bits.checked_sub(1)?;
            self.first.checked_add(offset)
        })
    }
}

impl Value for Nights {
    fn show<S: Show>(&self, show: S) -> S::Out {
        let nights = usize::try_from(self.bits.count_ones()).expect("at most 128");
        show.list(nights, self.iter())
    }

    fn kind() -> Kind {
        Kind::List(Box::new(Kind::Night))
    }
}

/// Whole seconds.
pub(crate) const fn seconds(ms: &u32) -> u32 {
    *ms / 1_000
}
