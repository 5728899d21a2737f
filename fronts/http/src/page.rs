//! The docs page: every operation with a form to try it, as one HTML page that needs no other server.

use std::{
    collections::BTreeSet,
    fmt::{self, Write},
};

use serde_json::Value;
use turnstile_chassis::{Kind, Need, Parameter};

use crate::{
    glossary,
    openapi::tag,
    operation::{Answerer, Method, Operation, PlacedParameter, Service, Success, is_needed},
    problem::Place,
    table::{chapters, operations},
};

/// How the page looks and what it does; files of their own, so that the policy can forbid all others.
pub const PAGE_STYLE: &str = include_str!("page/style.css");
pub const PAGE_SCRIPT: &str = include_str!("page/script.js");

/// The page, from the document that [`crate::openapi`] makes.
#[must_use]
pub fn docs_page(document: &Value) -> String {
    let mut page = String::from(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>Turnstile</title>\
         <link rel=\"stylesheet\" href=\"/docs/style.css\">\
         <script src=\"/docs/script.js\" defer></script></head><body><nav><h1>Turnstile</h1>\
         <input id=\"search\" type=\"search\" placeholder=\"Search\" aria-label=\"Search\">\
         <form id=\"login\"><input name=\"key\" type=\"password\" placeholder=\"Key\" \
         aria-label=\"Key\" autocomplete=\"off\"><button>Log in</button><output></output></form>",
    );
    for (service, _) in chapters() {
        put_contents(&mut page, service);
    }
    page.push_str(
        "<h2><a href=\"#problems\">problems</a></h2></nav><main>\
         <p>Every change takes an <code>Idempotency-Key</code>: the same key and content get the \
         first answer again. An answer that is no success is <code>application/problem+json</code> \
         with a stable <code>code</code>. For programs: \
         <a href=\"/openapi.json\">/openapi.json</a>.</p>",
    );
    for (service, about) in chapters() {
        let name = tag(service);
        let about = Escaped(about);
        put(
            &mut page,
            format_args!("<section data-part><h2>{name}</h2><p>{about}</p>"),
        );
        for operation in operations().iter().filter(|one| one.service() == service) {
            put_operation(&mut page, operation, document);
        }
        page.push_str("</section>");
    }
    put_problems(&mut page);
    page.push_str("</main></body></html>\n");
    page
}

/// The operations of one part, each with a link to where it is explained.
fn put_contents(page: &mut String, service: Option<Service>) {
    put(
        page,
        format_args!("<div data-part><h2>{}</h2><ul>", tag(service)),
    );
    for operation in operations().iter().filter(|one| one.service() == service) {
        let Operation { id, method, .. } = operation;
        put(
            page,
            format_args!(
                "<li data-search=\"{}\"><a href=\"#{id}\"><span class=\"{}\">{id}</span></a></li>",
                Escaped(&search_text(operation)),
                method.as_str(),
            ),
        );
    }
    page.push_str("</ul></div>");
}

/// By what an operation is found, in small letters.
fn search_text(operation: &Operation) -> String {
    let Operation {
        id,
        path,
        method,
        summary,
        ..
    } = operation;
    format!("{id} {} {path} {summary}", method.as_str()).to_lowercase()
}

/// What every word of a problem means. A word that several services say is found at the first.
fn put_problems(page: &mut String) {
    page.push_str("<h2 id=\"problems\">Problems</h2><p>By their <code>code</code>.</p>");
    let mut found = BTreeSet::new();
    for (of, words) in glossary::chapters() {
        put(
            page,
            format_args!("<section data-part><h3>{of}</h3><table>"),
        );
        for (word, status, meaning) in words {
            let meaning = Escaped(meaning);
            put(page, format_args!("<tr data-search=\"{word} {status}\""));
            if found.insert(word) {
                put(page, format_args!(" id=\"{word}\""));
            }
            put(
                page,
                format_args!(
                    "><td><code>{word}</code></td><td>{status}</td><td>{meaning}</td></tr>"
                ),
            );
        }
        page.push_str("</table></section>");
    }
}

fn put(page: &mut String, text: fmt::Arguments<'_>) {
    page.write_fmt(text).expect("a string takes all text");
}

