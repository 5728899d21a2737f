//! The rows that a batch of commands will need, as far as the commands say.

use turnstile_contract::Request;
use turnstile_rooms::{Command, Rooms, Wish};
use turnstile_types::{Name, Stay};

use crate::wants::{RoomNights, StayQuery, Wants};

/// Gathers what the commands want. `stops` says that the sale of something was stopped when last
/// looked: without, nobody asks for stopped nights until it is known better.
pub(crate) fn plan<'a>(requests: impl Iterator<Item = &'a Request>, stops: bool) -> Wants {
    let mut wants = Wants::default();
    let mut stays: Vec<(Name, Stay)> = Vec::new();
    for request in requests {
        if let Some(key) = request.key() {
            wants.keys.insert((request.principal, key.to_owned()));
        }
        let Ok(command) = request.command::<Rooms>() else {
            continue;
        };
        if let Some(entry) = command.entry() {
            wants.entries.insert(entry.number());
            continue;
        }
        match command {
            Command::AddProperty { property, .. } => {
                wants.properties.insert(property);
            }
            Command::AddRoom { property, room, .. } => {
                wants.properties.insert(property);
                wants.rooms.insert((property, room));
            }
            Command::WithdrawRoom { property, room } => {
                wants.properties.insert(property);
                wants.rooms.insert((property, room));
                wants.first_nights.insert((property, room));
                wants.stopped_ever.insert((property, room));
            }
            Command::StopSell {
                property,
                room,
                stay,
                ..
            } => {
                wants.properties.insert(property);
                wants.rooms.insert((property, room));
                wants
                    .stopped
                    .insert(RoomNights::new((property, room), stay));
            }
            Command::Book {
                property,
                wish,
                stay,
                ..
            }
            | Command::Hold {
                property,
                wish,
                stay,
                ..
            } => {
                want_place(&mut wants, (property, &wish, stay), stops, &mut stays);
                if matches!(command, Command::Hold { .. }) {
                    wants.open_holds.insert(request.principal);
                }
            }
            // What is about an entry wants that alone.
            _ => {}
        }
    }
    wants
}

/// What a stay takes. As many free rooms are wanted as earlier stays of the batch may take of them,
/// and one more.
fn want_place(
    wants: &mut Wants,
    (property, wish, stay): (Name, &Wish, Stay),
    stops: bool,
    stays: &mut Vec<(Name, Stay)>,
) {
    wants.properties.insert(property);
    let earlier = stays
        .iter()
        .filter(|(other, taken)| *other == property && taken.overlaps(stay))
        .count();
    stays.push((property, stay));
    let room_type = match wish {
        Wish::Room(room) => {
            let key = (property, *room);
            wants.rooms.insert(key);
            wants.taken.insert(RoomNights::new(key, stay));
            if stops {
                wants.stopped.insert(RoomNights::new(key, stay));
            }
            return;
        }
        Wish::Type(room_type) => Some(*room_type),
        Wish::Any => None,
    };
    if let Some(room_type) = room_type {
        wants.types.insert((property, room_type));
    }
    let search = StayQuery::new(property, room_type, stay);
    wants.free.insert(search, earlier + 1);
}

/// Whether a command changes properties and rooms. Such commands share no transaction with those
/// that search among rooms: what was found would not hold.
pub(crate) fn is_layout(request: &Request) -> bool {
    matches!(
        request.command::<Rooms>(),
        Ok(Command::AddProperty { .. }
            | Command::AddRoom { .. }
            | Command::WithdrawRoom { .. }
            | Command::StopSell { .. })
    )
}
