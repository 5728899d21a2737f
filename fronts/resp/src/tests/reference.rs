//! The pages of the documentation that list every operation and refusal, from their declarations.

use std::{env, fmt::Write as _, fs, path::Path};

use turnstile_chassis::{Field, Kind, Meaning, Need, Operation, Parameter};

use crate::{
    Call,
    catalogue::{Action, COMMANDS, SERVICES, Syntax, refusals},
};

const OPERATIONS: &str = "\
# Operations

Every operation of every service, from its declaration in `domain/`. An operation has one name,
which each door writes in its own way:

| door | name |
| --- | --- |
| RESP | `EXCHANGE.CREATE-ACCOUNT`, in letters of any case |
| `turnstile call` | `exchange.create_account` |
| HTTP, `operationId` in [openapi.json](../openapi.json) | `exchangeCreateAccount` |
| [metrics](../metrics.md), label `operation` | `create_account` |

Parameters have the same names on all doors.

**RESP requests.** Required parameters come first, by position. Then options follow in any order:
the name of the option and its value, or the name alone for a flag. Every command takes `KEY key`,
an idempotency key.

**RESP answers.** A RESP3 answer is a map that names every field. A RESP2 answer to a query is the
same map as an array of names and values. A RESP2 answer to a command has values only:

| outcome | RESP2 | RESP3 |
| --- | --- | --- |
| done | `1`, the values in the listed order, the position in the journal | `outcome` is `done`, the fields, `position` |
| refused | `0`, the reason, its data | `outcome` is `refused`, `reason`, its data, `position` |
| done before under the same key | as before, then `replayed` | as before, then `replayed` |

A field that is not set is null.

This page is generated from the declarations by `cargo xtask reference`.
";

const REFUSALS: &str = "\
# Refusals

A refusal changes nothing. Its code is the same over RESP (`reason`), over HTTP (`code`) and in
metrics.

This page is generated from the declarations by `cargo xtask reference`.
";

/// Characters of a line.
const WIDTH: usize = 100;

fn page_of_operations() -> String {
    let mut page = OPERATIONS.to_owned();
    for service in SERVICES {
        write!(page, "\n## {service}\n").unwrap();
        for syntax in COMMANDS.iter().filter(|syntax| syntax.group == *service) {
            let call = syntax.action.and_then(Action::call);
            put(&mut page, syntax, call.expect("services have operations"));
        }
    }
    page
}

fn page_of_refusals() -> String {
    let mut page = REFUSALS.to_owned();
    for service in SERVICES {
        write!(page, "\n## {service}\n\n| code | |\n| --- | --- |\n").unwrap();
        for Meaning { code, sentence, .. } in refusals(service) {
            writeln!(page, "| `{code}` | {sentence} |").unwrap();
        }
    }
    page
}

fn put(page: &mut String, syntax: &Syntax, call: &Call) {
    let operation = call.operation();
    let sentence = &operation.sentence;
    let usage = usage(call, operation);
    let name = syntax.operation();
    write!(page, "\n### {name}\n\n").unwrap();
    wrap(page, &format!("{sentence}."));
    write!(page, "\n```text\n{usage}\n```\n").unwrap();
    if !operation.parameters.is_empty() {
        page.push_str("\n| parameter | value | |\n| --- | --- | --- |\n");
        for parameter in &operation.parameters {
            put_parameter(page, parameter);
        }
    }
    let fields = call.fields();
    if fields.is_empty() {
        page.push_str("\nAnswers no fields.\n");
        return;
    }
    let names: Vec<String> = fields.iter().map(shown).collect();
    page.push('\n');
    wrap(page, &format!("Answers {}.", names.join(", ")));
}

/// Appends a paragraph of lines up to the width of the documentation.
fn wrap(page: &mut String, text: &str) {
    let mut width = 0;
    for word in text.split(' ') {
        if width + 1 + word.len() > WIDTH {
            page.push('\n');
            width = 0;
        } else if width > 0 {
            page.push(' ');
            width += 1;
        }
        page.push_str(word);
        width += word.len();
    }
    page.push('\n');
}

/// As a client writes it.
fn usage(call: &Call, operation: &Operation) -> String {
    let mut words = vec![call.name().to_ascii_uppercase()];
    for parameter in &operation.parameters {
        let (name, option) = (parameter.name, parameter.name.to_ascii_uppercase());
        words.push(match (parameter.need, &parameter.kind) {
            (Need::Required | Need::RequiredOr(_), _) => name.to_owned(),
            (Need::Repeated { .. }, _) => format!("{name} [{name} ...]"),
            (Need::Optional, Kind::Flag) => format!("[{option}]"),
            (Need::OptionalWord, _) => format!("[{name}]"),
            (Need::Optional, _) => format!("[{option} {name}]"),
        });
    }
    if !call.is_read() {
        words.push("[KEY key]".to_owned());
    }
    words.join(" ")
}

fn put_parameter(page: &mut String, parameter: &Parameter) {
    let name = parameter.name;
    let mut value = value(&parameter.kind);
    let need = match parameter.need {
        Need::Required => "required".to_owned(),
        Need::RequiredOr(none) => {
            write!(value, " or `{none}`").unwrap();
            "required".to_owned()
        }
        Need::Repeated { most } => format!("required, up to {most} times"),
        Need::Optional | Need::OptionalWord => match &parameter.default {
            Some(default) => format!("`{default}` by default"),
            None => "optional".to_owned(),
        },
    };
    let meaning = match parameter.meaning.trim_end_matches('.') {
        "" => String::new(),
        meaning => format!(". {meaning}"),
    };
    writeln!(page, "| `{name}` | {value} | {need}{meaning} |").unwrap();
}

fn value(kind: &Kind) -> String {
    let either = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        words.join(" or ")
    };
    match kind {
        Kind::Text("") => "text".to_owned(),
        Kind::Text(example) | Kind::Pattern { example, .. } => format!("text such as `{example}`"),
        Kind::Number { min, max: u64::MAX } => format!("whole number from {min}"),
        Kind::Number { min, max } => format!("whole number from {min} to {max}"),
        Kind::Signed { min, max } => format!("whole number from {min} to {max}"),
        Kind::Flag => "flag".to_owned(),
        Kind::Decimal => "decimal number".to_owned(),
        Kind::Night => "date such as `2027-05-01`".to_owned(),
        Kind::Instant => "instant such as `2027-05-01T12:00:00Z`".to_owned(),
        Kind::Cursor => "the `next` of the page before".to_owned(),
        Kind::OneOf(words) | Kind::Forms { forms: words, .. } => either(words),
        Kind::Optional(kind) => value(kind),
        Kind::List(_) | Kind::Object { .. } => unreachable!("parameters are single values"),
    }
}

fn shown(field: &Field) -> String {
    format!("`{}`", field.name)
}

/// Compares a page with the reviewed one, or writes it.
fn check(name: &str, page: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    let path = folder.join(name);
    if env::var_os("TURNSTILE_BLESS").is_some() {
        fs::write(&path, page).unwrap();
    }
    let reviewed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        page == reviewed,
        "docs/reference/{name} differs; review, then run `cargo xtask reference`"
    );
}

#[test]
fn the_pages_of_operations_and_refusals_are_current() {
    check("operations.md", &page_of_operations());
    check("refusals.md", &page_of_refusals());
}
