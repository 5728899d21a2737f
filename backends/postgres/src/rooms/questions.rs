//! Answers queries from committed data.

use tokio_postgres::{Row, types::ToSql};
use turnstile_rooms::{
    Answer, Block, Cursor, Explanation, Nights, PropertySummary, Query, Refusal, Totals,
    TypeAvailability, Wish, limits,
};
use turnstile_types::{Name, Principal, Stay, Timestamp};

use super::{
    commands::wish_of,
    inventory,
    listings::{self, AskedAt},
    order::natural_place,
    values::{bits, column, count, instant, name, reference_of, stay, time_of},
};
use crate::{connection::Connection, trouble::StatementFailure};

/// Whether there is a property and a room of it, or a type, in sale.
const KNOWN: &str = "
    SELECT p.open,
           (SELECT r.in_sale FROM rooms.room r
            WHERE r.property = p.property AND r.name = $2) AS room,
           EXISTS (SELECT FROM rooms.room r
                   WHERE r.property = p.property AND r.kind = $3 AND r.in_sale) AS kind
    FROM rooms.property p WHERE p.name = $1";

const AVAILABILITY: &str = "
    WITH wished AS MATERIALIZED (
        SELECT r.room, r.kind FROM rooms.property p JOIN rooms.room r USING (property)
        WHERE p.name = $1 AND r.in_sale AND ($2::text IS NULL OR r.kind = $2)
    ), blocked AS MATERIALIZED (
        SELECT w.kind, w.room, n.night FROM wished w JOIN rooms.night n USING (room)
        WHERE n.night >= date 'epoch' + $3::int4 AND n.night < date 'epoch' + $4::int4
          AND (n.until IS NULL OR n.until > $5)
        UNION
        SELECT w.kind, w.room, s.night FROM wished w JOIN rooms.stopped_night s USING (room)
        WHERE s.night >= date 'epoch' + $3::int4 AND s.night < date 'epoch' + $4::int4
    )
    SELECT kinds.kind, kinds.rooms, coalesce(touched.rooms, 0) AS touched,
           coalesce(nightly.places, '{}') AS places, coalesce(nightly.counts, '{}') AS counts
    FROM (SELECT kind, count(*) AS rooms FROM wished GROUP BY kind) kinds
    LEFT JOIN (SELECT kind, count(DISTINCT room) AS rooms FROM blocked GROUP BY kind) touched
        USING (kind)
    LEFT JOIN (
        SELECT kind, array_agg(night - (date 'epoch' + $3::int4)) AS places,
               array_agg(rooms) AS counts
        FROM (SELECT kind, night, count(*) AS rooms FROM blocked GROUP BY kind, night) one
        GROUP BY kind
    ) nightly USING (kind)";

const EXPLAIN: &str = "
    SELECT c.answer, c.name AS gets, block.*
    FROM rooms.property p
    CROSS JOIN LATERAL rooms.place(
        p, $2, $3, date 'epoch' + $4::int4, date 'epoch' + $5::int4, $6
    ) c
    LEFT JOIN LATERAL (
        SELECT r.name AS room, r.place, found.*
        FROM (
            SELECT r.room, r.name, r.place FROM rooms.room r
            WHERE r.property = p.property AND r.in_sale
              AND ($2 = 'any' OR $2 = 'room' AND r.name = $3 OR $2 = 'type' AND r.kind = $3)
            ORDER BY r.place LIMIT $7
        ) r
        CROSS JOIN LATERAL (
            SELECT b.arrival AS sorted, b.reference, b.arrival - date 'epoch' AS arrival,
                   b.departure - date 'epoch' AS departure, b.held_until, NULL::int4[] AS nights
            FROM (
                SELECT DISTINCT n.booking FROM rooms.night n
                WHERE n.room = r.room AND n.night >= date 'epoch' + $4::int4
                  AND n.night < date 'epoch' + $5::int4 AND (n.until IS NULL OR n.until > $6)
            ) standing
            JOIN rooms.booking b ON b.reference = standing.booking
            UNION ALL
            SELECT 'infinity', NULL, NULL, NULL, NULL,
                   array_agg(s.night - (date 'epoch' + $4::int4))
            FROM rooms.stopped_night s
            WHERE s.room = r.room AND s.night >= date 'epoch' + $4::int4
              AND s.night < date 'epoch' + $5::int4
            HAVING count(*) > 0
        ) found
        ORDER BY r.place, found.sorted LIMIT $8
    ) block ON true
    WHERE p.name = $1
    ORDER BY block.place, block.sorted";

