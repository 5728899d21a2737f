//! What one request gives to its operation: values by the names of its parameters.
//!
//! They stand in the path, in the query string and in the body. A value of the body has the JSON type
//! of its parameter's kind; one problem names everything that is wrong.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use turnstile_chassis::{Kind, Operations, Source};

use crate::{
    code::Code,
    cursor::parse_cursor,
    operation::PlacedParameter,
    problem::{FAULTS_MAX, FieldError, Place, Problem},
};

/// The form of a text that may be a JSON number too.
pub(crate) const NUMBER: &str = "NUMBER";

/// One value of a JSON object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JsonValue<'a> {
    Text(Cow<'a, str>),
    /// A number as it was written, but for the notation of fractions and exponents.
    Number(String),
    Flag(bool),
    Null,
    List(Vec<Self>),
    Object,
}

/// The members of a JSON object, in the order in which they were sent.
#[derive(Debug)]
pub(crate) struct Members<'a>(Vec<(Cow<'a, str>, JsonValue<'a>)>);

impl<'a> Members<'a> {
    /// Reads one object.
    ///
    /// # Errors
    /// The body is not JSON, or no object.
    pub(crate) fn parse(body: &'a [u8]) -> Result<Self, Problem> {
        if body.trim_ascii_start().first() != Some(&b'{') {
            return Err(Problem::with(
                Code::MalformedJson,
                "the body is not a JSON object",
            ));
        }
        serde_json::from_slice(body)
            .map_err(|broken| Problem::with(Code::MalformedJson, broken.to_string()))
    }

    /// Takes the first member of this name out.
    pub(crate) fn take(&mut self, name: &str) -> Option<JsonValue<'a>> {
        let at = self.0.iter().position(|(other, _)| other == name)?;
        Some(self.0.remove(at).1)
    }
}

/// The values of one request to one operation.
#[derive(Debug)]
pub struct Given<'a> {
    parameters: &'a [PlacedParameter],
    values: Vec<(&'a PlacedParameter, JsonValue<'a>)>,
    /// What is wrong whatever the values are.
    faults: Vec<FieldError>,
}

impl<'a> Given<'a> {
    /// Nothing yet, for an operation with these parameters.
    #[must_use]
    pub fn new(parameters: &'a [PlacedParameter]) -> Self {
        Self {
            parameters,
            values: Vec::with_capacity(parameters.len()),
            faults: Vec::new(),
        }
    }

    /// Adds a value that stands in the path.
    pub fn add_path(&mut self, name: &str, value: &'a str) {
        self.add(Place::Path, name, JsonValue::Text(Cow::Borrowed(value)));
    }

    /// Adds the values of a query string, `name=value&...`.
    pub fn add_query(&mut self, text: &'a str) {
        for (name, value) in form_urlencoded::parse(text.as_bytes()) {
            self.add(Place::Query, &name, JsonValue::Text(value));
        }
    }

    /// Adds the members of a JSON object.
    ///
    /// # Errors
    /// The body is not JSON, or no object.
    pub fn add_body(&mut self, body: &'a [u8]) -> Result<(), Problem> {
        self.add_members(Members::parse(body)?);
        Ok(())
    }

    pub(crate) fn add_members(&mut self, members: Members<'a>) {
        let Members(members) = members;
        for (name, value) in members {
            self.add(Place::Body, &name, value);
        }
    }

    fn add(&mut self, place: Place, name: &str, value: JsonValue<'a>) {
        let is_known = |known: &&PlacedParameter| known.place == place && known.name == name;
        let Some(parameter) = self.parameters.iter().find(is_known) else {
            return self.add_unknown(place, name);
        };
        if self.values.iter().any(|(known, _)| known.name == name) {
            return self.add_fault(place, name, "given twice");
        }
        if value == JsonValue::Null {
            return;
        }
        match (&parameter.kind, &value) {
            // Cursors are numbers inside.
            (Kind::Cursor, JsonValue::Text(text)) => match parse_cursor(text) {
                Ok(number) => self
                    .values
                    .push((parameter, JsonValue::Text(number.to_string().into()))),
                Err(invalid) => self.add_fault(place, name, invalid),
            },
            _ => self.values.push((parameter, value)),
        }
    }

