//! The TOML file: sections of keys, every one of them known.

use std::{fs, path::Path};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    option::{Declaration, Kind, suggestion},
    options::OPTIONS,
};
use crate::exit::Coded;

/// One value of the file.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) option: &'static Declaration,
    pub(super) text: String,
    /// From 1.
    pub(super) line: usize,
}

/// Reads a file.
///
/// # Errors
/// It cannot be read, is no TOML, or holds a name that means nothing; says the line.
pub(super) fn read(path: &Path) -> Result<Vec<Entry>, Coded> {
    let text = fs::read_to_string(path)
        .map_err(|error| Coded::usage(format!("{}: {error}", path.display())))?;
    entries(&text).map_err(|Wrong { at, message }| {
        Coded::usage(format!("{}:{}: {message}", path.display(), line(&text, at)))
    })
}

/// Something wrong, and its place in bytes.
struct Wrong {
    at: usize,
    message: String,
}

fn entries(text: &str) -> Result<Vec<Entry>, Wrong> {
    let table = DeTable::parse(text).map_err(|error| Wrong {
        at: error.span().map_or(0, |span| span.start),
        message: error.message().to_owned(),
    })?;
    let mut entries = Vec::new();
    for (section, content) in table.get_ref() {
        let name: &str = section.get_ref();
        let at = section.span().start;
        if !OPTIONS.iter().any(|option| option.section() == name) {
            return Err(unknown_section(name, at));
        }
        let keys = content.get_ref().as_table().ok_or_else(|| Wrong {
            at,
            message: format!("`{name}` is a section: write [{name}] and its keys below it"),
        })?;
        take(name, keys, text, &mut entries)?;
    }
    Ok(entries)
}

/// Takes the keys of a section, and those of the sections within it.
fn take(
    section: &str,
    keys: &DeTable<'_>,
    text: &str,
    entries: &mut Vec<Entry>,
) -> Result<(), Wrong> {
    for (key, value) in keys {
        let inner = format!("{section}.{}", key.get_ref());
        let is_section = OPTIONS.iter().any(|option| option.section() == inner);
        match value.get_ref().as_table().filter(|_| is_section) {
            Some(keys) => take(&inner, keys, text, entries)?,
            None => {
                let at = key.span().start;
                entries.push(entry(section, key.get_ref(), at, value, text)?);
            }
        }
    }
    Ok(())
}

fn entry(
    section: &str,
    key: &str,
    at: usize,
    value: &Spanned<DeValue<'_>>,
    text: &str,
) -> Result<Entry, Wrong> {
    let path = format!("{section}.{key}");
    let Some(option) = OPTIONS.iter().find(|option| option.path == path) else {
        return Err(unknown_key(section, key, at));
    };
    let content = match (option.kind, value.get_ref()) {
        (Kind::Text, DeValue::String(string)) => string.clone().into_owned(),
        (Kind::Boolean, DeValue::Boolean(truth)) => truth.to_string(),
        (Kind::Integer, DeValue::Integer(number)) => number.to_string(),
        (Kind::List, DeValue::Array(values)) => list(&path, values)?,
        (kind, other) => {
            let wanted = match kind {
                Kind::Text => "a string in quotes",
                Kind::Boolean => "true or false, without quotes",
                Kind::Integer => "a whole number, without quotes",
                Kind::List => "a list of strings in brackets",
            };
            return Err(Wrong {
                at: value.span().start,
                message: format!("`{path}` is {wanted}, not {}", other.type_str()),
            });
        }
    };
    Ok(Entry {
        option,
        text: content,
        line: line(text, at),
    })
}

fn list(path: &str, values: &[Spanned<DeValue<'_>>]) -> Result<String, Wrong> {
    let texts = values.iter().map(|value| {
        let text = value.get_ref().as_str();
        text.ok_or_else(|| Wrong {
            at: value.span().start,
            message: format!("`{path}` holds strings, not {}", value.get_ref().type_str()),
        })
    });
    Ok(texts.collect::<Result<Vec<_>, _>>()?.join(","))
}

fn unknown_section(name: &str, at: usize) -> Wrong {
    let sections = OPTIONS.iter().map(Declaration::section);
    let message = format!("unknown section `{name}`{}", suggestion(name, sections));
    Wrong { at, message }
}

/// A key may stand in the wrong section, or be misspelt in the right one.
fn unknown_key(section: &str, key: &str, at: usize) -> Wrong {
    let elsewhere = OPTIONS.iter().find(|option| option.key() == key);
    let advice = elsewhere.map_or_else(
        || {
            let neighbours = OPTIONS.iter().filter(|option| option.section() == section);
            suggestion(key, neighbours.map(Declaration::key))
        },
        |option| format!("; it belongs to [{}]", option.section()),
    );
    Wrong {
        at,
        message: format!("unknown key `{key}` in [{section}]{advice}"),
    }
}

/// The line of a byte, from 1.
fn line(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|&byte| byte == b'\n').count() + 1
}
