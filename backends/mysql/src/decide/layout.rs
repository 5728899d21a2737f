//! Properties and their rooms.

use turnstile_rooms::{Done, Refusal, Wish};
use turnstile_types::{Name, Stay};

use super::{OPEN_TYPE, existing, target::refuse_full};
use crate::{
    known::{Attempt, Known},
    tables::{PropertyRow, RoomKey, RoomRow, StoppedRow},
};

pub(super) fn add_property(known: &mut Known, name: Name, open: bool) -> Attempt<Done> {
    if known.property(&name)?.is_some() {
        return Err(Refusal::PropertyExists.into());
    }
    let property = PropertyRow {
        number: known.counters().next_property,
        open,
        rooms_known: 0,
        rooms_in_sale: 0,
        lowest_number: 1,
    };
    known.properties.set(&name, property);
    known.count(|counters| counters.next_property += 1);
    Ok(Done::PropertyAdded)
}

pub(super) fn add_room(known: &mut Known, key: RoomKey, room_type: Name) -> Attempt<Done> {
    let mut property = known.property(&key.0)?.ok_or(Refusal::UnknownProperty)?;
    let number = match known.room(&key)? {
        Some(room) if !room.withdrawn => return Err(Refusal::RoomExists.into()),
        Some(room) => room.number,
        None => {
            refuse_full(&property)?;
            property.rooms_known += 1;
            let number = known.counters().next_room;
            known.count(|counters| counters.next_room += 1);
            number
        }
    };
    let room = RoomRow {
        room_type,
        number,
        withdrawn: false,
        loose: property.open && &*room_type == OPEN_TYPE,
    };
    known.rooms.set(&key, room);
    property.rooms_in_sale += 1;
    known.properties.set(&key.0, property);
    Ok(Done::RoomAdded)
}

pub(super) fn withdraw(known: &mut Known, key: RoomKey) -> Attempt<Done> {
    let mut property = known.property(&key.0)?.ok_or(Refusal::UnknownProperty)?;
    let room = known.room(&key)?.filter(|room| !room.withdrawn);
    let mut room = room.ok_or(Refusal::UnknownRoom)?;
    if let Some(night) = known.first_night(&key)? {
        return Err(Refusal::RoomInUse { night }.into());
    }
    let stopped = known.stopped_ever(&key)?;
    room.withdrawn = true;
    known.rooms.set(&key, room);
    property.rooms_in_sale -= 1;
    known.properties.set(&key.0, property);
    for night in &stopped {
        known.stopped.remove(night);
        known.count(|counters| counters.stops -= 1);
    }
    Ok(Done::RoomWithdrawn)
}

pub(super) fn stop_sell(
    known: &mut Known,
    key: RoomKey,
    stay: Stay,
    stopped: bool,
) -> Attempt<Done> {
    let (_, property) = existing(known, key.0, &Wish::Room(key.1))?;
    let is_new = known.room(&key)?.is_none();
    if is_new {
        refuse_full(&property)?;
    }
    known.stopped_rows(&key, stay)?;
    if is_new {
        begin_room(known, key, None);
    }
    for night in stay.iter() {
        let night = (key.0, night, key.1);
        match (known.stopped.get(&night).flatten().is_some(), stopped) {
            (false, true) => {
                known.stopped.set(&night, StoppedRow {});
                known.count(|counters| counters.stops += 1);
            }
            (true, false) => {
                known.stopped.remove(&night);
                known.count(|counters| counters.stops -= 1);
            }
            _ => {}
        }
    }
    Ok(if stopped {
        Done::SaleStopped
    } else {
        Done::SaleResumed
    })
}

/// Begins a room of an open property that somebody named; with its number, when it was given one.
pub(super) fn begin_room(known: &mut Known, key: RoomKey, number: Option<u32>) {
    let property = known.properties.get(&key.0).flatten().cloned();
    let mut property = property.expect("a room begins in a known property");
    property.rooms_known += 1;
    property.rooms_in_sale += 1;
    if let Some(number) = number {
        property.lowest_number = number + 1;
    }
    known.properties.set(&key.0, property);
    let room = RoomRow {
        room_type: Name::parse(OPEN_TYPE.as_bytes()).expect("`open` is a name"),
        number: known.counters().next_room,
        withdrawn: false,
        loose: true,
    };
    known.rooms.set(&key, room);
    known.count(|counters| counters.next_room += 1);
}
