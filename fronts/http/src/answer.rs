//! What operations answer when they succeed: the JSON of outcomes and answers.

use std::fmt::Display;

use serde::{Serialize, Serializer};
use turnstile_rooms::{
    Answer, Block, Cursor, Done, Entry, EntryState, Explanation, Outcome, PropertySummary,
    Reference, TypeAvailability,
};
use turnstile_types::{Name, Night, Position, Stay, Timestamp};
use utoipa::ToSchema;

use crate::{
    conditional::{ETag, etag_of},
    cursor::cursor_text,
    problem::{Code, Problem},
};

/// An answer, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// 201 for something new, else 200; a remembered answer is 200.
    pub status: u16,
    pub json: Vec<u8>,
    /// The path of what was made.
    pub location: Option<String>,
    /// The version of what was asked for.
    pub etag: Option<ETag>,
    /// The cursor of the next page.
    pub next: Option<String>,
}

/// Any of the domain's words, as a JSON text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<T>(pub(crate) T);

impl<T: Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// What was done, where there is no more to tell.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct Receipt {
    /// The position of the record in the journal.
    pub(crate) position: u64,
    /// Present and true when this is the remembered first answer to the idempotency key.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) replayed: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BookingMade {
    #[schema(value_type = String, example = "R14")]
    reference: Text<Reference>,
    #[schema(value_type = String, example = "101")]
    room: Text<Name>,
    #[serde(flatten)]
    receipt: Receipt,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HoldMade {
    #[schema(value_type = String, example = "R14")]
    reference: Text<Reference>,
    #[schema(value_type = String, example = "101")]
    room: Text<Name>,
    /// When the hold expires.
    #[schema(value_type = String, format = DateTime)]
    until: Text<Timestamp>,
    #[serde(flatten)]
    receipt: Receipt,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HoldExtended {
    #[schema(value_type = String, format = DateTime)]
    until: Text<Timestamp>,
    #[serde(flatten)]
    receipt: Receipt,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HoldConfirmed {
    #[schema(value_type = String, example = "R14")]
    reference: Text<Reference>,
    #[schema(value_type = String, example = "101")]
    room: Text<Name>,
    /// Whether the hold had expired, and the nights were still free.
    late: bool,
    #[serde(flatten)]
    receipt: Receipt,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BookingCancelled {
    #[schema(value_type = String, example = "101")]
    room: Text<Name>,
    #[schema(value_type = String, format = Date)]
    arrival: Text<Night>,
    #[schema(value_type = String, format = Date)]
    departure: Text<Night>,
    #[serde(flatten)]
    receipt: Receipt,
}

/// A booking or hold.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EntryView {
    reference: String,
    /// `booked`, `held` or `expired`; an expired hold can still be confirmed late.
    #[schema(value_type = String, example = "booked")]
    state: &'static str,
    property: String,
    room: String,
    #[schema(format = Date)]
    arrival: String,
    #[schema(format = Date)]
    departure: String,
    /// A hold has no guest yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    guest: Option<String>,
    /// Eight stars and the last four digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "********2346")]
    id_number: Option<String>,
    /// Who booked or held.
    principal: String,
    #[schema(format = DateTime)]
    since: String,
    /// When a hold ends, or ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    until: Option<String>,
    /// The position of the record that last changed it: its version.
    position: u64,
}

/// One page of bookings and holds.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EntryPage {
    entries: Vec<EntryView>,
    /// Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PropertyView {
    name: String,
    open: bool,
    /// Rooms in sale; in an open property those that have been named so far.
    rooms: u32,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PropertyPage {
    properties: Vec<PropertyView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// The free rooms of one type.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TypeView {
    #[serde(rename = "type")]
    room_type: String,
    /// All rooms of the type in sale.
    rooms: u32,
    /// Free rooms, one number for each night of the stay.
    free: Vec<u32>,
    /// Rooms that are free on every night of the stay.
    free_throughout: u32,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AvailabilityView {
    types: Vec<TypeView>,
}

/// One thing that keeps a room from being booked.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BlockView {
    /// `booking`, `hold` or `stop_sell`.
    #[schema(value_type = String)]
    kind: &'static str,
    room: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = Date)]
    arrival: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = Date)]
    departure: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    until: Option<String>,
    /// The nights of a stop-sell.
    #[serde(skip_serializing_if = "Option::is_none")]
    nights: Option<Vec<String>>,
}

/// Why a booking would be refused, or that it would not be.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExplanationView {
    /// The room that a booking would get now.
    would_get: Option<String>,
    blocks: Vec<BlockView>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes the field by reference"
)]
pub(crate) const fn is_false(value: &bool) -> bool {
    !*value
}

