//! The public hotel-bookings data set as a season.
//!
//! N. Antonio, A. de Almeida and L. Nunes, "Hotel booking demand datasets", Data in Brief 22
//! (2019), CC BY 4.0. Columns are found by name. A booking was made its lead time before its
//! arrival, and cancelled on its status date.

use std::{collections::BTreeMap, fmt, fs::File, path::Path};

use anyhow::{Context as _, anyhow};
use csv::StringRecord;
use turnstile_types::{InvalidStay, Night, Stay};
use xxhash_rust::xxh3::Xxh3;

use super::GuestPlan;
use crate::rows;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A file, read.
#[derive(Debug)]
pub(crate) struct Reading {
    /// Rows below the header.
    pub(crate) rows: u64,
    pub(crate) season: Vec<GuestPlan>,
    /// Rows that are no booking, by reason.
    pub(crate) left_out: BTreeMap<HotelFault, u64>,
}

/// Why a row is no booking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum HotelFault {
    ZeroNights,
    TooLong,
    Hotel,
    RoomType,
    Number,
    Flag,
    Date,
    StatusDate,
    Fields,
    Utf8,
}

type HotelRowError = rows::BadRow<HotelFault>;

/// Reads a file. Bad rows are told on standard error as `file:line:column:` and counted.
///
/// # Errors
/// The file cannot be read, or a column is missing.
pub(crate) fn read(path: &Path) -> anyhow::Result<Reading> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(file);
    let header = reader
        .headers()
        .with_context(|| path.display().to_string())?;
    let columns = Columns::find(header, path)?;
    let read = rows::read(&mut reader, path, |row, line| columns.booking(row, line))?;
    Ok(Reading {
        rows: read.count,
        season: read.good,
        left_out: read.left_out,
    })
}

/// Where each column is.
struct Columns {
    hotel: usize,
    is_canceled: usize,
    lead_time: usize,
    year: usize,
    month: usize,
    day: usize,
    weekend_nights: usize,
    week_nights: usize,
    room_type: usize,
    status_date: usize,
}

impl Columns {
    fn find(header: &StringRecord, path: &Path) -> anyhow::Result<Self> {
        let at = |name: &str| {
            header
                .iter()
                .position(|column| column == name)
                .ok_or_else(|| {
                    anyhow!(
                        "{}:1: there is no column `{name}` in the header",
                        path.display()
                    )
                })
        };
        Ok(Self {
            hotel: at("hotel")?,
            is_canceled: at("is_canceled")?,
            lead_time: at("lead_time")?,
            year: at("arrival_date_year")?,
            month: at("arrival_date_month")?,
            day: at("arrival_date_day_of_month")?,
            weekend_nights: at("stays_in_weekend_nights")?,
            week_nights: at("stays_in_week_nights")?,
            room_type: at("reserved_room_type")?,
            status_date: at("reservation_status_date")?,
        })
    }

    fn booking(&self, row: &StringRecord, line: u64) -> Result<GuestPlan, HotelRowError> {
        let property = match &row[self.hotel] {
            "City Hotel" => "city",
            "Resort Hotel" => "resort",
            _ => return Err(HotelRowError::at(row, self.hotel, HotelFault::Hotel)),
        };
        let room_type = match row[self.room_type].as_bytes() {
            &[letter @ b'A'..=b'Z'] => char::from(letter),
            _ => return Err(HotelRowError::at(row, self.room_type, HotelFault::RoomType)),
        };
        let arrival = self.arrival(row)?;
        let lead = number(row, self.lead_time)?;
        let made = arrival
            .days()
            .checked_sub(lead)
            .map(Night::from_days)
            .ok_or_else(|| HotelRowError::at(row, self.lead_time, HotelFault::Date))?;
        let nights =
            number(row, self.weekend_nights)?.saturating_add(number(row, self.week_nights)?);
        let cancelled = self.cancelled(row, made)?;
        Ok(GuestPlan {
            property,
            room_type,
            stay: self.stay(row, arrival, nights)?,
            made,
            cancelled,
            guest: line,
            key: format!("hotel-bookings:{line}:{:016x}", fingerprint(row)),
        })
    }

