//! Judges what a server says, by the witness: what it acknowledged is replayed in the order of its
//! positions, and must be what it finds and lists.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Display,
};

use anyhow::Context as _;
use turnstile_check::{
    Model as _,
    rooms::{Booked, Cancelled, Final, InlineReference, Operation, Place, Table},
};
use turnstile_client::{Connection, resp::Value};
use turnstile_types::Night;

use crate::{exit::Coded, resp, season::AcknowledgedBooking};

/// How many questions are under way at once.
const BATCH: usize = 256;

/// Entries asked for at a time.
const PAGE: &[u8] = b"1000";

/// Every night there is: the bookings of a property are listed whole.
const FROM: &[u8] = b"1970-01-01";
const TO: &[u8] = b"2149-06-06";

/// Who books does not matter here.
const ANYBODY: u64 = 0;

/// Looks up every booking that was acknowledged, cancelled ones too, and lists all their properties; says
/// how many bookings are listed.
///
/// # Errors
/// Acknowledged was what cannot be, or it is not what is found or listed: a violation.
pub(super) fn judge(
    door: &mut Connection,
    acknowledged: &[AcknowledgedBooking],
) -> anyhow::Result<usize> {
    let witness = DemoWitness::replay(acknowledged)?;
    witness.compare(&look_up(door, acknowledged)?, "found")?;
    let mut listed = Vec::new();
    for property in witness.first_nights.keys() {
        listed.extend(list(door, property)?);
    }
    witness.compare(&listed, "listed")?;
    Ok(listed.len())
}

/// What must stand by all that was acknowledged.
struct DemoWitness<'a> {
    table: Table,
    /// The number of each room, by property and name.
    rooms: HashMap<(&'a str, &'a str), u32>,
    /// The first night of each property.
    first_nights: BTreeMap<&'a str, u16>,
}

impl<'a> DemoWitness<'a> {
    fn replay(acknowledged: &'a [AcknowledgedBooking]) -> anyhow::Result<Self> {
        let (mut rooms, mut first_nights) = (HashMap::new(), BTreeMap::new());
        for booking in acknowledged {
            let next = u32::try_from(rooms.len()).context("rooms")?;
            rooms.entry(booking.room()).or_insert(next);
            let arrival = booking.arrival.days();
            let first: &mut u16 = first_nights.entry(&*booking.property).or_insert(arrival);
            *first = arrival.min(*first);
        }
        let later = |booking: &AcknowledgedBooking| {
            booking.departure.days() - first_nights[&*booking.property]
        };
        let nights = acknowledged.iter().map(later).max().unwrap_or(0);
        let mut witness = Self {
            table: Table::new(u32::try_from(rooms.len())?, nights),
            rooms,
            first_nights,
        };
        let mut history = Vec::new();
        for booking in acknowledged {
            let (reference, place) = witness.told(booking)?;
            let (id, answer) = (ANYBODY, Booked::Done(reference));
            let booked = Operation::Book { place, id, answer };
            history.push((booking.position, booked));
            history.extend(booking.cancelled.map(|position| {
                let answer = Cancelled::Done(place);
                let cancelled = Operation::Cancel {
                    reference,
                    id: None,
                    answer,
                };
                (position, cancelled)
            }));
        }
        history.sort_by_key(|(position, _)| *position);
        for (position, operation) in history {
            let applied = witness.table.apply(position, &operation);
            applied.map_err(|why| violation(format_args!("position {position}: {why}")))?;
        }
        Ok(witness)
    }

    /// A booking in the witness's words.
    fn told(&self, booking: &AcknowledgedBooking) -> anyhow::Result<(InlineReference, Place)> {
        let stay = || {
            let first = *self.first_nights.get(&*booking.property)?;
            Some(Place {
                room: *self.rooms.get(&booking.room())?,
                night: booking.arrival.days().checked_sub(first)?,
                nights: booking
                    .departure
                    .days()
                    .checked_sub(booking.arrival.days())?,
            })
        };
        let reference = InlineReference::parse(booking.reference.as_bytes()).ok();
        let told = reference.zip(stay());
        told.ok_or_else(|| violation(format_args!("no request was for {booking:?}")))
    }

