//! Writes the items of a copy as rows.

use std::time::SystemTime;

use tokio_postgres::types::ToSql;
use turnstile_contract::copy::Head;
use turnstile_rooms::{Counted, EntryState, Piece, Standing};
use turnstile_types::Name;

use super::{
    super::{
        order::{loose_place, natural_place},
        values::{column, number_of, time_of},
    },
    signed,
};
use crate::{connection::Connection, trouble::Trouble};

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

const ROOMS: &str = "
    INSERT INTO rooms.room (room, property, name, kind, in_sale, place)
    SELECT one.room, p.property, one.name, one.kind, one.in_sale, one.place
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::boolean[], $6::bytea[])
        AS one (room, property, name, kind, in_sale, place)
    JOIN rooms.property p ON p.name = one.property";

const STOPPED: &str = "
    INSERT INTO rooms.stopped_night
    SELECT r.room, date 'epoch' + $3::integer + step
    FROM rooms.room r JOIN rooms.property p USING (property),
        generate_series(0, $4::integer - 1) step
    WHERE p.name = $1 AND r.name = $2";

const BOOKINGS: &str = "
    WITH standing AS (
        INSERT INTO rooms.booking
        SELECT one.reference, one.state::rooms.state, r.room, date 'epoch' + one.arrival,
               date 'epoch' + one.departure, one.principal, one.since, one.position, one.made,
               one.until, one.guest, one.seal, one.last_four
        FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::integer[],
                $7::text[], $8::timestamptz[], $9::bigint[], $10::bigint[], $11::timestamptz[],
                $12::text[], $13::bigint[], $14::smallint[])
            AS one (reference, state, property, room, arrival, departure, principal, since, position,
                made, until, guest, seal, last_four)
        JOIN rooms.property p ON p.name = one.property
        JOIN rooms.room r ON r.property = p.property AND r.name = one.room
        RETURNING *
    )
    INSERT INTO rooms.night
    SELECT s.room, s.arrival + step, s.reference, s.held_until
    FROM standing s, generate_series(0, s.departure - s.arrival - 1) step
    WHERE s.state <> 'expired'";

const ENDED: &str = "
    INSERT INTO rooms.ended SELECT * FROM unnest($1::bigint[], $2::bigint[])";

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

#[derive(Default)]
struct RoomColumns<'a> {
    number: Vec<i64>,
    property: Vec<&'a str>,
    name: Vec<&'a str>,
    kind: Vec<&'a str>,
    in_sale: Vec<bool>,
    place: Vec<Vec<u8>>,
}

#[derive(Default)]
struct BookingColumns<'a> {
    reference: Vec<i64>,
    state: Vec<&'static str>,
    property: Vec<&'a str>,
    room: Vec<&'a str>,
    arrival: Vec<i32>,
    departure: Vec<i32>,
    principal: Vec<&'a str>,
    since: Vec<SystemTime>,
    position: Vec<i64>,
    made: Vec<i64>,
    until: Vec<Option<SystemTime>>,
    guest: Vec<Option<&'a str>>,
    seal: Vec<Option<i64>>,
    last_four: Vec<Option<i16>>,
}