impl Told {
    pub(crate) fn of<T: Serialize>(status: u16, value: &T) -> Self {
        Self {
            status,
            json: serde_json::to_vec(value).expect("a view is maps, lists, texts and numbers"),
            location: None,
            etag: None,
            next: None,
        }
    }
}

/// Tells a command's outcome; `made` is the status of something new.
///
/// # Errors
/// The problem of a refusal.
pub fn tell_outcome(
    position: Position,
    replayed: bool,
    outcome: &Outcome,
) -> Result<Told, Problem> {
    let done = match outcome {
        Outcome::Done(done) => done,
        Outcome::Refused(refusal) => {
            return Err(Problem {
                position: Some(position),
                replayed,
                ..Problem::from(Code::from(*refusal))
            });
        }
    };
    let receipt = Receipt {
        position: position.0,
        replayed,
    };
    let made = if replayed { 200 } else { 201 };
    Ok(tell_done(done, made, receipt))
}

fn tell_done(done: &Done, made: u16, receipt: Receipt) -> Told {
    match done {
        Done::PropertyAdded | Done::RoomAdded => Told::of(made, &receipt),
        Done::RoomWithdrawn | Done::SaleStopped | Done::SaleResumed | Done::Released => {
            Told::of(200, &receipt)
        }
        Done::Booked { reference, room } => {
            let view = BookingMade {
                reference: Text(*reference),
                room: Text(*room),
                receipt,
            };
            Told {
                location: Some(format!("/v1/rooms/bookings/{reference}")),
                ..Told::of(made, &view)
            }
        }
        Done::Held {
            reference,
            room,
            until,
        } => {
            let view = HoldMade {
                reference: Text(*reference),
                room: Text(*room),
                until: Text(*until),
                receipt,
            };
            Told {
                location: Some(format!("/v1/rooms/bookings/{reference}")),
                ..Told::of(made, &view)
            }
        }
        Done::Extended { until } => {
            let until = Text(*until);
            Told::of(200, &HoldExtended { until, receipt })
        }
        Done::Confirmed {
            reference,
            room,
            late,
        } => {
            let view = HoldConfirmed {
                reference: Text(*reference),
                room: Text(*room),
                late: *late,
                receipt,
            };
            Told::of(200, &view)
        }
        Done::Cancelled { room, stay } => tell_cancelled(*room, *stay, receipt),
    }
}

fn tell_cancelled(room: Name, stay: Stay, receipt: Receipt) -> Told {
    let view = BookingCancelled {
        room: Text(room),
        arrival: Text(stay.arrival()),
        departure: Text(stay.departure()),
        receipt,
    };
    Told::of(200, &view)
}

/// Tells the answer to a query.
///
/// # Errors
/// The problem of a refusal.
pub fn tell_answer(answer: &Answer) -> Result<Told, Problem> {
    Ok(match answer {
        Answer::Entry(entry) => Told {
            etag: Some(etag_of(entry.position)),
            ..Told::of(200, &entry_view(entry))
        },
        Answer::Page(page) => {
            let next = page.next.map(|next| cursor_text(next.0));
            let view = EntryPage {
                entries: page.entries.iter().map(entry_view).collect(),
                next_cursor: next.clone(),
            };
            Told {
                next,
                ..Told::of(200, &view)
            }
        }
        Answer::Properties { properties, next } => tell_properties(properties, *next),
        Answer::Availability(types) => {
            let types = types.iter().map(type_view).collect();
            Told::of(200, &AvailabilityView { types })
        }
        Answer::Explanation(explanation) => Told::of(200, &explanation_view(explanation)),
        Answer::Totals(_) => unreachable!("no operation asks for totals through this door"),
        Answer::Refused(refusal) => return Err(Problem::from(Code::from(*refusal))),
    })
}

fn tell_properties(properties: &[PropertySummary], next: Option<Cursor>) -> Told {
    let view = |summary: &PropertySummary| PropertyView {
        name: summary.property.to_string(),
        open: summary.open,
        rooms: summary.rooms,
    };
    let next = next.map(|next| cursor_text(next.0));
    let page = PropertyPage {
        properties: properties.iter().map(view).collect(),
        next_cursor: next.clone(),
    };
    Told {
        next,
        ..Told::of(200, &page)
    }
}

fn entry_view(entry: &Entry) -> EntryView {
    let (state, until) = match entry.state {
        EntryState::Booked => ("booked", None),
        EntryState::Held { until } => ("held", Some(until)),
        EntryState::Expired { at } => ("expired", Some(at)),
    };
    EntryView {
        reference: entry.reference.to_string(),
        state,
        property: entry.property.to_string(),
        room: entry.room.to_string(),
        arrival: entry.stay.arrival().to_string(),
        departure: entry.stay.departure().to_string(),
        guest: entry.guest.as_deref().map(str::to_owned),
        id_number: entry.id.map(|id| id.masked()),
        principal: entry.principal.to_string(),
        since: entry.since.to_string(),
        until: until.map(|until| until.to_string()),
        position: entry.position.0,
    }
}

