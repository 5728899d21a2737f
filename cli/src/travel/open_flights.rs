//! The public files of OpenFlights as a network: routes.dat and airports.dat.
//!
//! <https://openflights.org/data.php>, under the Open Database License. A route is a line of an
//! airline's timetable: two airports and the aircraft that flies between them. The files have no
//! header; `\N` stands for what is not known.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    fs::File,
    path::Path,
};

use anyhow::Context as _;
use csv::{Reader, ReaderBuilder, StringRecord};
use turnstile_travel::Location;

use super::{
    aircraft,
    network::{FlightNetwork, NetworkFlight, Point},
};
use crate::rows::{self, BadRow};

/// The number of a flight is that of its line in routes.dat and this, which leaves small numbers to
/// people.
pub(super) const FIRST_NUMBER: i32 = 100_000;

/// Columns of airports.dat.
mod airport {
    pub(super) const COUNT: usize = 14;
    pub(super) const ID: usize = 0;
    pub(super) const IATA: usize = 4;
    pub(super) const ICAO: usize = 5;
    pub(super) const LATITUDE: usize = 6;
    pub(super) const LONGITUDE: usize = 7;
}

/// Columns of routes.dat.
mod route {
    pub(super) const COUNT: usize = 9;
    pub(super) const FROM: usize = 2;
    pub(super) const FROM_ID: usize = 3;
    pub(super) const TO: usize = 4;
    pub(super) const TO_ID: usize = 5;
    pub(super) const CODESHARE: usize = 6;
    pub(super) const AIRCRAFT: usize = 8;
}

/// Both files, read.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) network: FlightNetwork,
    /// Rows of each file, and those that were left out, by reason.
    pub(crate) airports: u64,
    pub(crate) airports_left_out: BTreeMap<Reason, u64>,
    pub(crate) routes: u64,
    pub(crate) routes_left_out: BTreeMap<Reason, u64>,
    /// Flights whose seats had to be guessed.
    pub(crate) unknown_aircraft: u64,
}

/// Why a row is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    /// The seat is sold by the airline that flies; sold here, too, it would be sold twice.
    Codeshare,
    Circle,
    UnknownAirport,
    Flag,
    Number,
    Code,
    Coordinates,
    Fields,
    Utf8,
}

/// An airport that can be flown to.
#[derive(Clone, Copy, Debug)]
struct Airport {
    id: u32,
    /// Its IATA code, or its ICAO code where it has none.
    location: Location,
    point: Point,
}

/// Reads both files. Bad rows are told on standard error as `file:line:column:` and counted.
///
/// # Errors
/// A file cannot be read.
pub(super) fn read(routes: &Path, airports: &Path) -> anyhow::Result<Reading> {
    let take = |row: &StringRecord, _line| airport_of(row);
    let airports = rows::read(&mut open(airports)?, airports, take)?;
    let atlas = Atlas::of(&airports.good);
    let mut unknown_aircraft = 0;
    let routes = rows::read(&mut open(routes)?, routes, |row, line| {
        let (flight, is_known) = atlas.flight(row, line)?;
        unknown_aircraft += u64::from(!is_known);
        Ok(flight)
    })?;
    Ok(Reading {
        network: FlightNetwork::of(routes.good),
        airports: airports.count,
        airports_left_out: airports.left_out,
        routes: routes.count,
        routes_left_out: routes.left_out,
        unknown_aircraft,
    })
}

fn open(path: &Path) -> anyhow::Result<Reader<File>> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    let mut builder = ReaderBuilder::new();
    builder
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All);
    // With the usual ends of lines, a line that ends with CR LF is numbered like the one before it;
    // the CR is trimmed.
    builder.terminator(csv::Terminator::Any(b'\n'));
    // Quotes within a name are written with a backslash.
    builder.double_quote(false).escape(Some(b'\\'));
    Ok(builder.from_reader(file))
}

/// A row of the wrong length; the reader takes any, for the first would set the length of all.
fn check_length(row: &StringRecord, expected: usize) -> Result<(), BadRow<Reason>> {
    if row.len() == expected {
        return Ok(());
    }
    Err(BadRow {
        reason: Reason::Fields,
        column: None,
        text: format!("{} instead of {expected}", row.len()),
    })
}