/// Begins a transaction in which nobody else writes; says whether nothing is here.
pub(super) async fn begin(connection: &mut Connection, head: &Head) -> Result<bool, Trouble> {
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
    ) -> Result<(), Trouble> {
        self.take_houses(connection, pieces).await?;
        let mut bookings = BookingColumns::default();
        let mut ended: (Vec<i64>, Vec<i64>) = Default::default();
        for piece in pieces {
            match piece {
                Piece::Standing(standing) => {
                    bookings.push(standing)?;
                    let reference = standing.entry.reference;
                    if let Some(last) = reference.generation.checked_sub(1) {
                        ended.0.push(reference.slot.into());
                        ended.1.push(last.into());
                    }
                }
                Piece::Over { slot, next } => {
                    ended.0.push((*slot).into());
                    ended
                        .1
                        .push(next.map_or(u32::MAX.into(), |next| i64::from(next) - 1));
                }
                Piece::Totals(counted) => self.counted = *counted,
                Piece::Property { .. } | Piece::Room { .. } | Piece::Stopped { .. } => {}
            }
        }
        bookings.write(connection).await?;
        if !ended.0.is_empty() {
            connection.rows(ENDED, &[&ended.0, &ended.1]).await?;
        }
        Ok(())
    }

    async fn take_houses(
        &mut self,
        connection: &mut Connection,
        pieces: &[Piece],
    ) -> Result<(), Trouble> {
        let mut rooms = RoomColumns::default();
        for piece in pieces {
            match piece {
                Piece::Property { name, open } => {
                    self.properties += 1;
                    let add = "INSERT INTO rooms.property VALUES ($1, $2, $3)";
                    let columns = (self.properties, name.as_str(), open);
                    connection
                        .rows(add, &[&columns.0, &columns.1, columns.2])
                        .await?;
                }
                Piece::Room {
                    property,
                    name,
                    room_type,
                    loose,
                    withdrawn,
                } => {
                    self.rooms += 1;
                    let place = place(name, *loose, self.rooms);
                    rooms.push(self.rooms, [property, name, room_type], (!withdrawn, place));
                }
                Piece::Stopped { .. }
                | Piece::Standing(_)
                | Piece::Over { .. }
                | Piece::Totals(_) => {}
            }
        }
        rooms.write(connection).await?;
        for piece in pieces {
            if let Piece::Stopped {
                property,
                room,
                first,
                nights,
            } = piece
            {
                let (first, nights) = (i32::from(first.days()), i32::from(*nights));
                let (property, room) = (property.as_str(), room.as_str());
                connection
                    .rows(STOPPED, &[&property, &room, &first, &nights])
                    .await?;
            }
        }
        Ok(())
    }

    /// Writes what is known when all is there.
    pub(super) async fn settle(&self, connection: &mut Connection) -> Result<(), Trouble> {
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

fn place(name: &Name, loose: bool, number: i64) -> Vec<u8> {
    if loose {
        loose_place(number)
    } else {
        natural_place(name)
    }
}

impl<'a> RoomColumns<'a> {
    fn push(
        &mut self,
        number: i64,
        [property, name, kind]: [&'a Name; 3],
        (in_sale, place): (bool, Vec<u8>),
    ) {
        self.number.push(number);
        self.property.push(property.as_str());
        self.name.push(name.as_str());
        self.kind.push(kind.as_str());
        self.in_sale.push(in_sale);
        self.place.push(place);
    }

    async fn write(&self, connection: &mut Connection) -> Result<(), Trouble> {
        if self.number.is_empty() {
            return Ok(());
        }
        let columns: &[&(dyn ToSql + Sync)] = &[
            &self.number,
            &self.property,
            &self.name,
            &self.kind,
            &self.in_sale,
            &self.place,
        ];
        connection.rows(ROOMS, columns).await.map(drop)
    }
}

impl<'a> BookingColumns<'a> {
    fn push(&mut self, standing: &'a Standing) -> Result<(), Trouble> {
        let entry = &standing.entry;
        let (state, until) = match entry.state {
            EntryState::Booked => ("booked", None),
            EntryState::Held { until } => ("held", Some(until)),
            EntryState::Expired { at } => ("expired", Some(at)),
        };
        self.reference.push(number_of(entry.reference));
        self.state.push(state);
        self.property.push(entry.property.as_str());
        self.room.push(entry.room.as_str());
        self.arrival.push(entry.stay.arrival().days().into());
        self.departure.push(entry.stay.departure().days().into());
        self.principal.push(entry.principal.0.as_str());
        self.since.push(time_of(entry.since)?);
        self.position.push(signed(entry.position.0)?);
        let made = standing.made.unwrap_or(entry.position);
        self.made.push(signed(made.0)?);
        self.until.push(until.map(time_of).transpose()?);
        self.guest.push(entry.guest.as_deref());
        self.seal.push(entry.id.map(|id| id.seal.cast_signed()));
        let last_four = entry.id.map(|id| i16::try_from(id.last_four));
        let last_four = last_four.transpose();
        self.last_four
            .push(last_four.map_err(|_large| Trouble::Broken("no id number".to_owned()))?);
        Ok(())
    }

    async fn write(&self, connection: &mut Connection) -> Result<(), Trouble> {
        if self.reference.is_empty() {
            return Ok(());
        }
        let columns: &[&(dyn ToSql + Sync)] = &[
            &self.reference,
            &self.state,
            &self.property,
            &self.room,
            &self.arrival,
            &self.departure,
            &self.principal,
            &self.since,
            &self.position,
            &self.made,
            &self.until,
            &self.guest,
            &self.seal,
            &self.last_four,
        ];
        connection.rows(BOOKINGS, columns).await.map(drop)
    }
}