const PROPERTIES: &str = "
    SELECT p.property, p.name, p.open,
           (SELECT coalesce(sum(s.in_sale), 0) FROM rooms.size s
            WHERE s.property = p.property) AS rooms
    FROM rooms.property p
    WHERE $1::int8 IS NULL
       OR p.name > (SELECT last.name FROM rooms.property last WHERE last.property = $1)
    ORDER BY p.name LIMIT $2";

const TOTALS: &str = "
    SELECT done.*, held.due + done.expired AS expired_total, held.open AS holds,
           (SELECT count(*) FROM rooms.property) AS properties,
           (SELECT coalesce(sum(in_sale), 0)::int8 FROM rooms.size) AS rooms
    FROM (
        SELECT coalesce(sum(booked), 0)::int8 AS booked,
               coalesce(sum(cancelled), 0)::int8 AS cancelled,
               coalesce(sum(held), 0)::int8 AS held, coalesce(sum(expired), 0)::int8 AS expired
        FROM rooms.tally
    ) done, (
        SELECT count(*) FILTER (WHERE held_until > $1) AS open,
               count(*) FILTER (WHERE held_until <= $1) AS due
        FROM rooms.booking WHERE state = 'held'
    ) held";

pub(super) async fn answer(
    connection: &mut Connection,
    now: Timestamp,
    principal: &Principal,
    query: &Query,
) -> Result<Answer, StatementFailure> {
    let time = time_of(now)?;
    let moment = AskedAt { now, time };
    match *query {
        Query::LookUp { reference } => {
            let found = listings::look_up(connection, moment, reference).await?;
            Ok(found.map_or_else(Answer::Refused, Answer::Entry))
        }
        Query::List {
            property,
            room,
            from,
            to,
            cursor,
            limit,
        } => {
            let wish = room.map_or(Wish::Any, Wish::Room);
            if let Some(refusal) = unknown(connection, &property, &wish).await? {
                return Ok(Answer::Refused(refusal));
            }
            let place = (&property, room.as_ref());
            let page = (cursor, limit);
            let listed = listings::of_property(connection, moment, place, (from, to), page);
            Ok(Answer::Page(listed.await?))
        }
        Query::Guest { id, cursor, limit } => {
            let page = listings::of_guest(connection, moment, id, (cursor, limit));
            Ok(Answer::Page(page.await?))
        }
        Query::Holds { cursor, limit } => {
            let page = listings::holds(connection, moment, principal, (cursor, limit));
            Ok(Answer::Page(page.await?))
        }
        Query::Availability {
            property,
            room_type,
            stay,
        } => {
            let wish = room_type.map_or(Wish::Any, Wish::Type);
            if let Some(refusal) = unknown(connection, &property, &wish).await? {
                return Ok(Answer::Refused(refusal));
            }
            availability(connection, moment, (&property, room_type), stay).await
        }
        Query::Explain {
            property,
            wish,
            stay,
        } => explain(connection, moment, (&property, &wish), stay).await,
        Query::Properties { cursor, limit } => properties(connection, cursor, limit).await,
        Query::Totals => totals(connection, moment).await,
        Query::ListRooms {
            property,
            cursor,
            limit,
        } => inventory::rooms(connection, &property, (cursor, limit)).await,
        Query::ListStopSells {
            property,
            stay,
            cursor,
            limit,
        } => inventory::stop_sells(connection, (&property, stay), (cursor, limit)).await,
    }
}

