//! Outcomes as bytes.

use turnstile_types::{Malformed, Night, Reader, put_flag, put_instant, put_u8, put_u16, put_u32};

use super::fields::{name, nights, put_name, put_nights, put_reference, put_stay, reference};
use crate::{Done, Outcome, Refusal};

pub(crate) fn put_outcome(outcome: &Outcome, out: &mut Vec<u8>) {
    match outcome {
        Outcome::Done(done) => put_done(done, out),
        Outcome::Refused(refusal) => put_refusal(refusal, out),
    }
}

fn put_done(done: &Done, out: &mut Vec<u8>) {
    match done {
        Done::PropertyAdded => put_u8(out, 0x01),
        Done::RoomAdded => put_u8(out, 0x02),
        Done::RoomWithdrawn => put_u8(out, 0x03),
        Done::SaleStopped => put_u8(out, 0x04),
        Done::SaleResumed => put_u8(out, 0x05),
        Done::Booked { reference, room } => {
            put_u8(out, 0x06);
            put_reference(out, *reference);
            put_name(out, room);
        }
        Done::Held {
            reference,
            room,
            until,
        } => {
            put_u8(out, 0x07);
            put_reference(out, *reference);
            put_name(out, room);
            put_instant(out, *until);
        }
        Done::Extended { until } => {
            put_u8(out, 0x08);
            put_instant(out, *until);
        }
        Done::Confirmed {
            reference,
            room,
            late,
        } => {
            put_u8(out, 0x09);
            put_reference(out, *reference);
            put_name(out, room);
            put_flag(out, *late);
        }
        Done::Released => put_u8(out, 0x0a),
        Done::Cancelled { room, stay } => {
            put_u8(out, 0x0b);
            put_name(out, room);
            put_stay(out, *stay);
        }
    }
}

fn put_refusal(refusal: &Refusal, out: &mut Vec<u8>) {
    put_u8(out, refusal.kind());
    match refusal {
        Refusal::RoomInUse { night } => put_u16(out, night.days()),
        Refusal::SoldOut { nights } | Refusal::StopSell { nights } => put_nights(out, *nights),
        Refusal::TooManyRooms { limit } | Refusal::TooManyHolds { limit } => put_u32(out, *limit),
        Refusal::HoldTooLong { ttl_ms_max } => put_u32(out, *ttl_ms_max),
        Refusal::HoldCeiling { until_max } => put_instant(out, *until_max),
        Refusal::UnknownProperty
        | Refusal::UnknownRoom
        | Refusal::UnknownType
        | Refusal::PropertyExists
        | Refusal::RoomExists
        | Refusal::NotFound
        | Refusal::WrongGuest
        | Refusal::Ended
        | Refusal::HoldExpired
        | Refusal::AlreadyConfirmed
        | Refusal::NotConfirmed => {}
    }
}

pub(crate) fn outcome(bytes: &[u8]) -> Result<Outcome, Malformed> {
    Outcome::read(bytes, done, refusal)
}

fn done(kind: u8, r: &mut Reader<'_>) -> Result<Done, Malformed> {
    Ok(match kind {
        0x01 => Done::PropertyAdded,
        0x02 => Done::RoomAdded,
        0x03 => Done::RoomWithdrawn,
        0x04 => Done::SaleStopped,
        0x05 => Done::SaleResumed,
        0x06 => Done::Booked {
            reference: reference(r)?,
            room: name(r, "room")?,
        },
        0x07 => Done::Held {
            reference: reference(r)?,
            room: name(r, "room")?,
            until: r.instant("until")?,
        },
        0x08 => Done::Extended {
            until: r.instant("until")?,
        },
        0x09 => Done::Confirmed {
            reference: reference(r)?,
            room: name(r, "room")?,
            late: r.flag("late")?,
        },
        0x0a => Done::Released,
        0x0b => Done::Cancelled {
            room: name(r, "room")?,
            stay: r.stay("stay")?,
        },
        _ => return Err(Malformed { field: "outcome" }),
    })
}

fn refusal(kind: u8, r: &mut Reader<'_>) -> Result<Refusal, Malformed> {
    Ok(match kind {
        0x81 => Refusal::UnknownProperty,
        0x82 => Refusal::UnknownRoom,
        0x83 => Refusal::UnknownType,
        0x84 => Refusal::PropertyExists,
        0x85 => Refusal::RoomExists,
        0x86 => Refusal::RoomInUse {
            night: Night::from_days(r.u16("night")?),
        },
        0x87 => Refusal::TooManyRooms {
            limit: r.u32("limit")?,
        },
        0x88 => Refusal::SoldOut { nights: nights(r)? },
        0x89 => Refusal::StopSell { nights: nights(r)? },
        0x8a => Refusal::NotFound,
        0x8b => Refusal::WrongGuest,
        0x8c => Refusal::Ended,
        0x8d => Refusal::HoldExpired,
        0x8e => Refusal::AlreadyConfirmed,
        0x8f => Refusal::NotConfirmed,
        0x90 => Refusal::TooManyHolds {
            limit: r.u32("limit")?,
        },
        0x91 => Refusal::HoldTooLong {
            ttl_ms_max: r.u32("ttl")?,
        },
        0x92 => Refusal::HoldCeiling {
            until_max: r.instant("until")?,
        },
        _ => return Err(Malformed { field: "outcome" }),
    })
}
