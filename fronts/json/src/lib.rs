//! Fields as JSON: the one form of events, answers and problems on every door that speaks it.
//!
//! Numbers with a point are text, so that no reader rounds them. A field that is not set is left out.

#![forbid(unsafe_code)]

mod audit;
mod records;

use std::fmt;

use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeSeq},
};
use turnstile_chassis::{Field, Fields, Kind, Show, Value, Visitor};

pub use audit::{
    AUDIT_HEAD, AuditFilter, AuditLine, AuditLines, AuditOutcome, AuditPage, RecordLine,
};
pub use records::{
    RecordedCommand, RecordedFields, RecordedOutcome, recorded_command, recorded_outcome,
    service_names,
};

/// One JSON object of the fields.
///
/// # Panics
/// Never: fields are made of text, numbers, lists and objects, and memory takes them all.
#[must_use]
pub fn object(fields: &impl Fields) -> String {
    serde_json::to_string(&Object(fields)).expect("fields are texts, numbers, lists and objects")
}

/// Fields as a JSON object.
#[derive(Clone, Copy, Debug)]
pub struct Object<'a, T>(pub &'a T);

impl<T: Fields> Serialize for Object<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        put_fields(self.0, &mut map)?;
        map.end()
    }
}

/// What happened in one of several partitions: its name stands before the fields.
#[derive(Clone, Copy, Debug)]
pub struct InPartition<'a, T> {
    pub partition: &'a str,
    pub fields: &'a T,
}

impl<T: Fields> Fields for InPartition<'_, T> {
    fn visit(&self, visitor: &mut impl Visitor) {
        visitor.field("partition", &PartitionText(self.partition));
        self.fields.visit(visitor);
    }

    fn describe() -> Vec<Field> {
        let meaning = "Only in a cluster of several partitions: where it happened";
        let mut fields = vec![Field::new("partition", meaning, PartitionText::kind())];
        fields.extend(T::describe());
        fields
    }
}

struct PartitionText<'a>(&'a str);

impl Value for PartitionText<'_> {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.text(self.0)
    }

    fn kind() -> Kind {
        Kind::NAME
    }
}

/// Puts the fields into a map that may hold others.
///
/// # Errors
/// Those of the map.
pub fn put_fields<M: SerializeMap>(fields: &impl Fields, map: &mut M) -> Result<(), M::Error> {
    let mut entries = Entries {
        map,
        result: Ok(()),
    };
    fields.visit(&mut entries);
    entries.result
}

/// The text that a field shows, if it is there and shows one.
#[must_use]
pub fn text_field(fields: &impl Fields, name: &'static str) -> Option<String> {
    let mut found = Find { name, text: None };
    fields.visit(&mut found);
    found.text
}

/// The text or the number that a field of this name shows, also one of an object among the fields.
#[must_use]
pub fn found_text(fields: &impl Fields, name: &'static str) -> Option<String> {
    let mut found = FindWithin { name, text: None };
    fields.visit(&mut found);
    found.text
}

struct FindWithin {
    name: &'static str,
    text: Option<String>,
}

impl Visitor for FindWithin {
    fn field(&mut self, name: &'static str, value: &impl Value) {
        if self.text.is_some() {
            return;
        }
        let value = serde_json::to_value(AsJson(value)).unwrap_or_default();
        let value = if name == self.name {
            Some(&value)
        } else {
            value.get(self.name)
        };
        self.text = match value {
            Some(serde_json::Value::String(text)) => Some(text.clone()),
            Some(serde_json::Value::Number(number)) => Some(number.to_string()),
            _ => None,
        };
    }
}

/// The fields that show a whole number from 0.
#[must_use]
pub fn numbers(fields: &impl Fields) -> Vec<(&'static str, u64)> {
    let mut found = NumberFields(Vec::new());
    fields.visit(&mut found);
    found.0
}

struct NumberFields(Vec<(&'static str, u64)>);

impl Visitor for NumberFields {
    fn field(&mut self, name: &'static str, value: &impl Value) {
        let value = serde_json::to_value(AsJson(value)).ok();
        let number = value.and_then(|value| value.as_u64());
        self.0.extend(number.map(|number| (name, number)));
    }
}

struct Find {
    name: &'static str,
    text: Option<String>,
}

impl Visitor for Find {
    fn field(&mut self, name: &'static str, value: &impl Value) {
        if name == self.name {
            let value = serde_json::to_value(AsJson(value)).ok();
            self.text = value.and_then(|value| value.as_str().map(str::to_owned));
        }
    }
}

struct Entries<'a, M: SerializeMap> {
    map: &'a mut M,
    /// The first error: nothing is written behind it.
    result: Result<(), M::Error>,
}

impl<M: SerializeMap> Visitor for Entries<'_, M> {
    fn field(&mut self, name: &'static str, value: &impl Value) {
        if self.result.is_ok() && !value.is_none() {
            self.result = self.map.serialize_entry(name, &AsJson(value));
        }
    }
}

/// A value as JSON.
struct AsJson<'a, T>(&'a T);

impl<T: Value> Serialize for AsJson<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.show(Json(serializer))
    }
}

struct Json<S>(S);

impl<S: Serializer> Show for Json<S> {
    type Out = Result<S::Ok, S::Error>;

    fn text(self, text: &str) -> Self::Out {
        self.0.serialize_str(text)
    }

    fn display(self, text: &impl fmt::Display) -> Self::Out {
        self.0.collect_str(text)
    }

    fn number(self, number: u64) -> Self::Out {
        self.0.serialize_u64(number)
    }

    fn signed(self, number: i64) -> Self::Out {
        self.0.serialize_i64(number)
    }

