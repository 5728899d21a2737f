//! Outcomes as replies: an array that begins with 1 or 0 in RESP2, a map in RESP3.

use turnstile_rooms::{Done, Nights, Outcome, Reference, Refusal};
use turnstile_types::{Night, Position};

use crate::{Encoder, Protocol};

/// Appends what was answered to a command. `replayed`: it is the answer to an earlier request with
/// the same key.
#[inline]
pub fn put_outcome(reply: &mut Encoder<'_>, outcome: &Outcome, position: Position, replayed: bool) {
    match (reply.protocol(), outcome) {
        (Protocol::Resp2, Outcome::Done(done)) => done_array(reply, done, position, replayed),
        (Protocol::Resp2, Outcome::Refused(refusal)) => refused_array(reply, refusal, replayed),
        (Protocol::Resp3, Outcome::Done(done)) => done_map(reply, done, position, replayed),
        (Protocol::Resp3, Outcome::Refused(refusal)) => {
            let fields = refusal_fields(refusal) + 3 + usize::from(replayed);
            reply.map(fields);
            refusal_map(reply, refusal);
            put_tail(reply, position, replayed);
        }
    }
}

/// Appends a query's refusal, which has no position.
pub(super) fn put_refusal(reply: &mut Encoder<'_>, refusal: &Refusal) {
    match reply.protocol() {
        Protocol::Resp2 => refused_array(reply, refusal, false),
        Protocol::Resp3 => {
            reply.map(refusal_fields(refusal) + 2);
            refusal_map(reply, refusal);
        }
    }
}

pub(super) fn put_reference(reply: &mut Encoder<'_>, reference: Reference) {
    let (text, length) = reference.text();
    reply.bulk(
        text.get(..length)
            .expect("the length counts the bytes written"),
    );
}

/// A date, without the detour of formatting: refusals under a rush hold many.
pub(super) fn put_night(reply: &mut Encoder<'_>, night: Night) {
    let (year, month, day) = night.civil();
    let digit = |value: u32| b'0' + u8::try_from(value % 10).expect("a digit is below ten");
    reply.bulk(&[
        digit(year / 1_000),
        digit(year / 100),
        digit(year / 10),
        digit(year),
        b'-',
        digit(month / 10),
        digit(month),
        b'-',
        digit(day / 10),
        digit(day),
    ]);
}

pub(super) fn count(nights: Nights) -> usize {
    usize::try_from(nights.bits.count_ones()).expect("at most 128")
}

/// The nights one after the other, from one set bit to the next.
pub(super) fn put_nights(reply: &mut Encoder<'_>, nights: Nights) {
    let mut bits = nights.bits;
    while bits != 0 {
        let offset = u16::try_from(bits.trailing_zeros()).expect("at most 127");
        let night = nights.first.checked_add(offset);
        put_night(
            reply,
            night.expect("the nights of a stay are in the calendar"),
        );
        bits &= bits - 1;
    }
}

#[inline]
fn done_array(reply: &mut Encoder<'_>, done: &Done, position: Position, replayed: bool) {
    let fields = match done {
        Done::Booked { .. } => 2,
        Done::Held { .. } | Done::Confirmed { .. } | Done::Cancelled { .. } => 3,
        Done::Extended { .. } => 1,
        Done::PropertyAdded
        | Done::RoomAdded
        | Done::RoomWithdrawn
        | Done::SaleStopped
        | Done::SaleResumed
        | Done::Released => 0,
    };
    reply.array(fields + 2 + usize::from(replayed));
    reply.integer(1);
    match *done {
        Done::Booked { reference, room } => {
            put_reference(reply, reference);
            reply.bulk(room.as_bytes());
        }
        Done::Held {
            reference,
            room,
            until,
        } => {
            put_reference(reply, reference);
            reply.bulk(room.as_bytes());
            reply.shown(until);
        }
        Done::Confirmed {
            reference,
            room,
            late,
        } => {
            put_reference(reply, reference);
            reply.bulk(room.as_bytes());
            reply.integer(u64::from(late));
        }
        Done::Extended { until } => reply.shown(until),
        Done::Cancelled { room, stay } => {
            reply.bulk(room.as_bytes());
            put_night(reply, stay.arrival());
            put_night(reply, stay.departure());
        }
        Done::PropertyAdded
        | Done::RoomAdded
        | Done::RoomWithdrawn
        | Done::SaleStopped
        | Done::SaleResumed
        | Done::Released => {}
    }
    reply.integer(position.0);
    put_replayed(reply, replayed);
}

