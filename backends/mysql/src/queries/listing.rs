//! Bookings and holds of a property, page by page.

use std::ops::Range;

use turnstile_rooms::{Answer, Cursor, Entry, Page, Wish, limits};
use turnstile_types::{Name, Night, Timestamp};

use super::{booked, cut, held, put_columns, put_rooms, refused, sets};
use crate::{
    decide::existing,
    fault::Fault,
    fields::{ColumnReader, Strange},
    rows::Record,
    session::{Session, TurnKind},
    sql::{At, HexLiteral, Quoted, put},
    tables::{BookingRow, HoldRow, place},
    wants::Wants,
};

/// Which part of a listing is asked for.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) property: Name,
    pub(super) room: Option<Name>,
    pub(super) nights: Range<Night>,
    pub(super) cursor: Option<Cursor>,
    pub(super) limit: u16,
}

/// Where a page ended: behind an arrival in a room.
#[derive(Clone, Debug)]
pub(super) struct After {
    number: u64,
    pub(super) loose: bool,
    pub(super) place: Vec<u8>,
    arrival: u64,
}

/// Where an entry stands in the listing.
type Place = (bool, Vec<u8>, Night);

pub(super) async fn list(
    session: &mut Session,
    now: Timestamp,
    part: &Part,
) -> Result<Answer, Fault> {
    let mut wants = Wants::default();
    wants.properties.insert(part.property);
    if let Some(room) = part.room {
        wants.rooms.insert((part.property, room));
    }
    let mut known = session.begin(TurnKind::Read, now, wants).await?;
    let wish = part.room.map_or(Wish::Any, Wish::Room);
    let after = match existing(&mut known, part.property, &wish) {
        Err(halt) => {
            session.leave().await?;
            return refused(halt);
        }
        Ok(_) => match part.cursor {
            None => Some(None),
            Some(cursor) => after(session, part.property, cursor).await?.map(Some),
        },
    };
    let Some(after) = after.filter(|_| part.nights.start < part.nights.end) else {
        session.leave().await?;
        let (entries, next) = (Vec::new(), None);
        return Ok(Answer::Page(Page { entries, next }));
    };
    let answers = session
        .finish(&statements(now, part, after.as_ref()))
        .await?;
    let [bookings, holds, last_room] = sets(answers)?;
    let mut found = Vec::new();
    for row in &bookings {
        found.push(entry(row, booked)?);
    }
    for row in &holds {
        found.push(entry(row, |number, hold| held(number, &hold, now))?);
    }
    found.sort_by(|(left, ..), (right, ..)| left.cmp(right));
    let mut found = found
        .into_iter()
        .map(|(_, entry, next)| (entry, next))
        .collect();
    let mut next = cut(&mut found, part.limit);
    if let (None, Some(row)) = (next, last_room.first()) {
        let mut fields = ColumnReader::of(row);
        let (number, loose) = (fields.number("number")?, fields.flag("loose")?);
        next = Some(cursor(number, loose, u16::MAX));
    }
    let entries = found.into_iter().map(|(entry, _)| entry).collect();
    Ok(Answer::Page(Page { entries, next }))
}

/// A cursor is a room, whether it was loose, and an arrival.
pub(super) fn cursor(number: u64, loose: bool, arrival: u16) -> Cursor {
    Cursor(number << 32 | u64::from(loose) << 16 | u64::from(arrival))
}

/// What a cursor stands for; nothing when it is none of this property.
pub(super) async fn after(
    session: &mut Session,
    of: Name,
    Cursor(cursor): Cursor,
) -> Result<Option<After>, Fault> {
    let (number, loose, arrival) = (cursor >> 32, cursor >> 16 & 0xffff, cursor & 0xffff);
    let sql = format!("SELECT property, name FROM rooms WHERE number={number};\n");
    let [rows] = sets(session.ask(&sql).await?)?;
    let Some(row) = rows.first().filter(|_| loose <= 1) else {
        return Ok(None);
    };
    let mut fields = ColumnReader::of(row);
    let (property, name) = (fields.name("property")?, fields.name("name")?);
    let loose = loose == 1;
    let after = After {
        number,
        loose,
        place: place(&name, loose, number),
        arrival,
    };
    Ok((property == of).then_some(after))
}

fn statements(now: Timestamp, part: &Part, after: Option<&After>) -> String {
    let mut which = String::new();
    if let Some(room) = &part.room {
        put!(which, " AND name={}", Quoted(room));
    } else if let Some(after) = after {
        let (loose, place) = (after.loose, HexLiteral(&after.place));
        put!(
            which,
            " AND (loose>{loose} OR loose={loose} AND place>={place})"
        );
    }
    let mut sql = String::new();
    let held = format!("state='held' AND held_until>{}", At(now));
    put_entries::<BookingRow>(&mut sql, part, after, &which, "state='booked'");
    put_entries::<HoldRow>(&mut sql, part, after, &which, &held);
    put!(
        sql,
        "SELECT number, loose FROM rooms WHERE property={}{which} ORDER BY loose, place \
         LIMIT 1 OFFSET {};\n",
        Quoted(&part.property),
        limits::ROOMS_EXAMINED_MAX - 1
    );
    sql
}

fn put_entries<R: Record>(
    sql: &mut String,
    part: &Part,
    after: Option<&After>,
    which: &str,
    standing: &str,
) {
    sql.push_str("SELECT looked_at.number, looked_at.loose, looked_at.place, ");
    put_columns::<R>(sql);
    sql.push_str(" FROM ");
    put_rooms(sql, &part.property, which);
    let Range { start, end } = &part.nights;
    put!(
        sql,
        " JOIN {0} ON {0}.property={1} AND {0}.room=looked_at.name \
         WHERE {standing} AND arrival<'{end}' AND departure>'{start}'",
        R::TABLE,
        Quoted(&part.property)
    );
    if let Some(after) = after {
        let last = Night::from_days(u16::try_from(after.arrival).expect("masked to 16 bits"));
        put!(
            sql,
            " AND NOT (looked_at.number={} AND looked_at.loose={} AND arrival<='{last}')",
            after.number,
            after.loose
        );
    }
    let limit = super::one_more(part.limit);
    put!(sql, " ORDER BY loose, place, arrival LIMIT {limit};\n");
}

/// An entry of a listing: where it stands, itself, and the cursor behind it.
fn entry<R: Record<Key = u64>>(
    row: &mysql_async::Row,
    shown: impl FnOnce(u64, R) -> Entry,
) -> Result<(Place, Entry, Cursor), Strange> {
    let mut fields = ColumnReader::of(row);
    let number = fields.number("number")?;
    let loose = fields.flag("loose")?;
    let place = fields.bytes("place")?.to_vec();
    let (reference, record) = R::read(&mut fields)?;
    let entry = shown(reference, record);
    let arrival = entry.stay.arrival();
    let next = cursor(number, loose, arrival.days());
    Ok(((loose, place, arrival), entry, next))
}
