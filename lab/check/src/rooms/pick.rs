//! Wishes for one of several rooms.

use super::{CellHolder, Held, InlineReference, Picked, Place, Table, Wish};

impl Table {
    /// Somebody asks for one of several rooms.
    pub(super) fn pick(&mut self, position: u64, wish: Wish, answer: Picked) -> Result<(), String> {
        if let Picked::Booked { room, .. } | Picked::Held { room, .. } = answer
            && !wish.each().any(|one| one == room)
        {
            return Err(format!("{wish} was wanted, and room {room} was given"));
        }
        if let Picked::Booked { room, .. } | Picked::Held { room, .. } = answer
            && let Some(night) = wish
                .at(room)
                .each()
                .find(|&night| self.is_stopped(room, night))
        {
            return Err(format!(
                "room {room} was given, but night {night} is not in sale"
            ));
        }
        match answer {
            Picked::Booked {
                room,
                id,
                reference,
            } => {
                let first = self.is_first(wish, room);
                let booked = self.book(position, wish.at(room), id, reference);
                first.and(booked)
            }
            Picked::Held {
                room,
                ttl_ms,
                reference,
                until,
            } => {
                let first = self.is_first(wish, room);
                let place = (wish.at(room), ttl_ms);
                let held = self.hold(position, place, Held::Done { reference, until });
                first.and(held)
            }
            Picked::SoldOut(nights) if wish.rooms == 1 => {
                self.sold_out(position, wish.at(wish.first), nights)
            }
            Picked::SoldOut(nights) => self.all_sold(position, wish, nights),
            Picked::Unknown { .. } => Err(format!("{wish} has no answer, but a position")),
            Picked::Strange => Err(format!("{wish} was refused for no reason")),
        }
    }

    /// The first room that is free for certain in all nights.
    fn first_free(&self, wish: Wish) -> Option<u32> {
        let is_free = |&room: &u32| wish.at(room).each().all(|night| self.is_free(room, night));
        wish.each().find(is_free)
    }

    /// Whether nobody can have a cell that is in sale.
    pub(super) fn is_free(&self, room: u32, night: u16) -> bool {
        self.holder(room, night).is_none()
            && !self.is_stopped(room, night)
            && self.shades_over(room, night).next().is_none()
    }

    pub(super) fn is_stopped(&self, room: u32, night: u16) -> bool {
        self.stopped[self.index(room, night)]
    }

    /// The sale of a place is stopped or resumed; what stands there stays.
    pub fn stop(&mut self, place: Place, stopped: bool) {
        for night in place.each() {
            let cell = self.index(place.room, night);
            self.stopped[cell] = stopped;
        }
    }

    /// A room is taken out of sale for good.
    ///
    /// # Errors
    /// Somebody has it for certain.
    pub fn withdraw(&self, room: u32) -> Result<(), String> {
        let has = |&night: &u16| match self.holder(room, night) {
            Some(CellHolder::Hold(reference)) => self.is_held(reference),
            Some(CellHolder::Booking(_) | CellHolder::Shade(_)) => self.is_taken(room, night),
            None => false,
        };
        match (0..self.nights).find(has) {
            None => Ok(()),
            Some(night) => {
                let told = self.told_of(room, night);
                Err(format!(
                    "room {room} was withdrawn, but night {night} {told}"
                ))
            }
        }
    }

    /// What is booked or held under a reference.
    #[must_use]
    pub fn place_of(&self, reference: InlineReference) -> Option<Place> {
        let booking = self.bookings.get(&reference).map(|booking| booking.place);
        booking.or_else(|| self.holds.get(&reference).map(|hold| hold.place))
    }

    /// Bookings that stand for certain.
    #[must_use]
    pub fn bookings(&self) -> usize {
        let stands = self.bookings.values().filter(|booking| !booking.fading);
        stands.count()
    }

    pub(super) fn is_first(&self, wish: Wish, room: u32) -> Result<(), String> {
        match self.first_free(wish) {
            Some(free) if free < room => Err(format!(
                "{wish} was wanted, and room {room} was given, but room {free} was free"
            )),
            Some(_) | None => Ok(()),
        }
    }

    /// None of the rooms is free in all nights, and none at all in those nights that are told.
    fn all_sold(&mut self, position: u64, wish: Wish, nights: u64) -> Result<(), String> {
        if nights >> wish.nights != 0 {
            return Err(format!("{wish} was refused as sold out for other nights"));
        }
        if let Some(free) = self.first_free(wish) {
            return Err(format!(
                "{wish} was refused as sold out, but room {free} is free"
            ));
        }
        for (bit, night) in wish.at(wish.first).each().enumerate() {
            let said = nights >> bit & 1 == 1;
            let free = wish.each().find(|&room| self.is_free(room, night));
            if let Some(room) = free.filter(|_room| said) {
                return Err(format!(
                    "{wish} was refused as sold out for night {night}, in which room {room} is free"
                ));
            }
            if said || wish.each().any(|room| self.holder(room, night).is_none()) {
                continue;
            }
            // One of the rooms is free: a hold must be over.
            let mut open = wish.each().filter(|&room| !self.is_taken(room, night));
            match (open.next(), open.next()) {
                (None, _) => {
                    return Err(format!(
                        "{wish} was refused, but night {night} is not among the nights that are sold"
                    ));
                }
                (Some(only), None) => {
                    drop(open);
                    self.clear_fading(only, night, position);
                }
                (Some(_), Some(_)) => {}
            }
        }
        Ok(())
    }
}
