//! The bodies that operations take, and what becomes of them: commands and queries.

use std::{borrow::Cow, fmt};

use serde::Deserialize;
use turnstile_rooms::{
    Command, Cursor, GuestId, GuestName, IdKey, IdNumber, Query, Reference, Wish,
};
use turnstile_types::{Name, Night, Stay};
use utoipa::ToSchema;

use crate::{
    cursor::parse_cursor,
    problem::{FieldError, Place, Problem},
};

/// The longest time that a request can ask a hold for, in seconds: what its field can carry.
const TTL_SECONDS_MAX: u32 = u32::MAX / 1_000;

/// How long a hold lasts when the request does not say, in seconds.
const TTL_SECONDS_DEFAULT: u32 = 600;

/// The longest page of a listing, and how long one is when the request does not say.
pub(crate) const LIMIT_MAX: u16 = 1_000;
pub(crate) const LIMIT_DEFAULT: u16 = 100;

/// Opens a property for business.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewProperty<'a> {
    #[serde(borrow)]
    #[schema(value_type = String, example = "grand", max_length = 64)]
    name: Cow<'a, str>,
    /// In an open property every room name exists; for imports and load tests.
    #[serde(default)]
    open: bool,
}

/// Adds a room to a property.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRoom<'a> {
    #[serde(borrow)]
    #[schema(value_type = String, example = "101", max_length = 64)]
    name: Cow<'a, str>,
    #[serde(borrow, rename = "type")]
    #[schema(value_type = String, example = "double", max_length = 64)]
    room_type: Cow<'a, str>,
}

/// Books a room for every night of a stay, or for none: `room`, any of `room_type`, or any.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewBooking<'a> {
    #[serde(borrow)]
    #[schema(value_type = String, example = "grand")]
    property: Cow<'a, str>,
    #[serde(borrow, default)]
    #[schema(value_type = Option<String>, example = "101")]
    room: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    #[schema(value_type = Option<String>)]
    room_type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    #[schema(value_type = String, format = Date, example = "2027-01-01")]
    arrival: Cow<'a, str>,
    /// The date after the last night; a stay has 1 to 90 nights.
    #[serde(borrow)]
    #[schema(value_type = String, format = Date, example = "2027-01-03")]
    departure: Cow<'a, str>,
    #[serde(borrow)]
    #[schema(value_type = String, example = "Ada Lovelace", max_length = 100)]
    guest: Cow<'a, str>,
    /// Twelve digits. It is never shown again, but for the last four.
    #[serde(borrow)]
    #[schema(value_type = String, example = "234123412346", pattern = "^[0-9]{12}$")]
    id_number: Cow<'a, str>,
}

/// Keeps a room for a time, to be confirmed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewHold<'a> {
    #[serde(borrow)]
    #[schema(value_type = String, example = "grand")]
    property: Cow<'a, str>,
    #[serde(borrow, default)]
    #[schema(value_type = Option<String>)]
    room: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    #[schema(value_type = Option<String>, example = "double")]
    room_type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    #[schema(value_type = String, format = Date, example = "2027-01-01")]
    arrival: Cow<'a, str>,
    #[serde(borrow)]
    #[schema(value_type = String, format = Date, example = "2027-01-03")]
    departure: Cow<'a, str>,
    #[serde(default)]
    #[schema(minimum = 1, maximum = 4294967, default = 600)]
    ttl_seconds: Option<u32>,
}

/// Lets a hold end so many seconds from now.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Extension {
    #[schema(minimum = 1, maximum = 4294967, example = 600)]
    ttl_seconds: u32,
}

/// Turns a hold into a booking.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Confirmation<'a> {
    #[serde(borrow)]
    #[schema(value_type = String, example = "Ada Lovelace", max_length = 100)]
    guest: Cow<'a, str>,
    #[serde(borrow)]
    #[schema(value_type = String, example = "234123412346", pattern = "^[0-9]{12}$")]
    id_number: Cow<'a, str>,
}

/// Cancels a booking; only with the id number that booked it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Cancellation<'a> {
    #[serde(borrow)]
    #[schema(value_type = String, example = "234123412346", pattern = "^[0-9]{12}$")]
    id_number: Cow<'a, str>,
}

