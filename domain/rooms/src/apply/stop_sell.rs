//! Stopping the sale of a room for some nights.

use turnstile_types::{Context, Name, Stay};

use super::Place;
use crate::{Done, Event, EventKind, Refusal, Rooms, Wish, apply::choice::WishTarget};

impl Rooms {
    /// Nights that are stopped may be stopped again, and likewise resumed. In an open property
    /// either makes the room known.
    pub(super) fn stop_sell(
        &mut self,
        context: &Context<'_>,
        property: &Name,
        name: Name,
        stay: Stay,
        stopped: bool,
    ) -> Result<Done, Refusal> {
        let number = self
            .directory
            .property(property)
            .ok_or(Refusal::UnknownProperty)?;
        let choice = self.choice(number, &Wish::Room(name))?;
        let place = match choice {
            WishTarget::Room(room) => Place::Room(room),
            WishTarget::Unnamed(_) | WishTarget::Kind(_) | WishTarget::Any => {
                self.place(number, &choice, stay, &[])?
            }
        };

        let room = self.settle(number, place);
        self.stop(room, stay, stopped);
        let (kind, done) = if stopped {
            (EventKind::SaleStopped, Done::SaleStopped)
        } else {
            (EventKind::SaleResumed, Done::SaleResumed)
        };
        self.events.put(context.position, |ordinal| Event {
            position: context.position,
            ordinal,
            at: context.now,
            kind,
            property: *property,
            room: Some(name),
            reference: None,
            stay: Some(stay),
            reason: None,
            from: None,
        });
        Ok(done)
    }
}
