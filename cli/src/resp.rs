//! The RESP door as this binary uses it: one connection, and answers taken apart.

use std::{fmt, io, time::Duration};

use anyhow::anyhow;
use serde_json::{Map, Value as Json};
use turnstile_client::{
    self as client, Connection, Denied, NamedConnection, ServerAddress, resp::Value,
};

/// How long a server may take for one answer.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Where a server's RESP door is when nobody says.
pub(crate) const ADDRESS: &str = "127.0.0.1:8479";

/// What a command of the rooms service was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) outcome: Outcome,
    /// It is the answer to an earlier request with the same key.
    pub(crate) replayed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// With the words after the 1, the position among them.
    Done(Vec<String>),
    /// With its code.
    Refused(String),
}

/// The server answered with an error, or with something that is no answer.
#[derive(Debug)]
pub(crate) enum Unexpected {
    Denied(Denied),
    /// With a place in its waiting room, and no decision.
    InLine,
    Other(String),
}

pub(crate) fn connect(address: impl Into<ServerAddress>) -> anyhow::Result<Connection> {
    let address = address.into();
    Connection::connect(&address, TIMEOUT).map_err(|error| no_server(error, &address))
}

/// Connects, and has answers name their fields.
pub(crate) fn connect_named(address: &ServerAddress) -> anyhow::Result<NamedConnection> {
    NamedConnection::connect(address, TIMEOUT).map_err(|error| no_server(error, address))
}

/// Who does not trust the server, or is not let in, has found one.
fn no_server(error: client::ConnectionError, address: &ServerAddress) -> anyhow::Error {
    let is_there = match &error {
        client::ConnectionError::Io(error) => matches!(
            error.kind(),
            io::ErrorKind::InvalidData
                | io::ErrorKind::PermissionDenied
                | io::ErrorKind::ResourceBusy
        ),
        _ => true,
    };
    anyhow::Error::from(error).context(if is_there {
        address.to_string()
    } else {
        format!("no server at {address}; `turnstile dev` starts one")
    })
}

/// A reply as JSON.
///
/// # Errors
/// The server's error, in its words.
pub(crate) fn json(value: &Value) -> Result<Json, String> {
    Ok(match value {
        Value::Error(error) => return Err(error.clone()),
        Value::Integer(number) => Json::from(*number),
        Value::Double(number) => Json::from(*number),
        Value::Boolean(truth) => Json::from(*truth),
        Value::Null => Json::Null,
        Value::Simple(text) | Value::Big(text) => Json::from(text.as_str()),
        Value::Bulk(bytes) | Value::Verbatim { text: bytes, .. } => {
            Json::from(String::from_utf8_lossy(bytes))
        }
        Value::Array(values) | Value::Set(values) | Value::Push(values) => {
            Json::Array(values.iter().map(json).collect::<Result<_, _>>()?)
        }
        Value::Map(fields) => {
            let field = |(name, value): &(Value, Value)| {
                let name = name.as_str().unwrap_or_default().to_owned();
                Ok((name, json(value)?))
            };
            Json::Object(
                fields
                    .iter()
                    .map(field)
                    .collect::<Result<Map<_, _>, String>>()?,
            )
        }
    })
}

/// Reads an outcome in its RESP2 form.
pub(crate) fn answer(value: &Value) -> Result<Answer, Unexpected> {
    let unexpected = || Unexpected::of(value);
    let (done, words) = match value.as_array().ok_or_else(unexpected)? {
        [Value::Integer(done @ 0..=1), words @ ..] => (done, words),
        [Value::Integer(2), ..] => return Err(Unexpected::InLine),
        _ => return Err(unexpected()),
    };
    let mut words: Vec<String> = words.iter().filter_map(word).collect();
    let replayed = words.last().is_some_and(|last| last == "replayed");
    words.truncate(words.len() - usize::from(replayed));
    let outcome = match (done, words.first()) {
        (1, _) => Outcome::Done(words),
        (_, Some(code)) => Outcome::Refused(code.clone()),
        (_, None) => return Err(unexpected()),
    };
    Ok(Answer { outcome, replayed })
}