    fn arrival(&self, row: &StringRecord) -> Result<Night, HotelRowError> {
        let month = MONTHS
            .iter()
            .position(|month| *month == &row[self.month])
            .ok_or_else(|| HotelRowError::at(row, self.month, HotelFault::Date))?
            + 1;
        let year = number(row, self.year)?;
        let day = number(row, self.day)?;
        Night::parse(format!("{year:04}-{month:02}-{day:02}").as_bytes())
            .map_err(|_invalid| HotelRowError::at(row, self.day, HotelFault::Date))
    }

    fn stay(&self, row: &StringRecord, arrival: Night, nights: u16) -> Result<Stay, HotelRowError> {
        let departure = arrival
            .checked_add(nights)
            .ok_or_else(|| HotelRowError::at(row, self.week_nights, HotelFault::TooLong))?;
        Stay::new(arrival, departure).map_err(|invalid| {
            let reason = match invalid {
                InvalidStay::Empty => HotelFault::ZeroNights,
                InvalidStay::TooLong(_) => HotelFault::TooLong,
            };
            HotelRowError::at(row, self.week_nights, reason)
        })
    }

    /// The day of the cancellation, if there was one.
    fn cancelled(&self, row: &StringRecord, made: Night) -> Result<Option<Night>, HotelRowError> {
        match &row[self.is_canceled] {
            "0" => Ok(None),
            "1" => date(&row[self.status_date])
                .filter(|day| *day >= made)
                .map(Some)
                .ok_or_else(|| HotelRowError::at(row, self.status_date, HotelFault::StatusDate)),
            _ => Err(HotelRowError::at(row, self.is_canceled, HotelFault::Flag)),
        }
    }
}

fn number(row: &StringRecord, column: usize) -> Result<u16, HotelRowError> {
    row[column]
        .parse()
        .map_err(|_invalid| HotelRowError::at(row, column, HotelFault::Number))
}

/// A date as the files have them: `7/1/2015` (month first) in some, `2015-07-01` in others.
fn date(text: &str) -> Option<Night> {
    let mut parts = text.splitn(3, '/');
    let iso = match (parts.next(), parts.next(), parts.next()) {
        (Some(month), Some(day), Some(year)) => format!("{year:0>4}-{month:0>2}-{day:0>2}"),
        _ => text.to_owned(),
    };
    Night::parse(iso.as_bytes()).ok()
}

/// Tells rows apart whose lines have the same number in different files. It is part of the keys,
/// so it is the same in every version.
fn fingerprint(row: &StringRecord) -> u64 {
    let mut hasher = Xxh3::new();
    for field in row {
        hasher.update(field.as_bytes());
        hasher.update(b",");
    }
    hasher.digest()
}

impl rows::SkipReason for HotelFault {
    const FIELDS: Self = Self::Fields;
    const UTF8: Self = Self::Utf8;

    fn is_quiet(self) -> bool {
        matches!(self, Self::ZeroNights | Self::TooLong)
    }
}

impl fmt::Display for HotelFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ZeroNights => "zero nights",
            Self::TooLong => "too long",
            Self::Hotel => "unknown hotel",
            Self::RoomType => "no room type",
            Self::Number => "no number",
            Self::Flag => "neither 0 nor 1",
            Self::Date => "no such date",
            Self::StatusDate => "no status date after the booking",
            Self::Fields => "wrong number of fields",
            Self::Utf8 => "not UTF-8",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_month_first_or_iso() {
        let night = |text: &str| Some(Night::parse(text.as_bytes()).unwrap());
        assert_eq!(date("7/1/2015"), night("2015-07-01"));
        assert_eq!(date("12/31/2016"), night("2016-12-31"));
        assert_eq!(date("2015-07-01"), night("2015-07-01"));
        for text in ["13/1/2015", "2/30/2015", "1/2", "", "a/b/c", "2015/07/01"] {
            assert_eq!(date(text), None, "{text}");
        }
    }
}
