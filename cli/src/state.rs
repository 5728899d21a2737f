//! `turnstile state export`: what stands in a data directory, as rows for other programs.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use serde::Deserialize;
use turnstile_chassis::{Fields, PAGE};
use turnstile_embedded::{Services, StandingState};
use turnstile_json::{RecordedFields, object, service_names};
use turnstile_stats::units::Count;
use turnstile_types::{Machine, Name, Night, Principal, Timestamp};

use crate::{terminal, verify::no_verdict};

#[derive(Debug, Subcommand)]
pub(crate) enum StateCommand {
    /// Write what stands now, a row for each: bookings and holds of rooms and seats, accounts of exchange,
    /// items of travel, standings of games, principals of access. Id numbers are masked
    Export(ExportArguments),
}

#[derive(Args, Debug)]
pub(crate) struct ExportArguments {
    /// Data directory. A server may use it; nothing in it is changed
    dir: PathBuf,
    /// Service whose state is written
    #[arg(long, value_parser = service)]
    service: &'static str,
    /// csv: a first line with the names of the columns, and a line for each row; lists and objects in a
    /// cell are JSON. json: one object a line
    #[arg(long, value_enum, default_value_t = ExportFormat::Csv)]
    format: ExportFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    Csv,
    Json,
}

fn service(text: &str) -> Result<&'static str, String> {
    let names = service_names();
    let found = names.iter().find(|(_, name)| *name == text);
    found.map(|(_, name)| *name).ok_or_else(|| {
        let known: Vec<&str> = names.iter().map(|(_, name)| *name).collect();
        format!("name one of {}", known.join(", "))
    })
}

pub(crate) fn run(command: &StateCommand) -> anyhow::Result<()> {
    let StateCommand::Export(ExportArguments {
        dir,
        service,
        format,
    }) = command;
    let state = StandingState::read(dir).map_err(|error| no_verdict(dir, &error))?;
    let rows = rows(service, state.services(), state.time())?;
    terminal::write(&match format {
        ExportFormat::Csv => csv(&rows)?,
        ExportFormat::Json => json(&rows)?,
    })?;
    terminal::note(format_args!(
        "{} rows of {service} at position {} ({})",
        Count(u64::try_from(rows.len()).unwrap_or(u64::MAX)),
        Count(state.position().0),
        state.time()
    ));
    Ok(())
}

/// A page of any listing.
#[derive(Deserialize)]
struct ListedPage {
    #[serde(
        alias = "accounts",
        alias = "items",
        alias = "leaders",
        alias = "principals",
        alias = "properties",
        alias = "shows"
    )]
    entries: Vec<RecordedFields>,
}

/// The listing of a service, read to its end.
fn rows(service: &str, services: &Services, now: Timestamp) -> anyhow::Result<Vec<RecordedFields>> {
    let mut rows = Vec::new();
    match service {
        "rooms" => bookings_of_rooms(services, now, &mut rows)?,
        "seats" => bookings_of_seats(services, now, &mut rows)?,
        "exchange" => put_pages(&mut rows, |cursor| {
            use turnstile_exchange::{Answer, Query};
            let limit = PAGE;
            let answer = asked(services.exchange(), now, &Query::Accounts { cursor, limit });
            let next = match &answer {
                Answer::Accounts { next, .. } => *next,
                _ => None,
            };
            (answer, next)
        })?,
        "travel" => {
            use turnstile_travel::{Answer, Desk, Query};
            for desk in [Desk::Flights, Desk::Cars, Desk::Rooms] {
                put_pages(&mut rows, |after| {
                    let limit = PAGE.into();
                    let query = Query::Items { desk, after, limit };
                    let answer = asked(services.travel(), now, &query);
                    let next = match &answer {
                        Answer::Items { next, .. } => *next,
                        _ => None,
                    };
                    (answer, next)
                })?;
            }
        }
        "games" => put_pages(&mut rows, |cursor| {
            use turnstile_games::{Answer, Measure, Query};
            let (measure, limit) = (Measure::Elo, PAGE);
            let query = Query::Leaders {
                measure,
                cursor,
                limit,
            };
            let answer = asked(services.games(), now, &query);
            let next = match &answer {
                Answer::Leaders { next, .. } => *next,
                _ => None,
            };
            (answer, next)
        })?,
        "access" => put_pages(&mut rows, |cursor| {
            use turnstile_access::{Answer, Query};
            let limit = PAGE;
            let answer = asked(services.access(), now, &Query::Principals { cursor, limit });
            let next = match &answer {
                Answer::Principals { next, .. } => *next,
                _ => None,
            };
            (answer, next)
        })?,
        other => anyhow::bail!("the state of {other} has no rows"),
    }
    Ok(rows)
}

