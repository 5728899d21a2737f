//! How many rooms are free.

use std::collections::BTreeMap;

use turnstile_contract::natural_key;
use turnstile_rooms::{Answer, TypeAvailability, Wish};
use turnstile_types::{Name, Stay, Timestamp};

use super::{refused, sets};
use crate::{
    decide::existing,
    fault::Fault,
    fields::{ColumnReader, Strange},
    known::bits,
    session::{Session, TurnKind},
    sql::put,
    wants::{StayQuery, Wants, put_bits, put_rooms_of},
};

pub(super) async fn availability(
    session: &mut Session,
    now: Timestamp,
    (property, room_type): (Name, Option<Name>),
    stay: Stay,
) -> Result<Answer, Fault> {
    let mut wants = Wants::default();
    wants.properties.insert(property);
    wants.types.extend(room_type.map(|name| (property, name)));
    let mut known = session.begin(TurnKind::Read, now, wants).await?;
    let wish = room_type.map_or(Wish::Any, Wish::Type);
    if let Err(halt) = existing(&mut known, property, &wish) {
        session.leave().await?;
        return refused(halt);
    }
    let search = StayQuery::new(property, room_type, stay);
    let [rooms, blocked] = sets(session.finish(&statements(&search, now)).await?)?;
    let mut types = BTreeMap::new();
    if let Some(name) = room_type {
        types.insert(natural_key(name.as_bytes()), all_free(name, 0, stay));
    }
    for row in &rooms {
        let mut fields = ColumnReader::of(row);
        let name = fields.name("room_type")?;
        let count = fields.number("rooms")?;
        types.insert(natural_key(name.as_bytes()), all_free(name, count, stay));
    }
    for row in &blocked {
        let mut fields = ColumnReader::of(row);
        let name = fields.name("room_type")?;
        let nights = bits(&mut fields)?;
        let count: u32 = fields.number("rooms")?;
        let counted = types.get_mut(&natural_key(name.as_bytes()));
        let counted = counted.ok_or(Strange { field: "room_type" })?;
        block(counted, nights, count);
    }
    Ok(Answer::Availability(types.into_values().collect()))
}

/// Counts the rooms of each type, and those in which the same nights are taken or stopped.
fn statements(search: &StayQuery, now: Timestamp) -> String {
    let mut sql = "SELECT room_type, COUNT(*) FROM rooms".to_owned();
    put_rooms_of(&mut sql, search);
    put!(sql, " GROUP BY room_type;\n");
    sql.push_str(
        "SELECT room_type, taken_low|stopped_low AS low, taken_high|stopped_high AS high, \
         COUNT(*) FROM rooms JOIN (",
    );
    put_bits(&mut sql, search, now);
    sql.push_str(") AS ways ON ways.room=rooms.name");
    put_rooms_of(&mut sql, search);
    sql.push_str(" GROUP BY room_type, low, high;\n");
    sql
}

fn all_free(room_type: Name, rooms: u32, stay: Stay) -> TypeAvailability {
    TypeAvailability {
        room_type,
        rooms,
        free: vec![rooms; usize::from(stay.nights())],
        free_throughout: rooms,
    }
}

/// Takes some rooms off the nights on which they are not free.
fn block(counted: &mut TypeAvailability, nights: u128, rooms: u32) {
    for (bit, free) in counted.free.iter_mut().enumerate() {
        if nights >> bit & 1 == 1 {
            *free -= rooms;
        }
    }
    counted.free_throughout -= rooms;
}
