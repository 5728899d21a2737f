//! How many rooms are free.

use std::collections::BTreeSet;

use turnstile_types::{Name, Stay};

use super::View;
use crate::{
    Refusal, TypeAvailability, Wish,
    directory::{Due, OPEN_TYPE, ShelfSearch},
    order::natural,
    shelves::Mark,
};

impl View<'_> {
    /// The free rooms of one type, or of every type with rooms in sale, in natural order of the
    /// types. Rooms of an open property that nobody has named are not counted. Shelves answer for
    /// 64 rooms at once, but loose rooms are looked at one by one: that takes time in proportion
    /// to the rooms that the property has ever had.
    pub(super) fn availability(
        &self,
        property: &Name,
        room_type: Option<&Name>,
        stay: Stay,
    ) -> Result<Vec<TypeAvailability>, Refusal> {
        let directory = &self.rooms.directory;
        let number = directory
            .property(property)
            .ok_or(Refusal::UnknownProperty)?;
        if let Some(name) = room_type {
            self.rooms.choice(number, &Wish::Type(*name))?;
            let kind = directory.kind(number, name.as_bytes());
            return Ok(vec![self.of_type(*name, kind, stay)]);
        }
        let mut kinds: Vec<u32> = directory
            .property_at(number)
            .kinds
            .iter()
            .copied()
            .filter(|&kind| directory.kind_at(kind).rooms > 0)
            .collect();
        let name = |kind: u32| &directory.kind_at(kind).name;
        kinds.sort_by(|&left, &right| natural(name(left).as_bytes(), name(right).as_bytes()));
        Ok(kinds
            .into_iter()
            .map(|kind| self.of_type(*name(kind), Some(kind), stay))
            .collect())
    }

    /// `kind` is missing for the type `open` before its first room.
    fn of_type(&self, room_type: Name, kind: Option<u32>, stay: Stay) -> TypeAvailability {
        assert!(
            kind.is_some() || room_type.as_bytes() == OPEN_TYPE,
            "every other type has a room"
        );
        let directory = &self.rooms.directory;
        if let Some(kind) = kind.filter(|&kind| !directory.kind_at(kind).shelved) {
            return self.of_loose(room_type, kind, stay);
        }
        let search = ShelfSearch {
            directory,
            kinds: kind.as_slice(),
            stay,
            due: &self.due,
        };
        let mut free = vec![0; usize::from(stay.nights())];
        let mut free_throughout = 0;
        for shelf in kind
            .iter()
            .flat_map(|&kind| directory.kind_at(kind).shelves())
        {
            let used = directory.shelves.used(shelf);
            let occupied = search.words(shelf, Mark::Occupied);
            let stopped = search.words(shelf, Mark::Stopped);
            for ((free, occupied), stopped) in free.iter_mut().zip(occupied).zip(stopped) {
                *free += (used & !occupied & !stopped).count_ones();
            }
            let throughout = search.free_of(shelf) & !search.stopped_of(shelf);
            free_throughout += throughout.count_ones();
        }
        TypeAvailability {
            room_type,
            rooms: kind.map_or(0, |kind| directory.kind_at(kind).rooms),
            free,
            free_throughout,
        }
    }

    /// What the calendars of loose rooms say.
    fn of_loose(&self, room_type: Name, kind: u32, stay: Stay) -> TypeAvailability {
        let directory = &self.rooms.directory;
        let with_due: BTreeSet<u32> = self.due.iter().map(|&(room, _)| room).collect();
        let rooms = directory.kind_at(kind).rooms;
        let mut free = vec![rooms; usize::from(stay.nights())];
        let mut free_throughout = rooms;
        for number in directory.chain(directory.kind_at(kind).property) {
            let room = directory.room_at(number);
            if room.kind != kind || room.withdrawn {
                continue;
            }
            let due: &Due = if with_due.contains(&number) {
                &self.due
            } else {
                &[]
            };
            let conflict = self.rooms.conflict(number, stay, due);
            let blocked = conflict.occupied | conflict.stopped;
            free_throughout -= u32::from(blocked != 0);
            for (night, free) in free.iter_mut().enumerate() {
                *free -= u32::from(blocked >> night & 1 == 1);
            }
        }
        TypeAvailability {
            room_type,
            rooms,
            free,
            free_throughout,
        }
    }
}
