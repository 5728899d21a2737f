//! Reading a body of JSON, and saying what is wrong with one that does not fit.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::problem::{Code, FieldError, Place, Problem};

/// Reads a body of one shape.
///
/// # Errors
/// A problem that names the field, the line and the column.
pub fn parse_body<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Problem> {
    // A list of values would do as well for the reader of a shape; it names no field, so it is
    // refused here.
    if body.trim_ascii_start().first() != Some(&b'{') {
        return Err(Problem::with(
            Code::MalformedJson,
            "the body is not a JSON object",
        ));
    }
    serde_json::from_slice(body).map_err(|_first| misfit::<T>(body))
}

/// Reads the body once more, slowly, for the path to what is wrong with it.
fn misfit<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Problem {
    let mut reader = serde_json::Deserializer::from_slice(body);
    let Err(wrong) = serde_path_to_error::deserialize::<_, T>(&mut reader) else {
        return Problem::with(Code::MalformedJson, "the body goes on after its JSON value");
    };
    // The path ends in `?` where the JSON itself is broken, and is `.` for the whole body.
    let path = wrong.path().to_string().replace('?', ".");
    let message = wrong.into_inner().to_string();
    let path_is_root = path == ".";
    let field = match named_in(&message) {
        Some(name) if path == "." => name.to_owned(),
        Some(name) => format!("{path}.{name}"),
        None => path,
    };
    if let Some(first) = missing_in(&message).filter(|_| path_is_root) {
        return missing::<T>(body, first, &message);
    }
    let message = if field == "id_number" && named_in(&message).is_none() {
        without_value(&message)
    } else {
        message
    };
    Problem {
        errors: [FieldError {
            place: Place::Body,
            field,
            message: message.clone(),
        }]
        .into(),
        ..Problem::with(Code::MalformedJson, message)
    }
}

/// What a field that is missing may be, as far as the shapes need.
const ANYTHING: [fn() -> Value; 4] = [
    || Value::from(""),
    || Value::from(1),
    || Value::Array(Vec::new()),
    || Value::Bool(false),
];

/// Finds every field that is missing, not only the `first`, which the reader's `message` names: each
/// is put in with anything that fits, until none is missing.
fn missing<'a, T: Deserialize<'a>>(body: &[u8], first: &str, message: &str) -> Problem {
    let mut names = vec![first.to_owned()];
    let mut object: Map<String, Value> = serde_json::from_slice(body).unwrap_or_default();
    while let Some(name) = names.last().cloned() {
        let next = ANYTHING.iter().find_map(|anything| {
            object.insert(name.clone(), anything());
            let wrong = T::deserialize(Value::Object(object.clone()))
                .err()?
                .to_string();
            missing_in(&wrong).map(str::to_owned)
        });
        match next.filter(|next| !names.contains(next)) {
            Some(next) => names.push(next),
            None => break,
        }
    }
    let errors = names.iter().map(|name| FieldError {
        place: Place::Body,
        field: name.clone(),
        message: message.replace(&format!("`{first}`"), &format!("`{name}`")),
    });
    let errors: Vec<FieldError> = errors.collect();
    let detail = match errors.as_slice() {
        [only] => only.message.clone(),
        _ => format!("missing fields: {}", names.join(", ")),
    };
    Problem {
        errors: errors.into(),
        ..Problem::with(Code::MalformedJson, detail)
    }
}

/// The field that the reader misses.
fn missing_in(message: &str) -> Option<&str> {
    let rest = message.strip_prefix("missing field `")?;
    rest.split('`').next()
}

/// The reader's sentence, but for the value that it repeats: id numbers are personal.
fn without_value(message: &str) -> String {
    match *message.splitn(3, '`').collect::<Vec<_>>() {
        [before, _value, behind] => format!("{before}`...`{behind}"),
        _ => message.to_owned(),
    }
}

/// The field that the reader names only in words: it stands nowhere, or it stood there already.
fn named_in(message: &str) -> Option<&str> {
    let starts = ["missing field `", "duplicate field `"];
    let rest = starts
        .iter()
        .find_map(|start| message.strip_prefix(start))?;
    rest.split('`').next()
}
