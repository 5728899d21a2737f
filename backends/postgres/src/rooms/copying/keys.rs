//! Idempotency keys and their first answers: rows of the table, and items of a copy.

use std::time::SystemTime;

use futures_util::{StreamExt as _, pin_mut};
use tokio_postgres::{Row, types::ToSql};
use turnstile_contract::copy::{Halt, KeyTeller, Refusal, Remembered};
use turnstile_rooms::{Done, Nights, Outcome, Refusal as Refused};
use turnstile_sequencer::KEY_MS;
use turnstile_types::{Malformed, Position, Principal, Timestamp};

use super::{
    super::{
        outcomes::outcome,
        values::{column, count, instant, name, number_of, time_of},
    },
    signed,
};
use crate::{connection::Connection, trouble::Trouble};

const KEYS: &str = "
    SELECT k.principal, k.key, k.content, k.at, k.position, (k.outcome).answer,
           (k.outcome).reference, (k.outcome).room, (k.outcome).until, (k.outcome).late,
           (k.outcome).arrival - date 'epoch' AS arrival,
           (k.outcome).departure - date 'epoch' AS departure, (k.outcome).nights, (k.outcome).bound
    FROM rooms.idempotency_key k WHERE k.at > $1 ORDER BY k.at, k.position";

const TAKE: &str = "
    INSERT INTO rooms.idempotency_key
    SELECT one.principal, one.key, one.content, one.at, one.position,
           ROW(one.answer, one.reference, one.room, one.until, one.late,
               date 'epoch' + one.arrival, date 'epoch' + one.departure, one.nights::smallint[],
               one.bound)::rooms.outcome
    FROM unnest($1::text[], $2::text[], $3::bigint[], $4::timestamptz[], $5::bigint[], $6::text[],
            $7::bigint[], $8::text[], $9::timestamptz[], $10::boolean[], $11::integer[],
            $12::integer[], $13::text[], $14::integer[])
        AS one (principal, key, content, at, position, answer, reference, room, until, late, arrival,
            departure, nights, bound)";

/// Tells the keys that are remembered at an instant.
pub(super) async fn tell(
    connection: &mut Connection,
    now: Timestamp,
    teller: &mut KeyTeller,
) -> Result<(), Halt> {
    let day_ago = time_of(Timestamp(now.0.saturating_sub(KEY_MS)))?;
    let rows = connection.stream(KEYS, &[&day_ago]).await?;
    pin_mut!(rows);
    while let Some(row) = rows.next().await {
        teller
            .put(remembered(&row.map_err(Trouble::from)?)?)
            .await?;
    }
    Ok(())
}

fn remembered(row: &Row) -> Result<Remembered, Halt> {
    let principal = Principal(name(column(row, "principal")?)?);
    let (key, answer): (&str, &str) = (column(row, "key")?, column(row, "answer")?);
    let at = instant(column(row, "at")?)?;
    let arrival: Option<i32> = column(row, "arrival")?;
    if matches!(answer, "sold_out" | "stop_sell") && arrival.is_none() {
        return Err(Halt::from(Refusal::EarlierKey {
            principal,
            key: key.into(),
            forgotten: at.plus_ms(KEY_MS),
        }));
    }
    let content = column::<i64>(row, "content")?.cast_unsigned();
    let decided = (at, Position(count(column(row, "position")?)?));
    let outcome = outcome(row, answer, None)?;
    let known = Remembered::new((principal, key), content, decided, outcome);
    let strange =
        |Malformed { field }| Trouble::Broken(format!("the database has a wrong {field}"));
    Ok(known.map_err(strange)?)
}

/// Writes what is remembered under keys.
pub(super) async fn take(connection: &mut Connection, keys: &[Remembered]) -> Result<(), Trouble> {
    let mut columns = Columns::default();
    for known in keys {
        columns.push(known)?;
    }
    let columns: &[&(dyn ToSql + Sync)] = &[
        &columns.principal,
        &columns.key,
        &columns.content,
        &columns.at,
        &columns.position,
        &columns.answer,
        &columns.reference,
        &columns.room,
        &columns.until,
        &columns.late,
        &columns.arrival,
        &columns.departure,
        &columns.nights,
        &columns.bound,
    ];
    connection.rows(TAKE, columns).await.map(drop)
}

#[derive(Default)]
struct Columns<'a> {
    principal: Vec<&'a str>,
    key: Vec<&'a str>,
    content: Vec<i64>,
    at: Vec<SystemTime>,
    position: Vec<i64>,
    answer: Vec<&'static str>,
    reference: Vec<Option<i64>>,
    room: Vec<Option<&'a str>>,
    until: Vec<Option<SystemTime>>,
    late: Vec<Option<bool>>,
    arrival: Vec<Option<i32>>,
    departure: Vec<Option<i32>>,
    nights: Vec<Option<String>>,
    bound: Vec<Option<i32>>,
}

