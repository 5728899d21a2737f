//! What stands in the way of a booking.

use turnstile_rooms::{Answer, Block, Explanation, Nights, Reference, Wish, limits};
use turnstile_types::{Name, Stay, Timestamp};

use super::{put_columns, put_rooms, refused, sets};
use crate::{
    decide::{Target, existing, target},
    fault::Fault,
    fields::{ColumnReader, Strange},
    known::{Known, NotDecided, bits},
    rows::Record,
    session::{Session, TurnKind},
    sql::{At, Quoted, put},
    tables::{BookingRow, HoldRow, PlacedStay},
    wants::{Wants, put_bits_of},
};

/// Where a block stands: by room, its stays by arrival, and what is stopped behind them.
type Place = (bool, Vec<u8>, u32);

pub(super) async fn explain(
    session: &mut Session,
    now: Timestamp,
    (property, wish): (Name, &Wish),
    stay: Stay,
) -> Result<Answer, Fault> {
    let mut wants = Wants::default();
    wants.properties.insert(property);
    let mut known = session.begin(TurnKind::Read, now, wants).await?;
    let would_get = loop {
        match would_get(&mut known, property, wish, stay) {
            Ok(room) => break room,
            Err(NotDecided::Unknown) => session.learn(&mut known).await?,
            Err(halt) => {
                session.leave().await?;
                return refused(halt);
            }
        }
    };
    let sql = statements(now, (&property, wish), stay);
    let [bookings, holds, stopped] = sets(session.finish(&sql).await?)?;
    let mut found = Vec::new();
    for row in &bookings {
        found.push(of_stay::<BookingRow>(row, |reference, booking| {
            let PlacedStay { room, stay, .. } = booking.placed;
            (
                stay,
                Block::Booking {
                    room,
                    reference: Reference::of_number(reference),
                    stay,
                },
            )
        })?);
    }
    for row in &holds {
        found.push(of_stay::<HoldRow>(row, |reference, hold| {
            let PlacedStay { room, stay, .. } = hold.placed;
            (
                stay,
                Block::Hold {
                    room,
                    reference: Reference::of_number(reference),
                    stay,
                    until: hold.until,
                },
            )
        })?);
    }
    for row in &stopped {
        found.push(of_stop(row, stay)?);
    }
    found.sort_by(|(left, _), (right, _)| left.cmp(right));
    found.truncate(limits::EXPLAINED_BLOCKS_MAX);
    let blocks = found.into_iter().map(|(_, block)| block).collect();
    Ok(Answer::Explanation(Explanation { would_get, blocks }))
}

/// The room that a booking would get now; refused only when what is wished does not exist.
fn would_get(
    known: &mut Known,
    property: Name,
    wish: &Wish,
    stay: Stay,
) -> Result<Option<Name>, NotDecided> {
    let (name, property) = existing(known, property, wish)?;
    match target(known, (name, &property), wish, stay) {
        Ok(Target::Room(room) | Target::New(room, _)) => Ok(Some(room)),
        Err(NotDecided::Refused(_)) => Ok(None),
        Err(NotDecided::Unknown) => Err(NotDecided::Unknown),
    }
}

fn statements(now: Timestamp, (property, wish): (&Name, &Wish), stay: Stay) -> String {
    let which = match wish {
        Wish::Any => " AND NOT withdrawn".to_owned(),
        Wish::Room(room) => format!(" AND NOT withdrawn AND name={}", Quoted(room)),
        Wish::Type(room_type) => {
            format!(" AND NOT withdrawn AND room_type={}", Quoted(room_type))
        }
    };
    let mut sql = String::new();
    let held = format!("state='held' AND held_until>{}", At(now));
    put_stays::<BookingRow>(&mut sql, property, &which, (stay, "state='booked'"));
    put_stays::<HoldRow>(&mut sql, property, &which, (stay, &held));
    sql.push_str("SELECT loose, place, name");
    put_bits_of(&mut sql, stay.arrival(), "stopped", "TRUE");
    sql.push_str(" FROM ");
    put_rooms(&mut sql, property, &which);
    put!(
        sql,
        " JOIN stops ON stops.property={} AND stops.room=looked_at.name AND night>='{}' \
         AND night<'{}' GROUP BY loose, place, name ORDER BY loose, place LIMIT {};\n",
        Quoted(property),
        stay.arrival(),
        stay.departure(),
        limits::EXPLAINED_BLOCKS_MAX
    );
    sql
}

/// The stays that overlap, room by room.
fn put_stays<R: Record>(
    sql: &mut String,
    property: &Name,
    which: &str,
    (stay, standing): (Stay, &str),
) {
    sql.push_str("SELECT loose, place, ");
    put_columns::<R>(sql);
    sql.push_str(" FROM ");
    put_rooms(sql, property, which);
    put!(
        sql,
        " JOIN {0} ON {0}.property={1} AND {0}.room=looked_at.name WHERE {standing} AND \
         arrival<'{2}' AND departure>'{3}' ORDER BY loose, place, arrival LIMIT {4};\n",
        R::TABLE,
        Quoted(property),
        stay.departure(),
        stay.arrival(),
        limits::EXPLAINED_BLOCKS_MAX
    );
}

fn of_stay<R: Record<Key = u64>>(
    row: &mysql_async::Row,
    shown: impl FnOnce(u64, R) -> (Stay, Block),
) -> Result<(Place, Block), Strange> {
    let mut fields = ColumnReader::of(row);
    let (loose, place) = (fields.flag("loose")?, fields.bytes("place")?.to_vec());
    let (reference, record) = R::read(&mut fields)?;
    let (stay, block) = shown(reference, record);
    Ok(((loose, place, stay.arrival().days().into()), block))
}

fn of_stop(row: &mysql_async::Row, stay: Stay) -> Result<(Place, Block), Strange> {
    let mut fields = ColumnReader::of(row);
    let (loose, place) = (fields.flag("loose")?, fields.bytes("place")?.to_vec());
    let room = fields.name("name")?;
    let nights = Nights {
        first: stay.arrival(),
        bits: bits(&mut fields)?,
    };
    Ok(((loose, place, u32::MAX), Block::StopSell { room, nights }))
}
