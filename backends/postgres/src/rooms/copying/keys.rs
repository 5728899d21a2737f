//! Idempotency keys and their first answers: rows of the table, and items of a copy.

use futures_util::{StreamExt as _, pin_mut};
use serde_json::{Value, json};
use tokio_postgres::Row;
use turnstile_contract::copy::{CopiedKey, Halt, KeyTeller, Refusal};
use turnstile_rooms::{Done, Nights, Outcome, Reference, Refusal as Refused};
use turnstile_sequencer::KEY_MS;
use turnstile_types::{Malformed, Name, Position, Principal, Timestamp};

use super::{
    super::{
        outcomes::outcome,
        values::{column, count, instant, name, number_of, shown, time_of},
    },
    signed,
};
use crate::{connection::Connection, trouble::StatementFailure};

const KEYS: &str = "
    SELECT k.principal, k.key, k.content, k.at, k.position, (k.outcome).answer,
           (k.outcome).reference, (k.outcome).room, (k.outcome).until, (k.outcome).late,
           (k.outcome).arrival - date 'epoch' AS arrival,
           (k.outcome).departure - date 'epoch' AS departure, (k.outcome).nights, (k.outcome).bound,
           (k.outcome).from_room
    FROM rooms.idempotency_key k WHERE k.at > $1 ORDER BY k.at, k.position";

const TAKE: &str = "
    INSERT INTO rooms.idempotency_key
    SELECT * FROM json_populate_recordset(NULL::rooms.idempotency_key, $1::text::json)";

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
            .put(remembered(&row.map_err(StatementFailure::from)?)?)
            .await?;
    }
    Ok(())
}

fn remembered(row: &Row) -> Result<CopiedKey, Halt> {
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
    let known = CopiedKey::new((principal, key), content, decided, outcome);
    let strange =
        |Malformed { field }| StatementFailure::Broken(format!("the database has a wrong {field}"));
    Ok(known.map_err(strange)?)
}

/// Writes what is remembered under keys.
pub(super) async fn take(
    connection: &mut Connection,
    keys: &[CopiedKey],
) -> Result<(), StatementFailure> {
    let rows = keys.iter().map(|known| {
        Ok(json!({
            "principal": known.principal.0.as_str(),
            "key": known.key().as_str(),
            "content": known.content.cast_signed(),
            "at": shown(known.at)?,
            "position": signed(known.position.0)?,
            "outcome": of_outcome(&known.outcome)?,
        }))
    });
    let rows = rows.collect::<Result<_, StatementFailure>>()?;
    connection.insert(TAKE, rows).await
}

/// The columns of an outcome, as far as it has them.
fn of_outcome(outcome: &Outcome) -> Result<Value, StatementFailure> {
    let (word, mut columns) = match outcome {
        Outcome::Done(done) => (done.code(), of_done(done)?),
        Outcome::Refused(refusal) => (refusal.code(), of_refusal(refusal)?),
    };
    columns["answer"] = word.into();
    Ok(columns)
}

fn of_done(done: &Done) -> Result<Value, StatementFailure> {
    let placed = |reference: Reference, room: Name| json!({ "reference": number_of(reference), "room": room.as_str() });
    Ok(match *done {
        Done::PropertyAdded
        | Done::RoomAdded
        | Done::RoomWithdrawn
        | Done::SaleStopped
        | Done::SaleResumed
        | Done::Released => json!({}),
        Done::Booked { reference, room } => placed(reference, room),
        Done::Held {
            reference,
            room,
            until,
        } => {
            let mut columns = placed(reference, room);
            columns["until"] = shown(until)?.into();
            columns
        }
        Done::Extended { until } => json!({ "until": shown(until)? }),
        Done::Confirmed {
            reference,
            room,
            late,
        } => {
            let mut columns = placed(reference, room);
            columns["late"] = late.into();
            columns
        }
        Done::Cancelled { room, stay } => json!({
            "room": room.as_str(),
            "arrival": stay.arrival().to_string(),
            "departure": stay.departure().to_string(),
        }),
        Done::Moved { room, from } => json!({
            "room": room.as_str(),
            "from_room": from.room.as_str(),
            "arrival": from.stay.arrival().to_string(),
            "departure": from.stay.departure().to_string(),
        }),
    })
}

fn of_refusal(refusal: &Refused) -> Result<Value, StatementFailure> {
    Ok(match *refusal {
        Refused::RoomInUse { night } => json!({ "arrival": night.to_string() }),
        Refused::SoldOut { nights } | Refused::StopSell { nights } => json!({
            "arrival": nights.first.to_string(),
            "nights": places(nights),
        }),
        Refused::TooManyRooms { limit: bound }
        | Refused::TooManyHolds { limit: bound }
        | Refused::Full { limit: bound }
        | Refused::HoldTooLong { ttl_ms_max: bound } => json!({ "bound": bound }),
        Refused::HoldCeiling { until_max } => json!({ "until": shown(until_max)? }),
        _ => json!({}),
    })
}

/// The places of nights in a stay; nothing when there are none.
fn places(nights: Nights) -> Option<Vec<u32>> {
    let places = (0..u128::BITS).filter(|place| nights.bits >> place & 1 == 1);
    let places: Vec<u32> = places.collect();
    (!places.is_empty()).then_some(places)
}
