//! Moves in the twin: the booking leaves the house, and enters it again.

use turnstile_rooms::{Done, EventKind, FormerPlace, GuestId, Reference, Refusal, Wish};
use turnstile_types::{Context, Stay};

use super::{State, Target, Twin, open_type};

impl Twin {
    pub(super) fn move_booking(
        &mut self,
        context: &Context<'_>,
        booking: Reference,
        (wish, stay): (&Wish, Stay),
        id: GuestId,
    ) -> Result<Done, Refusal> {
        let slot = self.look_up(booking)?;
        let entry = self.slots[slot].entry.clone().unwrap();
        match entry.state {
            State::Booked { id: booked, .. } if booked != id => return Err(Refusal::WrongGuest),
            State::Booked { .. } => {}
            State::Held { .. } | State::Expired { .. } => return Err(Refusal::NotConfirmed),
        }
        let own = entry.room;
        let property = self.rooms[own].property;
        self.exists(property, wish)?;
        self.slots[slot].entry = None;
        let fits = self.wished(property, wish).contains(&own);
        let has_all = stay
            .iter()
            .all(|night| entry.stay.iter().any(|one| one == night));
        let free = self.in_the_way(own, stay, context.now) == (0, 0);
        let target = if fits && (has_all || free) {
            Ok(Target::Room(own))
        } else {
            self.target(property, wish, stay, context.now)
        };
        self.slots[slot].entry = Some(entry.clone());

        let room = match target? {
            Target::Room(room) => room,
            Target::New(name) => {
                let kind = self.kind(property, open_type());
                self.push_room(property, kind, name)
            }
        };
        let from = FormerPlace {
            room: self.rooms[own].name,
            stay: entry.stay,
        };
        if (room, stay) != (own, entry.stay) {
            let moved = self.slots[slot].entry.as_mut().unwrap();
            moved.room = room;
            moved.stay = stay;
            moved.position = context.position;
            self.tell(context, EventKind::Moved, slot);
            self.events.last_mut().unwrap().from = Some(from);
        }
        let room = self.rooms[room].name;
        Ok(Done::Moved { room, from })
    }
}