/// The value of a field in an entry: an array of fields and values in turn.
pub(crate) fn field<'a>(entry: &'a Value, name: &str) -> Option<&'a Value> {
    let mut words = entry.as_array()?.chunks_exact(2);
    words.find_map(|pair| match pair {
        [field, value] if field.as_str() == Some(name) => Some(value),
        _ => None,
    })
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::Integer(number) => Some(number.to_string()),
        other => other.as_str().map(str::to_owned),
    }
}

/// Reads the answer to a command that makes something; that it is there `already` is fine too.
pub(crate) fn made(value: &Value, already: &str) -> anyhow::Result<()> {
    match answer(value)?.outcome {
        Outcome::Done(_) => Ok(()),
        Outcome::Refused(code) if code == already => Ok(()),
        Outcome::Refused(code) => Err(anyhow!("what the season needs is refused: {code}")),
    }
}

impl Unexpected {
    fn of(value: &Value) -> Self {
        let denied = match value {
            Value::Error(error) => Denied::of(error),
            _ => None,
        };
        denied.map_or_else(|| Self::Other(format!("{value:?}")), Self::Denied)
    }
}

impl fmt::Display for Unexpected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied(denied) => denied.fmt(f),
            Self::InLine => f.write_str(
                "the server has a waiting room, and this command does not wait in line: start the \
                 server without `waiting_room.rate`",
            ),
            Self::Other(value) => write!(f, "the server answered {value}"),
        }
    }
}

impl std::error::Error for Unexpected {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Denied(denied) => Some(denied),
            Self::InLine | Self::Other(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bulk(text: &str) -> Value {
        Value::Bulk(text.as_bytes().to_vec())
    }

    #[test]
    fn an_outcome_is_done_or_refused_and_may_be_a_repetition() {
        let done = Value::Array(vec![
            Value::Integer(1),
            bulk("R01"),
            bulk("A1"),
            Value::Integer(7),
        ]);
        let words = ["R01", "A1", "7"].map(str::to_owned).to_vec();
        assert_eq!(
            answer(&done).unwrap(),
            Answer {
                outcome: Outcome::Done(words),
                replayed: false
            }
        );
        let refused = Value::Array(vec![
            Value::Integer(0),
            bulk("sold_out"),
            bulk("2027-01-01"),
            bulk("replayed"),
        ]);
        assert_eq!(
            answer(&refused).unwrap(),
            Answer {
                outcome: Outcome::Refused("sold_out".to_owned()),
                replayed: true
            }
        );
        for value in [
            Value::Error("BUSY later".to_owned()),
            Value::Array(vec![]),
            Value::Integer(1),
        ] {
            assert!(answer(&value).is_err(), "{value:?} is no outcome");
        }
        let in_line = Value::Array(vec![Value::Integer(2), Value::Integer(17)]);
        let told = answer(&in_line).unwrap_err().to_string();
        assert!(told.contains("waiting room"), "{told}");
    }

    #[test]
    fn an_entry_is_read_by_field() {
        let entry = Value::Array(vec![bulk("room"), bulk("101"), bulk("id"), Value::Null]);
        assert_eq!(field(&entry, "room"), Some(&bulk("101")));
        assert_eq!(field(&entry, "id"), Some(&Value::Null));
        assert_eq!(field(&entry, "101"), None, "a value is no field");
    }

    #[test]
    fn a_reply_becomes_json_with_the_names_of_its_fields() {
        let fields = [
            ("xid", Value::Integer(7)),
            ("until", Value::Null),
            ("prepared", Value::Boolean(true)),
            ("touched", Value::Array(vec![bulk("flights")])),
        ];
        let fields = fields.map(|(name, value)| (bulk(name), value)).to_vec();
        assert_eq!(
            json(&Value::Map(fields)),
            Ok(
                serde_json::json!({"xid": 7, "until": null, "prepared": true, "touched": ["flights"]})
            )
        );
        let error = "ERR unknown command".to_owned();
        let inside = Value::Array(vec![Value::Error(error.clone())]);
        assert_eq!(json(&inside), Err(error));
    }
}