fn airport_of(row: &StringRecord) -> Result<Airport, BadRow<Reason>> {
    check_length(row, airport::COUNT)?;
    let bad = |column, reason| BadRow::at(row, column, reason);
    let id = row[airport::ID].parse();
    let degrees = |column: usize, most: f64| {
        let degrees = row[column].parse().ok();
        let degrees = degrees.filter(|degrees| (-most..=most).contains(degrees));
        degrees.ok_or_else(|| bad(column, Reason::Coordinates))
    };
    let mut codes = [airport::IATA, airport::ICAO].into_iter();
    let code = codes.find_map(|column| location(&row[column]));
    Ok(Airport {
        id: id.map_err(|_invalid| bad(airport::ID, Reason::Number))?,
        location: code.ok_or_else(|| bad(airport::IATA, Reason::Code))?,
        point: Point {
            latitude: degrees(airport::LATITUDE, 90.0)?,
            longitude: degrees(airport::LONGITUDE, 180.0)?,
        },
    })
}

/// A code; nothing where it is not known.
fn location(code: &str) -> Option<Location> {
    let is_code =
        matches!(code.len(), 3..=4) && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let location = is_code.then(|| Location::parse(code.as_bytes()).ok());
    location.flatten()
}

/// Airports by what routes call them.
struct Atlas<'a> {
    by_id: HashMap<u32, &'a Airport>,
    by_code: HashMap<Location, &'a Airport>,
}

impl<'a> Atlas<'a> {
    fn of(airports: &'a [Airport]) -> Self {
        let mut atlas = Self {
            by_id: HashMap::new(),
            by_code: HashMap::new(),
        };
        for airport in airports {
            atlas.by_id.entry(airport.id).or_insert(airport);
            atlas.by_code.entry(airport.location).or_insert(airport);
        }
        atlas
    }

    /// The airport of a route: by its id, or by its code where the id is not known.
    fn airport(
        &self,
        row: &StringRecord,
        id: usize,
        code: usize,
    ) -> Result<&'a Airport, BadRow<Reason>> {
        let by_id = row[id].parse().ok().and_then(|id: u32| self.by_id.get(&id));
        let by_code = || self.by_code.get(&location(&row[code])?);
        let found = by_id.or_else(by_code).copied();
        found.ok_or_else(|| BadRow::at(row, code, Reason::UnknownAirport))
    }

    /// The flight of a route, and whether its aircraft is known.
    fn flight(
        &self,
        row: &StringRecord,
        line: u64,
    ) -> Result<(NetworkFlight, bool), BadRow<Reason>> {
        check_length(row, route::COUNT)?;
        match &row[route::CODESHARE] {
            "" => {}
            "Y" => return Err(BadRow::at(row, route::CODESHARE, Reason::Codeshare)),
            _ => return Err(BadRow::at(row, route::CODESHARE, Reason::Flag)),
        }
        let from = self.airport(row, route::FROM_ID, route::FROM)?;
        let to = self.airport(row, route::TO_ID, route::TO)?;
        if from.location == to.location {
            return Err(BadRow::at(row, route::TO, Reason::Circle));
        }
        let (seats, is_known) = aircraft::seats(&row[route::AIRCRAFT]);
        let number = i32::try_from(line)
            .ok()
            .and_then(|line| line.checked_add(FIRST_NUMBER));
        let flight = NetworkFlight {
            number: number.expect("a file has less than two billion lines"),
            from: from.location,
            to: to.location,
            seats,
            price: NetworkFlight::price(from.point.kilometers(to.point)),
        };
        Ok((flight, is_known))
    }
}

impl rows::SkipReason for Reason {
    const FIELDS: Self = Self::Fields;
    const UTF8: Self = Self::Utf8;

    fn is_quiet(self) -> bool {
        matches!(self, Self::Codeshare)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Codeshare => "codeshare, sold by another airline",
            Self::Circle => "ends where it begins",
            Self::UnknownAirport => "unknown airport",
            Self::Flag => "neither a codeshare nor none",
            Self::Number => "no number",
            Self::Code => "no code",
            Self::Coordinates => "no such place on earth",
            Self::Fields => "wrong number of fields",
            Self::Utf8 => "not UTF-8",
        })
    }
}
