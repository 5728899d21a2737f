//! Writes the items of a copy as rows.

use serde_json::{Value, json};
use turnstile_contract::copy::Head;
use turnstile_rooms::{Counted, EntryState, Piece, Standing};
use turnstile_types::Name;

use super::{
    super::{
        order::{loose_place, natural_place},
        values::{column, number_of, shown},
    },
    signed,
};
use crate::{connection::Connection, trouble::StatementFailure};

/// Servers that write to the tables wait until the copy is over, and give up before.
const LOCK: &str = "
    BEGIN;
    LOCK TABLE rooms.property, rooms.room, rooms.booking, rooms.night, rooms.stopped_night,
        rooms.idempotency_key, rooms.ended, turnstile.secret IN EXCLUSIVE MODE";

const IS_EMPTY: &str = "
    SELECT NOT EXISTS (SELECT FROM rooms.property) AND NOT EXISTS (SELECT FROM rooms.booking)
       AND NOT EXISTS (SELECT FROM rooms.ended) AND NOT EXISTS (SELECT FROM rooms.tally)
       AND NOT EXISTS (SELECT FROM rooms.idempotency_key)";

/// Sequences do not go back with their transaction. What a copy that is taken back leaves is a gap.
const BEGIN: &str = "
    WITH keyed AS (UPDATE turnstile.secret SET id_key = $1 RETURNING id_key)
    SELECT setval('rooms.position', greatest($2::bigint, 1)),
           setval('rooms.reference', $3::bigint, false), length(keyed.id_key)
    FROM keyed";

const PROPERTIES: &str = "
    INSERT INTO rooms.property
    SELECT * FROM json_to_recordset($1::text::json) AS one (property bigint, name text, open boolean)";

const ROOMS: &str = "
    INSERT INTO rooms.room (room, property, name, kind, in_sale, place)
    SELECT one.room, p.property, one.name, one.kind, one.in_sale, one.place
    FROM json_to_recordset($1::text::json)
        AS one (room bigint, property text, name text, kind text, in_sale boolean, place bytea)
    JOIN rooms.property p ON p.name = one.property";

const STOPPED: &str = "
    INSERT INTO rooms.stopped_night
    SELECT r.room, one.first + step
    FROM json_to_recordset($1::text::json)
        AS one (property text, room text, first date, nights integer)
    JOIN rooms.property p ON p.name = one.property
    JOIN rooms.room r ON r.property = p.property AND r.name = one.room,
        generate_series(0, one.nights - 1) step";

const BOOKINGS: &str = "
    WITH standing AS (
        INSERT INTO rooms.booking
        SELECT one.reference, one.state, r.room, one.arrival, one.departure, one.principal,
               one.since, one.position, one.made, one.until, one.guest, one.seal, one.last_four
        FROM json_to_recordset($1::text::json)
            AS one (reference bigint, state rooms.state, property text, room text, arrival date,
                departure date, principal text, since timestamptz, position bigint, made bigint,
                until timestamptz, guest text, seal bigint, last_four smallint)
        JOIN rooms.property p ON p.name = one.property
        JOIN rooms.room r ON r.property = p.property AND r.name = one.room
        RETURNING *
    )
    INSERT INTO rooms.night
    SELECT s.room, s.arrival + step, s.reference, s.held_until
    FROM standing s, generate_series(0, s.departure - s.arrival - 1) step
    WHERE s.state <> 'expired'";

const ENDED: &str = "
    INSERT INTO rooms.ended
    SELECT * FROM json_to_recordset($1::text::json) AS one (slot bigint, generation bigint)";

const TALLY: &str = "
    INSERT INTO rooms.tally (shard, booked, cancelled, held, expired) VALUES (0, $1, $2, $3, $4)";

/// What is known of properties without counting again: their rooms, and up to which number all are
/// names of rooms.
const SIZES: &str = "
    INSERT INTO rooms.size
    SELECT property, 0, count(*), count(*) FILTER (WHERE in_sale) FROM rooms.room GROUP BY property;
    UPDATE rooms.property p SET numbered = counted.numbered FROM (
        SELECT property, count(*) AS numbered FROM (
            SELECT property, name::integer AS number,
                   row_number() OVER (PARTITION BY property ORDER BY name::integer) AS rank
            FROM rooms.room WHERE name ~ '^[1-9][0-9]{0,8}$'
        ) numbers WHERE number = rank GROUP BY property
    ) counted WHERE counted.property = p.property AND p.open";

/// What was taken so far.
#[derive(Debug, Default)]
pub(super) struct Taken {
    properties: i64,
    rooms: i64,
    counted: Counted,
}

