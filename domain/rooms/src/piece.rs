//! A whole state as a sequence of items, for copies between back ends.

mod apart;
mod assembly;

use std::fmt;

use turnstile_chassis::Encode as _;
use turnstile_types::{
    Name, Night, Position, put_bytes, put_flag, put_instant, put_u8, put_u16, put_u32, put_u64,
};

use crate::{Entry, EntryState};

pub use assembly::{Assembly, Misfit};

/// A part of a state of rooms, under names that do not depend on who keeps it.
///
/// A state is told as its pieces in the order of the variants here, and among equals: properties by
/// their names; rooms by property, those that were added in natural order, then the loose ones as
/// they were first named; stopped nights by property, room and night; bookings and holds by slot,
/// each slot once. Equal states have equal pieces, whatever numbers their keeper gives to
/// properties, rooms and callers.
///
/// Time: what is due at the instant for which a state is told counts as done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Property {
        name: Name,
        open: bool,
    },
    Room {
        property: Name,
        name: Name,
        room_type: Name,
        /// Of the type `open` in an open property.
        loose: bool,
        withdrawn: bool,
    },
    /// Nights that follow each other on which a room is not sold, as many as there are.
    Stopped {
        property: Name,
        room: Name,
        first: Night,
        nights: u16,
    },
    Standing(Box<Standing>),
    /// A slot where nothing stands.
    Over {
        slot: u32,
        /// The generation of its next reference: all earlier ones have ended. Nothing when none is
        /// left.
        next: Option<u32>,
    },
    Totals(Counted),
}

/// A booking, an open hold, or an expired one that can still be confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    pub entry: Entry,
    /// Of a hold: the position of the command that made it.
    pub made: Option<Position>,
}

/// What has been done since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    pub booked: u64,
    pub cancelled: u64,
    pub held: u64,
    pub expired: u64,
}

impl Piece {
    /// Appends bytes that equal pieces have in common, and others have not.
    pub fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Property { name, open } => {
                put_u8(out, 1);
                name.encode(out);
                put_flag(out, *open);
            }
            Self::Room {
                property,
                name,
                room_type,
                loose,
                withdrawn,
            } => {
                put_u8(out, 2);
                for name in [property, name, room_type] {
                    name.encode(out);
                }
                put_flag(out, *loose);
                put_flag(out, *withdrawn);
            }
            Self::Stopped {
                property,
                room,
                first,
                nights,
            } => {
                put_u8(out, 3);
                property.encode(out);
                room.encode(out);
                put_u16(out, first.days());
                put_u16(out, *nights);
            }
            Self::Standing(standing) => standing.put(out),
            Self::Over { slot, next } => {
                put_u8(out, 5);
                put_u32(out, *slot);
                put_u64(out, next.map_or(u64::MAX, u64::from));
            }
            Self::Totals(done) => {
                put_u8(out, 6);
                for count in [done.booked, done.cancelled, done.held, done.expired] {
                    put_u64(out, count);
                }
            }
        }
    }
}

impl Standing {
    fn put(&self, out: &mut Vec<u8>) {
        let entry = &self.entry;
        put_u8(out, 4);
        put_u32(out, entry.reference.slot);
        put_u32(out, entry.reference.generation);
        let (state, instant) = match entry.state {
            EntryState::Booked => (1, None),
            EntryState::Held { until } => (2, Some(until)),
            EntryState::Expired { at } => (3, Some(at)),
        };
        put_u8(out, state);
        if let Some(instant) = instant {
            put_instant(out, instant);
        }
        entry.property.encode(out);
        entry.room.encode(out);
        entry.stay.encode(out);
        if let Some(guest) = &entry.guest {
            put_bytes(out, guest.as_bytes());
        }
        if let Some(id) = entry.id {
            id.encode(out);
        }
        entry.principal.0.encode(out);
        put_instant(out, entry.since);
        put_u64(out, entry.position.0);
        put_u64(out, self.made.map_or(u64::MAX, |made| made.0));
    }
}

/// One line for people; id numbers are masked.
impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Property { name, open } => {
                let kind = if *open { "open" } else { "closed" };
                write!(f, "property {} ({kind})", name.as_str())
            }
            Self::Room {
                property,
                name,
                room_type,
                withdrawn,
                ..
            } => {
                let (property, name) = (property.as_str(), name.as_str());
                let withdrawn = if *withdrawn { ", withdrawn" } else { "" };
                write!(
                    f,
                    "room {property} {name} ({}{withdrawn})",
                    room_type.as_str()
                )
            }
            Self::Stopped {
                property,
                room,
                first,
                nights,
            } => write!(
                f,
                "stop-sell {} {} from {first} for {nights} nights",
                property.as_str(),
                room.as_str()
            ),
            Self::Standing(standing) => standing.fmt(f),
            Self::Over {
                slot,
                next: Some(next),
            } => write!(f, "slot {slot}, where {next} references have ended"),
            Self::Over { slot, next: None } => write!(f, "slot {slot}, which is used up"),
            Self::Totals(done) => write!(
                f,
                "totals of {} booked, {} cancelled, {} held, {} expired",
                done.booked, done.cancelled, done.held, done.expired
            ),
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entry = &self.entry;
        match entry.state {
            EntryState::Booked => write!(f, "booking ")?,
            EntryState::Held { until } => write!(f, "hold until {until} ")?,
            EntryState::Expired { at } => write!(f, "hold expired at {at} ")?,
        }
        let (property, room) = (entry.property.as_str(), entry.room.as_str());
        let (arrival, departure) = (entry.stay.arrival(), entry.stay.departure());
        write!(
            f,
            "{} of {property} {room} {arrival} to {departure}",
            entry.reference
        )?;
        if let (Some(guest), Some(id)) = (&entry.guest, entry.id) {
            write!(f, " for {guest} {}", id.masked())?;
        }
        let principal = entry.principal.0.as_str();
        write!(
            f,
            " by {principal} at {}, position {}",
            entry.since, entry.position
        )
    }
}