fn put_operation(page: &mut String, operation: &Operation, document: &Value) {
    let method = operation.method.as_str();
    put(
        page,
        format_args!(
            "<details id=\"{}\" data-search=\"{}\"><summary><code class=\"method {method}\">{method}\
             </code><code>{}</code><span>{}</span></summary><div>",
            operation.id,
            Escaped(&search_text(operation)),
            operation.path,
            Escaped(operation.summary),
        ),
    );
    if is_tried(operation) {
        put_form(page, operation);
    }
    put(
        page,
        format_args!("<pre>{}</pre>", Escaped(&example(operation))),
    );
    let described = &document["paths"][&operation.path][method.to_lowercase()];
    put_answers(page, &described["responses"], document);
    page.push_str("</div></details>");
}

/// Streams and sockets have no answer that ends.
const fn is_tried(operation: &Operation) -> bool {
    !matches!(
        operation.answerer,
        Answerer::Events(_) | Answerer::MatchEvents | Answerer::ExchangeFeed | Answerer::Play
    )
}

/// A form with a field for every parameter.
fn put_form(page: &mut String, operation: &Operation) {
    let has_body = operation.has(Place::Body);
    put(
        page,
        format_args!(
            "<form data-method=\"{}\" data-path=\"{}\"{}><table>",
            operation.method.as_str(),
            operation.path,
            if has_body { " data-body" } else { "" },
        ),
    );
    for parameter in &operation.parameters {
        put_field(page, parameter);
    }
    if operation.mutates() {
        page.push_str(
            "<tr><th><label><code>Idempotency-Key</code></label></th><td><input \
             name=\"Idempotency-Key\" data-in=\"header\"></td><td>The same key and content get the \
             first answer again</td></tr>",
        );
    }
    page.push_str("</table><button>Send</button><output></output></form>");
}

fn put_field(page: &mut String, parameter: &PlacedParameter) {
    let PlacedParameter { place, declared } = parameter;
    let Parameter {
        name, kind, need, ..
    } = declared;
    let is_required = is_needed(*need) || *place == Place::Path;
    let required = if is_required { " required" } else { "" };
    let place = match place {
        Place::Path => "path",
        Place::Query => "query",
        Place::Body => "body",
        Place::Header => "header",
    };
    let json = match (kind, need) {
        (_, Need::Repeated { .. }) => "list",
        (Kind::Number { .. } | Kind::Signed { .. }, _) => "number",
        (Kind::Flag, _) => "flag",
        _ => "text",
    };
    let attributes = format!("name=\"{name}\" data-in=\"{place}\" data-kind=\"{json}\"{required}");
    let need = if is_required { "required" } else { "optional" };
    put(
        page,
        format_args!("<tr><th><code>{name}</code> <span class=\"need\">{need}</span></th><td>"),
    );
    let words: &[&str] = match kind {
        Kind::OneOf(words) => words,
        Kind::Flag => &["true", "false"],
        _ => &[],
    };
    if json == "list" {
        let example = Escaped(kind.example());
        put(
            page,
            format_args!("<textarea {attributes} placeholder=\"{example}\"></textarea>"),
        );
    } else if words.is_empty() {
        let example = Escaped(kind.example());
        put(
            page,
            format_args!("<input {attributes} placeholder=\"{example}\">"),
        );
    } else {
        put(page, format_args!("<select {attributes}><option></option>"));
        for word in words {
            put(page, format_args!("<option>{word}</option>"));
        }
        page.push_str("</select>");
    }
    put(
        page,
        format_args!("</td><td>{}</td></tr>", Escaped(&meaning_of(parameter))),
    );
}

/// What a field is, in words.
fn meaning_of(parameter: &PlacedParameter) -> String {
    let kind = match &parameter.kind {
        Kind::Number { min, max } => format!("{min} to {max}"),
        Kind::Signed { min, max } => format!("{min} to {max}"),
        Kind::Forms { forms, .. } => forms.join(", "),
        Kind::Night => "a date".to_owned(),
        Kind::Instant => "an instant".to_owned(),
        Kind::Decimal => "a number as text".to_owned(),
        Kind::Cursor => "next of the page before".to_owned(),
        _ => String::new(),
    };
    let kind = match parameter.need {
        Need::Repeated { most } => format!("{kind}; up to {most} lines"),
        _ => kind,
    };
    let default = parameter.default.as_deref();
    let default = default.map(|value| format!("{value} by default"));
    let parts = [
        parameter.meaning.trim_end_matches('.'),
        &kind,
        default.as_deref().unwrap_or_default(),
    ];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("; ")
}

