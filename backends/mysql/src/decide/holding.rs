//! Commands on existing holds and bookings.

use turnstile_rooms::{CancelReason, Done, GuestId, Reference, Refusal, limits};
use turnstile_types::Timestamp;

use super::{
    Asked, Entry, due, look_up,
    nights::{leave, take},
    refuse_ttl,
};
use crate::{
    known::{Attempt, Known},
    tables::{BookingRow, BookingState, CancellationRow, HoldRow, HoldState, PlacedStay},
};

pub(super) fn extend(
    known: &mut Known,
    asked: &Asked,
    reference: Reference,
    ttl_ms: u32,
) -> Attempt<Done> {
    let number = reference.number();
    let mut hold = open_hold(known, number)?;
    refuse_ttl(ttl_ms)?;
    let until = known.now.plus_ms(ttl_ms.into());
    let until_max = hold.placed.since.plus_ms(limits::HOLD_TOTAL_MS_MAX);
    if until > until_max {
        return Err(Refusal::HoldCeiling { until_max }.into());
    }
    leave(known, &hold.placed, number, Some(hold.until));
    take(known, &hold.placed, number, Some(until));
    hold.until = until;
    hold.position = asked.position;
    known.holds.set(&number, hold);
    Ok(Done::Extended { until })
}

pub(super) fn confirm(
    known: &mut Known,
    asked: &Asked,
    reference: Reference,
    (guest, id): (&str, GuestId),
) -> Attempt<Done> {
    let number = reference.number();
    let mut hold = match look_up(known, number)? {
        Entry::Hold(hold) => hold,
        Entry::Booking(_) => return Err(Refusal::AlreadyConfirmed.into()),
    };
    let late = is_over(&hold, known.now);
    if late {
        let over = rooms_for_late(known, &hold)?;
        for other in over {
            due::expire(known, other, asked.position);
        }
    } else {
        leave(known, &hold.placed, number, Some(hold.until));
    }
    take(known, &hold.placed, number, None);
    let booking = BookingRow {
        placed: hold.placed.clone(),
        guest: guest.into(),
        id,
        position: asked.position,
        state: BookingState::Booked,
    };
    let room = hold.placed.room;
    hold.state = HoldState::Confirmed;
    hold.position = asked.position;
    known.holds.set(&number, hold);
    known.bookings.set(&number, booking);
    known.count(|counters| {
        counters.bookings += 1;
        counters.booked_total += 1;
    });
    Ok(Done::Confirmed {
        reference,
        room,
        late,
    })
}

/// The holds that must be noted as over, this one among them, before it takes its nights again.
fn rooms_for_late(known: &mut Known, hold: &HoldRow) -> Attempt<Vec<u64>> {
    let key = (hold.placed.property, hold.placed.room);
    let withdrawn = known.room(&key)?.is_none_or(|room| room.withdrawn);
    let (stopped, taken) = known.in_the_way(&key, hold.placed.stay)?;
    if withdrawn || stopped | taken != 0 {
        return Err(Refusal::HoldExpired.into());
    }
    due::holders(known, &key, hold.placed.stay)
}

pub(super) fn release(known: &mut Known, asked: &Asked, reference: Reference) -> Attempt<Done> {
    let number = reference.number();
    let mut hold = open_hold(known, number)?;
    leave(known, &hold.placed, number, Some(hold.until));
    hold.state = HoldState::Released;
    hold.position = asked.position;
    known.holds.set(&number, hold);
    Ok(Done::Released)
}

pub(super) fn cancel(
    known: &mut Known,
    asked: &Asked,
    reference: Reference,
    id: GuestId,
) -> Attempt<Done> {
    let booking = booked(known, reference.number())?;
    if booking.id != id {
        return Err(Refusal::WrongGuest.into());
    }
    Ok(end_booking(known, asked, reference.number(), booking))
}

pub(super) fn cancel_for_guest(
    known: &mut Known,
    asked: &Asked,
    reference: Reference,
    reason: CancelReason<'_>,
) -> Attempt<Done> {
    let number = reference.number();
    let booking = booked(known, number)?;
    let row = CancellationRow {
        principal: asked.principal,
        reason: reason.as_str().into(),
        since: known.now,
    };
    known.cancellations.know(number, None);
    known.cancellations.set(&number, row);
    Ok(end_booking(known, asked, number, booking))
}

pub(super) fn booked(known: &mut Known, number: u64) -> Attempt<BookingRow> {
    match look_up(known, number)? {
        Entry::Booking(booking) => Ok(booking),
        Entry::Hold(_) => Err(Refusal::NotConfirmed.into()),
    }
}

fn end_booking(known: &mut Known, asked: &Asked, number: u64, mut booking: BookingRow) -> Done {
    leave(known, &booking.placed, number, None);
    let PlacedStay { room, stay, .. } = booking.placed;
    booking.state = BookingState::Cancelled;
    booking.position = asked.position;
    known.bookings.set(&number, booking);
    known.count(|counters| {
        counters.bookings -= 1;
        counters.cancelled_total += 1;
    });
    Done::Cancelled { room, stay }
}

fn open_hold(known: &mut Known, number: u64) -> Attempt<HoldRow> {
    match look_up(known, number)? {
        Entry::Booking(_) => Err(Refusal::AlreadyConfirmed.into()),
        Entry::Hold(hold) if is_over(&hold, known.now) => Err(Refusal::HoldExpired.into()),
        Entry::Hold(hold) => Ok(hold),
    }
}

fn is_over(hold: &HoldRow, now: Timestamp) -> bool {
    hold.state != HoldState::Held || hold.until <= now
}