    fn add_unknown(&mut self, place: Place, name: &str) {
        let known = self.parameters.iter().filter(|one| one.place == place);
        let known: Vec<&str> = known.map(|one| one.name).collect();
        if known.is_empty() {
            return self.add_fault(place, name, "unknown; there are none");
        }
        let known = known.join(", ");
        self.add_fault(place, name, format_args!("unknown; known are: {known}"));
    }

    pub(crate) fn add_fault(&mut self, place: Place, field: &str, message: impl fmt::Display) {
        keep_fault(&mut self.faults, || FieldError {
            place,
            field: field.to_owned(),
            message: message.to_string(),
        });
    }

    /// Makes a command or a query of the values.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn read<T: Operations<'a>>(
        &'a self,
        place: usize,
        door: T::Door<'_>,
    ) -> Result<T, Problem> {
        self.read_with(|reader| T::read(place, reader, door))
    }

    /// Makes something of the values.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn read_with<T>(
        &'a self,
        read: impl FnOnce(&mut Reader<'a>) -> Option<T>,
    ) -> Result<T, Problem> {
        let mut reader = Reader {
            given: self,
            faults: self.faults.clone(),
        };
        match read(&mut reader) {
            Some(whole) if reader.faults.is_empty() => Ok(whole),
            _ => Err(Problem::invalid(reader.faults)),
        }
    }
}

/// Keeps a fault, up to one more than are told: that there are more is told, too.
fn keep_fault(faults: &mut Vec<FieldError>, fault: impl FnOnce() -> FieldError) {
    if faults.len() <= FAULTS_MAX {
        faults.push(fault());
    }
}

/// Reads the values of one request by their names.
#[derive(Debug)]
pub struct Reader<'a> {
    given: &'a Given<'a>,
    faults: Vec<FieldError>,
}

impl<'a> Reader<'a> {
    fn note(&mut self, field: &str, message: impl fmt::Display) {
        let root = field.split('[').next();
        let mut parameters = self.given.parameters.iter();
        let parameter = parameters.find(|one| Some(one.name) == root);
        keep_fault(&mut self.faults, || FieldError {
            place: parameter.map_or(Place::Body, |one| one.place),
            field: field.to_owned(),
            message: message.to_string(),
        });
    }

    fn find(&self, name: &str) -> Option<(&'a PlacedParameter, &'a JsonValue<'a>)> {
        let found = self.given.values.iter().find(|(one, _)| one.name == name);
        found.map(|(parameter, value)| (*parameter, value))
    }

    fn take<T, E: fmt::Display>(
        &mut self,
        field: &str,
        (parameter, value): (&PlacedParameter, &'a JsonValue<'a>),
        read: impl FnOnce(&'a [u8]) -> Result<T, E>,
    ) -> Option<T> {
        match text_of(parameter, value) {
            Ok(text) => read(text).map_err(|invalid| self.note(field, invalid)).ok(),
            Err(misfit) => {
                self.note(field, misfit);
                None
            }
        }
    }

    fn is_faulty(&self, name: &str) -> bool {
        self.faults.iter().any(|fault| fault.field == name)
    }
}

/// The text of a value, or what it should have been.
fn text_of<'a>(parameter: &PlacedParameter, value: &'a JsonValue<'a>) -> Result<&'a [u8], String> {
    let (is_number, may_be_number) = match &parameter.kind {
        Kind::Number { .. } | Kind::Signed { .. } => (true, true),
        Kind::Forms { forms, .. } => (false, forms.contains(&NUMBER)),
        _ => (false, false),
    };
    let text = match value {
        JsonValue::Number(number) if may_be_number => number,
        // Outside of a body everything is text.
        JsonValue::Text(text) if !is_number || parameter.place != Place::Body => &**text,
        other => {
            let expected = if is_number { "a number" } else { "a text" };
            return Err(format!("expected {expected}, found {}", other.name()));
        }
    };
    match &parameter.kind {
        Kind::OneOf(words) if !words.contains(&text) => Err(format!("one of {}", words.join(", "))),
        _ => Ok(text.as_bytes()),
    }
}

impl JsonValue<'_> {
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Number(_) => "a number",
            Self::Flag(_) => "true or false",
            Self::Null => "null",
            Self::List(_) => "a list",
            Self::Object => "an object",
        }
    }
}