    /// Holds what stands by the server against the replay.
    fn compare(&self, standing: &[AcknowledgedBooking], how: &str) -> anyhow::Result<()> {
        let mut rooms = vec![Vec::new(); self.rooms.len()];
        for booking in standing {
            let (reference, place) = self.told(booking)?;
            rooms[place.room as usize].push((reference, place));
        }
        let mut last = Final::of(self.table.clone(), (0, 0));
        for (room, bookings) in (0..).zip(rooms) {
            last.room(room, &bookings);
        }
        let charge = last.account().charge;
        if charge.is_empty() {
            return Ok(());
        }
        let sentences = charge.sentences().join("\n");
        Err(violation(format_args!(
            "what is {how} is not what was acknowledged:\n{sentences}"
        )))
    }
}

fn violation(why: impl Display) -> anyhow::Error {
    Coded::violation(why.to_string()).into()
}

/// Looks up bookings by their references; gives those that stand.
fn look_up(
    door: &mut Connection,
    bookings: &[AcknowledgedBooking],
) -> anyhow::Result<Vec<AcknowledgedBooking>> {
    let mut found = Vec::new();
    for batch in bookings.chunks(BATCH) {
        for booking in batch {
            door.send(&[b"ROOMS.LOOK-UP", booking.reference.as_bytes()]);
        }
        for _ in batch {
            let value = door.receive()?;
            match resp::answer(&value).map(|answer| answer.outcome) {
                Ok(resp::Outcome::Refused(code)) if code == "ended" || code == "not_found" => {}
                _ => found.push(entry(&value)?),
            }
        }
    }
    Ok(found)
}

/// The bookings of a property, whole.
pub(super) fn list(
    door: &mut Connection,
    property: &str,
) -> anyhow::Result<Vec<AcknowledgedBooking>> {
    let mut listed = Vec::new();
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
        for value in entries {
            listed.push(entry(value)?);
        }
        cursor = resp::field(&page, "next")
            .and_then(Value::as_bytes)
            .map(<[u8]>::to_vec);
        if cursor.is_none() {
            return Ok(listed);
        }
    }
}

