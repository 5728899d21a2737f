//! Asks a restarted server for everything that was acknowledged.

use std::collections::BTreeSet;

use anyhow::Context as _;
use turnstile_client::{Connection, resp::Value};
use turnstile_types::Night;

use crate::{
    exit::Coded,
    resp::{self, Outcome},
    season::Standing,
};

/// How many questions are under way at once.
const BATCH: usize = 256;

/// Entries asked for at a time.
const PAGE: &[u8] = b"1000";

/// Every night there is: the bookings of a property are listed whole.
const FROM: &[u8] = b"1970-01-01";
const TO: &[u8] = b"2149-06-06";

/// Looks up bookings that were acknowledged; says how many there are.
///
/// # Errors
/// One is lost, or not what was acknowledged: a violation.
pub(super) fn standing<'a>(
    door: &mut Connection,
    bookings: impl Iterator<Item = &'a Standing>,
) -> anyhow::Result<u64> {
    let bookings: Vec<&Standing> = bookings.collect();
    let mut found = 0;
    for batch in bookings.chunks(BATCH) {
        for booking in batch {
            door.send(&[b"ROOMS.LOOK-UP", booking.reference.as_bytes()]);
        }
        for booking in batch {
            let entry = door.receive()?;
            let expected = [
                ("reference", &booking.reference),
                ("property", &booking.property),
                ("room", &booking.room),
                ("arrival", &booking.arrival),
                ("departure", &booking.departure),
            ];
            let is =
                |name, text: &str| resp::field(&entry, name).and_then(Value::as_str) == Some(text);
            if !is("state", "booked") || !expected.iter().all(|(name, text)| is(*name, text)) {
                return Err(Coded::violation(format!(
                    "{} was acknowledged, and now it is {entry:?}",
                    booking.reference
                ))
                .into());
            }
            found += 1;
        }
    }
    Ok(found)
}

/// Looks up bookings that were cancelled; says how many there are.
///
/// # Errors
/// One is still there: a violation.
pub(super) fn ended(door: &mut Connection, references: &[String]) -> anyhow::Result<u64> {
    let mut gone = 0;
    for batch in references.chunks(BATCH) {
        for reference in batch {
            door.send(&[b"ROOMS.LOOK-UP", reference.as_bytes()]);
        }
        for reference in batch {
            let value = door.receive()?;
            match resp::answer(&value).map(|answer| answer.outcome) {
                Ok(Outcome::Refused(code)) if code == "ended" || code == "not_found" => gone += 1,
                _ => {
                    return Err(Coded::violation(format!(
                        "{reference} was cancelled, and now it is {value:?}"
                    ))
                    .into());
                }
            }
        }
    }
    Ok(gone)
}

/// Lists a property whole, and counts its bookings.
///
/// # Errors
/// Not as many as expected, or two for one room and night: a violation.
pub(super) fn once(door: &mut Connection, property: &str, expected: usize) -> anyhow::Result<u64> {
    let mut nights = BTreeSet::new();
    let mut listed = 0;
    let mut cursor: Option<Vec<u8>> = None;
    loop {
        let mut command: Vec<&[u8]> = vec![
            b"ROOMS.LIST-BOOKINGS",
            property.as_bytes(),
            FROM,
            TO,
            b"LIMIT",
            PAGE,
        ];
        if let Some(cursor) = &cursor {
            command.extend([b"CURSOR".as_slice(), cursor]);
        }
        let page = door.command(&command)?;
        let entries = resp::field(&page, "entries").and_then(Value::as_array);
        let entries = entries.with_context(|| format!("a page without entries: {page:?}"))?;
        for entry in entries {
            let (room, arrival, departure) = place(entry)?;
            for night in arrival.days()..departure.days() {
                if !nights.insert((room.clone(), night)) {
                    let night = Night::from_days(night);
                    return Err(Coded::violation(format!(
                        "room {room} of {property} is booked twice for the night of {night}"
                    ))
                    .into());
                }
            }
            listed += 1;
        }
        cursor = resp::field(&page, "next")
            .and_then(Value::as_bytes)
            .map(<[u8]>::to_vec);
        if cursor.is_none() {
            break;
        }
    }
    if listed != expected {
        return Err(Coded::violation(format!(
            "{property} has {listed} bookings, {expected} were acknowledged"
        ))
        .into());
    }
    Ok(u64::try_from(listed)?)
}