impl<'a> Source<'a> for Reader<'a> {
    fn required<T, E: fmt::Display>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'a [u8]) -> Result<T, E>,
    ) -> Option<T> {
        match self.find(name) {
            Some(found) => self.take(name, found, read),
            None => {
                if !self.is_faulty(name) {
                    self.note(name, "missing");
                }
                None
            }
        }
    }

    /// What is left out is nothing: JSON needs no word for that.
    fn required_or<T, E: fmt::Display>(
        &mut self,
        name: &'static str,
        _none: &'static str,
        read: impl FnOnce(&'a [u8]) -> Result<T, E>,
    ) -> Option<Option<T>> {
        self.optional(name, read)
    }

    fn optional<T, E: fmt::Display>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'a [u8]) -> Result<T, E>,
    ) -> Option<Option<T>> {
        match self.find(name) {
            Some(found) => self.take(name, found, read).map(Some),
            None => Some(None),
        }
    }

    fn flag(&mut self, name: &'static str) -> Option<bool> {
        match self.find(name) {
            None => Some(false),
            Some((_, JsonValue::Flag(flag))) => Some(*flag),
            Some((parameter, JsonValue::Text(text)))
                if parameter.place != Place::Body && (text == "true" || text == "false") =>
            {
                Some(text == "true")
            }
            Some((_, other)) => {
                let found = other.name();
                self.note(name, format_args!("expected true or false, found {found}"));
                None
            }
        }
    }

    fn repeated<T, E: fmt::Display>(
        &mut self,
        name: &'static str,
        mut read: impl FnMut(&'a [u8]) -> Result<T, E>,
    ) -> Option<Vec<T>> {
        let Some((parameter, value)) = self.find(name) else {
            self.note(name, "missing");
            return None;
        };
        let JsonValue::List(items) = value else {
            let found = value.name();
            self.note(name, format_args!("expected a list, found {found}"));
            return None;
        };
        let items = items.iter().enumerate();
        let read: Vec<Option<T>> = items
            .map(|(at, item)| self.take(&format!("{name}[{at}]"), (parameter, item), &mut read))
            .collect();
        read.into_iter().collect()
    }

    fn invalid(&mut self, name: &'static str, reason: impl fmt::Display) {
        self.note(name, reason);
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::with_capacity(8);
                while let Some(MemberName(name)) = map.next_key()? {
                    members.push((name, map.next_value()?));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(MembersVisitor)
    }
}

/// A name, borrowed where it has no escapes.
#[derive(Deserialize)]
struct MemberName<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for JsonValue<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = JsonValue<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }

            fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
                Ok(JsonValue::Flag(flag))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
                Ok(JsonValue::Number(number.to_string()))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
                Ok(JsonValue::Number(number.to_string()))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
                // `14.0` is the whole number 14, as JSON Schema has it.
                let text = format!("{number:?}");
                let whole = text.strip_suffix(".0").unwrap_or(&text);
                Ok(JsonValue::Number(whole.to_owned()))
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(JsonValue::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(JsonValue::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(JsonValue::Null)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = list.next_element()? {
                    items.push(item);
                }
                Ok(JsonValue::List(items))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(JsonValue::Object)
            }
        }

        deserializer.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    use turnstile_exchange::{Command as ExchangeCommand, Exchange, Order, TimeInForce};
    use turnstile_games::{Claim, Command as GamesCommand, Deed, Games, MatchId};
    use turnstile_rooms::{Cursor, Door, IdKey, Query, Rooms};
    use turnstile_travel::{Command as TravelCommand, CustomerId, Travel};
    use turnstile_types::{Machine, Night, Timestamp};

    use super::*;
    use crate::{operation::Answerer, served::Served, table::operation_at};

    const DOOR: Door<'_> = Door {
        id_key: &IdKey::new([1; 16]),
        verhoeff: true,
    };

    /// Fields, each with what is wrong with it.
    type Faults = Vec<(String, String)>;

    fn faults(problem: Problem) -> Faults {
        assert_eq!(problem.code, Code::InvalidRequest);
        let errors = problem.errors.into_vec().into_iter();
        errors.map(|error| (error.field, error.message)).collect()
    }

    /// Has a request to a target with a body made into what `made` shows of it.
    fn ask<T>(
        method: &str,
        target: &str,
        body: &str,
        made: impl FnOnce(Answerer, &Given<'_>) -> Result<T, Problem>,
    ) -> Result<T, Faults> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let operation = operation_at(method, path).expect(path);
        let mut given = Given::new(&operation.parameters);
        let parts = operation.path.split('/').zip(path.split('/'));
        for (part, value) in parts.filter(|(part, _)| part.starts_with('{')) {
            given.add_path(part.trim_matches(['{', '}']), value);
        }
        given.add_query(query);
        if !body.is_empty() {
            given.add_body(body.as_bytes()).expect(body);
        }
        made(operation.answerer, &given).map_err(faults)
    }

    fn command_bytes<M: Served>(method: &str, target: &str, body: &str) -> Result<Vec<u8>, Faults> {
        ask(method, target, body, |answerer, given| {
            let Answerer::Command(_, place) = answerer else {
                panic!("{target} is a command");
            };
            let given: &Given<'_> = given;
            let command = M::read_command(place, given, DOOR)?;
            let mut bytes = Vec::new();
            M::encode_command(&command, &mut bytes);
            Ok(bytes)
        })
    }

    fn rooms_query(target: &str) -> Result<Query, Faults> {
        ask("GET", target, "", |answerer, given| {
            let Answerer::Query(_, place) = answerer else {
                panic!("{target} is a query");
            };
            Rooms::read_query(place, given, DOOR)
        })
    }

    fn book(body: &str) -> Result<String, Faults> {
        let bytes = command_bytes::<Rooms>("POST", "/v1/rooms/bookings", body)?;
        Ok(format!("{:?}", Rooms::decode_command(&bytes).unwrap()))
    }

    fn fields<T: fmt::Debug>(wrong: Result<T, Faults>) -> Vec<String> {
        let wrong = wrong.unwrap_err().into_iter();
        wrong.map(|(field, _)| field).collect()
    }

    const WHOLE: &str = r#"{"property":"grand","wish":"101","arrival":"2027-01-01","departure":"2027-01-02","guest":"ada","id_number":"234123412346"}"#;

    #[test]
    fn a_booking_becomes_its_command() {
        let command = book(WHOLE).unwrap();
        let start = r#"Book { property: "grand", wish: Room("101")"#;
        assert!(command.starts_with(start), "{command}");
        let escaped = WHOLE.replace("ada", r"a\u0064a");
        assert_eq!(
            book(&escaped).unwrap(),
            command,
            "an escape is read as its letter"
        );
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        let body = WHOLE
            .replace("grand", "gr and")
            .replace("2027-01-01", "2027-02-30")
            .replace("346\"", "345\"")
            .replace("\"ada\"", "7")
            .replace("\"wish\"", "\"wash\"");
        let wrong = ["wash", "property", "wish", "arrival", "guest", "id_number"];
        assert_eq!(fields(book(&body)), wrong);
        let missing = book("{}").unwrap_err();
        assert!(missing.iter().all(|(_, message)| message == "missing"));
        assert_eq!(missing.len(), 6);
    }

    /// 64 KiB of unknown fields had an answer of 1.2 MB.
    #[test]
    fn the_first_of_many_faults_are_told() {
        let ask = |count: usize| {
            let operation = operation_at("POST", "/v1/rooms/bookings").unwrap();
            let mut given = Given::new(&operation.parameters);
            let body = format!("{{{}}}", vec!["\"a\":1"; count].join(","));
            given.add_body(body.as_bytes()).unwrap();
            let Answerer::Command(_, place) = operation.answerer else {
                panic!("to book is a command");
            };
            Rooms::read_command(place, &given, DOOR).unwrap_err()
        };
        // Six fields are missing each time.
        let whole = ask(26);
        assert!(whole.detail.starts_with("32 fields are wrong: a, a"));
        let cut = ask(10_000);
        assert!(
            cut.detail
                .starts_with("more than 32 fields are wrong: a, a")
        );
        assert_eq!([whole.errors.len(), cut.errors.len()], [32, 32]);
    }

    #[test]
    fn a_value_has_the_json_type_of_its_kind() {
        let of_guest = |value: &str| book(&WHOLE.replace("\"ada\"", value));
        for (value, found) in [
            ("7", "expected a text, found a number"),
            ("[]", "expected a text, found a list"),
            ("{\"a\":[1]}", "expected a text, found an object"),
            ("true", "expected a text, found true or false"),
            ("null", "missing"),
        ] {
            let expected = vec![("guest".to_owned(), found.to_owned())];
            assert_eq!(of_guest(value), Err(expected), "{value}");
        }
        let number = WHOLE.replace("\"234123412346\"", "234123412346");
        let told = book(&number).unwrap_err();
        assert_eq!(told[0].1, "expected a text, found a number");
        let twice = WHOLE.replace("\"wish\"", "\"property\"");
        assert_eq!(fields(book(&twice)), ["property", "wish"]);
        let open = |value: &str| {
            let body = format!(r#"{{"property":"grand","open":{value}}}"#);
            command_bytes::<Rooms>("POST", "/v1/rooms/properties", &body)
        };
        assert_ne!(open("true"), open("false"));
        assert_eq!(open("false"), open("null"));
        assert_eq!(fields(open("\"true\"")), ["open"]);
    }

    #[test]
    fn a_body_that_is_no_object_is_malformed() {
        let deep = format!("{{\"a\":{}", "[".repeat(1_000));
        for body in [
            "",
            " ",
            "7",
            "null",
            "[1]",
            "{",
            &deep,
            &format!("{WHOLE} {WHOLE}"),
        ] {
            let problem = Members::parse(body.as_bytes()).unwrap_err();
            assert_eq!(problem.code, Code::MalformedJson, "{body:.20}");
        }
    }

    #[test]
    fn seconds_of_a_hold_stay_in_range() {
        let extend = |seconds: &str| {
            let body = format!(r#"{{"ttl_seconds":{seconds}}}"#);
            command_bytes::<Rooms>("POST", "/v1/rooms/holds/R00/extend", &body).is_ok()
        };
        let rows = ["0", "1", "60.0", "4294967", "4294968", "1.5", "-1"];
        let expected = [false, true, true, true, false, false, false];
        assert_eq!(rows.map(extend), expected);
    }

    #[test]
    fn values_of_the_path_and_of_the_query_string_become_a_query() {
        let list =
            |query: &str| rooms_query(&format!("/v1/rooms/properties/grand/bookings?{query}"));
        let expected = Query::List {
            property: turnstile_types::Name::parse(b"grand").unwrap(),
            room: Some(turnstile_types::Name::parse(b"a:1").unwrap()),
            from: Night::parse(b"2027-01-01").unwrap(),
            to: Night::parse(b"2027-02-01").unwrap(),
            cursor: Some(Cursor(7)),
            limit: 5,
        };
        let text = "room=a%3A1&from=2027-01-01&to=2027-02-01&cursor=c0000000000000007&limit=5";
        assert_eq!(list(text), Ok(expected));
        let wrong = fields(list("from=x&limit=0&limit=3&room=&colour=red&cursor=1"));
        let expected = ["limit", "colour", "cursor", "from", "to", "room", "limit"];
        assert_eq!(wrong, expected);
        let within = "from=2027-01-01&to=2027-02-01&limit=";
        for limit in ["0", "1001", "-1", "99999", "ten"] {
            let message = "a whole number from 1 to 1000".to_owned();
            let expected = vec![("limit".to_owned(), message)];
            assert_eq!(list(&format!("{within}{limit}")), Err(expected), "{limit}");
        }
        assert!(list(&format!("{within}1000")).is_ok());
        assert_eq!(fields(list("from=2027-01-01&to=2027-01-01")), ["to"]);
    }

    fn order(more: &str) -> Result<Order, Faults> {
        let body =
            format!(r#"{{"account":"ada","symbol":"S","side":"sell","quantity":"2.50"{more}}}"#);
        let bytes = command_bytes::<Exchange>("POST", "/v1/exchange/orders", &body)?;
        match Exchange::decode_command(&bytes) {
            Ok(ExchangeCommand::Order(order)) => Ok(order),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_order_that_says_little_gets_what_is_usual() {
        let market = order("").unwrap();
        assert_eq!(market.limit, None);
        let times = [
            ("", TimeInForce::ImmediateOrCancel),
            (r#","limit":null"#, TimeInForce::ImmediateOrCancel),
            (r#","limit":"7""#, TimeInForce::GoodTillCancel),
            (
                r#","limit":"7","time_in_force":"ioc""#,
                TimeInForce::ImmediateOrCancel,
            ),
            (r#","time_in_force":"fok""#, TimeInForce::FillOrKill),
            (
                r#","limit":"7","until":"1970-01-01T00:00:01Z""#,
                TimeInForce::GoodTillDate(Timestamp(1_000)),
            ),
        ];
        for (more, time) in times {
            assert_eq!(order(more).unwrap().time_in_force, time, "{more}");
        }
        let wrong = r#","limit":"-1","time_in_force":"day","self_trade":"no","client_id":"a b""#;
        let told = order(wrong).unwrap_err();
        let told: Vec<_> = told
            .iter()
            .map(|(field, message)| format!("{field} {message}"))
            .collect();
        let words = "time_in_force one of gtc, ioc, fok, post_only";
        assert!(told.contains(&words.to_owned()), "{told:?}");
        assert_eq!(told.len(), 4, "{told:?}");
        assert_eq!(fields(order(r#","side":"SELL""#)), ["side"]);
    }

    #[test]
    fn an_order_is_named_by_its_number_or_the_clients_id() {
        let cancel = |order: &str| {
            let path = format!("/v1/exchange/orders/{order}/cancel");
            command_bytes::<Exchange>("POST", &path, r#"{"account":"ada"}"#)
        };
        assert_ne!(cancel("17"), cancel("id:17"));
        for wrong in ["x", "-1", "18446744073709551616", "id:"] {
            assert_eq!(fields(cancel(wrong)), ["order"], "{wrong}");
        }
    }

    #[test]
    fn a_move_is_a_command_inside_a_command() {
        let body = r#"{"player":"ada","ply":4,"choice":9,"claim":"wins"}"#;
        let bytes = command_bytes::<Games>("POST", "/v1/games/matches/3/moves", body).unwrap();
        let Ok(GamesCommand::Act { match_id, deed, .. }) = Games::decode_command(&bytes) else {
            panic!("{bytes:?}");
        };
        let expected = Deed::Move {
            ply: 4,
            choice: 9,
            claim: Some(Claim::Wins),
        };
        assert_eq!((match_id, deed), (MatchId(3), expected));
    }

    #[test]
    fn every_wrong_item_is_named_by_its_place() {
        let book = |items: &str| {
            let body = format!(r#"{{"customer":-7,"items":{items}}}"#);
            let bytes = command_bytes::<Travel>("POST", "/v1/travel/itineraries", &body)?;
            match Travel::decode_command(&bytes) {
                Ok(TravelCommand::Book { customer, trip, .. }) => {
                    assert_eq!(customer, CustomerId(-7));
                    Ok(trip.items().len())
                }
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(
            book(r#"["flight--12","car-Montreal","room-montreal "]"#),
            Ok(3)
        );
        assert_eq!(fields(book("[]")), ["items"]);
        assert_eq!(fields(book("\"flight-1\"")), ["items"]);
        let wrong = r#"["flight-1","boat-x",7,"car-"]"#;
        assert_eq!(fields(book(wrong)), ["items[1]", "items[2]", "items[3]"]);
        let many = |count| format!("[{}]", vec![r#""flight-1""#; count].join(","));
        assert_eq!(book(&many(64)), Ok(64));
        assert_eq!(fields(book(&many(65))), ["items"]);
    }
}