fn bookings_of_rooms(
    services: &Services,
    now: Timestamp,
    rows: &mut Vec<RecordedFields>,
) -> anyhow::Result<()> {
    use turnstile_rooms::{Answer, Query};
    let limit = PAGE;
    let mut properties = Vec::new();
    put_pages(&mut properties, |cursor| {
        let answer = asked(services.rooms(), now, &Query::Properties { cursor, limit });
        let next = match &answer {
            Answer::Properties { next, .. } => *next,
            _ => None,
        };
        (answer, next)
    })?;
    for property in names(&properties, "property")? {
        put_pages(rows, |cursor| {
            let query = Query::List {
                property,
                room: None,
                from: Night::from_days(0),
                to: Night::from_days(u16::MAX),
                cursor,
                limit,
            };
            let answer = asked(services.rooms(), now, &query);
            let next = match &answer {
                Answer::Page(page) => page.next,
                _ => None,
            };
            (answer, next)
        })?;
    }
    Ok(())
}

fn bookings_of_seats(
    services: &Services,
    now: Timestamp,
    rows: &mut Vec<RecordedFields>,
) -> anyhow::Result<()> {
    use turnstile_services::seats::{Answer, Query};
    let limit = PAGE;
    let mut shows = Vec::new();
    put_pages(&mut shows, |cursor| {
        let answer = asked(services.seats(), now, &Query::Shows { cursor, limit });
        let next = match &answer {
            Answer::Shows { next, .. } => *next,
            _ => None,
        };
        (answer, next)
    })?;
    for show in names(&shows, "show")? {
        put_pages(rows, |cursor| {
            let query = Query::List {
                show,
                cursor,
                limit,
            };
            let answer = asked(services.seats(), now, &query);
            let next = match &answer {
                Answer::Page { next, .. } => *next,
                _ => None,
            };
            (answer, next)
        })?;
    }
    Ok(())
}

fn asked<M: Machine>(machine: &M, now: Timestamp, query: &M::Query) -> M::Answer {
    machine.query(now, &Principal::local(), query)
}

/// Adds all that a listing has, page after page: each answer comes with where the next one begins.
fn put_pages<A: Fields, C>(
    rows: &mut Vec<RecordedFields>,
    mut page: impl FnMut(Option<C>) -> (A, Option<C>),
) -> anyhow::Result<()> {
    let mut cursor = None;
    loop {
        let (answer, next) = page(cursor);
        let listed: ListedPage = serde_json::from_str(&object(&answer))?;
        rows.extend(listed.entries);
        if next.is_none() {
            return Ok(());
        }
        cursor = next;
    }
}

/// The names in a column.
fn names(rows: &[RecordedFields], column: &str) -> anyhow::Result<Vec<Name>> {
    let texts = rows.iter().filter_map(|row| value(row, column)?.as_str());
    texts
        .map(|text| Ok(Name::parse(text.as_bytes())?))
        .collect()
}

fn value<'a>(row: &'a RecordedFields, column: &str) -> Option<&'a serde_json::Value> {
    let found = row.0.iter().find(|(name, _)| name == column);
    found.map(|(_, value)| value)
}

fn json(rows: &[RecordedFields]) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for row in rows {
        serde_json::to_writer(&mut bytes, row)?;
        bytes.push(b'\n');
    }
    Ok(bytes)
}

/// The columns in the order in which rows first have them; a row without one leaves its cell empty.
fn csv(rows: &[RecordedFields]) -> anyhow::Result<Vec<u8>> {
    let mut columns: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| &row.0) {
        if !columns.contains(&&**name) {
            columns.push(name);
        }
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    if !columns.is_empty() {
        writer.write_record(&columns)?;
    }
    for row in rows {
        let cells = columns.iter().map(|column| match value(row, column) {
            None => String::new(),
            Some(serde_json::Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        });
        writer.write_record(cells)?;
    }
    Ok(writer.into_inner()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_has_a_cell_for_each_column_of_any_row() {
        let row = |text| serde_json::from_str(text).unwrap();
        let rows: [RecordedFields; 2] = [
            row(r#"{"b":"x, y","a":1}"#),
            row(r#"{"a":2,"list":[1,"z"]}"#),
        ];
        let expected = "b,a,list\n\"x, y\",1,\n,2,\"[1,\"\"z\"\"]\"\n";
        assert_eq!(String::from_utf8(csv(&rows).unwrap()).unwrap(), expected);
        assert_eq!(csv(&[]).unwrap(), b"");
    }
}