/// Lists a guest's bookings. A body, so that the number stands in no URL and no access log.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GuestSearch<'a> {
    #[serde(borrow)]
    #[schema(value_type = String, example = "234123412346", pattern = "^[0-9]{12}$")]
    id_number: Cow<'a, str>,
    #[serde(default)]
    #[schema(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<u16>,
    #[serde(borrow, default)]
    #[schema(value_type = Option<String>)]
    cursor: Option<Cow<'a, str>>,
}

/// How id numbers are read and sealed at this door.
#[derive(Clone, Copy, Debug)]
pub struct Sealing<'a> {
    pub key: &'a IdKey,
    /// Whether the last digit must be the Verhoeff check digit.
    pub verhoeff: bool,
}

/// Collects what is wrong with the fields of one request, so that all of it is told at once.
#[derive(Debug)]
pub(crate) struct Faults {
    place: Place,
    errors: Vec<FieldError>,
}

impl Faults {
    pub(crate) const fn in_place(place: Place) -> Self {
        Self {
            place,
            errors: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, field: &str, message: impl fmt::Display) {
        self.errors.push(FieldError {
            place: self.place,
            field: field.to_owned(),
            message: message.to_string(),
        });
    }

    pub(crate) fn take<T, E: fmt::Display>(
        &mut self,
        field: &str,
        parsed: Result<T, E>,
    ) -> Option<T> {
        parsed.map_err(|invalid| self.add(field, invalid)).ok()
    }

    pub(crate) fn name(&mut self, field: &str, text: &str) -> Option<Name> {
        self.take(field, Name::parse(text.as_bytes()))
    }

    pub(crate) fn night(&mut self, field: &str, text: &str) -> Option<Night> {
        self.take(field, Night::parse(text.as_bytes()))
    }

    pub(crate) fn stay(&mut self, arrival: &str, departure: &str) -> Option<Stay> {
        let arrival = self.night("arrival", arrival);
        let departure = self.night("departure", departure);
        self.take("departure", Stay::new(arrival?, departure?))
    }

    fn guest<'a>(&mut self, text: &'a str) -> Option<GuestName<'a>> {
        self.take("guest", GuestName::parse(text.as_bytes()))
    }

    fn id(&mut self, text: &str, sealing: Sealing<'_>) -> Option<GuestId> {
        let number = IdNumber::parse(text.as_bytes(), sealing.verhoeff);
        let number = self.take("id_number", number)?;
        Some(sealing.key.seal(number))
    }

    pub(crate) fn wish(&mut self, room: Option<&str>, room_type: Option<&str>) -> Option<Wish> {
        match (room, room_type) {
            (Some(room), None) => self.name("room", room).map(Wish::Room),
            (None, Some(room_type)) => self.name("room_type", room_type).map(Wish::Type),
            (None, None) => Some(Wish::Any),
            (Some(_), Some(_)) => {
                self.add(
                    "room_type",
                    "a request names a room or a room type, not both",
                );
                None
            }
        }
    }

    fn ttl_ms(&mut self, seconds: u32) -> Option<u32> {
        if (1..=TTL_SECONDS_MAX).contains(&seconds) {
            return Some(seconds * 1_000);
        }
        self.add(
            "ttl_seconds",
            format_args!("1 to {TTL_SECONDS_MAX} seconds"),
        );
        None
    }

    pub(crate) fn limit(&mut self, limit: Option<u16>) -> Option<u16> {
        self.count("limit", limit.unwrap_or(LIMIT_DEFAULT))
    }

    pub(crate) fn count(&mut self, field: &str, count: u16) -> Option<u16> {
        if (1..=LIMIT_MAX).contains(&count) {
            return Some(count);
        }
        self.add(field, format_args!("1 to {LIMIT_MAX}"));
        None
    }

    pub(crate) fn cursor(&mut self, text: Option<&str>) -> Option<Option<u64>> {
        self.take("cursor", text.map(parse_cursor).transpose())
    }

    /// One of some words.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        field: &str,
        text: &str,
        choices: &[(&str, T)],
    ) -> Option<T> {
        let found = choices.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
            self.add(field, format_args!("one of {}", words.join(", ")));
        }
        found.map(|(_, choice)| *choice)
    }

    /// What is wrong.
    pub(crate) fn problem(self) -> Problem {
        Problem::invalid(self.errors)
    }

    /// What came of the request: everything it needed was there, or the faults say what was not.
    pub(crate) fn finish<T>(self, whole: Option<T>) -> Result<T, Problem> {
        match whole {
            Some(whole) if self.errors.is_empty() => Ok(whole),
            _ => Err(self.problem()),
        }
    }
}

