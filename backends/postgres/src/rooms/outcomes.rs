//! What the database answered to commands.

use tokio_postgres::Row;
use turnstile_contract::{Failure, OutOfScope, Reply, Request};
use turnstile_rooms::{Command, Done, FormerPlace, Nights, Outcome, Refusal, Rooms};
use turnstile_types::{Night, Position};

use super::values::{bits, column, count, instant, name, night, reference_of, stay};
use crate::trouble::StatementFailure;

/// The reply to one command. What cannot be read is a failure of this command alone: all of the
/// batch has been committed.
pub(super) fn reply(row: &Row, request: &Request) -> Result<Reply<Rooms>, Failure> {
    let first = || -> Result<(Position, &str), StatementFailure> {
        Ok((
            Position(count(column(row, "position")?)?),
            column(row, "answer")?,
        ))
    };
    let (position, answer) = first()?;
    match answer {
        "key_reused" => return Err(Failure::KeyReused { first: position }),
        "out_of_names" => return Err(request.scope().refusal(OutOfScope::Names)),
        "held_by_another" => return Err(request.scope().refusal(OutOfScope::Holder)),
        _ => {}
    }
    Ok(Reply::<Rooms> {
        position,
        replayed: column(row, "replayed")?,
        outcome: outcome(row, answer, Some(request))?,
    })
}

/// An outcome in the columns of a row. What was asked says from when the nights of a refusal count, where
/// it was kept by an earlier version.
pub(super) fn outcome(
    row: &Row,
    answer: &str,
    request: Option<&Request>,
) -> Result<Outcome, StatementFailure> {
    if let Some(done) = done(row, answer)? {
        return Ok(Outcome::Done(done));
    }
    if let Some(refusal) = refusal(row, answer, request)? {
        return Ok(Outcome::Refused(refusal));
    }
    Err(StatementFailure::Broken(format!(
        "the database answered `{answer}`"
    )))
}

fn done(row: &Row, answer: &str) -> Result<Option<Done>, StatementFailure> {
    let room = || name(column(row, "room")?);
    let reference = || column(row, "reference").map(reference_of);
    let until = || instant(column(row, "until")?);
    Ok(Some(match answer {
        "booked" => Done::Booked {
            reference: reference()?,
            room: room()?,
        },
        "held" => Done::Held {
            reference: reference()?,
            room: room()?,
            until: until()?,
        },
        "extended" => Done::Extended { until: until()? },
        "confirmed" => Done::Confirmed {
            reference: reference()?,
            room: room()?,
            late: column(row, "late")?,
        },
        "cancelled" => Done::Cancelled {
            room: room()?,
            stay: stay(column(row, "arrival")?, column(row, "departure")?)?,
        },
        "moved" => Done::Moved {
            room: room()?,
            from: FormerPlace {
                room: name(column(row, "from_room")?)?,
                stay: stay(column(row, "arrival")?, column(row, "departure")?)?,
            },
        },
        _ => return Ok(Done::plain(answer)),
    }))
}

fn refusal(
    row: &Row,
    answer: &str,
    request: Option<&Request>,
) -> Result<Option<Refusal>, StatementFailure> {
    let nights = || {
        let arrival: Option<i32> = column(row, "arrival")?;
        Ok::<Nights, StatementFailure>(Nights {
            first: arrival.map_or_else(|| first_night(request), night)?,
            bits: bits(&column::<Option<Vec<i16>>>(row, "nights")?.unwrap_or_default())?,
        })
    };
    let bound = || count(column::<i32>(row, "bound")?.into());
    Ok(Some(match answer {
        "room_in_use" => Refusal::RoomInUse {
            night: night(column(row, "arrival")?)?,
        },
        "too_many_rooms" => Refusal::TooManyRooms { limit: bound()? },
        "sold_out" => Refusal::SoldOut { nights: nights()? },
        "stop_sell" => Refusal::StopSell { nights: nights()? },
        "too_many_holds" => Refusal::TooManyHolds { limit: bound()? },
        "full" => Refusal::Full { limit: bound()? },
        "hold_too_long" => Refusal::HoldTooLong {
            ttl_ms_max: bound()?,
        },
        "hold_ceiling" => Refusal::HoldCeiling {
            until_max: instant(column(row, "until")?)?,
        },
        _ => return Ok(Refusal::plain(answer)),
    }))
}

/// The night from which a command's nights are counted.
fn first_night(request: Option<&Request>) -> Result<Night, StatementFailure> {
    match request.map(Request::command::<Rooms>) {
        Some(Ok(Command::Book { stay, .. } | Command::Hold { stay, .. })) => Ok(stay.arrival()),
        _ => Err(StatementFailure::Broken(
            "the database answered with nights outside the stay".to_owned(),
        )),
    }
}