fn put_replayed(reply: &mut Encoder<'_>, replayed: bool) {
    if replayed {
        reply.text("replayed");
    }
}

fn refused_array(reply: &mut Encoder<'_>, refusal: &Refusal, replayed: bool) {
    let data = match refusal {
        Refusal::SoldOut { nights } | Refusal::StopSell { nights } => count(*nights),
        _ => refusal_fields(refusal),
    };
    reply.array(2 + data + usize::from(replayed));
    reply.integer(0);
    reply.text(refusal.code());
    match *refusal {
        Refusal::SoldOut { nights } | Refusal::StopSell { nights } => {
            put_nights(reply, nights);
        }
        Refusal::RoomInUse { night } => put_night(reply, night),
        Refusal::TooManyRooms { limit } | Refusal::TooManyHolds { limit } => {
            reply.integer(u64::from(limit));
        }
        Refusal::HoldTooLong { ttl_ms_max } => reply.integer(u64::from(ttl_ms_max / 1_000)),
        Refusal::HoldCeiling { until_max } => reply.shown(until_max),
        _ => {}
    }
    put_replayed(reply, replayed);
}

/// How many fields of data a refusal has beside its reason.
const fn refusal_fields(refusal: &Refusal) -> usize {
    match refusal {
        Refusal::SoldOut { .. }
        | Refusal::StopSell { .. }
        | Refusal::RoomInUse { .. }
        | Refusal::TooManyRooms { .. }
        | Refusal::TooManyHolds { .. }
        | Refusal::HoldTooLong { .. }
        | Refusal::HoldCeiling { .. } => 1,
        _ => 0,
    }
}

fn refusal_map(reply: &mut Encoder<'_>, refusal: &Refusal) {
    reply.text("outcome");
    reply.text("refused");
    reply.text("reason");
    reply.text(refusal.code());
    match *refusal {
        Refusal::SoldOut { nights } | Refusal::StopSell { nights } => {
            reply.text("nights");
            reply.array(count(nights));
            put_nights(reply, nights);
        }
        Refusal::RoomInUse { night } => {
            reply.text("nights");
            reply.array(1);
            put_night(reply, night);
        }
        Refusal::TooManyRooms { limit } | Refusal::TooManyHolds { limit } => {
            reply.text("limit");
            reply.integer(u64::from(limit));
        }
        Refusal::HoldTooLong { ttl_ms_max } => {
            reply.text("limit");
            reply.integer(u64::from(ttl_ms_max / 1_000));
        }
        Refusal::HoldCeiling { until_max } => {
            reply.text("until");
            reply.shown(until_max);
        }
        _ => {}
    }
}

fn done_map(reply: &mut Encoder<'_>, done: &Done, position: Position, replayed: bool) {
    let fields = match done {
        Done::Booked { .. } => 2,
        Done::Held { .. } | Done::Confirmed { .. } | Done::Cancelled { .. } => 3,
        Done::Extended { .. } => 1,
        _ => 0,
    };
    reply.map(fields + 2 + usize::from(replayed));
    reply.text("outcome");
    reply.text("done");
    match *done {
        Done::Booked { reference, room } => put_place(reply, reference, room),
        Done::Held {
            reference,
            room,
            until,
        } => {
            put_place(reply, reference, room);
            reply.text("until");
            reply.shown(until);
        }
        Done::Confirmed {
            reference,
            room,
            late,
        } => {
            put_place(reply, reference, room);
            reply.text("late");
            reply.boolean(late);
        }
        Done::Extended { until } => {
            reply.text("until");
            reply.shown(until);
        }
        Done::Cancelled { room, stay } => {
            reply.text("room");
            reply.bulk(room.as_bytes());
            reply.text("arrival");
            put_night(reply, stay.arrival());
            reply.text("departure");
            put_night(reply, stay.departure());
        }
        _ => {}
    }
    put_tail(reply, position, replayed);
}

fn put_place(reply: &mut Encoder<'_>, reference: Reference, room: turnstile_types::Name) {
    reply.text("reference");
    put_reference(reply, reference);
    reply.text("room");
    reply.bulk(room.as_bytes());
}

fn put_tail(reply: &mut Encoder<'_>, position: Position, replayed: bool) {
    reply.text("position");
    reply.integer(position.0);
    if replayed {
        reply.text("replayed");
        reply.boolean(true);
    }
}
