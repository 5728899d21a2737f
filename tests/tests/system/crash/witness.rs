//! What the hotel's books must say: requests and answers, told to the outside witness in its words.

use turnstile_check::{
    Model as _,
    rooms::{
        Cancelled, Confirmed, Final, InlineReference, NoHold, Operation, Picked, Place, Released,
        Table, Wish as Wanted,
    },
};
use turnstile_types::Timestamp;

use super::answer::Answer;
use super::listing::Entry;
use super::request::{DOUBLES, Guest, Request, Stay, Wish, date};

/// Rooms of the open property by their number, and behind them the doubles.
const FIRST_DOUBLE: u32 = 301;
const ROOMS: u32 = FIRST_DOUBLE + 4;

const _: () = assert!(DOUBLES.len() == 4, "each double has a number");

/// The days of a month, from 1.
const NIGHTS: u16 = 32;

/// How much earlier a record may be than one before where a database decides.
const SLACK_MS: u64 = 1_000;

/// The books after some requests, in the order of their positions.
#[derive(Clone, Debug)]
pub(crate) struct Witness(pub(crate) Table);

impl Default for Witness {
    fn default() -> Self {
        Self(Table::new(ROOMS, NIGHTS).with_slack(SLACK_MS))
    }
}

impl Witness {
    /// Enters a request with the answer that it was given, which must be a right one.
    pub(crate) fn enter(&mut self, request: &Request, answer: &Answer) -> Result<(), String> {
        let operation = told(request, answer);
        let position = answer.position;
        let entered = operation.ok_or_else(|| "that is no answer to it".to_owned());
        let entered = entered.and_then(|operation| self.0.apply(position, &operation));
        entered.map_err(|why| {
            let fields = &answer.fields;
            format!("{request:?} at position {position} was answered {fields:?}: {why}")
        })
    }

    /// Compares everything that stands with what was entered. No hold ends while a test runs.
    pub(crate) fn compare(&self, listing: &[Entry]) -> Result<(), String> {
        let mut last = Final::of(self.0.clone(), (0, 0));
        let mut rooms = vec![Vec::new(); ROOMS as usize];
        for entry in listing {
            let (reference, place) =
                standing(entry, &mut last).ok_or_else(|| format!("no entry: {entry:?}"))?;
            rooms[place.room as usize].push((reference, place));
        }
        for (room, standing) in (0..).zip(rooms) {
            last.room(room, &standing);
        }
        let charge = last.account().charge;
        if charge.is_empty() {
            return Ok(());
        }
        let sentences = charge.sentences().join("\n");
        Err(format!(
            "what is listed is not what was acknowledged:\n{sentences}"
        ))
    }
}

/// What stands by an entry of a listing; nothing when it is none.
fn standing(entry: &Entry, last: &mut Final) -> Option<(InlineReference, Place)> {
    let text = |name: &str| entry.get(name).map(String::as_str);
    let reference = InlineReference::parse(text("reference")?.as_bytes()).ok()?;
    let (arrival, departure) = (day(text("arrival")?)?, day(text("departure")?)?);
    let place = Place {
        room: room(text("property")?, text("room")?)?,
        night: arrival,
        nights: departure.checked_sub(arrival)?,
    };
    let id = match (text("state")?, text("guest")?) {
        ("booked", name) => Some(Guest::named(name)?.number()),
        ("held", "") => {
            last.held(reference, millis(text("until")?)?);
            None
        }
        _ => return None,
    };
    last.noted(reference, id, text("position")?.parse().ok()?);
    Some((reference, place))
}

