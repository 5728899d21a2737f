//! The rooms of a property, page by page.

use tokio_postgres::{Row, types::ToSql};
use turnstile_rooms::{Answer, Cursor, Nights, RoomInSale, StoppedRoom, Wish};
use turnstile_types::{Name, Stay};

use super::{
    listings::{cursor_behind, one_more, place_of},
    questions::{days_of, unknown},
    values::{bits, column, count, name},
};
use crate::{connection::Connection, trouble::StatementFailure};

const ROOMS: &str = "
    SELECT r.name, r.kind, r.room AS number, r.place >= '\\xff' AS loose
    FROM rooms.property p JOIN rooms.room r USING (property)
    WHERE p.name = $1 AND r.in_sale AND r.place > $2
    ORDER BY r.place LIMIT $3";

const STOP_SELLS: &str = "
    SELECT r.name, stopped.nights, r.room AS number, r.place >= '\\xff' AS loose
    FROM rooms.property p JOIN rooms.room r USING (property)
    CROSS JOIN LATERAL (
        SELECT array_agg((s.night - (date 'epoch' + $4::int4))::int2) AS nights
        FROM rooms.stopped_night s
        WHERE s.room = r.room AND s.night >= date 'epoch' + $4::int4
          AND s.night < date 'epoch' + $5::int4
        HAVING count(*) > 0
    ) stopped
    WHERE p.name = $1 AND r.in_sale AND r.place > $2
    ORDER BY r.place LIMIT $3";

type InventoryPage = (Option<Cursor>, u16);

/// The rooms of a property.
pub(super) async fn rooms(
    connection: &mut Connection,
    property: &Name,
    (cursor, limit): InventoryPage,
) -> Result<Answer, StatementFailure> {
    if let Some(refusal) = unknown(connection, property, &Wish::Any).await? {
        return Ok(Answer::Refused(refusal));
    }
    let (mut rooms, mut next) = (Vec::new(), None);
    if let Some(place) = behind(connection, property, cursor).await? {
        let parameters: [&(dyn ToSql + Sync); 3] = [&property.as_str(), &place, &one_more(limit)];
        let rows = connection.rows(ROOMS, &parameters).await?;
        (rooms, next) = page(&rows, limit, |row| {
            Ok(RoomInSale {
                room: name(column(row, "name")?)?,
                room_type: name(column(row, "kind")?)?,
            })
        })?;
    }
    Ok(Answer::Rooms { rooms, next })
}

/// The rooms of a property whose sale is stopped on some nights of a stay.
pub(super) async fn stop_sells(
    connection: &mut Connection,
    (property, stay): (&Name, Stay),
    (cursor, limit): InventoryPage,
) -> Result<Answer, StatementFailure> {
    if let Some(refusal) = unknown(connection, property, &Wish::Any).await? {
        return Ok(Answer::Refused(refusal));
    }
    let (mut stop_sells, mut next) = (Vec::new(), None);
    if let Some(place) = behind(connection, property, cursor).await? {
        let (from, to) = days_of(stay);
        let parameters: [&(dyn ToSql + Sync); 5] =
            [&property.as_str(), &place, &one_more(limit), &from, &to];
        let rows = connection.rows(STOP_SELLS, &parameters).await?;
        (stop_sells, next) = page(&rows, limit, |row| {
            let nights: Vec<i16> = column(row, "nights")?;
            Ok(StoppedRoom {
                room: name(column(row, "name")?)?,
                nights: Nights {
                    first: stay.arrival(),
                    bits: bits(&nights)?,
                },
            })
        })?;
    }
    Ok(Answer::StopSells { stop_sells, next })
}

/// The place behind which a page begins; nothing when the cursor is none of the property.
async fn behind(
    connection: &mut Connection,
    property: &Name,
    cursor: Option<Cursor>,
) -> Result<Option<Vec<u8>>, StatementFailure> {
    match cursor {
        None => Ok(Some(Vec::new())),
        Some(cursor) => {
            let found = place_of(connection, property, cursor).await?;
            Ok(found.map(|(_room, place)| place))
        }
    }
}

fn page<T>(
    rows: &[Row],
    limit: u16,
    shown: impl Fn(&Row) -> Result<T, StatementFailure>,
) -> Result<(Vec<T>, Option<Cursor>), StatementFailure> {
    let limit = usize::from(limit.max(1));
    let last = rows.iter().take(limit).last();
    let next = last
        .filter(|_row| rows.len() > limit)
        .map(|row| Ok::<Cursor, StatementFailure>(Cursor(count(cursor_behind(row, 0)?)?)));
    let items = rows.iter().take(limit).map(shown);
    Ok((
        items.collect::<Result<_, StatementFailure>>()?,
        next.transpose()?,
    ))
}
