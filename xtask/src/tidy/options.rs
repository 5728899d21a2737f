//! Each option is alive: some test names it.

use crate::code;
use crate::tree::{File, Tree};

use super::Violation;

/// The file of the server's options: the fields of `struct Config`, each with its name in the
/// configuration file, `section.key`, at the start of its comment.
const CONFIG: &str = "cli/src/config.rs";

/// Where the tests of options are.
const TESTED_IN: [&str; 2] = ["cli/", "tests/"];

/// A field, by both its names.
struct Choice<'a> {
    line: usize,
    field: &'a str,
    key: &'a str,
}

pub(super) fn options_are_tested(tree: &Tree) -> Vec<Violation> {
    let Some(file) = tree.file(CONFIG) else {
        return Vec::new();
    };
    let mut violations = Vec::new();
    for choice in choices(file) {
        if !tree.rust().any(|file| names(file, &choice)) {
            let rule = format!("no test names the option `{}`", choice.field);
            violations.push(Violation::new(file, choice.line, rule));
        }
    }
    violations
}

fn choices(file: &File) -> Vec<Choice<'_>> {
    let mut choices = Vec::new();
    let mut key = "";
    let lines = (1..).zip(file.text.lines());
    let inside = lines
        .skip_while(|(_, line)| !line.contains("struct Config {"))
        .skip(1);
    for (line, text) in inside.take_while(|(_, line)| *line != "}") {
        let text = text.trim_start();
        if let Some(comment) = text.strip_prefix("/// `") {
            let name = comment.split('`').next().unwrap_or_default();
            key = name.rsplit('.').next().unwrap_or_default();
        } else if let Some((declaration, _)) = text.split_once(": ") {
            let field = declaration.rsplit(' ').next().unwrap_or_default();
            if declaration.starts_with("pub") {
                choices.push(Choice { line, field, key });
            }
        }
    }
    choices
}

/// Whether the test code of a file has a word that is the option, also within a literal.
fn names(file: &File, choice: &Choice<'_>) -> bool {
    if !TESTED_IN.iter().any(|folder| file.path.starts_with(folder)) {
        return false;
    }
    let untested: usize = file.untested_lines().map(|line| line.len() + 1).sum();
    let tests = if file.is_test() {
        Some(file.text.as_str())
    } else {
        file.text.get(untested..)
    };
    let is_named = |(_, word)| word == choice.field || word == choice.key;
    tests.is_some_and(|tests| code::words(tests).any(is_named))
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;

    #[test]
    fn every_option_is_named_by_a_test() {
        let config = "\
//! Options.
pub struct Config {
    /// `storage.data`: where.
    pub(crate) data: u8,
    /// `log.level`: how much.
    pub(crate) log_level: u8,
    /// `doors.http`: where.
    pub(crate) http: u8,
}
fn f() { http }
#[cfg(test)]
mod tests { data }
";
        let toml = ("cli/tests/options.rs", "let toml = \"level = 1\";");
        let elsewhere = ("server/tests/doors.rs", "let http = 1;");
        let expected = ["cli/src/config.rs:8: no test names the option `http`"];
        check(
            options_are_tested,
            &[(CONFIG, config), toml, elsewhere],
            &expected,
        );
    }
}
