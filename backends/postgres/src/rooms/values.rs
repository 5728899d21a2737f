//! Instants, nights, names and references, as the database has them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio_postgres::{Row, row::RowIndex, types::FromSql};
use turnstile_rooms::Reference;
use turnstile_types::{Name, Night, Stay, Timestamp};

use crate::trouble::StatementFailure;

/// The beginning of the year 10000: later instants are nobody's, and beyond a database's clock.
const TIME_END_MS: u64 = 253_402_300_800_000;

/// An instant as the database has it.
pub(super) fn time_of(instant: Timestamp) -> Result<SystemTime, StatementFailure> {
    if instant.0 >= TIME_END_MS {
        let reason = format!("the clock says {instant}, which the database does not know");
        return Err(StatementFailure::Unavailable(reason));
    }
    Ok(UNIX_EPOCH + Duration::from_millis(instant.0))
}

/// An instant as text that the database reads.
pub(super) fn shown(instant: Timestamp) -> Result<String, StatementFailure> {
    time_of(instant)?;
    Ok(instant.to_string())
}

/// The number under which a reference is kept.
pub(super) fn number_of(reference: Reference) -> i64 {
    reference.number().cast_signed()
}

pub(super) fn reference_of(number: i64) -> Reference {
    Reference::of_number(number.cast_unsigned())
}

fn strange(what: &str) -> StatementFailure {
    StatementFailure::Broken(format!("the database has an invalid value: {what}"))
}

/// A column of a row.
///
/// # Errors
/// It is missing, or of another type.
pub(super) fn column<'a, T: FromSql<'a>>(
    row: &'a Row,
    index: impl RowIndex + std::fmt::Display,
) -> Result<T, StatementFailure> {
    Ok(row.try_get(index)?)
}

pub(super) fn name(text: &str) -> Result<Name, StatementFailure> {
    Name::parse(text.as_bytes()).map_err(|_invalid| strange("a name"))
}

pub(super) fn instant(time: SystemTime) -> Result<Timestamp, StatementFailure> {
    let since = time.duration_since(UNIX_EPOCH);
    let ms = since
        .ok()
        .and_then(|since| u64::try_from(since.as_millis()).ok());
    ms.map(Timestamp).ok_or_else(|| strange("an instant"))
}

/// A night by its days since 1970.
pub(super) fn night(days: i32) -> Result<Night, StatementFailure> {
    let days = u16::try_from(days).map_err(|_range| strange("a night"))?;
    Ok(Night::from_days(days))
}

pub(super) fn stay(arrival: i32, departure: i32) -> Result<Stay, StatementFailure> {
    let stay = Stay::new(night(arrival)?, night(departure)?);
    stay.map_err(|_invalid| strange("a stay"))
}

/// A number that is never negative.
pub(super) fn count<N: TryFrom<i64>>(number: i64) -> Result<N, StatementFailure> {
    N::try_from(number).map_err(|_range| strange("a number"))
}

/// Bits of the nights of a stay, by their places in it.
pub(super) fn bits(places: &[i16]) -> Result<u128, StatementFailure> {
    places.iter().try_fold(0, |bits, &place| {
        let bit = u32::try_from(place)
            .ok()
            .and_then(|place| 1_u128.checked_shl(place));
        Ok(bits | bit.ok_or_else(|| strange("a night of a stay"))?)
    })
}
