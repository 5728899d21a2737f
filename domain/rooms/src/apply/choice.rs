//! Finds the room for a wish.

use turnstile_types::{Name, Stay};

use crate::{
    Nights, Refusal, Rooms, Wish,
    calendar::Conflict,
    directory::{Due, OPEN_TYPE, ShelfSearch},
};

/// What a wish names, when that exists.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WishTarget {
    Room(u32),
    /// A room of an open property that nobody has named yet.
    Unnamed(Name),
    /// A type. In an open property the type `open` is there before any of its rooms, and every
    /// wish for it makes a new one.
    Kind(Option<u32>),
    Any,
}

/// Where a stay will be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Room(u32),
    /// A room that begins to exist with this stay; with its number, when it was given one.
    New(Name, Option<u32>),
}

impl Rooms {
    /// Finds what a wish names.
    pub(crate) fn choice(&self, property: u32, wish: &Wish) -> Result<WishTarget, Refusal> {
        let open = self.directory.property_at(property).open;
        match wish {
            Wish::Any => Ok(WishTarget::Any),
            Wish::Room(name) => match self.directory.room(property, name.as_bytes()) {
                Some(room) if !self.directory.room_at(room).withdrawn => Ok(WishTarget::Room(room)),
                None if open => Ok(WishTarget::Unnamed(*name)),
                _ => Err(Refusal::UnknownRoom),
            },
            Wish::Type(name) => {
                let kind = self.directory.kind(property, name.as_bytes());
                let known = kind.is_some_and(|kind| self.directory.kind_at(kind).rooms > 0);
                if known || open && name.as_bytes() == OPEN_TYPE {
                    Ok(WishTarget::Kind(kind))
                } else {
                    Err(Refusal::UnknownType)
                }
            }
        }
    }

    /// Prepares the search for any of many rooms; what it finds stays the same.
    pub(crate) fn prepare_search(&mut self, property: u32, choice: &WishTarget, stay: Stay) {
        match choice {
            WishTarget::Room(_) | WishTarget::Unnamed(_) => {}
            WishTarget::Kind(kind) => self.directory.advance_frontier(kind.as_slice(), stay),
            WishTarget::Any => {
                let kinds = self.directory.property_at(property).kinds.clone();
                self.directory.advance_frontier(&kinds, stay);
            }
        }
    }

    /// Finds the room for a stay.
    pub(crate) fn place(
        &self,
        property: u32,
        choice: &WishTarget,
        stay: Stay,
        due: &Due,
    ) -> Result<Place, Refusal> {
        let place = match choice {
            WishTarget::Room(room) => {
                refuse_conflict(self.conflict(*room, stay, due), stay)?;
                Place::Room(*room)
            }
            WishTarget::Unnamed(name) => Place::New(*name, None),
            WishTarget::Kind(kind) => {
                let fresh = kind
                    .is_none_or(|kind| self.directory.kind_at(kind).name.as_bytes() == OPEN_TYPE);
                self.search(property, kind.as_slice(), fresh, stay, due)?
            }
            WishTarget::Any => {
                let kinds = &self.directory.property_at(property).kinds;
                self.search(property, kinds, true, stay, due)?
            }
        };
        let full = self.directory.property_at(property).rooms >= self.directory.rooms_max(property);
        match place {
            Place::New(..) if full => Err(Refusal::TooManyRooms {
                limit: self.directory.rooms_max(property),
            }),
            Place::Room(_) | Place::New(..) => Ok(place),
        }
    }

    /// The first free room of some types that lies on a shelf; with `fresh`, in an open property,
    /// else a new one.
    fn search(
        &self,
        property: u32,
        kinds: &[u32],
        fresh: bool,
        stay: Stay,
        due: &Due,
    ) -> Result<Place, Refusal> {
        let search = ShelfSearch {
            directory: &self.directory,
            kinds,
            stay,
            due,
        };
        if let Some(room) = search.first_free() {
            return Ok(Place::Room(room));
        }
        if fresh && self.directory.property_at(property).open {
            let (number, name) = self.directory.fresh_number(property);
            return Ok(Place::New(name, Some(number)));
        }
        Err(search.refusal())
    }

    /// What is in the way in one room, without what is due.
    pub(crate) fn conflict(&self, room: u32, stay: Stay, due: &Due) -> Conflict {
        let mut conflict = self
            .calendar
            .conflict(&self.directory.room_at(room).nights, stay);
        for (_, over) in due.iter().filter(|&&(other, _)| other == room) {
            for (night, bit) in stay.iter().zip(0_u32..) {
                if over.arrival() <= night && night < over.departure() {
                    conflict.occupied &= !(1 << bit);
                }
            }
        }
        conflict
    }

    /// The room of a place, which begins to exist when it is new.
    pub(crate) fn settle(&mut self, property: u32, place: Place) -> u32 {
        match place {
            Place::Room(room) => room,
            Place::New(name, number) => {
                let open = Name::parse(OPEN_TYPE).expect("`open` is a name");
                let kind = self.directory.enrol_kind(property, open);
                let room = self.directory.add_room(kind, name);
                self.directory.offer(room, kind);
                if let Some(number) = number {
                    self.directory.note_numbered(property, number);
                }
                room
            }
        }
    }
}

const fn refuse_conflict(conflict: Conflict, stay: Stay) -> Result<(), Refusal> {
    let first = stay.arrival();
    if conflict.stopped != 0 {
        let bits = conflict.stopped;
        return Err(Refusal::StopSell {
            nights: Nights { first, bits },
        });
    }
    if conflict.occupied != 0 {
        let bits = conflict.occupied;
        return Err(Refusal::SoldOut {
            nights: Nights { first, bits },
        });
    }
    Ok(())
}
