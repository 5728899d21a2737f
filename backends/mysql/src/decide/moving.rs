//! Moves bookings to other nights or other rooms.

use turnstile_rooms::{Done, FormerPlace, GuestId, Reference, Refusal, Wish};
use turnstile_types::{Name, Stay};

use super::{
    Asked, Target, existing,
    holding::booked,
    nights::{leave, take},
    placing::Place,
};
use crate::{
    known::{Attempt, Known},
    tables::{PlacedStay, PropertyRow, RoomRow},
};

pub(super) fn move_booking(
    known: &mut Known,
    asked: &Asked,
    reference: Reference,
    (wish, stay): (&Wish, Stay),
    id: GuestId,
) -> Attempt<Done> {
    let number = reference.number();
    let mut booking = booked(known, number)?;
    if booking.id != id {
        return Err(Refusal::WrongGuest.into());
    }
    let before = booking.placed.clone();
    let (name, property) = existing(known, before.property, wish)?;
    let own = known.room(&(name, before.room))?;
    let own = own.expect("a booking has its room");
    leave(known, &before, number, None);
    let found = new_place(known, (name, &property), (&before, &own), (wish, stay));
    let place = match found {
        Ok(place) => place,
        Err(halt) => {
            take(known, &before, number, None);
            return Err(halt);
        }
    };
    let room = place.settle(known, asked);
    (booking.placed.room, booking.placed.stay) = (room, stay);
    take(known, &booking.placed, number, None);
    if (room, stay) != (before.room, before.stay) {
        booking.position = asked.position;
        known.bookings.set(&number, booking);
    }
    let from = FormerPlace {
        room: before.room,
        stay: before.stay,
    };
    Ok(Done::Moved { room, from })
}

/// Where a booking goes that has left its nights: it stays in its room where the wish and the nights allow
/// that.
fn new_place(
    known: &mut Known,
    house: (Name, &PropertyRow),
    (before, own): (&PlacedStay, &RoomRow),
    (wish, stay): (&Wish, Stay),
) -> Attempt<Place> {
    let fits = match wish {
        Wish::Room(room) => *room == before.room,
        Wish::Type(room_type) => *room_type == own.room_type,
        Wish::Any => true,
    };
    let key = (before.property, before.room);
    let stays = fits && (before.stay.covers(stay) || known.in_the_way(&key, stay)? == (0, 0));
    if stays {
        return Place::at(known, before.property, Target::Room(before.room), stay);
    }
    Place::find(known, house, wish, stay)
}
