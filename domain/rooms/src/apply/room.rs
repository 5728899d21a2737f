//! Adding and withdrawing rooms.

use turnstile_types::{Context, Name, Night, Stay};

use crate::{Done, EventKind, Refusal, Rooms, shelves::Mark};

impl Rooms {
    /// Adds a room. One that was withdrawn comes back, without its old stop-sells.
    pub(super) fn add_room(
        &mut self,
        context: &Context<'_>,
        property: &Name,
        name: Name,
        room_type: Name,
    ) -> Result<Done, Refusal> {
        let property = self
            .directory
            .property(property)
            .ok_or(Refusal::UnknownProperty)?;
        let known = self.directory.room(property, name.as_bytes());
        if known.is_some_and(|room| !self.directory.room_at(room).withdrawn) {
            return Err(Refusal::RoomExists);
        }
        let limit = self.directory.rooms_max(property);
        if known.is_none() && self.directory.property_at(property).rooms >= limit {
            return Err(Refusal::TooManyRooms { limit });
        }

        let kind = self.directory.enrol_kind(property, room_type);
        let room = known.unwrap_or_else(|| self.directory.add_room(kind, name));
        self.directory.offer(room, kind);
        self.announce(context, EventKind::RoomAdded, (property, Some(name)), None);
        Ok(Done::RoomAdded)
    }

    /// Withdraws a room on which nothing stands, past bookings included: they are its history,
    /// and a listing that lost them would lie.
    pub(super) fn withdraw_room(
        &mut self,
        context: &Context<'_>,
        property: &Name,
        name: &Name,
    ) -> Result<Done, Refusal> {
        let property = self
            .directory
            .property(property)
            .ok_or(Refusal::UnknownProperty)?;
        let room = self
            .directory
            .room(property, name.as_bytes())
            .filter(|&room| !self.directory.room_at(room).withdrawn)
            .ok_or(Refusal::UnknownRoom)?;
        let nights = &self.directory.room_at(room).nights;
        if let Some(night) = self.calendar.first_owned(nights) {
            return Err(Refusal::RoomInUse { night });
        }

        let stopped: Vec<Night> = self.calendar.stopped(nights).collect();
        for night in stopped {
            let next = night
                .checked_add(1)
                .expect("a night that was stopped has an end");
            let stay = Stay::new(night, next).expect("one night is a stay");
            self.stop(room, stay, false);
        }
        self.directory.withdraw(room);
        self.announce(
            context,
            EventKind::RoomWithdrawn,
            (property, Some(*name)),
            None,
        );
        Ok(Done::RoomWithdrawn)
    }

    /// Stops or resumes the sale of nights, everywhere.
    pub(crate) fn stop(&mut self, room: u32, stay: Stay, stopped: bool) {
        let nights = &mut self.directory.room_mut(room).nights;
        self.calendar.stop(nights, stay, stopped);
        self.directory.mark(room, Mark::Stopped, stay, stopped);
    }
}
