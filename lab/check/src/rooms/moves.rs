//! Moves and cancellations of bookings.

use super::{Booking, Cancelled, CellHolder, InlineReference, Moved, Picked, Place, Table, Wish};

impl Table {
    /// What is answered to who asks for the end of a booking; the refusals also to who moves one.
    pub(super) fn cancel(
        &mut self,
        position: u64,
        (deed, reference, id): (&str, InlineReference, Option<u64>),
        answer: Cancelled,
    ) -> Result<(), String> {
        let known = self.bookings.get(&reference).copied();
        let is_another = |booked: u64| id.is_some_and(|id| id != booked);
        let wrong = |sentence: String| Err(format!("the {deed} of {reference} {sentence}"));
        match (answer, known) {
            (Cancelled::Done(place), Some(booking)) => {
                self.end(reference, position);
                if booking.place != place {
                    return wrong(format!("was for {place}, but {} was booked", booking.place));
                }
                if is_another(booking.id) {
                    return wrong("was done with a wrong id number".to_owned());
                }
                Ok(())
            }
            (Cancelled::Done(_), None) => wrong(match self.ended.get(&reference) {
                Some(end) => format!("was done, but that ended at position {end}"),
                None => "was done, but that was never booked".to_owned(),
            }),
            (Cancelled::Gone, Some(booking)) if booking.fading => {
                self.end(reference, position);
                Ok(())
            }
            (Cancelled::Gone, Some(booking)) => {
                self.end(reference, position);
                wrong(format!(
                    "was refused, for there is no such booking, but {} was booked at position {}: \
                     it is lost",
                    booking.place, booking.position
                ))
            }
            (Cancelled::WrongGuest, Some(booking)) if is_another(booking.id) => Ok(()),
            (Cancelled::WrongGuest, Some(_)) => wrong("was refused to who may".to_owned()),
            (Cancelled::WrongGuest, None) => wrong("was refused, but no client has it".to_owned()),
            (Cancelled::Gone, None) if self.is_held(reference) => {
                wrong("was refused, for there is no such booking, but it is held".to_owned())
            }
            (Cancelled::Gone, None) => Ok(()),
            (Cancelled::Unknown, _) => wrong("has no answer, but a position".to_owned()),
            (Cancelled::Strange, _) => wrong("was refused for no reason".to_owned()),
        }
    }

    /// A booking leaves its place for one of several rooms, or is refused.
    pub(super) fn moves(
        &mut self,
        position: u64,
        (reference, id): (InlineReference, u64),
        wish: Wish,
        answer: Moved,
    ) -> Result<(), String> {
        let deed = ("move", reference, Some(id));
        let known = self.bookings.get(&reference).copied();
        match (answer, known) {
            (Moved::Gone, _) => self.cancel(position, deed, Cancelled::Gone),
            (Moved::WrongGuest, _) => self.cancel(position, deed, Cancelled::WrongGuest),
            (Moved::Done { from, .. }, None) => self.cancel(position, deed, Cancelled::Done(from)),
            (Moved::Done { room, from }, Some(booking)) => {
                let told = Self::is_told_right((reference, id), &booking, from);
                let moved = self.move_booking(position, (reference, booking), wish, room);
                told.and(moved)
            }
            (Moved::SoldOut(nights), None) => self.pick(position, wish, Picked::SoldOut(nights)),
            (Moved::SoldOut(nights), Some(booking)) => {
                // Its own nights are not in its way.
                self.fill(booking.place, None);
                let told = self.pick(position, wish, Picked::SoldOut(nights));
                self.fill(booking.place, Some(CellHolder::Booking(reference)));
                told
            }
        }
    }

    fn is_told_right(
        (reference, id): (InlineReference, u64),
        booking: &Booking,
        from: Place,
    ) -> Result<(), String> {
        let wrong = |sentence: String| Err(format!("the move of {reference} {sentence}"));
        if booking.place != from {
            return wrong(format!("was from {from}, but {} was booked", booking.place));
        }
        if booking.id != id {
            return wrong("was done with a wrong id number".to_owned());
        }
        Ok(())
    }

    fn move_booking(
        &mut self,
        position: u64,
        (reference, booking): (InlineReference, Booking),
        wish: Wish,
        room: u32,
    ) -> Result<(), String> {
        let (from, to) = (booking.place, wish.at(room));
        self.fill(from, None);
        let stays = room == from.room && to.each().all(|night| from.each().any(|one| one == night));
        let allowed = self.may_move(wish, to, from).and_then(|()| {
            // Nights that it has already may have been stopped since.
            match to.each().find(|&night| self.is_stopped(room, night)) {
                Some(night) if !stays => Err(format!(
                    "{reference} moved to room {room}, but night {night} is not in sale"
                )),
                _ => Ok(()),
            }
        });
        let free = self.make_free(position, to, &format!("given to {reference}, which moved"));
        self.fill(to, Some(CellHolder::Booking(reference)));
        let moved = Booking {
            place: to,
            position: if to == from {
                booking.position
            } else {
                position
            },
            ..booking
        };
        self.bookings.insert(reference, moved);
        allowed.and(free)
    }

    /// A booking stays in its room where that is allowed, and else gets the first that is free.
    fn may_move(&self, wish: Wish, to: Place, from: Place) -> Result<(), String> {
        let is_wanted = |room: u32| wish.each().any(|one| one == room);
        if !is_wanted(to.room) {
            return Err(format!("{wish} was wanted, and room {} was given", to.room));
        }
        if to.room == from.room {
            return Ok(());
        }
        let own = wish.at(from.room);
        if is_wanted(from.room) && own.each().all(|night| self.is_free(own.room, night)) {
            return Err(format!(
                "room {} was given, but the booking might have stayed in room {}",
                to.room, from.room
            ));
        }
        self.is_first(wish, to.room)
    }
}
