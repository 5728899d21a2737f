//! Reads the tables as the items of a copy.

use mysql_async::Row as Found;
use turnstile_contract::copy::{CopiedKey, Halt, KeyTeller, Teller};
use turnstile_rooms::{Counted, Piece, Rooms, Standing};
use turnstile_sequencer::KEY_MS;
use turnstile_types::{Machine as _, Malformed, Timestamp};

use crate::{
    decide::is_forgotten,
    fault::Fault,
    fields::ColumnReader,
    queries::{booked, held},
    rows::Record,
    session::Session,
    sql::{At, put},
    tables::{
        BookingRow, BookingState, HoldRow, HoldState, KeyRow, PlacedStay, PropertyRow, RoomRow,
        StoppedRow,
    },
    wants::put_select,
};

/// By slot and generation: bookings, holds, and references that ended without either.
const SLOTS: &str = "\
SELECT reference & 4294967295 AS slot, reference >> 32 AS generation, state, property, room,
       arrival, departure, principal, since, guest, seal, last_four, position, held_until, made
FROM (SELECT reference, state, property, room, arrival, departure, principal, since, guest, seal,
             last_four, position, NULL AS held_until, NULL AS made
      FROM bookings
      UNION ALL
      SELECT reference, state, property, room, arrival, departure, principal, since, NULL, NULL,
             NULL, position, held_until, made
      FROM holds WHERE state<>'confirmed'
      UNION ALL
      SELECT generation<<32|slot, _ascii'ended' COLLATE ascii_bin, NULL, NULL, NULL, NULL, NULL,
             NULL, NULL, NULL, NULL, NULL, NULL, NULL
      FROM ended) AS slots
ORDER BY slot, generation;";

type Told = Result<(), Halt>;

pub(super) async fn tell(
    session: &mut Session,
    now: Timestamp,
    (mut teller, slots): (Teller, u32),
) -> Told {
    tell_houses(session, &mut teller).await?;
    let mut sql = String::new();
    put_select::<StoppedRow>(&mut sql);
    sql.push_str("ORDER BY property, room, night;");
    let mut rows = session.stream(&sql).await?;
    while let Some(row) = rows.next().await.map_err(Fault::from)? {
        let ((property, night, room), _) = StoppedRow::read(&mut ColumnReader::of(&row))?;
        teller.put_stopped(property, room, night).await?;
    }
    drop(rows);
    let mut rows = session.stream(SLOTS).await?;
    while let Some(row) = rows.next().await.map_err(Fault::from)? {
        tell_slot(&row, now, &mut teller).await?;
    }
    drop(rows);
    let counted = counted(session, now).await?;
    let mut teller = teller.finish(slots, counted).await?;
    tell_keys(session, now, &mut teller).await?;
    Ok(teller.end().await?)
}

async fn tell_keys(session: &mut Session, now: Timestamp, teller: &mut KeyTeller) -> Told {
    let strange = |malformed: Malformed| {
        Fault::Broken(format!(
            "what is kept under a key has a wrong {}",
            malformed.field
        ))
    };
    let mut sql = String::new();
    put_select::<KeyRow>(&mut sql);
    let day_ago = At(Timestamp(now.0.saturating_sub(KEY_MS)));
    put!(sql, "WHERE since>{day_ago} ORDER BY since, position;");
    let mut rows = session.stream(&sql).await?;
    while let Some(row) = rows.next().await.map_err(Fault::from)? {
        let ((principal, key), first) = KeyRow::read(&mut ColumnReader::of(&row))?;
        let decided = (first.since, first.position);
        let outcome = Rooms::decode_outcome(&first.outcome).map_err(strange)?;
        let known = CopiedKey::new((principal, &key), first.content.0, decided, outcome);
        teller.put(known.map_err(strange)?).await?;
    }
    Ok(())
}

async fn tell_houses(session: &mut Session, teller: &mut Teller) -> Told {
    let mut sql = String::new();
    put_select::<PropertyRow>(&mut sql);
    sql.push_str("ORDER BY name;");
    let mut rows = session.stream(&sql).await?;
    while let Some(row) = rows.next().await.map_err(Fault::from)? {
        let (name, property) = PropertyRow::read(&mut ColumnReader::of(&row))?;
        let open = property.open;
        teller.put(Piece::Property { name, open }).await?;
    }
    drop(rows);
    let mut sql = String::new();
    put_select::<RoomRow>(&mut sql);
    sql.push_str("ORDER BY property, loose, place;");
    let mut rows = session.stream(&sql).await?;
    while let Some(row) = rows.next().await.map_err(Fault::from)? {
        let ((property, name), room) = RoomRow::read(&mut ColumnReader::of(&row))?;
        let room = Piece::Room {
            property,
            name,
            room_type: room.room_type,
            loose: room.loose,
            withdrawn: room.withdrawn,
        };
        teller.put(room).await?;
    }
    Ok(())
}

async fn tell_slot(row: &Found, now: Timestamp, teller: &mut Teller) -> Told {
    let mut fields = ColumnReader::of(row);
    let (slot, generation): (u32, u32) = (fields.number("slot")?, fields.number("generation")?);
    let number = u64::from(generation) << 32 | u64::from(slot);
    match fields.text("state")? {
        "booked" => {
            let placed = PlacedStay::read(&mut fields)?;
            let booking = BookingRow {
                placed,
                guest: fields.text("guest")?.into(),
                id: fields.guest_id()?,
                position: fields.position("position")?,
                state: BookingState::Booked,
            };
            let entry = booked(number, booking);
            let made = None;
            return Ok(teller.put_standing(Standing { entry, made }).await?);
        }
        state @ ("held" | "expired") => {
            let is_held = state == "held";
            let placed = PlacedStay::read(&mut fields)?;
            fields.skip(3);
            let position = fields.position("position")?;
            let hold = HoldRow {
                placed,
                position,
                until: fields.instant("held_until")?,
                made: fields.position("made")?,
                state: if is_held {
                    HoldState::Held
                } else {
                    HoldState::Expired
                },
            };
            if !is_forgotten(&hold, now) {
                let entry = held(number, &hold, now);
                let made = Some(hold.made);
                return Ok(teller.put_standing(Standing { entry, made }).await?);
            }
        }
        _ => {}
    }
    Ok(teller.put_ended(slot, generation).await?)
}

/// What was done, and the holds that are over by now and not noted as such.
async fn counted(session: &mut Session, now: Timestamp) -> Result<Counted, Halt> {
    let mut sql = String::new();
    put!(
        sql,
        "SELECT booked_total, cancelled_total, held_total, expired_total + (SELECT COUNT(*) FROM \
         holds WHERE state='held' AND held_until<={}) FROM counters;",
        At(now)
    );
    let row = session.row(&sql, "no row of counters").await?;
    let mut fields = ColumnReader::of(&row);
    Ok(Counted {
        booked: fields.number("booked_total")?,
        cancelled: fields.number("cancelled_total")?,
        held: fields.number("held_total")?,
        expired: fields.number("expired_total")?,
    })
}
