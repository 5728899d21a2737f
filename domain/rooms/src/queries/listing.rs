//! Bookings and holds, page by page.

use turnstile_types::{Name, Night, Position, Principal};

use super::View;
use crate::{
    Cursor, GuestId, Page, Refusal, Wish,
    apply::Choice,
    ledger::State,
    limits,
    widths::{join, low_32},
};

impl View<'_> {
    /// What stands on the nights, by room and arrival.
    ///
    /// The cursor is the number of a room and the arrival of the last entry shown in it; the
    /// latest night there is, on which no stay begins, when all of the room was shown. It stays
    /// valid whatever comes and goes in between.
    pub(super) fn list(
        &self,
        property: &Name,
        room: Option<&Name>,
        nights: (Night, Night),
        (cursor, limit): (Option<Cursor>, u16),
    ) -> Result<Page, Refusal> {
        let directory = &self.rooms.directory;
        let property = directory
            .property(property)
            .ok_or(Refusal::UnknownProperty)?;
        let mut after = None;
        let mut only = None;
        if let Some(name) = room {
            match self.rooms.choice(property, &Wish::Room(*name))? {
                Choice::Room(room) => only = Some(room),
                Choice::Unnamed(_) | Choice::Kind(_) | Choice::Any => return Ok(Page::EMPTY),
            }
        }
        if let Some(cursor) = cursor {
            let Some(place) = self.place_of(property, cursor) else {
                return Ok(Page::EMPTY);
            };
            after = Some(place);
        }
        let from = after.map(|(room, _)| directory.room_name(room));
        let in_order = directory.rooms_in_order(&directory.property_at(property).kinds, from);
        let rooms: &mut dyn Iterator<Item = u32> = match only {
            Some(_) => &mut only.into_iter(),
            None => &mut in_order.into_iter(),
        };
        Ok(self.page_of_rooms(rooms, nights, after, usize::from(limit.max(1))))
    }

    /// The room and arrival that a cursor names, if it can be one of this property's.
    fn place_of(&self, property: u32, Cursor(cursor): Cursor) -> Option<(u32, Night)> {
        let room = low_32(cursor >> 32);
        let arrival = Night::from_days(u16::try_from(low_32(cursor)).ok()?);
        let known = self.rooms.directory.rooms().get(room)?;
        (known.property == property).then_some((room, arrival))
    }

    fn page_of_rooms(
        &self,
        rooms: &mut dyn Iterator<Item = u32>,
        (from, to): (Night, Night),
        after: Option<(u32, Night)>,
        limit: usize,
    ) -> Page {
        let mut entries = Vec::new();
        let mut last = None;
        for (examined, room) in rooms.enumerate() {
            if examined == limits::ROOMS_EXAMINED_MAX {
                return Page {
                    entries,
                    next: last,
                };
            }
            let index = &self.rooms.directory.room_at(room).nights;
            for slot in self.rooms.calendar.owners(index, from, to) {
                let arrival = self.rooms.ledger.at(slot).stay.arrival();
                let shown = after.is_some_and(|(of, until)| of == room && arrival <= until);
                if shown || !self.stands(slot) {
                    continue;
                }
                if entries.len() == limit {
                    return Page {
                        entries,
                        next: last,
                    };
                }
                entries.push(self.entry(slot));
                last = Some(cursor_after(room, arrival));
            }
            if examined + 1 == limits::ROOMS_EXAMINED_MAX {
                last = Some(cursor_after(room, Night::from_days(u16::MAX)));
            }
        }
        Page {
            entries,
            next: None,
        }
    }

    /// The cursor is the position of the last booking shown: newer ones have greater positions.
    pub(super) fn guest(&self, id: GuestId, cursor: Option<Cursor>, limit: u16) -> Page {
        let ledger = &self.rooms.ledger;
        let slots = self.rooms.guests.bookings(ledger, id).skip_while(|&slot| {
            cursor.is_some_and(|Cursor(shown)| ledger.at(slot).position.0 >= shown)
        });
        self.page_of_slots(slots, limit, |slot| ledger.at(slot).position)
    }

    /// The cursor is the position of the record that made the last hold shown.
    pub(super) fn holds(&self, principal: &Principal, cursor: Option<Cursor>, limit: u16) -> Page {
        let Some(number) = self.rooms.principals.number(principal) else {
            return Page::EMPTY;
        };
        let from = cursor.map_or(Some(0), |Cursor(shown)| shown.checked_add(1));
        let Some(from) = from else {
            return Page::EMPTY;
        };
        let slots = self
            .rooms
            .principals
            .holds_from(number, Position(from))
            .filter(|&slot| self.stands(slot));
        self.page_of_slots(slots, limit, |slot| {
            match self.rooms.ledger.at(slot).state {
                State::Held { made, .. } => made,
                State::Free { .. } | State::Spent | State::Booked(_) | State::Expired { .. } => {
                    unreachable!("a caller's list has open holds only")
                }
            }
        })
    }

    fn page_of_slots(
        &self,
        mut slots: impl Iterator<Item = u32>,
        limit: u16,
        position: impl Fn(u32) -> Position,
    ) -> Page {
        let shown: Vec<u32> = slots.by_ref().take(usize::from(limit.max(1))).collect();
        let more = slots.next().is_some();
        Page {
            entries: shown.iter().map(|&slot| self.entry(slot)).collect(),
            next: shown
                .last()
                .filter(|_| more)
                .map(|&slot| Cursor(position(slot).0)),
        }
    }
}

impl Page {
    const EMPTY: Self = Self {
        entries: Vec::new(),
        next: None,
    };
}

fn cursor_after(room: u32, arrival: Night) -> Cursor {
    Cursor(join(room, u32::from(arrival.days())))
}