/// A booking that stands, by its entry.
///
/// # Errors
/// It is none: a violation.
fn entry(value: &Value) -> anyhow::Result<AcknowledgedBooking> {
    let text = |name| resp::field(value, name).and_then(Value::as_str);
    let night = |name| Night::parse(text(name)?.as_bytes()).ok();
    let booking = || {
        let Value::Integer(position) = resp::field(value, "position")? else {
            return None;
        };
        Some(AcknowledgedBooking {
            reference: text("reference")?.to_owned(),
            property: text("property")?.to_owned(),
            room: text("room")?.to_owned(),
            arrival: night("arrival")?,
            departure: night("departure")?,
            position: u64::try_from(*position).ok()?,
            cancelled: None,
        })
    };
    let booking = booking().filter(|_booking| text("state") == Some("booked"));
    booking.ok_or_else(|| violation(format_args!("no booking that stands: {value:?}")))
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

    /// A connection to a server that gives each question the next of these replies.
    fn door(replies: Vec<String>) -> Connection {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            for reply in replies {
                assert!(stream.read(&mut [0; 4_096]).unwrap() > 0);
                stream.write_all(reply.as_bytes()).unwrap();
            }
        });
        resp::connect(address).unwrap()
    }

    fn array(elements: &[String]) -> String {
        format!("*{}\r\n{}", elements.len(), elements.concat())
    }

    fn bulk(text: &str) -> String {
        format!("${}\r\n{text}\r\n", text.len())
    }

    fn listed(reference: &str, room: &str, arrival: &str, departure: &str) -> String {
        let fields = [
            ("reference", reference),
            ("state", "booked"),
            ("property", "city"),
            ("room", room),
            ("arrival", arrival),
            ("departure", departure),
        ];
        let words = fields.map(|(name, value)| [bulk(name), bulk(value)]);
        let mut words = words.as_flattened().to_vec();
        words.extend([bulk("position"), ":7\r\n".to_owned()]);
        array(&words)
    }

    fn page(entries: &[&String]) -> String {
        let next = "$-1\r\n".to_owned();
        let entries: Vec<String> = entries.iter().map(|entry| (*entry).clone()).collect();
        array(&[bulk("entries"), array(&entries), bulk("next"), next])
    }

    fn refused(code: &str) -> String {
        array(&[":0\r\n".to_owned(), bulk(code)])
    }

    fn booking(
        reference: &str,
        (arrival, departure): (&str, &str),
        position: u64,
        cancelled: Option<u64>,
    ) -> AcknowledgedBooking {
        let night = |text: &str| Night::parse(text.as_bytes()).unwrap();
        AcknowledgedBooking {
            reference: reference.to_owned(),
            property: "city".to_owned(),
            room: "A1".to_owned(),
            arrival: night(arrival),
            departure: night(departure),
            position,
            cancelled,
        }
    }

    /// How many are listed, or the exit code.
    fn verdict(
        acknowledged: &[AcknowledgedBooking],
        found: &[&String],
        entries: &[&String],
    ) -> Result<usize, u8> {
        let found: String = found.iter().map(|reply| reply.as_str()).collect();
        let listed = judge(&mut door(vec![found, page(entries)]), acknowledged);
        listed.map_err(|error| exit::code(&error))
    }

    #[test]
    fn what_was_acknowledged_must_be_found_and_listed_as_it_was_and_nothing_else() {
        let acknowledged = [
            booking("R1", ("2027-01-01", "2027-01-03"), 1, None),
            booking("R2", ("2027-01-03", "2027-01-04"), 2, None),
            booking("R3", ("2027-01-04", "2027-01-06"), 3, Some(4)),
        ];
        let first = listed("R1", "A1", "2027-01-01", "2027-01-03");
        let moved = listed("R1", "A2", "2027-01-01", "2027-01-03");
        let shorter = listed("R1", "A1", "2027-01-01", "2027-01-02");
        let longer = listed("R1", "A1", "2027-01-01", "2027-01-04");
        let second = listed("R2", "A1", "2027-01-03", "2027-01-04");
        let cancelled = listed("R3", "A1", "2027-01-04", "2027-01-06");
        let stranger = listed("R9", "A1", "2027-01-05", "2027-01-06");
        let (gone, ended) = (refused("not_found"), refused("ended"));
        let wrong = Err(exit::VIOLATION);
        let (all, both) = ([&first, &second, &ended], [&first, &second]);
        let rows = [
            (all, &both[..], Ok(2)),
            ([&first, &second, &gone], &both, Ok(2)),
            // Lost, changed, or back again, where it is looked up.
            ([&gone, &second, &ended], &both, wrong),
            ([&moved, &second, &ended], &both, wrong),
            ([&shorter, &second, &ended], &both, wrong),
            ([&first, &second, &cancelled], &both, wrong),
            // The same where it is listed, and sold twice, or listed twice, or not asked for.
            (all, &[&first], wrong),
            (all, &[&moved, &second], wrong),
            (all, &[&longer, &second], wrong),
            (all, &[&first, &second, &second], wrong),
            (all, &[&first, &second, &cancelled], wrong),
            (all, &[&first, &second, &stranger], wrong),
        ];
        for (found, entries, expected) in rows {
            let verdict = verdict(&acknowledged, &found, entries);
            assert_eq!(verdict, expected, "{found:?} {entries:?}");
        }
    }

    #[test]
    fn what_is_acknowledged_cannot_be_sold_twice_nor_given_twice() {
        let stay = ("2027-01-01", "2027-01-03");
        let rows = [
            booking("R2", ("2027-01-02", "2027-01-04"), 2, None),
            booking("R1", ("2027-01-03", "2027-01-04"), 2, None),
        ];
        for second in rows {
            let acknowledged = [booking("R1", stay, 1, None), second];
            assert_eq!(verdict(&acknowledged, &[], &[]), Err(exit::VIOLATION));
        }
    }
}
