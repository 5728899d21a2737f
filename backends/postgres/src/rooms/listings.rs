//! Bookings and holds, page by page.

use std::time::SystemTime;

use tokio_postgres::{Row, types::ToSql};
use turnstile_rooms::{Cursor, Entry, EntryState, GuestId, Page, Reference, Refusal, limits};
use turnstile_types::{Name, Night, Principal, Timestamp};

use super::{
    order::{loose_place, natural_place},
    values::{column, count, instant, name, number_of, reference_of, stay},
};
use crate::{connection::Connection, trouble::StatementFailure};

/// The columns of an entry, of a booking `b` in a room `r` of a property `p`.
macro_rules! entries {
    ($more:literal) => {
        concat!(
            "SELECT b.reference, b.state::text, p.name AS property, r.name AS room,
                    b.arrival - date 'epoch' AS arrival, b.departure - date 'epoch' AS departure,
                    b.guest, b.guest_seal, b.guest_last_four, b.principal, b.since, b.position,
                    b.held_until, b.made, r.room AS number, r.place >= '\\xff' AS loose ",
            $more
        )
    };
}

const ONE: &str = entries!(
    "FROM rooms.booking b JOIN rooms.room r USING (room) JOIN rooms.property p USING (property)
     WHERE b.reference = $1"
);

const OF_PROPERTY: &str = entries!(
    "FROM rooms.property p JOIN rooms.room r USING (property)
     CROSS JOIN LATERAL (
         SELECT DISTINCT n.booking FROM rooms.night n
         WHERE n.room = r.room
           AND n.night >= date 'epoch' + $3::int4 AND n.night < date 'epoch' + $4::int4
           AND (n.until IS NULL OR n.until > $5)
     ) standing
     JOIN rooms.booking b ON b.reference = standing.booking
     WHERE p.name = $1 AND ($2::text IS NULL OR r.name = $2) AND r.in_sale AND r.place >= $6
       AND (r.place > $6 OR b.arrival > date 'epoch' + $7::int4)
     ORDER BY r.place, b.arrival LIMIT $8"
);

const OF_GUEST: &str = entries!(
    "FROM rooms.booking b JOIN rooms.room r USING (room) JOIN rooms.property p USING (property)
     WHERE b.state = 'booked' AND b.guest_seal = $1 AND b.guest_last_four = $2 AND b.position < $3
     ORDER BY b.position DESC LIMIT $4"
);

const HOLDS: &str = entries!(
    "FROM rooms.booking b JOIN rooms.room r USING (room) JOIN rooms.property p USING (property)
     WHERE b.state = 'held' AND b.principal = $1 AND b.held_until > $2 AND b.made > $3
     ORDER BY b.made LIMIT $4"
);

/// The bit of a cursor which says that its room was shown among the loose ones. Above it is the
/// room, below it the arrival of the last entry shown.
const LOOSE: i64 = 1 << 16;

/// When a question is asked, in both forms.
#[derive(Clone, Copy, Debug)]
pub(super) struct AskedAt {
    pub(super) now: Timestamp,
    pub(super) time: SystemTime,
}

pub(super) async fn look_up(
    connection: &mut Connection,
    moment: AskedAt,
    reference: Reference,
) -> Result<Result<Entry, Refusal>, StatementFailure> {
    let rows = connection.rows(ONE, &[&number_of(reference)]).await?;
    let Some(row) = rows.first() else {
        let has_ended = "SELECT rooms.has_ended($1)";
        let row = connection.row(has_ended, &[&number_of(reference)]).await?;
        let has_ended: bool = column(&row, 0)?;
        let refusal = if has_ended {
            Refusal::Ended
        } else {
            Refusal::NotFound
        };
        return Ok(Err(refusal));
    };
    Ok(entry(row, moment)?.ok_or(Refusal::Ended))
}

/// What stands on the nights of a property or one of its rooms.
pub(super) async fn of_property(
    connection: &mut Connection,
    moment: AskedAt,
    (property, room): (&Name, Option<&Name>),
    (from, to): (Night, Night),
    (cursor, limit): (Option<Cursor>, u16),
) -> Result<Page, StatementFailure> {
    let (mut place, mut arrival) = (Vec::new(), -1_i32);
    if let Some(cursor) = cursor {
        let Some((shown, behind)) = place_of(connection, property, cursor).await? else {
            return Ok(Page {
                entries: Vec::new(),
                next: None,
            });
        };
        if room.is_none_or(|room| *room == shown) {
            place = behind;
            arrival = i32::try_from(cursor.0 & 0xffff).expect("masked to 16 bits");
        }
    }
    let (property, room) = (property.as_str(), room.map(Name::as_str));
    let (from, to) = (i32::from(from.days()), i32::from(to.days()));
    let parameters: [&(dyn ToSql + Sync); 8] = [
        &property,
        &room,
        &from,
        &to,
        &moment.time,
        &place,
        &arrival,
        &one_more(limit),
    ];
    let rows = connection.rows(OF_PROPERTY, &parameters).await?;
    page(&rows, moment, limit, |row| {
        cursor_behind(row, column(row, "arrival")?)
    })
}

