//! Bookings and holds, page by page.

use turnstile_types::{Name, Night, Position, Principal};

use super::View;
use crate::{
    Cursor, GuestId, Page, Refusal, Rooms, Wish,
    apply::WishTarget,
    directory::Step,
    limits,
    widths::{join, low_32},
};

/// The bit of a cursor which says that its room was shown among the loose ones.
const LOOSE: u32 = 1 << 16;

impl View<'_> {
    /// What stands on the nights, by room and arrival.
    ///
    /// The cursor is the number of a room, whether it was shown among the loose ones, and the
    /// arrival of the last entry shown in it; the latest night there is, on which no stay begins,
    /// when all of the room was shown. It stays valid whatever comes and goes in between.
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
                WishTarget::Room(room) => {
                    let loose = directory.is_loose(room);
                    only = Some(Step { room, loose });
                }
                WishTarget::Unnamed(_) | WishTarget::Kind(_) | WishTarget::Any => {
                    return Ok(Page::EMPTY);
                }
            }
        }
        if let Some(cursor) = cursor {
            let Some(place) = self.place_of(property, cursor) else {
                return Ok(Page::EMPTY);
            };
            after = Some(place);
        }
        let kinds = &directory.property_at(property).kinds;
        let mut walk = directory.walk(property, kinds, after.map(|(step, _)| step));
        let steps: &mut dyn Iterator<Item = Step> = match only {
            Some(_) => &mut only.into_iter(),
            None => &mut walk,
        };
        Ok(self.page_of_rooms(steps, nights, after, usize::from(limit.max(1))))
    }

    /// The step and arrival that a cursor names, if it can be one of this property's.
    pub(super) fn place_of(&self, property: u32, Cursor(cursor): Cursor) -> Option<(Step, Night)> {
        let room = low_32(cursor >> 32);
        let low = low_32(cursor);
        let loose = low & LOOSE != 0;
        let arrival = Night::from_days(u16::try_from(low & !LOOSE).ok()?);
        let known = self.rooms.directory.rooms().get(room)?;
        (known.property == property).then_some((Step { room, loose }, arrival))
    }

    fn page_of_rooms(
        &self,
        steps: &mut dyn Iterator<Item = Step>,
        (from, to): (Night, Night),
        after: Option<(Step, Night)>,
        limit: usize,
    ) -> Page {
        let mut entries = Vec::new();
        let mut last = None;
        let directory = &self.rooms.directory;
        for (examined, step) in steps.enumerate() {
            if examined == limits::ROOMS_EXAMINED_MAX {
                return Page {
                    entries,
                    next: last,
                };
            }
            let index = &directory.room_at(step.room).nights;
            let owners = directory
                .is_step_of(step)
                .then(|| self.rooms.calendar.owners(index, from, to));
            for slot in owners.into_iter().flatten() {
                let arrival = self.rooms.ledger.at(slot).stay.arrival();
                let shown = after.is_some_and(|(of, until)| of == step && arrival <= until);
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
                last = Some(cursor_after(step, arrival));
            }
            if examined + 1 == limits::ROOMS_EXAMINED_MAX {
                last = Some(cursor_after(step, Night::from_days(u16::MAX)));
            }
        }
        Page {
            entries,
            next: None,
        }
    }

    /// The cursor is the position of the last booking shown: newer ones have greater positions.
    pub(super) fn guest(&self, id: GuestId, cursor: Option<Cursor>, limit: u16) -> Page {
        let before = cursor.map(|Cursor(shown)| Position(shown));
        let Rooms { guests, ledger, .. } = self.rooms;
        self.page_of_slots(guests.bookings(ledger, id, before), limit)
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
        let holds = self.rooms.principals.holds_from(number, Position(from));
        self.page_of_slots(holds.filter(|&(_, slot)| self.stands(slot)), limit)
    }

    /// The entries of some slots, each with the position that a cursor names it by.
    fn page_of_slots(&self, mut slots: impl Iterator<Item = (Position, u32)>, limit: u16) -> Page {
        let limit = usize::from(limit.max(1));
        let shown: Vec<(Position, u32)> = slots.by_ref().take(limit).collect();
        let more = slots.next().is_some();
        let last = shown.last().filter(|_| more);
        Page {
            entries: shown.iter().map(|&(_, slot)| self.entry(slot)).collect(),
            next: last.map(|(position, _)| Cursor(position.0)),
        }
    }
}

impl Page {
    const EMPTY: Self = Self {
        entries: Vec::new(),
        next: None,
    };
}

pub(super) fn cursor_after(step: Step, arrival: Night) -> Cursor {
    let loose = if step.loose { LOOSE } else { 0 };
    Cursor(join(step.room, loose | u32::from(arrival.days())))
}
