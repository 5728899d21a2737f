//! The docs page: the OpenAPI document as one HTML page that needs no other server and no script.

use std::{collections::BTreeSet, fmt::Write};

use serde_json::Value;

use crate::{
    glossary,
    operation::{Method, Operation, chapters, operations},
};

/// How the page looks; a file of its own, so that the policy can forbid inline styles.
pub const PAGE_STYLE: &str = "\
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; border-top: 1px solid #8888; padding-top: 1rem; font-size: 1.1rem; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; }
pre { overflow-x: auto; padding: 0.6rem; border: 1px solid #8888; border-radius: 4px; }
table { border-collapse: collapse; }
td, th { text-align: left; vertical-align: top; padding: 0.15rem 1rem 0.15rem 0; }
.method { display: inline-block; min-width: 4.5rem; }
";

/// The page, from the document that [`crate::openapi`] makes.
#[must_use]
pub fn docs_page(document: &Value) -> String {
    let mut page = String::from(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>Turnstile</title>\
         <link rel=\"stylesheet\" href=\"/docs/style.css\"></head><body><h1>Turnstile</h1>\
         <p>Every change takes an <code>Idempotency-Key</code>: the same key and content get the \
         first answer again. Whatever is no success is <code>application/problem+json</code>, \
         with a stable <code>code</code>. The document: \
         <a href=\"/openapi.json\">/openapi.json</a>.</p>",
    );
    for (chapter, about) in chapters() {
        put_contents(&mut page, chapter, about);
    }
    for operation in operations() {
        put_operation(&mut page, operation, document);
    }
    put_problems(&mut page);
    page.push_str("</body></html>\n");
    page
}

/// The operations of one chapter, each with a link to where it is explained.
fn put_contents(page: &mut String, chapter: &str, about: &str) {
    put(
        page,
        format_args!("<h2>{chapter}</h2><p>{}</p><table>", Escaped(about)),
    );
    for operation in operations().filter(|one| one.chapter() == chapter) {
        put(
            page,
            format_args!(
                "<tr><td><code>{}</code></td><td><a href=\"#{}\"><code>{}</code></a></td>\
                 <td>{}</td></tr>",
                operation.method.as_str(),
                operation.id,
                operation.path,
                Escaped(operation.summary)
            ),
        );
    }
    page.push_str("</table>");
}

/// What every word of a problem means. A word that several services say is found at the first.
fn put_problems(page: &mut String) {
    page.push_str("<h2 id=\"problems\">Problems</h2><p>By their <code>code</code>.</p>");
    let mut found = BTreeSet::new();
    for (of, words) in glossary::chapters() {
        put(page, format_args!("<h3>{of}</h3><table>"));
        for (word, status, meaning) in words {
            page.push_str("<tr");
            if found.insert(word) {
                put(page, format_args!(" id=\"{word}\""));
            }
            put(
                page,
                format_args!(
                    "><td><code>{word}</code></td><td>{status}</td><td>{}</td></tr>",
                    Escaped(meaning)
                ),
            );
        }
        page.push_str("</table>");
    }
}

fn put(page: &mut String, text: std::fmt::Arguments<'_>) {
    page.write_fmt(text).expect("a string takes all text");
}

fn put_operation(page: &mut String, operation: &Operation, document: &Value) {
    let method = operation.method.as_str();
    put(
        page,
        format_args!(
            "<h2 id=\"{}\"><code class=\"method\">{method}</code><code>{}</code></h2><p>{}</p>",
            operation.id,
            operation.path,
            Escaped(operation.summary)
        ),
    );
    let described = &document["paths"][operation.path][method.to_lowercase()];
    put_rows(page, "Parameters", &described["parameters"], |parameter| {
        let required = parameter["required"].as_bool() == Some(true);
        let note = if required { ", required" } else { "" };
        let place = format!("{}{note}", plain(&parameter["in"]));
        (plain(&parameter["name"]).to_owned(), place)
    });
    let schemas = &document["components"]["schemas"];
    if let Some(name) = operation.body {
        put_shape(page, "Body", name, &schemas[name]);
    }
    if let Some(responses) = described["responses"].as_object() {
        page.push_str("<h3>Answers</h3><table>");
        for (status, response) in responses {
            let meaning = Escaped(plain(&response["description"]));
            put(
                page,
                format_args!("<tr><td><code>{status}</code></td><td>{meaning}</td></tr>"),
            );
        }
        page.push_str("</table>");
        let content =
            &described["responses"]["200"]["content"]["application/json"]["schema"]["$ref"];
        if let Some(name) = plain(content)
            .rsplit('/')
            .next()
            .filter(|name| !name.is_empty())
        {
            put_shape(page, "Answer", name, &schemas[name]);
        }
    }
    let example = example(operation, schemas);
    put(page, format_args!("<pre>{}</pre>", Escaped(&example)));
}

fn put_rows(
    page: &mut String,
    title: &str,
    rows: &Value,
    cells: impl Fn(&Value) -> (String, String),
) {
    let Some(rows) = rows.as_array() else {
        return;
    };
    put(page, format_args!("<h3>{title}</h3><table>"));
    for row in rows {
        let (name, note) = cells(row);
        put(
            page,
            format_args!(
                "<tr><td><code>{}</code></td><td>{}</td></tr>",
                Escaped(&name),
                Escaped(&note)
            ),
        );
    }
    page.push_str("</table>");
}

/// The fields of a schema and of those that it is made of.
fn put_shape(page: &mut String, title: &str, name: &str, schema: &Value) {
    put(page, format_args!("<h3>{title}: {name}</h3><table>"));
    let parts = schema["allOf"]
        .as_array()
        .map_or_else(|| vec![schema], |parts| parts.iter().collect());
    for part in parts {
        for (field, described) in part["properties"].as_object().into_iter().flatten() {
            put(
                page,
                format_args!(
                    "<tr><td><code>{field}</code></td><td>{}</td><td>{}</td></tr>",
                    Escaped(&kind(described)),
                    Escaped(plain(&described["description"]))
                ),
            );
        }
    }
    page.push_str("</table>");
}

fn kind(described: &Value) -> String {
    if let Some(words) = described["enum"].as_array() {
        return words.iter().map(plain).collect::<Vec<_>>().join(" | ");
    }
    if described["type"] == "array" {
        return format!("list of {}", kind(&described["items"]));
    }
    let base = match &described["type"] {
        Value::String(only) => only.clone(),
        Value::Array(several) => several.iter().map(plain).collect::<Vec<_>>().join(" or "),
        _ => plain(&described["$ref"])
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .to_owned(),
    };
    match described["format"].as_str() {
        Some(format) => format!("{base} ({format})"),
        None => base,
    }
}

/// A line to paste, with the examples of the shapes.
fn example(operation: &Operation, schemas: &Value) -> String {
    let mut path = operation.path.to_owned();
    for (name, value) in [
        ("property", "grand"),
        ("room", "101"),
        ("reference", "R14"),
        ("account", "ada"),
        ("symbol", "SPY"),
        ("order", "17"),
    ] {
        path = path.replace(&format!("{{{name}}}"), value);
    }
    let mut query = String::new();
    for name in operation
        .query
        .iter()
        .filter_map(|name| name.strip_suffix('!'))
    {
        let value = if matches!(name, "arrival" | "from") {
            "2027-01-01"
        } else {
            "2027-01-03"
        };
        let mark = if query.is_empty() { '?' } else { '&' };
        put(&mut query, format_args!("{mark}{name}={value}"));
    }
    let url = format!("'http://localhost:8470{path}{query}'");
    let Some(name) = operation.body else {
        return match operation.method {
            Method::Get => format!("curl {url}"),
            other => format!("curl -X {} {url}", other.as_str()),
        };
    };
    let method = match operation.method {
        Method::Post => String::new(),
        other => format!("-X {} ", other.as_str()),
    };
    let fields = schemas[name]["properties"]
        .as_object()
        .into_iter()
        .flatten();
    let examples: Vec<String> = fields
        .filter(|(_, described)| !described["example"].is_null())
        .map(|(field, described)| format!("\"{field}\":{}", described["example"]))
        .collect();
    format!(
        "curl {method}{url} -H 'Content-Type: application/json' -d '{{{}}}'",
        examples.join(",")
    )
}

fn plain(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Text inside HTML.
struct Escaped<'a>(&'a str);

impl std::fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for character in self.0.chars() {
            match character {
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '&' => f.write_str("&amp;")?,
                '"' => f.write_str("&quot;")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_shows_every_operation_and_loads_nothing_from_elsewhere() {
        let page = docs_page(&serde_json::to_value(crate::openapi()).unwrap());
        for operation in operations() {
            assert!(
                page.contains(&format!("<h2 id=\"{}\">", operation.id)),
                "{}",
                operation.id
            );
        }
        assert!(!page.contains("<script") && !page.contains("style=") && !page.contains("//cdn"));
        let book = "curl 'http://localhost:8470/v1/rooms/bookings' -H 'Content-Type: \
                    application/json' -d '{&quot;";
        assert!(page.contains(book));
        assert!(page.contains("<td><code>id_number</code></td><td>string</td>"));
        assert!(page.contains("<td><code>state</code></td><td>booked | held | expired</td>"));
        assert!(page.contains("<td><code>entries</code></td><td>list of RoomsEntry</td>"));
    }

    /// A problem's `type` led to a place that was not there.
    #[test]
    fn every_word_of_a_problem_has_one_place_on_the_page() {
        let page = docs_page(&serde_json::to_value(crate::openapi()).unwrap());
        for (_, words) in glossary::chapters() {
            for (word, _, _) in words {
                let place = format!(" id=\"{word}\"");
                assert_eq!(page.matches(&place).count(), 1, "{word}");
            }
        }
        let sold_out = "<tr id=\"sold_out\"><td><code>sold_out</code></td><td>409</td>\
                        <td>No room is free for all of these nights</td></tr>";
        assert!(page.contains(sold_out));
    }
}
