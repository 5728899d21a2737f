//! Reads the tables as the items of a copy.

use std::time::SystemTime;

use futures_util::{StreamExt as _, pin_mut};
use tokio_postgres::Row;
use turnstile_contract::copy::{Halt, Teller};
use turnstile_rooms::{Counted, EntryState, Piece, Standing};
use turnstile_types::{Position, Timestamp};

use super::{
    super::{
        listings::{AskedAt, entry},
        values::{column, count, name, night, reference_of, time_of},
    },
    keys,
};
use crate::{connection::Connection, trouble::StatementFailure};

/// The secret, the last position, the slots, and how many rows there are beside them.
pub(super) const HEAD: &str = "
    SELECT s.id_key, p.last_value, r.last_value + r.is_called::integer,
           (SELECT count(*) FROM rooms.property) + (SELECT count(*) FROM rooms.room) +
           (SELECT count(*) FROM rooms.idempotency_key)
    FROM turnstile.secret s, rooms.position p, rooms.reference r";

const PROPERTIES: &str = "SELECT name, open FROM rooms.property ORDER BY name";

const ROOMS: &str = "
    SELECT p.name AS property, r.name, r.kind, r.place >= '\\xff' AS loose, r.in_sale
    FROM rooms.room r JOIN rooms.property p USING (property)
    ORDER BY p.name, r.place >= '\\xff', CASE WHEN r.place >= '\\xff' THEN r.room END, r.place";

const STOPPED: &str = "
    SELECT p.name AS property, r.name AS room, s.night - date 'epoch' AS night
    FROM rooms.stopped_night s JOIN rooms.room r USING (room) JOIN rooms.property p USING (property)
    ORDER BY p.name, r.name, s.night";

/// By slot and generation: entries, and references that ended without one.
const SLOTS: &str = "
    SELECT b.reference & 4294967295 AS slot, b.reference >> 32 & 4294967295 AS generation,
           b.reference, b.state::text, p.name AS property, r.name AS room,
           b.arrival - date 'epoch' AS arrival, b.departure - date 'epoch' AS departure,
           b.guest, b.guest_seal, b.guest_last_four, b.principal, b.since, b.position,
           b.held_until, b.made
    FROM rooms.booking b
    LEFT JOIN rooms.room r USING (room) LEFT JOIN rooms.property p USING (property)
    UNION ALL
    SELECT e.slot, e.generation, 0, 'forgotten', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
           NULL, NULL, NULL, NULL
    FROM rooms.ended e
    ORDER BY slot, generation";

/// What was done, and the holds that are over by now and not noted as such.
const COUNTED: &str = "
    SELECT coalesce(sum(booked), 0)::bigint, coalesce(sum(cancelled), 0)::bigint,
           coalesce(sum(held), 0)::bigint,
           coalesce(sum(expired), 0)::bigint + (
               SELECT count(*) FROM rooms.booking b WHERE b.state = 'held' AND b.held_until <= $1)
    FROM rooms.tally";

type Told = Result<(), Halt>;

pub(super) async fn tell(
    connection: &mut Connection,
    now: Timestamp,
    (mut teller, slots): (Teller, u32),
) -> Told {
    let moment = AskedAt {
        now,
        time: time_of(now)?,
    };
    tell_houses(connection, &mut teller).await?;
    let rows = connection.stream(STOPPED, &[]).await?;
    pin_mut!(rows);
    while let Some(row) = rows.next().await {
        let row = row.map_err(StatementFailure::from)?;
        let (property, room) = (column(&row, 0)?, column(&row, 1)?);
        let night = night(column(&row, 2)?)?;
        teller
            .put_stopped(name(property)?, name(room)?, night)
            .await?;
    }
    let rows = connection.stream(SLOTS, &[]).await?;
    pin_mut!(rows);
    while let Some(row) = rows.next().await {
        tell_slot(&row.map_err(StatementFailure::from)?, moment, &mut teller).await?;
    }
    let counted = counted(connection, moment.time).await?;
    let mut teller = teller.finish(slots, counted).await?;
    keys::tell(connection, now, &mut teller).await?;
    Ok(teller.end().await?)
}

async fn tell_houses(connection: &mut Connection, teller: &mut Teller) -> Told {
    let rows = connection.stream(PROPERTIES, &[]).await?;
    pin_mut!(rows);
    while let Some(row) = rows.next().await {
        let row = row.map_err(StatementFailure::from)?;
        let property = Piece::Property {
            name: name(column(&row, 0)?)?,
            open: column(&row, 1)?,
        };
        teller.put(property).await?;
    }
    let rows = connection.stream(ROOMS, &[]).await?;
    pin_mut!(rows);
    while let Some(row) = rows.next().await {
        let row = row.map_err(StatementFailure::from)?;
        let room = Piece::Room {
            property: name(column(&row, 0)?)?,
            name: name(column(&row, 1)?)?,
            room_type: name(column(&row, 2)?)?,
            loose: column(&row, 3)?,
            withdrawn: !column::<bool>(&row, 4)?,
        };
        teller.put(room).await?;
    }
    Ok(())
}

async fn tell_slot(row: &Row, moment: AskedAt, teller: &mut Teller) -> Told {
    let reference = reference_of(column::<i64>(row, 0)? | column::<i64>(row, 1)? << 32);
    let is_over = matches!(
        column(row, "state")?,
        "released" | "cancelled" | "forgotten"
    );
    let standing = if is_over { None } else { entry(row, moment)? };
    let Some(entry) = standing else {
        let told = teller.put_ended(reference.slot, reference.generation);
        return Ok(told.await?);
    };
    let made = match entry.state {
        EntryState::Booked => None,
        EntryState::Held { .. } | EntryState::Expired { .. } => {
            Some(Position(count(column(row, "made")?)?))
        }
    };
    Ok(teller.put_standing(Standing { entry, made }).await?)
}

async fn counted(
    connection: &mut Connection,
    now: SystemTime,
) -> Result<Counted, StatementFailure> {
    let row = connection.row(COUNTED, &[&now]).await?;
    Ok(Counted {
        booked: count(column(&row, 0)?)?,
        cancelled: count(column(&row, 1)?)?,
        held: count(column(&row, 2)?)?,
        expired: count(column(&row, 3)?)?,
    })
}
