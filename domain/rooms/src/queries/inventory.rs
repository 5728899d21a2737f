//! The rooms of a property, page by page.

use turnstile_types::{Name, Night, Stay};

use super::{View, listing::cursor_after};
use crate::{Cursor, Nights, Refusal, RoomInSale, StoppedRoom, limits};

impl View<'_> {
    pub(super) fn rooms_in_sale(
        &self,
        property: &Name,
        page: (Option<Cursor>, u16),
    ) -> Result<(Vec<RoomInSale>, Option<Cursor>), Refusal> {
        let directory = &self.rooms.directory;
        self.page_of_inventory(property, page, |number| {
            let kind = directory.room_at(number).kind;
            Some(RoomInSale {
                room: directory.room_name(number),
                room_type: directory.kind_at(kind).name,
            })
        })
    }

    pub(super) fn stop_sells(
        &self,
        property: &Name,
        stay: Stay,
        page: (Option<Cursor>, u16),
    ) -> Result<(Vec<StoppedRoom>, Option<Cursor>), Refusal> {
        self.page_of_inventory(property, page, |number| {
            let bits = self.rooms.conflict(number, stay, &[]).stopped;
            let nights = Nights {
                first: stay.arrival(),
                bits,
            };
            let room = self.rooms.directory.room_name(number);
            (bits != 0).then_some(StoppedRoom { room, nights })
        })
    }

    /// What is shown of the rooms in sale. The cursor is the number of the last room looked at, and
    /// whether it was among the loose ones.
    fn page_of_inventory<T>(
        &self,
        property: &Name,
        (cursor, limit): (Option<Cursor>, u16),
        shown: impl Fn(u32) -> Option<T>,
    ) -> Result<(Vec<T>, Option<Cursor>), Refusal> {
        let directory = &self.rooms.directory;
        let property = directory
            .property(property)
            .ok_or(Refusal::UnknownProperty)?;
        let (mut found, mut last) = (Vec::new(), None);
        let after = match cursor.map(|cursor| self.place_of(property, cursor)) {
            None => None,
            Some(Some((step, _))) => Some(step),
            Some(None) => return Ok((found, None)),
        };
        let kinds = &directory.property_at(property).kinds;
        for (examined, step) in directory.walk(property, kinds, after).enumerate() {
            if examined == limits::ROOMS_EXAMINED_MAX {
                return Ok((found, last));
            }
            let is_next = after != Some(step)
                && directory.is_step_of(step)
                && !directory.room_at(step.room).withdrawn;
            let item = is_next.then(|| shown(step.room)).flatten();
            let is_shown = item.is_some();
            if is_shown && found.len() == usize::from(limit.max(1)) {
                return Ok((found, last));
            }
            found.extend(item);
            if is_shown || examined + 1 == limits::ROOMS_EXAMINED_MAX {
                last = Some(cursor_after(step, Night::from_days(0)));
            }
        }
        Ok((found, None))
    }
}
