//! What the messages of every socket have in common: one JSON object each, with an `op`, and an
//! `id` where the client wants one.

use std::fmt;

use serde::Serialize;
use turnstile_chassis::Operations;

use crate::{
    answer::Told,
    code::Code,
    given::{Given, JsonValue, Members},
    key::parse_key,
    operation::PlacedParameter,
    problem::{FieldError, Place, Problem},
};

/// The longest id of a message, in bytes.
const TAG_BYTES_MAX: usize = 64;

/// By what a client knows its message again: a number or a short text, told back as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Tag {
    Number(u64),
    Text(String),
}

/// One message of a client, which asks for a `W`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked<W> {
    /// To be told back with the answer, also when the message is wrong.
    pub tag: Option<Tag>,
    pub wish: Result<W, Problem>,
}

/// What a message holds beside its `op` and its `id`.
pub(crate) struct Rest<'a>(Members<'a>);

impl<'a> Rest<'a> {
    /// Takes the idempotency key out.
    pub(crate) fn key(&mut self) -> Result<Option<Box<str>>, Problem> {
        match self.0.take("key") {
            None | Some(JsonValue::Null) => Ok(None),
            Some(JsonValue::Text(text)) => parse_key(text.as_bytes())
                .map(Some)
                .map_err(|invalid| wrong("key", invalid)),
            Some(other) => Err(wrong(
                "key",
                format_args!("expected a text, found {}", other.name()),
            )),
        }
    }

    /// What is left, as values of these parameters.
    pub(crate) fn given(self, parameters: &'a [PlacedParameter]) -> Given<'a> {
        let mut given = Given::new(parameters);
        given.add_members(self.0);
        given
    }

    /// Asserts that nothing is left.
    pub(crate) fn finish(self) -> Result<(), Problem> {
        self.given(&[]).read_with(|_nothing| Some(()))
    }
}

/// A command that a socket takes as a message.
pub(crate) struct Op {
    pub(crate) word: &'static str,
    /// Its place in the declaration.
    pub(crate) place: usize,
    pub(crate) parameters: Vec<PlacedParameter>,
}

/// The commands of these words. What the socket itself knows of each stands in no message.
///
/// # Panics
/// When one of them is not declared.
pub(crate) fn ops<'a, C: Operations<'a>>(words: &[&str], known: &[&str]) -> Vec<Op> {
    let declared = C::operations();
    let op = |word: &&str| {
        let found = declared.iter().find(|one| one.word == *word);
        let operation = found.unwrap_or_else(|| panic!("{word} is declared"));
        let parameters = operation.parameters.iter().cloned();
        let parameters = parameters.map(|declared| PlacedParameter {
            place: if known.contains(&declared.name) {
                Place::Path
            } else {
                Place::Body
            },
            declared,
        });
        Op {
            word: operation.word,
            place: operation.place,
            parameters: parameters.collect(),
        }
    };
    words.iter().map(op).collect()
}

/// Reads one message; `wish` reads what is in it, by its `op`.
pub(crate) fn read<W>(
    text: &str,
    wish: impl FnOnce(&str, Rest<'_>) -> Result<W, Problem>,
) -> Asked<W> {
    let untagged = |problem| Asked {
        tag: None,
        wish: Err(problem),
    };
    let mut members = match Members::parse(text.as_bytes()) {
        Ok(members) => members,
        Err(problem) => return untagged(problem),
    };
    let tag = match members.take("id") {
        None | Some(JsonValue::Null) => None,
        Some(id) => match tag_of(id) {
            Some(tag) => Some(tag),
            None => {
                let most = format!("a number, or a text of at most {TAG_BYTES_MAX} bytes");
                return untagged(wrong("id", most));
            }
        },
    };
    let wish = match members.take("op") {
        Some(JsonValue::Text(op)) => wish(&op, Rest(members)),
        Some(other) => Err(wrong(
            "op",
            format_args!("expected a text, found {}", other.name()),
        )),
        None => Err(wrong("op", "missing")),
    };
    Asked { tag, wish }
}

fn tag_of(id: JsonValue<'_>) -> Option<Tag> {
    match id {
        JsonValue::Number(number) => number.parse().ok().map(Tag::Number),
        JsonValue::Text(text) if text.len() <= TAG_BYTES_MAX => Some(Tag::Text(text.into_owned())),
        _ => None,
    }
}

/// A message with one wrong field.
pub(crate) fn wrong(field: &str, message: impl fmt::Display) -> Problem {
    Problem::invalid(vec![FieldError {
        place: Place::Body,
        field: field.to_owned(),
        message: message.to_string(),
    }])
}

/// A message of ours: its `op`, the client's `id`, and more.
#[derive(Serialize)]
pub(crate) struct Plain<'a, T: Serialize> {
    pub(crate) op: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<&'a Tag>,
    #[serde(flatten)]
    pub(crate) more: T,
}

/// No more than that.
#[derive(Serialize)]
pub(crate) struct Nothing {}

pub(crate) fn text<T: Serialize>(message: &T) -> String {
    serde_json::to_string(message).expect("a message is maps, lists, texts and numbers")
}

/// The answer to a ping.
#[must_use]
pub fn pong(tag: Option<&Tag>) -> String {
    text(&Plain {
        op: "pong",
        id: tag,
        more: Nothing {},
    })
}

/// What was done: the JSON of the HTTP operation as `data`.
#[must_use]
pub fn done(tag: Option<&Tag>, told: &Told) -> String {
    let mut message = text(&Plain {
        op: "done",
        id: tag,
        more: Nothing {},
    });
    put_data(&mut message, &told.json);
    message
}

/// Adds JSON to a message as its `data`.
pub(crate) fn put_data(message: &mut String, json: &[u8]) {
    message.pop();
    message.push_str(r#","data":"#);
    message.push_str(str::from_utf8(json).expect("JSON is UTF-8"));
    message.push('}');
}

/// A refusal, or what was wrong with a message.
#[must_use]
pub fn problem(tag: Option<&Tag>, problem: &Problem) -> String {
    let op = match problem.code {
        Code::Refused(_) => "refused",
        _ => "error",
    };
    text(&Plain {
        op,
        id: tag,
        more: problem,
    })
}