fn type_view(availability: &TypeAvailability) -> TypeView {
    TypeView {
        room_type: availability.room_type.to_string(),
        rooms: availability.rooms,
        free: availability.free.clone(),
        free_throughout: availability.free_throughout,
    }
}

fn explanation_view(explanation: &Explanation) -> ExplanationView {
    ExplanationView {
        would_get: explanation.would_get.map(|room| room.to_string()),
        blocks: explanation.blocks.iter().map(block_view).collect(),
    }
}

fn block_view(block: &Block) -> BlockView {
    let empty = |kind: &'static str, room: &dyn Display| BlockView {
        kind,
        room: room.to_string(),
        reference: None,
        arrival: None,
        departure: None,
        until: None,
        nights: None,
    };
    let of_stay = |view: BlockView, reference: &dyn Display, stay: &Stay| BlockView {
        reference: Some(reference.to_string()),
        arrival: Some(stay.arrival().to_string()),
        departure: Some(stay.departure().to_string()),
        ..view
    };
    match block {
        Block::Booking {
            room,
            reference,
            stay,
        } => of_stay(empty("booking", room), reference, stay),
        Block::Hold {
            room,
            reference,
            stay,
            until,
        } => BlockView {
            until: Some(until.to_string()),
            ..of_stay(empty("hold", room), reference, stay)
        },
        Block::StopSell { room, nights } => BlockView {
            nights: Some(nights.iter().map(|night| night.to_string()).collect()),
            ..empty("stop_sell", room)
        },
    }
}

#[cfg(test)]
mod tests {
    use turnstile_rooms::{GuestId, Page};
    use turnstile_types::Principal;

    use super::*;

    fn name(text: &str) -> Name {
        Name::parse(text.as_bytes()).unwrap()
    }

    fn told(done: Done, replayed: bool) -> (u16, String, Option<String>) {
        let told = tell_outcome(Position(9), replayed, &Outcome::Done(done)).unwrap();
        (
            told.status,
            String::from_utf8(told.json).unwrap(),
            told.location,
        )
    }

    #[test]
    fn what_is_new_is_created_once_and_told_again_when_replayed() {
        let reference = Reference::parse(b"R00").unwrap();
        let booked = Done::Booked {
            reference,
            room: name("101"),
        };
        let location = Some("/v1/rooms/bookings/R00".to_owned());
        assert_eq!(
            told(booked, false),
            (
                201,
                r#"{"reference":"R00","room":"101","position":9}"#.to_owned(),
                location.clone()
            )
        );
        assert_eq!(
            told(booked, true),
            (
                200,
                r#"{"reference":"R00","room":"101","position":9,"replayed":true}"#.to_owned(),
                location
            )
        );
        let stay = Stay::new(Night::from_days(0), Night::from_days(2)).unwrap();
        let cancelled = Done::Cancelled {
            room: name("101"),
            stay,
        };
        assert_eq!(
            told(cancelled, false).1,
            r#"{"room":"101","arrival":"1970-01-01","departure":"1970-01-03","position":9}"#
        );
        assert_eq!(
            told(Done::Released, false),
            (200, r#"{"position":9}"#.to_owned(), None)
        );
    }

    #[test]
    fn a_page_shows_masked_numbers_and_the_next_cursor() {
        let entry = Entry {
            reference: Reference::parse(b"R00").unwrap(),
            state: EntryState::Booked,
            property: name("grand"),
            room: name("101"),
            stay: Stay::new(Night::from_days(0), Night::from_days(1)).unwrap(),
            guest: Some("ada".into()),
            id: Some(GuestId {
                seal: 7,
                last_four: 46,
            }),
            principal: Principal::local(),
            since: Timestamp(0),
            position: Position(3),
        };
        let page = Answer::Page(Page {
            entries: vec![entry],
            next: Some(Cursor(1)),
        });
        let told = tell_answer(&page).unwrap();
        assert_eq!(told.next.as_deref(), Some("c0000000000000001"));
        assert_eq!(
            String::from_utf8(told.json).unwrap(),
            r#"{"entries":[{"reference":"R00","state":"booked","property":"grand","room":"101","arrival":"1970-01-01","departure":"1970-01-02","guest":"ada","id_number":"********0046","principal":"local","since":"1970-01-01T00:00:00.000Z","position":3}],"next_cursor":"c0000000000000001"}"#
        );
    }
}