/// The columns of an outcome, as far as it has them.
#[derive(Default)]
struct Answer<'a> {
    word: &'static str,
    reference: Option<i64>,
    room: Option<&'a str>,
    until: Option<Timestamp>,
    late: Option<bool>,
    arrival: Option<u16>,
    departure: Option<u16>,
    nights: Option<String>,
    bound: Option<u32>,
}

impl<'a> Columns<'a> {
    fn push(&mut self, known: &'a Remembered) -> Result<(), Trouble> {
        self.principal.push(known.principal.0.as_str());
        self.key.push(known.key().as_str());
        self.content.push(known.content.cast_signed());
        self.at.push(time_of(known.at)?);
        self.position.push(signed(known.position.0)?);
        let answer = match &known.outcome {
            Outcome::Done(done) => of_done(done),
            Outcome::Refused(refusal) => of_refusal(refusal),
        };
        self.answer.push(answer.word);
        self.reference.push(answer.reference);
        self.room.push(answer.room);
        self.until.push(answer.until.map(time_of).transpose()?);
        self.late.push(answer.late);
        self.arrival.push(answer.arrival.map(i32::from));
        self.departure.push(answer.departure.map(i32::from));
        self.nights.push(answer.nights);
        let bound = answer.bound.map(i32::try_from).transpose();
        self.bound
            .push(bound.map_err(|_large| Trouble::Broken("no bound of ours".to_owned()))?);
        Ok(())
    }
}

fn of_done(done: &Done) -> Answer<'_> {
    let word = |word| Answer {
        word,
        ..Answer::default()
    };
    match done {
        Done::PropertyAdded => word("property_added"),
        Done::RoomAdded => word("room_added"),
        Done::RoomWithdrawn => word("room_withdrawn"),
        Done::SaleStopped => word("sale_stopped"),
        Done::SaleResumed => word("sale_resumed"),
        Done::Released => word("released"),
        Done::Booked { reference, room } => Answer {
            reference: Some(number_of(*reference)),
            room: Some(room.as_str()),
            ..word("booked")
        },
        Done::Held {
            reference,
            room,
            until,
        } => Answer {
            reference: Some(number_of(*reference)),
            room: Some(room.as_str()),
            until: Some(*until),
            ..word("held")
        },
        Done::Extended { until } => Answer {
            until: Some(*until),
            ..word("extended")
        },
        Done::Confirmed {
            reference,
            room,
            late,
        } => Answer {
            reference: Some(number_of(*reference)),
            room: Some(room.as_str()),
            late: Some(*late),
            ..word("confirmed")
        },
        Done::Cancelled { room, stay } => Answer {
            room: Some(room.as_str()),
            arrival: Some(stay.arrival().days()),
            departure: Some(stay.departure().days()),
            ..word("cancelled")
        },
    }
}

fn of_refusal(refusal: &Refused) -> Answer<'static> {
    let word = Answer {
        word: refusal.code(),
        ..Answer::default()
    };
    match refusal {
        Refused::RoomInUse { night } => Answer {
            arrival: Some(night.days()),
            ..word
        },
        Refused::SoldOut { nights } | Refused::StopSell { nights } => Answer {
            arrival: Some(nights.first.days()),
            nights: places(*nights),
            ..word
        },
        Refused::TooManyRooms { limit: bound }
        | Refused::TooManyHolds { limit: bound }
        | Refused::HoldTooLong { ttl_ms_max: bound } => Answer {
            bound: Some(*bound),
            ..word
        },
        Refused::HoldCeiling { until_max } => Answer {
            until: Some(*until_max),
            ..word
        },
        Refused::UnknownProperty
        | Refused::UnknownRoom
        | Refused::UnknownType
        | Refused::PropertyExists
        | Refused::RoomExists
        | Refused::NotFound
        | Refused::WrongGuest
        | Refused::Ended
        | Refused::HoldExpired
        | Refused::AlreadyConfirmed
        | Refused::NotConfirmed => word,
    }
}

/// The places of nights in a stay, as the text of an array; nothing when there are none.
fn places(nights: Nights) -> Option<String> {
    let places = (0..u128::BITS).filter(|place| nights.bits >> place & 1 == 1);
    let places: Vec<String> = places.map(|place| place.to_string()).collect();
    (!places.is_empty()).then(|| format!("{{{}}}", places.join(",")))
}
