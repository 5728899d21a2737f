//! A connection that asks what the server knows.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use turnstile_client::{Connection, resp::Value};

use super::answer::fields;

/// How long one answer may take; a slow machine needs a fraction of it.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The most entries of a page.
const PAGE: &str = "1000";

/// A booking or hold of a listing: its fields, by name.
pub(crate) type Entry = BTreeMap<String, String>;

/// Connects, and changes to RESP3, in which refusals have positions.
pub(crate) fn connect(address: SocketAddr) -> Result<Connection, String> {
    let connected = Connection::connect(address, TIMEOUT);
    let mut connection = connected.map_err(|error| error.to_string())?;
    ask(&mut connection, &["HELLO", "3"])?;
    Ok(connection)
}

/// Sends one command; an error is none of the answers that are expected here.
pub(crate) fn ask(connection: &mut Connection, words: &[&str]) -> Result<Value, String> {
    let bytes: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
    match connection.command(&bytes) {
        Ok(Value::Error(error)) => Err(format!("{words:?} was answered -{error}")),
        Ok(value) => Ok(value),
        Err(error) => Err(format!("{words:?} got no answer: {error}")),
    }
}

/// One figure of `INFO`.
pub(crate) fn figure(connection: &mut Connection, name: &str) -> Result<u64, String> {
    let facts = ask(connection, &["INFO", "persistence"])?;
    let lines = facts.as_str().unwrap_or_default().lines();
    lines
        .filter_map(|line| line.split_once(':'))
        .find(|(fact, _)| *fact == name)
        .and_then(|(_, value)| value.parse().ok())
        .ok_or_else(|| format!("INFO has no {name}: {facts}"))
}

/// Every booking and hold of March 2027.
pub(crate) fn everything(connection: &mut Connection) -> Result<Vec<Entry>, String> {
    let mut entries = Vec::new();
    for property in ["bench", "hotel"] {
        let mut cursor: Option<String> = None;
        loop {
            let mut words = vec!["ROOMS.LIST-BOOKINGS", property, "2027-03-01", "2027-04-01"];
            words.extend(["LIMIT", PAGE]);
            if let Some(cursor) = &cursor {
                words.extend(["CURSOR", cursor]);
            }
            let page = ask(connection, &words)?;
            let listed = page.at("entries").and_then(Value::as_array);
            for entry in listed.ok_or_else(|| format!("no page: {page}"))? {
                entries.push(fields(entry).ok_or_else(|| format!("no entry: {entry}"))?);
            }
            cursor = page.at("next").and_then(Value::as_str).map(str::to_owned);
            if cursor.is_none() {
                break;
            }
        }
    }
    Ok(entries)
}