/// Begins a transaction in which nobody else writes; says whether nothing is here.
pub(super) async fn begin(
    connection: &mut Connection,
    head: &Head,
) -> Result<bool, StatementFailure> {
    connection.script(LOCK).await?;
    let row = connection.row(IS_EMPTY, &[]).await?;
    if !column::<bool>(&row, 0)? {
        return Ok(false);
    }
    let secret = head.id_key.secret();
    let position = signed(head.position.0)?;
    let next = i64::from(head.slots);
    connection
        .row(BEGIN, &[&&secret[..], &position, &next])
        .await?;
    Ok(true)
}

impl Taken {
    pub(super) async fn take(
        &mut self,
        connection: &mut Connection,
        pieces: &[Piece],
    ) -> Result<(), StatementFailure> {
        let (mut properties, mut rooms, mut stopped) = (Vec::new(), Vec::new(), Vec::new());
        let (mut bookings, mut ended) = (Vec::new(), Vec::new());
        for piece in pieces {
            match piece {
                Piece::Property { name, open } => {
                    self.properties += 1;
                    properties.push(json!({
                        "property": self.properties,
                        "name": name.as_str(),
                        "open": open,
                    }));
                }
                Piece::Room {
                    property,
                    name,
                    room_type,
                    loose,
                    withdrawn,
                } => {
                    self.rooms += 1;
                    rooms.push(json!({
                        "room": self.rooms,
                        "property": property.as_str(),
                        "name": name.as_str(),
                        "kind": room_type.as_str(),
                        "in_sale": !withdrawn,
                        "place": place(name, *loose, self.rooms),
                    }));
                }
                Piece::Stopped {
                    property,
                    room,
                    first,
                    nights,
                } => stopped.push(json!({
                    "property": property.as_str(),
                    "room": room.as_str(),
                    "first": first.to_string(),
                    "nights": nights,
                })),
                Piece::Standing(standing) => {
                    bookings.push(booking(standing)?);
                    let reference = standing.entry.reference;
                    if let Some(last) = reference.generation.checked_sub(1) {
                        ended.push(json!({ "slot": reference.slot, "generation": last }));
                    }
                }
                Piece::Over { slot, next } => {
                    let last = next.map_or(u32::MAX.into(), |next| i64::from(next) - 1);
                    ended.push(json!({ "slot": slot, "generation": last }));
                }
                Piece::Totals(counted) => self.counted = *counted,
            }
        }
        for (sql, rows) in [
            (PROPERTIES, properties),
            (ROOMS, rooms),
            (STOPPED, stopped),
            (BOOKINGS, bookings),
            (ENDED, ended),
        ] {
            connection.insert(sql, rows).await?;
        }
        Ok(())
    }

    /// Writes what is known when all is there.
    pub(super) async fn settle(&self, connection: &mut Connection) -> Result<(), StatementFailure> {
        connection.script(SIZES).await?;
        let Counted {
            booked,
            cancelled,
            held,
            expired,
        } = self.counted;
        let tally = [booked, cancelled, held, expired].map(signed);
        let [booked, cancelled, held, expired] = tally;
        connection
            .rows(TALLY, &[&booked?, &cancelled?, &held?, &expired?])
            .await?;
        // Numbers of rooms and properties are positions; no later one may be the same.
        let numbers = self.rooms.max(self.properties);
        let beyond =
            "SELECT setval('rooms.position', greatest($1, last_value)) FROM rooms.position";
        connection.row(beyond, &[&numbers]).await?;
        Ok(())
    }
}

/// Where a room lies, as the text of bytes.
fn place(name: &Name, loose: bool, number: i64) -> String {
    let place = if loose {
        loose_place(number)
    } else {
        natural_place(name)
    };
    let digits = place.iter().map(|byte| format!("{byte:02x}"));
    format!("\\x{}", digits.collect::<String>())
}

fn booking(standing: &Standing) -> Result<Value, StatementFailure> {
    let entry = &standing.entry;
    let (state, until) = match entry.state {
        EntryState::Booked => ("booked", None),
        EntryState::Held { until } => ("held", Some(until)),
        EntryState::Expired { at } => ("expired", Some(at)),
    };
    let made = standing.made.unwrap_or(entry.position);
    Ok(json!({
        "reference": number_of(entry.reference),
        "state": state,
        "property": entry.property.as_str(),
        "room": entry.room.as_str(),
        "arrival": entry.stay.arrival().to_string(),
        "departure": entry.stay.departure().to_string(),
        "principal": entry.principal.0.as_str(),
        "since": shown(entry.since)?,
        "position": signed(entry.position.0)?,
        "made": signed(made.0)?,
        "until": until.map(shown).transpose()?,
        "guest": entry.guest.as_deref(),
        "seal": entry.id.map(|id| id.seal.cast_signed()),
        "last_four": entry.id.map(|id| id.last_four),
    }))
}