/// Reads names out of a path.
///
/// # Errors
/// Texts that are no names.
pub fn property_and_room(
    property: &str,
    room: Option<&str>,
) -> Result<(Name, Option<Name>), Problem> {
    let mut faults = Faults::in_place(Place::Path);
    let property = faults.name("property", property);
    let room = room.map(|room| faults.name("room", room));
    let whole = property
        .and_then(|property| Some((property, room.map_or(Some(None), |room| room.map(Some))?)));
    faults.finish(whole)
}

impl NewProperty<'_> {
    /// # Errors
    /// Wrong fields.
    pub fn command(&self) -> Result<Command<'_>, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let property = faults.name("name", &self.name);
        faults.finish(property.map(|property| Command::AddProperty {
            property,
            open: self.open,
        }))
    }
}

impl NewRoom<'_> {
    /// # Errors
    /// Wrong fields.
    pub fn command(&self, property: Name) -> Result<Command<'_>, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let names = (
            faults.name("name", &self.name),
            faults.name("type", &self.room_type),
        );
        let (Some(room), Some(room_type)) = names else {
            return faults.finish(None);
        };
        faults.finish(Some(Command::AddRoom {
            property,
            room,
            room_type,
        }))
    }
}

impl NewBooking<'_> {
    /// # Errors
    /// Wrong fields.
    pub fn command(&self, sealing: Sealing<'_>) -> Result<Command<'_>, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let property = faults.name("property", &self.property);
        let wish = faults.wish(self.room.as_deref(), self.room_type.as_deref());
        let stay = faults.stay(&self.arrival, &self.departure);
        let guest = faults.guest(&self.guest);
        let id = faults.id(&self.id_number, sealing);
        let whole = || {
            Some(Command::Book {
                property: property?,
                wish: wish?,
                stay: stay?,
                guest: guest?,
                id: id?,
            })
        };
        faults.finish(whole())
    }
}

impl NewHold<'_> {
    /// # Errors
    /// Wrong fields.
    pub fn command(&self) -> Result<Command<'_>, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let property = faults.name("property", &self.property);
        let wish = faults.wish(self.room.as_deref(), self.room_type.as_deref());
        let stay = faults.stay(&self.arrival, &self.departure);
        let ttl_ms = faults.ttl_ms(self.ttl_seconds.unwrap_or(TTL_SECONDS_DEFAULT));
        let whole = || {
            Some(Command::Hold {
                property: property?,
                wish: wish?,
                stay: stay?,
                ttl_ms: ttl_ms?,
            })
        };
        faults.finish(whole())
    }
}

impl Extension {
    /// # Errors
    /// Wrong fields.
    pub fn command(&self, hold: Reference) -> Result<Command<'_>, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let ttl_ms = faults.ttl_ms(self.ttl_seconds);
        faults.finish(ttl_ms.map(|ttl_ms| Command::Extend { hold, ttl_ms }))
    }
}

impl Confirmation<'_> {
    /// # Errors
    /// Wrong fields.
    pub fn command(&self, hold: Reference, sealing: Sealing<'_>) -> Result<Command<'_>, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let both = (
            faults.guest(&self.guest),
            faults.id(&self.id_number, sealing),
        );
        let (Some(guest), Some(id)) = both else {
            return faults.finish(None);
        };
        faults.finish(Some(Command::Confirm { hold, guest, id }))
    }
}

impl Cancellation<'_> {
    /// # Errors
    /// Wrong fields.
    pub fn command(
        &self,
        booking: Reference,
        sealing: Sealing<'_>,
    ) -> Result<Command<'_>, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let id = faults.id(&self.id_number, sealing);
        faults.finish(id.map(|id| Command::Cancel { booking, id }))
    }
}