    fn flag(self, flag: bool) -> Self::Out {
        self.0.serialize_bool(flag)
    }

    fn decimal(self, units: u128, scale: u8) -> Self::Out {
        self.0.collect_str(&DecimalText { units, scale })
    }

    fn cursor(self, cursor: u64) -> Self::Out {
        self.0.collect_str(&format_args!("c{cursor:016x}"))
    }

    fn none(self) -> Self::Out {
        self.0.serialize_unit()
    }

    fn list<T: Value>(self, length: usize, values: impl Iterator<Item = T>) -> Self::Out {
        let mut list = self.0.serialize_seq(Some(length))?;
        for value in values {
            list.serialize_element(&AsJson(&value))?;
        }
        list.end()
    }

    fn object(self, fields: &impl Fields) -> Self::Out {
        Object(fields).serialize(self.0)
    }
}

/// `units / 10^scale` in the shortest form.
struct DecimalText {
    units: u128,
    scale: u8,
}

impl fmt::Display for DecimalText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut units, mut digits) = (self.units, usize::from(self.scale));
        while digits > 0 && units % 10 == 0 {
            units /= 10;
            digits -= 1;
        }
        let scale = 10_u128.pow(u32::try_from(digits).expect("a scale is at most 18"));
        write!(f, "{}", units / scale)?;
        if digits > 0 {
            write!(f, ".{:0digits$}", units % scale)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use turnstile_chassis::{Fields, Kind, Variants, Words};
    use turnstile_types::{Night, Stay};

    use super::*;

    struct Price(u128);

    impl Value for Price {
        fn show<S: Show>(&self, show: S) -> S::Out {
            show.decimal(self.0, 2)
        }

        fn kind() -> Kind {
            Kind::Decimal
        }
    }

    #[derive(Words, Fields)]
    #[fields(tag = "state")]
    enum State {
        Booked,
        #[word("on_hold")]
        Held {
            /// In seconds.
            #[field(name = "ttl_seconds", with = seconds)]
            ttl_ms: u32,
        },
    }

    const fn seconds(ms: &u32) -> u32 {
        *ms / 1_000
    }

    #[derive(Fields)]
    struct Entry {
        #[field(flatten)]
        state: State,
        #[field(flatten)]
        stay: Option<Stay>,
        guest: Option<Box<str>>,
        prices: Vec<Price>,
        #[field(skip)]
        _slot: u32,
    }

    fn entry(state: State, stay: Option<Stay>, guest: Option<Box<str>>) -> String {
        let prices = [0, 5, 100, 1_230, u128::MAX].map(Price).into();
        object(&Entry {
            state,
            stay,
            guest,
            prices,
            _slot: 7,
        })
    }

    #[test]
    fn fields_stand_in_their_order_and_what_is_not_set_is_left_out() {
        let prices =
            r#""prices":["0","0.05","1","12.3","3402823669209384634633746074317682114.55"]"#;
        assert_eq!(
            entry(State::Booked, None, None),
            format!(r#"{{"state":"booked",{prices}}}"#)
        );
        let stay = Stay::new(Night::from_days(0), Night::from_days(2)).unwrap();
        let held = State::Held { ttl_ms: 60_000 };
        let dates = r#""arrival":"1970-01-01","departure":"1970-01-03""#;
        assert_eq!(
            entry(held, Some(stay), Some("a\"b".into())),
            format!(r#"{{"state":"on_hold","ttl_seconds":60,{dates},"guest":"a\"b",{prices}}}"#)
        );
    }

    #[derive(Words)]
    enum Request {
        Begin,
        #[word(inner = state)]
        #[expect(dead_code, reason = "only its word counts here")]
        Act {
            state: State,
            times: u8,
        },
        #[word("done")]
        End,
    }

    #[test]
    fn words_of_a_field_stand_in_the_place_of_its_variant() {
        assert_eq!(Request::WORDS, ["begin", "booked", "on_hold", "done"]);
        let state = State::Held { ttl_ms: 1 };
        for request in [
            Request::Begin,
            Request::Act { state, times: 2 },
            Request::End,
        ] {
            assert_eq!(Request::WORDS[request.place()], request.code());
        }
    }

    #[test]
    fn the_text_of_a_field_is_found_by_its_name() {
        let held = State::Held { ttl_ms: 60_000 };
        assert_eq!(text_field(&held, "state"), Some("on_hold".to_owned()));
        for name in ["ttl_seconds", "guest"] {
            assert_eq!(text_field(&held, name), None, "{name}");
        }
    }

    #[test]
    fn the_numbers_of_something_are_found_with_their_names() {
        let held = State::Held { ttl_ms: 60_000 };
        assert_eq!(numbers(&held), [("ttl_seconds", 60)]);
        assert_eq!(numbers(&State::Booked), []);
    }

    #[test]
    fn a_description_says_which_fields_are_always_there() {
        let fields = Entry::describe();
        let told: Vec<(&str, bool)> = fields
            .iter()
            .map(|field| (field.name, field.is_required))
            .collect();
        let expected = [
            ("state", true),
            ("ttl_seconds", false),
            ("arrival", false),
            ("departure", false),
            ("guest", false),
            ("prices", true),
        ];
        assert_eq!(told, expected);
        assert_eq!(fields[1].meaning, "In seconds.");
        assert!(matches!(
            fields[0].kind,
            Kind::OneOf(&["booked", "on_hold"])
        ));
        let names: Vec<&str> = State::variants().iter().map(|one| one.name).collect();
        assert_eq!(names, ["Booked", "Held"]);
    }
}