fn put_answers(page: &mut String, responses: &Value, document: &Value) {
    page.push_str("<h3>Answers</h3><table>");
    for (status, response) in responses.as_object().into_iter().flatten() {
        let response = match response["$ref"].as_str().and_then(name_of) {
            Some(name) => &document["components"]["responses"][name],
            None => response,
        };
        let meaning = Escaped(plain(&response["description"]));
        put(
            page,
            format_args!("<tr><td><code>{status}</code></td><td>{meaning}</td></tr>"),
        );
    }
    page.push_str("</table>");
    let content = &responses["200"]["content"];
    let shown = ["application/json", "text/event-stream"]
        .into_iter()
        .find_map(|media| content[media]["schema"]["$ref"].as_str().and_then(name_of));
    if let Some(name) = shown {
        put_shape(page, name, &document["components"]["schemas"][name]);
    }
}

/// The last part of a reference.
fn name_of(reference: &str) -> Option<&str> {
    reference.rsplit('/').next()
}

/// The fields of a schema.
fn put_shape(page: &mut String, name: &str, schema: &Value) {
    put(page, format_args!("<h3>{name}</h3><table>"));
    for (field, described) in schema["properties"].as_object().into_iter().flatten() {
        put(
            page,
            format_args!(
                "<tr><td><code>{field}</code></td><td>{}</td><td>{}</td></tr>",
                Escaped(&kind(described)),
                Escaped(plain(&described["description"]))
            ),
        );
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
        _ => name_of(plain(&described["$ref"]))
            .unwrap_or_default()
            .to_owned(),
    };
    match described["format"].as_str() {
        Some(format) => format!("{base} ({format})"),
        None => base,
    }
}

/// A line to paste, with the examples of what must be given.
fn example(operation: &Operation) -> String {
    let mut target = operation.path.clone();
    let mut members = Vec::new();
    let mut mark = '?';
    for parameter in &operation.parameters {
        let Parameter { name, kind, .. } = &parameter.declared;
        let example = match *name {
            "departure" | "to" => "2027-05-03",
            _ => kind.example(),
        };
        match parameter.place {
            Place::Path => target = target.replace(&format!("{{{name}}}"), example),
            Place::Query if is_needed(parameter.need) => {
                put(&mut target, format_args!("{mark}{name}={example}"));
                mark = '&';
            }
            Place::Body if is_needed(parameter.need) => {
                members.push(match (kind, parameter.need) {
                    (_, Need::Repeated { .. }) => format!("\"{name}\":[\"{example}\"]"),
                    (Kind::Number { .. } | Kind::Signed { .. }, _) => {
                        format!("\"{name}\":{example}")
                    }
                    _ => format!("\"{name}\":\"{example}\""),
                });
            }
            Place::Query | Place::Body | Place::Header => {}
        }
    }
    let method = match operation.method {
        Method::Get => String::new(),
        Method::Post if operation.has(Place::Body) => String::new(),
        other => format!("-X {} ", other.as_str()),
    };
    let options = match operation.success {
        Success::Content(["text/event-stream", ..]) => "-N ",
        _ => "",
    };
    let curl = format!("curl {options}{method}'http://localhost:8470{target}'");
    if !operation.has(Place::Body) {
        return curl;
    }
    let body = members.join(",");
    format!("{curl} \\\n  -H 'Content-Type: application/json' -d '{{{body}}}'")
}

fn plain(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Text inside HTML.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
            let place = format!("<details id=\"{}\"", operation.id);
            assert!(page.contains(&place), "{}", operation.id);
            let form = format!(
                "<form data-method=\"{}\" data-path=\"{}\"",
                operation.method.as_str(),
                operation.path
            );
            assert_eq!(page.contains(&form), is_tried(operation), "{form}");
        }
        assert_eq!(page.matches("<script").count(), 1);
        assert!(!page.contains("style=") && !page.contains("onclick") && !page.contains("//cdn"));
        let book = "curl 'http://localhost:8470/v1/rooms/bookings' \\\n  -H 'Content-Type: \
                    application/json' -d '{&quot;property&quot;:&quot;101&quot;,";
        assert!(page.contains(book));
        assert!(
            page.contains("<input name=\"id_number\" data-in=\"body\" data-kind=\"text\" required")
        );
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
        let sold_out = " id=\"sold_out\"><td><code>sold_out</code></td><td>409</td>\
                        <td>No room is free for all of these nights</td></tr>";
        assert!(page.contains(sold_out));
    }
}