/// A request and its answer; nothing when it has not exactly the fields of one.
pub(crate) fn told(request: &Request, answer: &Answer) -> Option<Operation> {
    let names: Vec<&str> = answer.fields.keys().map(String::as_str).collect();
    let done = match (answer.text("outcome")?, answer.text("reason")) {
        ("done", None) => true,
        ("refused", Some(_)) => false,
        _ => return None,
    };
    let is_full = answer.text("reason") == Some("sold_out");
    let fields: &[&str] = match request {
        _ if is_full => &["nights", "outcome", "reason"],
        _ if !done => &["outcome", "reason"],
        Request::Book { .. } => &["outcome", "reference", "room"],
        Request::Hold { .. } => &["outcome", "reference", "room", "until"],
        Request::Confirm { .. } => &["late", "outcome", "reference", "room"],
        Request::Release { .. } => &["outcome"],
        Request::Cancel { .. } => &["arrival", "departure", "outcome", "room"],
    };
    if names != fields {
        return None;
    }
    match request {
        Request::Book { wish, stay, guest } => sale((*wish, *stay), Some(*guest), answer),
        Request::Hold { wish, stay } => sale((*wish, *stay), None, answer),
        Request::Confirm { hold, guest } => Some(Operation::Confirm {
            reference: InlineReference::parse(hold.as_bytes()).ok()?,
            id: guest.number(),
            answer: if done {
                // No hold ends while a test runs, so none is confirmed late.
                let right = answer.text("reference")? == hold && answer.text("late")? == "false";
                let (room, late) = (any_room(answer.text("room")?)?, false);
                right.then_some(Confirmed::Done { room, late })?
            } else {
                Confirmed::Refused(no_hold(answer)?)
            },
        }),
        Request::Release { hold } => Some(Operation::Release {
            reference: InlineReference::parse(hold.as_bytes()).ok()?,
            answer: if done {
                Released::Done
            } else {
                Released::Refused(no_hold(answer)?)
            },
        }),
        Request::Cancel { booking, guest } => Some(Operation::Cancel {
            reference: InlineReference::parse(booking.as_bytes()).ok()?,
            id: Some(guest.number()),
            answer: match answer.text("reason") {
                None => {
                    let (arrival, departure) = (
                        day(answer.text("arrival")?)?,
                        day(answer.text("departure")?)?,
                    );
                    Cancelled::Done(Place {
                        room: any_room(answer.text("room")?)?,
                        night: arrival,
                        nights: departure.checked_sub(arrival)?,
                    })
                }
                Some("ended") => Cancelled::Gone,
                Some("wrong_guest") => Cancelled::WrongGuest,
                Some(_) => Cancelled::Strange,
            },
        }),
    }
}

/// A booking, or without a guest a hold.
fn sale((wish, stay): (Wish, Stay), guest: Option<Guest>, answer: &Answer) -> Option<Operation> {
    let (first, rooms) = match wish {
        Wish::Room(number) => (u32::from(number), 1),
        Wish::Double => (FIRST_DOUBLE, ROOMS - FIRST_DOUBLE),
    };
    let wanted = Wanted {
        first,
        rooms,
        night: u16::from(stay.arrival),
        nights: u16::from(stay.nights),
    };
    let answer = match (answer.text("reason"), guest) {
        (Some("sold_out"), _) => {
            let nights = answer
                .text("nights")?
                .split(',')
                .filter(|night| !night.is_empty());
            let mut bits = 0;
            for night in nights {
                let at = stay.days().position(|day| date(day) == night)?;
                bits |= 1 << at;
            }
            Picked::SoldOut(bits)
        }
        (Some(_), _) => Picked::Strange,
        (None, guest) => {
            let room = room(wish.property(), answer.text("room")?)?;
            let reference = InlineReference::parse(answer.text("reference")?.as_bytes()).ok()?;
            match guest {
                Some(guest) => Picked::Booked {
                    room,
                    id: guest.number(),
                    reference,
                },
                None => Picked::Held {
                    room,
                    ttl_ms: Request::TTL_MS,
                    reference,
                    until: millis(answer.text("until")?)?,
                },
            }
        }
    };
    let wish = wanted;
    Some(Operation::Pick { wish, answer })
}

fn no_hold(answer: &Answer) -> Option<NoHold> {
    Some(match answer.text("reason")? {
        "ended" => NoHold::Gone,
        "already_confirmed" => NoHold::Confirmed,
        _ => NoHold::Strange,
    })
}

/// The number of a room.
fn room(property: &str, name: &str) -> Option<u32> {
    match property {
        "bench" => name
            .strip_prefix('r')?
            .parse()
            .ok()
            .filter(|&number| number < FIRST_DOUBLE),
        "hotel" => (FIRST_DOUBLE..)
            .zip(DOUBLES)
            .find_map(|(number, double)| (double == name).then_some(number)),
        _ => None,
    }
}

/// The number of a room of either property: they have no name in common.
fn any_room(name: &str) -> Option<u32> {
    room("bench", name).or_else(|| room("hotel", name))
}

/// The day of the month that the tests are about.
fn day(text: &str) -> Option<u16> {
    text.strip_prefix("2027-03-")?.parse().ok()
}

fn millis(text: &str) -> Option<u64> {
    Some(Timestamp::parse(text.as_bytes()).ok()?.0)
}

#[cfg(test)]
mod tests;