impl GuestSearch<'_> {
    /// # Errors
    /// Wrong fields.
    pub fn query(&self, sealing: Sealing<'_>) -> Result<Query, Problem> {
        let mut faults = Faults::in_place(Place::Body);
        let id = faults.id(&self.id_number, sealing);
        let limit = faults.limit(self.limit);
        let cursor = faults.cursor(self.cursor.as_deref());
        let whole = || {
            Some(Query::Guest {
                id: id?,
                cursor: cursor?.map(Cursor),
                limit: limit?,
            })
        };
        faults.finish(whole())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Code, parse_body};

    fn book(body: &str) -> Result<String, Problem> {
        let key = IdKey::new([1; 16]);
        let sealing = Sealing {
            key: &key,
            verhoeff: true,
        };
        let booking: NewBooking<'_> = parse_body(body.as_bytes())?;
        booking
            .command(sealing)
            .map(|command| format!("{command:?}"))
    }

    const WHOLE: &str = r#"{"property":"grand","room":"101","arrival":"2027-01-01","departure":"2027-01-02","guest":"ada","id_number":"234123412346"}"#;

    #[test]
    fn every_wrong_field_is_named_at_once() {
        let body = WHOLE
            .replace("grand", "gr and")
            .replace("2027-01-01", "2027-02-30")
            .replace("346\"", "345\"")
            .replace("\"ada\"", "\"\"");
        let wrong = book(&body).unwrap_err();
        let fields: Vec<&str> = wrong.errors.iter().map(|error| &*error.field).collect();
        assert_eq!(fields, ["property", "arrival", "guest", "id_number"]);
        assert_eq!(wrong.code, Code::InvalidRequest);
        let both = WHOLE.replace("\"arrival\"", "\"room_type\":\"double\",\"arrival\"");
        assert_eq!(book(&both).unwrap_err().errors[0].field, "room_type");
    }

    #[test]
    fn a_misfit_names_its_field_and_place() {
        let rows = [
            (
                WHOLE.replace("\"grand\"", "7"),
                "property",
                "line 1 column 13",
            ),
            (
                WHOLE.replace("\"guest\"", "\"gest\""),
                "gest",
                "unknown field `gest`",
            ),
            (WHOLE.replace("\"ada\"", "{}"), "guest", "invalid type: map"),
            (
                WHOLE.replace("\"room\":\"101\"", "\"property\":\"x\""),
                "property",
                "duplicate field `property`",
            ),
            (
                WHOLE.replace(",\"guest\":\"ada\"", ""),
                "guest",
                "missing field `guest`",
            ),
            (WHOLE.replace('}', ""), ".", "EOF"),
            (
                WHOLE.replace("\"234123412346\"", "234123412346"),
                "id_number",
                "invalid type: integer `...`, expected a string at line 1",
            ),
            (
                WHOLE.replace("\"234123412346\"", "[]"),
                "id_number",
                "invalid type: sequence, expected a string at line 1",
            ),
            (
                WHOLE.replace("\"ada\"", &"[".repeat(1_000)),
                "guest",
                "invalid type: sequence",
            ),
        ];
        for (body, field, message) in rows {
            let wrong = book(&body).unwrap_err();
            assert_eq!(wrong.code, Code::MalformedJson, "{body:.90}");
            let [only] = &*wrong.errors else {
                panic!("one error: {wrong:?}");
            };
            assert_eq!(only.field, field, "{wrong:?}");
            assert!(only.message.contains(message), "{wrong:?}");
            let told = format!("{wrong:?}");
            assert!(
                !told.contains("234123412346"),
                "an id number in clear: {told}"
            );
        }
        let trailing = format!("{WHOLE} {WHOLE}");
        assert_eq!(book(&trailing).unwrap_err().errors.len(), 0);
        let list = r#"["grand","101",null,"2027-01-01","2027-01-02","ada","234123412346"]"#;
        for body in [list, "", " ", "7", "null"] {
            let expected = Problem::with(Code::MalformedJson, "the body is not a JSON object");
            assert_eq!(book(body), Err(expected), "{body}");
        }
    }

    #[test]
    fn a_booking_becomes_its_command() {
        let command = book(WHOLE).unwrap();
        assert!(
            command.starts_with(r#"Book { property: "grand", wish: Room("101")"#),
            "{command}"
        );
        let escaped = WHOLE.replace("ada", r"a\u0064a");
        assert_eq!(
            book(&escaped).unwrap(),
            command,
            "an escape is read as its letter"
        );
    }

    #[test]
    fn seconds_of_a_hold_stay_in_range() {
        let hold = Reference::parse(b"R00").unwrap();
        let command = |seconds: u32| {
            let extension = Extension {
                ttl_seconds: seconds,
            };
            extension
                .command(hold)
                .map(|command| format!("{command:?}"))
                .is_ok()
        };
        assert_eq!(
            [0, 1, TTL_SECONDS_MAX, TTL_SECONDS_MAX + 1].map(command),
            [false, true, true, false]
        );
    }
}
