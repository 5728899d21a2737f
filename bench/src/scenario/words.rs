//! Words in braces, and tables that stand for several.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use toml::{Table, Value};

/// What stands for each word.
pub(crate) type Words = BTreeMap<String, String>;

/// Repeats the table that it is in.
const FOR: &str = "for";

/// Further words for the whole file.
const DEFINE: &str = "define";

/// The words that every scenario has; `{rounds}` stays, for each section has its own.
pub(crate) fn usual(quick: bool) -> Words {
    let words = if quick {
        ["400000", "50000", "1", "500"]
    } else {
        ["1600000", "200000", "4", "2000"]
    };
    let names = ["pipelined", "single", "seconds", "transactions"];
    let words = names.into_iter().zip(words).chain([("rounds", "{rounds}")]);
    let owned = |(name, word): (&str, &str)| (name.to_owned(), word.to_owned());
    words.map(owned).collect()
}

/// A file with all its words filled in and its tables repeated.
pub(crate) fn filled(mut file: Value, mut words: Words) -> Result<Value> {
    if let Some(table) = file.as_table_mut()
        && let Some(defined) = table.remove(DEFINE)
    {
        let defined = defined.as_table().cloned().unwrap_or_default();
        // A definition may use another: each pass fills one more level.
        words.extend(row(&defined)?);
        for _ in 0..defined.len() {
            for name in defined.keys() {
                let text = fill(&words[name], &words)?;
                words.insert(name.clone(), text);
            }
        }
    }
    fill_value(file, &words)
}

fn fill_value(value: Value, words: &Words) -> Result<Value> {
    Ok(match value {
        Value::String(text) => Value::String(fill(&text, words)?),
        Value::Array(all) => {
            let mut filled = Vec::new();
            for one in all {
                filled.extend(each(one, words)?);
            }
            Value::Array(filled)
        }
        Value::Table(table) => {
            let entries = table.into_iter();
            let entries = entries.map(|(key, value)| Ok((key, fill_value(value, words)?)));
            Value::Table(entries.collect::<Result<Table>>()?)
        }
        other => other,
    })
}

/// A value of an array: a table with `for` stands for several.
fn each(mut value: Value, words: &Words) -> Result<Vec<Value>> {
    let Some(repeats) = value.as_table_mut().and_then(|table| table.remove(FOR)) else {
        return Ok(vec![fill_value(value, words)?]);
    };
    let rows = rows(&fill_value(repeats, words)?)?;
    let filled = rows.into_iter().map(|row| {
        let mut words = words.clone();
        words.extend(row);
        fill_value(value.clone(), &words)
    });
    filled.collect()
}

/// The rows of `for`: those of an array, or all combinations of the arrays in a table.
fn rows(repeats: &Value) -> Result<Vec<Words>> {
    if let Some(all) = repeats.as_array() {
        let row = |one: &Value| row(one.as_table().context("`for` has tables in its array")?);
        return all.iter().map(row).collect();
    }
    let table = repeats.as_table().context("`for` is an array or a table")?;
    let mut rows = vec![Words::new()];
    for (name, values) in table {
        let values = values.as_array();
        let values = values.with_context(|| format!("`{name}` in `for` is an array"))?;
        let mut longer = Vec::new();
        for row_before in &rows {
            for value in values {
                let mut next = row_before.clone();
                match value.as_table() {
                    Some(table) => next.extend(row(table)?),
                    None => {
                        next.insert(name.clone(), word(value)?);
                    }
                }
                longer.push(next);
            }
        }
        rows = longer;
    }
    Ok(rows)
}

fn row(table: &Table) -> Result<Words> {
    let words = table.iter();
    words
        .map(|(name, value)| Ok((name.clone(), word(value)?)))
        .collect()
}

fn word(value: &Value) -> Result<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        other => bail!("{other} is no word: write a text"),
    }
}

/// A text with its words filled in.
fn fill(text: &str, words: &Words) -> Result<String> {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').context("a brace is not closed")?;
        let word = words
            .get(name)
            .with_context(|| format!("nothing stands for {{{name}}}"))?;
        filled.push_str(before);
        filled.push_str(word);
        rest = after;
    }
    Ok(filled + rest)
}

#[cfg(test)]
mod tests {
    use super::{filled, usual};

    fn names(text: &str) -> Vec<String> {
        let value = filled(toml::from_str(text).unwrap(), usual(true)).unwrap();
        let rows = value["row"].as_array().unwrap().iter();
        rows.map(|row| row["name"].as_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn a_table_is_repeated_for_each_row() {
        let rows = "[[row]]\nfor = [{ a = '1', b = 'x' }, { a = '2', b = 'y' }]\nname = '{a}{b}'";
        assert_eq!(names(rows), ["1x", "2y"]);
        let all = "[[row]]\nfor = { a = ['1', '2'], b = [{ b = 'x', c = '!' }, { b = 'y', c = '?' }] }\n\
                   name = '{a}{b}{c}'";
        assert_eq!(names(all), ["1x!", "1y?", "2x!", "2y?"]);
        let inner = "[[row]]\nfor = [{ a = '{seconds} s' }]\nname = '{a} of {rounds}'";
        assert_eq!(names(inner), ["1 s of {rounds}"]);
    }

    #[test]
    fn definitions_may_use_each_other() {
        let text = "[define]\na = '{b}!'\nb = '{c}'\nc = 'x'\n[[row]]\nname = '{a}'";
        assert_eq!(names(text), ["x!"]);
    }

    #[test]
    fn an_unknown_word_is_an_error() {
        let value = toml::from_str("[[row]]\nname = '{nothing}'").unwrap();
        let error = filled(value, usual(false)).unwrap_err();
        assert_eq!(error.to_string(), "nothing stands for {nothing}");
    }
}
