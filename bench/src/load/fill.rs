//! A number of RESP commands over one connection, many in flight: what a load needs before it begins.

use anyhow::{Context as _, Result, ensure};
use turnstile_client::{Connection, resp::Value};
use turnstile_load::foreign::Template;

/// Commands in flight.
const BATCH: u64 = 500;

/// Stands for the number that the first line was answered with, such as the id of a transaction.
const ID: &str = "__id__";

/// Sends what each line says: how often, and a command in which the number of the request may stand.
/// Every command must be done.
pub(crate) fn run(connection: &mut Connection, lines: &[String]) -> Result<()> {
    let mut id = String::new();
    for line in lines {
        let (times, command) = line.split_once(' ').context("how often, and a command")?;
        let times = times
            .parse()
            .with_context(|| format!("how often in `{line}`"))?;
        let last = send(connection, times, &command.replace(ID, &id))?;
        if id.is_empty()
            && let Some(Value::Integer(number)) = last.as_array().and_then(|parts| parts.get(1))
        {
            id = number.to_string();
        }
    }
    Ok(())
}

/// Sends a command a number of times; the last answer.
pub(crate) fn send(connection: &mut Connection, times: u64, command: &str) -> Result<Value> {
    let words = command.split_whitespace();
    let words: Vec<Template> = words.map(|word| Template::new(word.as_bytes())).collect();
    let (mut texts, mut last) = (vec![Vec::new(); words.len()], Value::Null);
    for first in (0..times).step_by(500) {
        let batch = first..times.min(first + BATCH);
        for number in batch.clone() {
            for (word, text) in words.iter().zip(&mut texts) {
                text.clear();
                word.put(number, text);
            }
            let words: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
            connection.send(&words);
        }
        connection.flush()?;
        for _ in batch {
            last = connection.receive()?;
            ensure!(is_done(&last), "{command}: {last:?}");
        }
    }
    Ok(last)
}

/// Whether a reply says that something was done: an array that starts with 1.
pub(crate) fn is_done(reply: &Value) -> bool {
    reply.as_array().and_then(<[Value]>::first) == Some(&Value::Integer(1))
}

/// The reference of a booking that was made.
pub(crate) fn reference(reply: &Value) -> Option<&[u8]> {
    is_done(reply).then(|| reply.as_array()?.get(1)?.as_bytes())?
}

#[cfg(test)]
mod tests {
    use turnstile_client::resp::Value;

    use super::{is_done, reference};

    #[test]
    fn a_reply_is_done_when_it_starts_with_one() {
        let array = |parts: &[Value]| Value::Array(parts.to_vec());
        let booked = array(&[Value::Integer(1), Value::Bulk(b"R7".to_vec())]);
        assert!(is_done(&booked));
        assert_eq!(reference(&booked), Some(&b"R7"[..]));
        for reply in [
            array(&[Value::Integer(0), Value::Bulk(b"sold_out".to_vec())]),
            array(&[]),
            Value::Integer(1),
            Value::Error("ERR".into()),
        ] {
            assert!(!is_done(&reply), "{reply:?}");
            assert_eq!(reference(&reply), None, "{reply:?}");
        }
    }
}
