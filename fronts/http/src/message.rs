//! What the messages of every socket have in common: one JSON object each, with an `op`, and an
//! `id` where the client wants one.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Serialize, de::IgnoredAny};

use crate::{
    answer::Told,
    body::parse_body,
    key::parse_key,
    problem::{Code, Place, Problem},
    request::Faults,
};

/// The longest id of a message, in bytes.
const TAG_BYTES_MAX: usize = 64;

/// By what a client knows its message again: a number or a short text, told back as it was.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
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

/// What every message begins with; the rest is read when it is known what it is.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    op: Cow<'a, str>,
    #[serde(default)]
    id: Option<Tag>,
}

/// A field that was read with the envelope.
pub(crate) type Read = Option<IgnoredAny>;

/// A message that says nothing but what it wants.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bare {
    #[serde(default, rename = "op")]
    _op: Read,
    #[serde(default, rename = "id")]
    _id: Read,
}

/// Reads one message; `wish` reads what is in it, by its `op`.
pub(crate) fn read<W>(
    text: &str,
    wish: impl FnOnce(&str, &[u8]) -> Result<W, Problem>,
) -> Asked<W> {
    let Envelope { op, id } = match parse_body(text.as_bytes()) {
        Ok(envelope) => envelope,
        Err(problem) => {
            return Asked {
                tag: None,
                wish: Err(problem),
            };
        }
    };
    if matches!(&id, Some(Tag::Text(text)) if text.len() > TAG_BYTES_MAX) {
        let most = format!("a number, or a text of at most {TAG_BYTES_MAX} bytes");
        return Asked {
            tag: None,
            wish: Err(wrong("id", most)),
        };
    }
    Asked {
        tag: id,
        wish: wish(&op, text.as_bytes()),
    }
}

/// A message with one wrong field.
pub(crate) fn wrong(field: &str, message: impl fmt::Display) -> Problem {
    let mut faults = Faults::in_place(Place::Body);
    faults.add(field, message);
    faults.problem()
}

/// The idempotency key of a message.
pub(crate) fn key(text: Option<&str>) -> Result<Option<Box<str>>, Problem> {
    let key = text.map(|key| parse_key(key.as_bytes()));
    key.transpose().map_err(|invalid| wrong("key", invalid))
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