/// Why there is nothing to be asked about.
pub(super) async fn unknown(
    connection: &mut Connection,
    property: &Name,
    wish: &Wish,
) -> Result<Option<Refusal>, StatementFailure> {
    let (room, kind) = match wish {
        Wish::Room(room) => (Some(room.as_str()), None),
        Wish::Type(kind) => (None, Some(kind.as_str())),
        Wish::Any => (None, None),
    };
    let rows = connection
        .rows(KNOWN, &[&property.as_str(), &room, &kind])
        .await?;
    let Some(row) = rows.first() else {
        return Ok(Some(Refusal::UnknownProperty));
    };
    let is_open: bool = column(row, "open")?;
    let is_in_sale: Option<bool> = column(row, "room")?;
    let is_kind: bool = column(row, "kind")?;
    Ok(match wish {
        Wish::Room(_) if !is_in_sale.unwrap_or(is_open) => Some(Refusal::UnknownRoom),
        Wish::Type(kind) if !(is_kind || is_open && kind.as_str() == "open") => {
            Some(Refusal::UnknownType)
        }
        Wish::Room(_) | Wish::Type(_) | Wish::Any => None,
    })
}

async fn availability(
    connection: &mut Connection,
    moment: AskedAt,
    (property, room_type): (&Name, Option<Name>),
    stay: Stay,
) -> Result<Answer, StatementFailure> {
    let kind = room_type.as_ref().map(Name::as_str);
    let (from, to) = days_of(stay);
    let parameters: [&(dyn ToSql + Sync); 5] =
        [&property.as_str(), &kind, &from, &to, &moment.time];
    let rows = connection.rows(AVAILABILITY, &parameters).await?;
    let mut types: Vec<TypeAvailability> = rows
        .iter()
        .map(|row| of_type(row, stay))
        .collect::<Result<_, StatementFailure>>()?;
    types.sort_by_cached_key(|one| natural_place(&one.room_type));
    if let (Some(room_type), true) = (room_type, types.is_empty()) {
        let free = vec![0; usize::from(stay.nights())];
        types.push(TypeAvailability {
            room_type,
            rooms: 0,
            free,
            free_throughout: 0,
        });
    }
    Ok(Answer::Availability(types))
}

fn of_type(row: &Row, stay: Stay) -> Result<TypeAvailability, StatementFailure> {
    let rooms: u32 = count(column(row, "rooms")?)?;
    let touched: u32 = count(column(row, "touched")?)?;
    let places: Vec<i32> = column(row, "places")?;
    let counts: Vec<i64> = column(row, "counts")?;
    let mut free = vec![rooms; usize::from(stay.nights())];
    for (place, blocked) in places.into_iter().zip(counts) {
        let night = free.get_mut(count::<usize>(place.into())?);
        let night =
            night.ok_or_else(|| StatementFailure::Broken("a night beyond the stay".to_owned()))?;
        *night = night.saturating_sub(count(blocked)?);
    }
    Ok(TypeAvailability {
        room_type: name(column(row, "kind")?)?,
        rooms,
        free,
        free_throughout: rooms.saturating_sub(touched),
    })
}