/// The room that a cursor names, and its place; nothing when it is none of this property.
pub(super) async fn place_of(
    connection: &mut Connection,
    property: &Name,
    Cursor(cursor): Cursor,
) -> Result<Option<(Name, Vec<u8>)>, StatementFailure> {
    let cursor = cursor.cast_signed();
    let (number, is_loose) = (cursor >> 17, cursor & LOOSE != 0);
    let known = "SELECT r.name FROM rooms.room r JOIN rooms.property p USING (property)
                 WHERE r.room = $1 AND p.name = $2";
    let rows = connection
        .rows(known, &[&number, &property.as_str()])
        .await?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let room = name(column(row, 0)?)?;
    let place = if is_loose {
        loose_place(number)
    } else {
        natural_place(&room)
    };
    Ok(Some((room, place)))
}

/// The cursor behind a room, or behind an entry of it.
pub(super) fn cursor_behind(row: &Row, arrival: i32) -> Result<i64, StatementFailure> {
    let loose: bool = column(row, "loose")?;
    let number: i64 = column(row, "number")?;
    Ok(number << 17 | if loose { LOOSE } else { 0 } | i64::from(arrival))
}

/// A guest's bookings, the newest first; the cursor is the position of the last one shown.
pub(super) async fn of_guest(
    connection: &mut Connection,
    moment: AskedAt,
    id: GuestId,
    (cursor, limit): (Option<Cursor>, u16),
) -> Result<Page, StatementFailure> {
    let seal = id.seal.cast_signed();
    let four = i16::try_from(id.last_four).expect("at most four digits");
    let before = cursor.map_or(i64::MAX, |Cursor(position)| signed(position));
    let rows = connection
        .rows(OF_GUEST, &[&seal, &four, &before, &one_more(limit)])
        .await?;
    page(&rows, moment, limit, |row| column(row, "position"))
}

/// The open holds of a principal, the oldest first; the cursor is the position of the command that
/// made the last one shown.
pub(super) async fn holds(
    connection: &mut Connection,
    moment: AskedAt,
    principal: &Principal,
    (cursor, limit): (Option<Cursor>, u16),
) -> Result<Page, StatementFailure> {
    let after = cursor.map_or(0, |Cursor(position)| signed(position));
    let principal = principal.0.as_str();
    let rows = connection
        .rows(HOLDS, &[&principal, &moment.time, &after, &one_more(limit)])
        .await?;
    page(&rows, moment, limit, |row| column(row, "made"))
}

fn signed(position: u64) -> i64 {
    i64::try_from(position).unwrap_or(i64::MAX)
}

/// One more than a page holds says whether there is another.
pub(super) fn one_more(limit: u16) -> i64 {
    i64::from(limit.max(1)) + 1
}

fn page(
    rows: &[Row],
    moment: AskedAt,
    limit: u16,
    cursor: impl Fn(&Row) -> Result<i64, StatementFailure>,
) -> Result<Page, StatementFailure> {
    let limit = usize::from(limit.max(1));
    let shown = rows.iter().take(limit);
    let entries: Result<Vec<Option<Entry>>, StatementFailure> =
        shown.clone().map(|row| entry(row, moment)).collect();
    let last = shown.last().filter(|_row| rows.len() > limit);
    let next = last.map(|row| Ok::<Cursor, StatementFailure>(Cursor(count(cursor(row)?)?)));
    Ok(Page {
        entries: entries?.into_iter().flatten().collect(),
        next: next.transpose()?,
    })
}

/// An entry as it is at an instant; nothing when it is over by then.
pub(super) fn entry(row: &Row, moment: AskedAt) -> Result<Option<Entry>, StatementFailure> {
    let state = match column(row, "state")? {
        "booked" => EntryState::Booked,
        "held" | "expired" => {
            let until = instant(column(row, "held_until")?)?;
            let is_open = column::<&str>(row, "state")? == "held" && until > moment.now;
            if is_open {
                EntryState::Held { until }
            } else if until.plus_ms(limits::LATE_CONFIRM_MS) > moment.now {
                EntryState::Expired { at: until }
            } else {
                return Ok(None);
            }
        }
        _ => return Ok(None),
    };
    let seal: Option<i64> = column(row, "guest_seal")?;
    let last_four: Option<i16> = column(row, "guest_last_four")?;
    let id = seal.zip(last_four).map(|(seal, last_four)| {
        let last_four = count(last_four.into())?;
        Ok::<GuestId, StatementFailure>(GuestId {
            seal: seal.cast_unsigned(),
            last_four,
        })
    });
    let guest: Option<&str> = column(row, "guest")?;
    Ok(Some(Entry {
        reference: reference_of(column(row, "reference")?),
        state,
        property: name(column(row, "property")?)?,
        room: name(column(row, "room")?)?,
        stay: stay(column(row, "arrival")?, column(row, "departure")?)?,
        guest: guest.map(Into::into),
        id: id.transpose()?,
        principal: Principal(name(column(row, "principal")?)?),
        since: instant(column(row, "since")?)?,
        position: turnstile_types::Position(count(column(row, "position")?)?),
    }))
}
