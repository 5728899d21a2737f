//! The RESP door as this binary uses it: one connection, and answers taken apart.

use std::{fmt, net::SocketAddr, time::Duration};

use anyhow::{Context as _, anyhow};
use turnstile_client::{Connection, resp::Value};

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
pub(crate) struct Unexpected(String);

pub(crate) fn connect(address: SocketAddr) -> anyhow::Result<Connection> {
    Connection::connect(address, TIMEOUT)
        .with_context(|| format!("no server at {address}; `turnstile dev` starts one"))
}

/// Reads an outcome in its RESP2 form.
pub(crate) fn answer(value: &Value) -> Result<Answer, Unexpected> {
    let unexpected = || Unexpected(format!("{value:?}"));
    let [Value::Integer(done @ 0..=1), words @ ..] = value.as_array().ok_or_else(unexpected)?
    else {
        return Err(unexpected());
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

impl fmt::Display for Unexpected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server answered {}", self.0)
    }
}

impl std::error::Error for Unexpected {}

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
    }

    #[test]
    fn an_entry_is_read_by_field() {
        let entry = Value::Array(vec![bulk("room"), bulk("101"), bulk("id"), Value::Null]);
        assert_eq!(field(&entry, "room"), Some(&bulk("101")));
        assert_eq!(field(&entry, "id"), Some(&Value::Null));
        assert_eq!(field(&entry, "101"), None, "a value is no field");
    }
}