async fn explain(
    connection: &mut Connection,
    moment: AskedAt,
    (property, wish): (&Name, &Wish),
    stay: Stay,
) -> Result<Answer, StatementFailure> {
    let (word, wanted) = wish_of(*wish);
    let wanted = wanted.as_ref().map(Name::as_str);
    let (from, to) = days_of(stay);
    let bound = |number: usize| i64::try_from(number).expect("a small bound");
    let (examined, blocks) = (
        bound(limits::ROOMS_EXAMINED_MAX),
        bound(limits::EXPLAINED_BLOCKS_MAX),
    );
    let parameters: [&(dyn ToSql + Sync); 8] = [
        &property.as_str(),
        &word,
        &wanted,
        &from,
        &to,
        &moment.time,
        &examined,
        &blocks,
    ];
    let rows = connection.rows(EXPLAIN, &parameters).await?;
    let Some(first) = rows.first() else {
        return Ok(Answer::Refused(Refusal::UnknownProperty));
    };
    let would_get = match column::<Option<&str>>(first, "answer")? {
        Some("unknown_room") => return Ok(Answer::Refused(Refusal::UnknownRoom)),
        Some("unknown_type") => return Ok(Answer::Refused(Refusal::UnknownType)),
        Some(_) => None,
        None => Some(name(column(first, "gets")?)?),
    };
    let blocks = rows.iter().filter_map(|row| block(row, stay).transpose());
    Ok(Answer::Explanation(Explanation {
        would_get,
        blocks: blocks.collect::<Result<_, StatementFailure>>()?,
    }))
}

/// What one row says is in the way; nothing where nothing is.
fn block(row: &Row, asked: Stay) -> Result<Option<Block>, StatementFailure> {
    let Some(room) = column::<Option<&str>>(row, "room")? else {
        return Ok(None);
    };
    let room = name(room)?;
    let Some(reference) = column::<Option<i64>>(row, "reference")? else {
        let places: Vec<i32> = column(row, "nights")?;
        let places: Vec<i16> = places
            .into_iter()
            .map(|place| count(place.into()))
            .collect::<Result<_, StatementFailure>>()?;
        let nights = Nights {
            first: asked.arrival(),
            bits: bits(&places)?,
        };
        return Ok(Some(Block::StopSell { room, nights }));
    };
    let reference = reference_of(reference);
    let stay = stay(column(row, "arrival")?, column(row, "departure")?)?;
    Ok(Some(match column(row, "held_until")? {
        Some(until) => Block::Hold {
            room,
            reference,
            stay,
            until: instant(until)?,
        },
        None => Block::Booking {
            room,
            reference,
            stay,
        },
    }))
}

async fn properties(
    connection: &mut Connection,
    cursor: Option<Cursor>,
    limit: u16,
) -> Result<Answer, StatementFailure> {
    let after = cursor.map(|Cursor(property)| property.cast_signed());
    let limit = usize::from(limit.max(1));
    let one_more = i64::try_from(limit + 1).expect("a page is small");
    let rows = connection.rows(PROPERTIES, &[&after, &one_more]).await?;
    let shown = rows.iter().take(limit);
    let last = shown.clone().last().filter(|_row| rows.len() > limit);
    let next =
        last.map(|row| Ok::<Cursor, StatementFailure>(Cursor(count(column(row, "property")?)?)));
    let summary = |row: &Row| {
        Ok(PropertySummary {
            property: name(column(row, "name")?)?,
            open: column(row, "open")?,
            rooms: count(column(row, "rooms")?)?,
        })
    };
    Ok(Answer::Properties {
        properties: shown
            .map(summary)
            .collect::<Result<_, StatementFailure>>()?,
        next: next.transpose()?,
    })
}

async fn totals(connection: &mut Connection, moment: AskedAt) -> Result<Answer, StatementFailure> {
    let row = connection.row(TOTALS, &[&moment.time]).await?;
    let number = |name: &str| count::<u64>(column(&row, name)?);
    let (booked, cancelled) = (number("booked")?, number("cancelled")?);
    Ok(Answer::Totals(Totals {
        bookings: booked.saturating_sub(cancelled),
        holds: number("holds")?,
        properties: number("properties")?,
        rooms: number("rooms")?,
        booked_total: booked,
        cancelled_total: cancelled,
        held_total: number("held")?,
        expired_total: number("expired_total")?,
    }))
}

/// The first night of a stay and the first after it, in days since 1970.
pub(super) fn days_of(stay: Stay) -> (i32, i32) {
    (stay.arrival().days().into(), stay.departure().days().into())
}
