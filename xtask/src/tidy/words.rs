//! Rules about single words and characters.

use crate::code;
use crate::tree::{File, Tree};

use super::BrokenRule;

/// Words that say nothing about a type or a file.
const EMPTY_NOUNS: [&str; 13] = [
    "common",
    "data",
    "handler",
    "helper",
    "helpers",
    "info",
    "manager",
    "misc",
    "processor",
    "service",
    "util",
    "utilities",
    "utils",
];

/// The one place where such a word says something: rooms, exchange, games and travel are services.
const NAMES_OF_THE_DESIGN: [&str; 1] = ["Service"];

/// What must not stand in code, and what stands there instead.
const BANNED_CODE: [(&str, &str); 5] = [
    (
        "#[ignore",
        "a test that does not run is no test; delete or mend it",
    ),
    ("#[should_panic", "compare the error, not the crash"),
    (
        "thread::sleep",
        "wait for an event or a deadline, never for a guess",
    ),
    ("unbounded", "every queue has a bound"),
    (
        "mpsc::channel()",
        "this queue has no bound; use `sync_channel`",
    ),
];

pub(super) fn first_line_says_what_the_file_is(tree: &Tree) -> Vec<BrokenRule> {
    let speechless = tree.rust().filter(|file| !file.text.starts_with("//! "));
    speechless
        .map(|file| BrokenRule::new(file, 1, "the first line is `//!` and says what the file is"))
        .collect()
}

pub(super) fn names_are_nouns_of_the_business(tree: &Tree) -> Vec<BrokenRule> {
    tree.rust()
        .flat_map(|file| file_name(file).into_iter().chain(type_names(file)))
        .collect()
}

fn file_name(file: &File) -> Option<BrokenRule> {
    let word = file
        .stem()
        .split('_')
        .find(|word| EMPTY_NOUNS.contains(word))?;
    Some(BrokenRule::new(
        file,
        1,
        format!("`{word}` in a file name says nothing"),
    ))
}

fn type_names(file: &File) -> Vec<BrokenRule> {
    let words: Vec<(usize, &str)> = code::words(&file.code).collect();
    let mut violations = Vec::new();
    for pair in words.windows(2) {
        let [(at, kind), (offset, name)] = pair else {
            continue;
        };
        let declares = ["enum", "struct", "trait", "type", "union"].contains(kind);
        if !declares || NAMES_OF_THE_DESIGN.contains(name) || is_associated(kind, &file.code, *at) {
            continue;
        }
        if let Some(word) = camel_words(name).find(|word| EMPTY_NOUNS.contains(&word.as_str())) {
            let line = code::line_of(&file.code, *offset);
            let rule = format!("`{word}` in `{name}` says nothing");
            violations.push(BrokenRule::new(file, line, rule));
        }
    }
    violations
}

/// Whether an indented `type` names what somebody else's trait wants.
fn is_associated(kind: &str, code: &str, at: usize) -> bool {
    kind == "type" && code[..at].ends_with("    ")
}

/// The words of a type's name, in lower case.
fn camel_words(name: &str) -> impl Iterator<Item = String> {
    let mut words: Vec<String> = Vec::new();
    for character in name.chars() {
        match words.last_mut() {
            Some(word) if !character.is_uppercase() => word.push(character),
            _ => words.push(character.to_lowercase().collect()),
        }
    }
    words.into_iter()
}

pub(super) fn code_has_no_banned_call(tree: &Tree) -> Vec<BrokenRule> {
    let mut violations = Vec::new();
    for file in tree.rust() {
        for (banned, instead) in BANNED_CODE {
            for (offset, _) in file.code.match_indices(banned) {
                let line = code::line_of(&file.code, offset);
                violations.push(BrokenRule::new(
                    file,
                    line,
                    format!("`{banned}`: {instead}"),
                ));
            }
        }
    }
    violations
}

pub(super) fn code_is_ascii(tree: &Tree) -> Vec<BrokenRule> {
    let mut violations = Vec::new();
    for file in tree.rust().chain(tree.with_extension("toml")) {
        for (line, text) in (1..).zip(file.text.lines()) {
            if let Some(character) = text.chars().find(|character| !character.is_ascii()) {
                let rule = format!("`{}` is not ASCII", character.escape_unicode());
                violations.push(BrokenRule::new(file, line, rule));
            }
        }
    }
    violations
}

/// Words that tie a file to the machine it was written on, or to a host that the
/// ordinary package clients know by themselves. Written in two halves, so that this
/// file does not find itself.
fn words_of_a_machine() -> [String; 6] {
    [
        ["/wor", "k/"],
        ["/root", "/"],
        ["pypi", ".org"],
        ["registry.npm", "js"],
        ["proxy.go", "lang"],
        ["deb.deb", "ian"],
    ]
    .map(|halves| halves.concat())
}

pub(super) fn files_name_no_machine(tree: &Tree) -> Vec<BrokenRule> {
    let banned = words_of_a_machine();
    let mut violations = Vec::new();
    for file in &tree.files {
        for (line, text) in (1..).zip(file.text.lines()) {
            for word in banned.iter().filter(|word| text.contains(word.as_str())) {
                let rule = format!("`{word}` belongs to one machine");
                violations.push(BrokenRule::new(file, line, rule));
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;

    #[test]
    fn every_file_opens_with_its_sentence() {
        let files = [
            ("a.rs", "//! The book.\n"),
            ("b.rs", "// A book.\n"),
            ("c.py", "import x\n"),
        ];
        let expected = ["b.rs:1: the first line is `//!` and says what the file is"];
        check(first_line_says_what_the_file_is, &files, &expected);
    }

    #[test]
    fn empty_nouns_are_no_names() {
        let text = "struct RoomManager;\nstruct Manage;\nenum Service {}\ntrait BookService {}\nimpl Body for Book {\n    type Data = u8;\n}\n";
        let files = [
            ("a/utils.rs", ""),
            ("a/metadata.rs", "struct Metadata;"),
            ("b.rs", text),
        ];
        let expected = [
            "a/utils.rs:1: `utils` in a file name says nothing",
            "b.rs:1: `manager` in `RoomManager` says nothing",
            "b.rs:4: `service` in `BookService` says nothing",
        ];
        check(names_are_nouns_of_the_business, &files, &expected);
    }

    #[test]
    fn banned_calls_are_found_in_code_only() {
        let text =
            "// never #[ignore]\nlet x = \"unbounded\";\n#[ignore]\nstd::thread::sleep(d);\n";
        let expected = [
            "a.rs:3: `#[ignore`: a test that does not run is no test; delete or mend it",
            "a.rs:4: `thread::sleep`: wait for an event or a deadline, never for a guess",
        ];
        check(code_has_no_banned_call, &[("a.rs", text)], &expected);
    }

    #[test]
    fn rust_and_toml_are_ascii() {
        let files = [
            ("a.rs", "x\n// \u{e9}\n"),
            ("b.toml", "\u{2013}"),
            ("c.md", "\u{2013}"),
        ];
        let expected = [
            "a.rs:2: `\\u{e9}` is not ASCII",
            "b.toml:1: `\\u{2013}` is not ASCII",
        ];
        check(code_is_ascii, &files, &expected);
    }

    #[test]
    fn no_file_names_the_machine_it_was_written_on() {
        let [path, ..] = words_of_a_machine();
        let expected = [format!("a.md:2: `{path}` belongs to one machine")];
        let text = format!("x\nsee {path}notes\n");
        check(
            files_name_no_machine,
            &[("a.md", &text)],
            &expected.each_ref().map(String::as_str),
        );
    }
}
