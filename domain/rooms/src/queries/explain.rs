//! What stands in the way of a booking.

use turnstile_types::{Name, Stay};

use super::View;
use crate::{
    Block, Explanation, Nights, Refusal, Wish,
    apply::{Place, WishTarget},
    ledger::Taken,
    limits,
};

impl View<'_> {
    /// Says which room a wish would get, and what blocks the rooms that it names, room by room in
    /// the order of a listing: first what is booked and held, by night, then the stop-sell. Among
    /// many rooms it looks at the first 10,000.
    pub(super) fn explain(
        &self,
        property: &Name,
        wish: &Wish,
        stay: Stay,
    ) -> Result<Explanation, Refusal> {
        let directory = &self.rooms.directory;
        let property = directory
            .property(property)
            .ok_or(Refusal::UnknownProperty)?;
        let choice = self.rooms.choice(property, wish)?;
        let would_get = match self.rooms.place(property, &choice, stay, &self.due) {
            Ok(Place::Room(room)) => Some(directory.room_name(room)),
            Ok(Place::New(name, _)) => Some(name),
            Err(_) => None,
        };
        let mut blocks = Vec::new();
        match choice {
            WishTarget::Room(room) => self.blocks_of(room, stay, &mut blocks),
            WishTarget::Unnamed(_) => {}
            WishTarget::Kind(kind) => {
                self.blocks_of_kinds(property, kind.as_slice(), stay, &mut blocks);
            }
            WishTarget::Any => {
                let kinds = &directory.property_at(property).kinds;
                self.blocks_of_kinds(property, kinds, stay, &mut blocks);
            }
        }
        Ok(Explanation { would_get, blocks })
    }

    fn blocks_of_kinds(&self, property: u32, kinds: &[u32], stay: Stay, blocks: &mut Vec<Block>) {
        let directory = &self.rooms.directory;
        let steps = directory.walk(property, kinds, None);
        for step in steps.take(limits::ROOMS_EXAMINED_MAX) {
            if directory.is_step_of(step) {
                self.blocks_of(step.room, stay, blocks);
            }
            if blocks.len() >= limits::EXPLAINED_BLOCKS_MAX {
                blocks.truncate(limits::EXPLAINED_BLOCKS_MAX);
                return;
            }
        }
    }

    fn blocks_of(&self, room: u32, stay: Stay, blocks: &mut Vec<Block>) {
        let index = &self.rooms.directory.room_at(room).nights;
        let name = self.rooms.directory.room_name(room);
        let slots = self
            .rooms
            .calendar
            .owners(index, stay.arrival(), stay.departure());
        for slot in slots.filter(|&slot| self.stands(slot)) {
            let reference = self.rooms.ledger.reference(slot);
            let entry = self.rooms.ledger.at(slot);
            blocks.push(match entry.state.taken() {
                Some(Taken::Held { until, .. }) => Block::Hold {
                    room: name,
                    reference,
                    stay: entry.stay,
                    until,
                },
                Some(Taken::Booked(_)) => Block::Booking {
                    room: name,
                    reference,
                    stay: entry.stay,
                },
                Some(Taken::Expired { .. }) | None => continue,
            });
        }
        let stopped = self.rooms.calendar.conflict(index, stay).stopped;
        if stopped != 0 {
            let nights = Nights {
                first: stay.arrival(),
                bits: stopped,
            };
            blocks.push(Block::StopSell { room: name, nights });
        }
    }
}