/// The room, arrival and departure of an entry.
fn place(entry: &Value) -> anyhow::Result<(String, Night, Night)> {
    let text = |name: &'static str| {
        resp::field(entry, name)
            .and_then(Value::as_str)
            .with_context(|| format!("an entry without {name}: {entry:?}"))
    };
    let night = |name| Night::parse(text(name)?.as_bytes()).context("a date");
    Ok((
        text("room")?.to_owned(),
        night("arrival")?,
        night("departure")?,
    ))
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read as _, Write as _},
        net::TcpListener,
        thread,
    };

    use super::*;
    use crate::exit;

    /// A connection to a server that answers whatever is asked first with these replies.
    fn door(replies: String) -> Connection {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            assert!(stream.read(&mut [0; 4_096]).unwrap() > 0);
            stream.write_all(replies.as_bytes()).unwrap();
        });
        resp::connect(address).unwrap()
    }

    fn array(elements: &[String]) -> String {
        format!("*{}\r\n{}", elements.len(), elements.concat())
    }

    fn bulk(text: &str) -> String {
        format!("${}\r\n{text}\r\n", text.len())
    }

    fn entry(room: &str, arrival: &str, departure: &str) -> String {
        let fields = [
            ("reference", "R1"),
            ("state", "booked"),
            ("property", "city"),
            ("room", room),
            ("arrival", arrival),
            ("departure", departure),
        ];
        let words = fields.map(|(name, value)| [bulk(name), bulk(value)]);
        array(words.as_flattened())
    }

    fn page(entries: &[String]) -> String {
        let next = "$-1\r\n".to_owned();
        array(&[bulk("entries"), array(entries), bulk("next"), next])
    }

    fn refused(code: &str) -> String {
        array(&[":0\r\n".to_owned(), bulk(code)])
    }

    /// How many were fine, or the exit code.
    fn verdict(result: anyhow::Result<u64>) -> Result<u64, u8> {
        result.map_err(|error| exit::code(&error))
    }

    #[test]
    fn what_was_acknowledged_must_be_there_as_it_was() {
        let acknowledged = Standing {
            reference: "R1".to_owned(),
            property: "city".to_owned(),
            room: "A1".to_owned(),
            arrival: "2027-01-01".to_owned(),
            departure: "2027-01-03".to_owned(),
        };
        let rows = [
            (entry("A1", "2027-01-01", "2027-01-03"), Ok(1)),
            (
                entry("A2", "2027-01-01", "2027-01-03"),
                Err(exit::VIOLATION),
            ),
            (
                entry("A1", "2027-01-01", "2027-01-02"),
                Err(exit::VIOLATION),
            ),
            (refused("not_found"), Err(exit::VIOLATION)),
        ];
        for (reply, expected) in rows {
            let found = standing(&mut door(reply.clone()), [&acknowledged].into_iter());
            assert_eq!(verdict(found), expected, "{reply}");
        }
    }

    #[test]
    fn what_was_cancelled_must_be_gone() {
        let rows = [
            (refused("ended"), Ok(1)),
            (refused("not_found"), Ok(1)),
            (
                entry("A1", "2027-01-01", "2027-01-03"),
                Err(exit::VIOLATION),
            ),
        ];
        for (reply, expected) in rows {
            let gone = ended(&mut door(reply.clone()), &["R1".to_owned()]);
            assert_eq!(verdict(gone), expected, "{reply}");
        }
    }

    #[test]
    fn a_room_is_listed_once_a_night_and_nothing_more_is_listed() {
        let first = entry("A1", "2027-01-01", "2027-01-03");
        let after = entry("A1", "2027-01-03", "2027-01-04");
        let overlapping = entry("A1", "2027-01-02", "2027-01-04");
        let rows = [
            (vec![first.clone(), after.clone()], Ok(2)),
            (vec![first.clone(), overlapping], Err(exit::VIOLATION)),
            (vec![first.clone()], Err(exit::VIOLATION)),
            (vec![first, after.clone(), after], Err(exit::VIOLATION)),
        ];
        for (entries, expected) in rows {
            let listed = once(&mut door(page(&entries)), "city", 2);
            assert_eq!(verdict(listed), expected, "{entries:?}");
        }
    }
}
