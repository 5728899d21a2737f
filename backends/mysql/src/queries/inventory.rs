//! The rooms of a property, page by page.

use mysql_async::Row as Found;
use turnstile_rooms::{Answer, Cursor, Nights, RoomInSale, StoppedRoom, Wish};
use turnstile_types::{Name, Stay, Timestamp};

use super::{
    cut,
    listing::{After, after, cursor},
    one_more, refused, sets,
};
use crate::{
    decide::existing,
    fault::Fault,
    fields::{ColumnReader, Strange},
    known::{NotDecided, bits},
    session::{Session, TurnKind},
    sql::{HexLiteral, Quoted, put},
    wants::{Wants, put_bits_of},
};

pub(super) async fn rooms(
    session: &mut Session,
    now: Timestamp,
    property: Name,
    (after, limit): (Option<Cursor>, u16),
) -> Result<Answer, Fault> {
    let statement = |which: &str| {
        let mut sql = "SELECT number, loose, name, room_type FROM rooms".to_owned();
        let limit = one_more(limit);
        put!(sql, "{which} ORDER BY loose, place LIMIT {limit};\n");
        sql
    };
    let rows = match inventory(session, now, (property, after), statement).await? {
        Ok(rows) => rows,
        Err(halt) => return refused(halt),
    };
    let (rooms, next) = page(&rows, limit, |room, fields| {
        let room_type = fields.name("room_type")?;
        Ok(RoomInSale { room, room_type })
    })?;
    Ok(Answer::Rooms { rooms, next })
}

pub(super) async fn stop_sells(
    session: &mut Session,
    now: Timestamp,
    (property, stay): (Name, Stay),
    (after, limit): (Option<Cursor>, u16),
) -> Result<Answer, Fault> {
    let statement = |which: &str| {
        let mut sql = "SELECT number, loose, name".to_owned();
        put_bits_of(&mut sql, stay.arrival(), "stopped", "TRUE");
        put!(
            sql,
            " FROM rooms JOIN stops ON stops.property=rooms.property AND stops.room=rooms.name \
             AND night>='{}' AND night<'{}'{which} GROUP BY number, loose, place, name \
             ORDER BY loose, place LIMIT {};\n",
            stay.arrival(),
            stay.departure(),
            one_more(limit)
        );
        sql
    };
    let rows = match inventory(session, now, (property, after), statement).await? {
        Ok(rows) => rows,
        Err(halt) => return refused(halt),
    };
    let (stop_sells, next) = page(&rows, limit, |room, fields| {
        let first = stay.arrival();
        let nights = Nights {
            first,
            bits: bits(fields)?,
        };
        Ok(StoppedRoom { room, nights })
    })?;
    Ok(Answer::StopSells { stop_sells, next })
}

/// The rows of a statement about the rooms in sale behind a cursor, or why there are none.
async fn inventory(
    session: &mut Session,
    now: Timestamp,
    (property, cursor): (Name, Option<Cursor>),
    statement: impl Fn(&str) -> String,
) -> Result<Result<Vec<Found>, NotDecided>, Fault> {
    let mut wants = Wants::default();
    wants.properties.insert(property);
    let mut known = session.begin(TurnKind::Read, now, wants).await?;
    if let Err(halt) = existing(&mut known, property, &Wish::Any) {
        session.leave().await?;
        return Ok(Err(halt));
    }
    let mut which = format!(
        " WHERE rooms.property={} AND NOT withdrawn",
        Quoted(&property)
    );
    if let Some(cursor) = cursor {
        let Some(After { loose, place, .. }) = after(session, property, cursor).await? else {
            session.leave().await?;
            return Ok(Ok(Vec::new()));
        };
        let place = HexLiteral(&place);
        put!(
            which,
            " AND (loose>{loose} OR loose={loose} AND place>{place})"
        );
    }
    let [rows] = sets(session.finish(&statement(&which)).await?)?;
    Ok(Ok(rows))
}

/// Reads a page of rooms, and where the next one begins.
fn page<T>(
    rows: &[Found],
    limit: u16,
    shown: impl Fn(Name, &mut ColumnReader<'_>) -> Result<T, Strange>,
) -> Result<(Vec<T>, Option<Cursor>), Strange> {
    let mut found = rows
        .iter()
        .map(|row| {
            let mut fields = ColumnReader::of(row);
            let (number, loose) = (fields.number("number")?, fields.flag("loose")?);
            let room = fields.name("name")?;
            Ok((shown(room, &mut fields)?, cursor(number, loose, 0)))
        })
        .collect::<Result<Vec<_>, Strange>>()?;
    let next = cut(&mut found, limit);
    Ok((found.into_iter().map(|(item, _)| item).collect(), next))
}
