//! Rules about the English of documents, and of what the programs print.

use crate::code;
use crate::tree::{File, Tree};

use super::BrokenRule;

/// The most characters of a line of prose. Tables, code and links may be longer.
const WIDTH_MAX: usize = 115;

/// Turns that leave out who does what, and what to write instead. The list grows when a reader
/// stumbles.
const BANNED_TURNS: [(&str, &str); 11] = [
    ("is told", "say who tells what"),
    ("are told", "say who tells what"),
    ("so many", "name the number or the limit"),
    ("lies in", "write `is in`"),
    ("whoever", "name the client, the user or the process"),
    ("somebody", "name the client, the user or the process"),
    ("nobody", "name the client, the user or the process"),
    ("of theirs", "name the owner"),
    ("what is owed", "write `answers` or `promises`"),
    ("as ever", "delete it"),
    ("at the most", "write `at most` or `up to`"),
];

/// More turns that programs do not print. Documents may explain the word *ancestor*.
const UNPRINTED_TURNS: [(&str, &str); 5] = [
    ("anybody", "name the client, the user or the process"),
    ("everybody", "name the clients, the users or the processes"),
    ("the ancestor", "write `the original`"),
    ("the ancestors", "write `the originals`"),
    ("makes no sense", "say what is wrong with it"),
];

/// Where text is for people to read: errors, log lines, help.
const PRINTED_IN: [&str; 8] = [
    "backends/",
    "cli/",
    "client/",
    "domain/",
    "engine/",
    "fronts/",
    "lab/",
    "server/",
];

/// What stands before the text of a broken invariant, which is for us alone.
const INVARIANTS: [&str; 4] = ["expect(", "reason =", "unreachable!(", "panic!("];

/// Pages that a command writes are not held to this: their texts stand in code.
fn is_written_by_hand(file: &File) -> bool {
    !file.path.starts_with("bench/results/")
}

pub(super) fn documents_use_plain_english(tree: &Tree) -> Vec<BrokenRule> {
    let mut violations = Vec::new();
    for file in tree
        .with_extension("md")
        .filter(|file| is_written_by_hand(file))
    {
        for (line, text) in prose(&file.text) {
            let lower = text.to_lowercase();
            for (turn, instead) in BANNED_TURNS {
                if has_words(&lower, turn) {
                    let rule = format!("`{turn}` is hard to read: {instead}");
                    violations.push(BrokenRule::new(file, line, rule));
                }
            }
            let is_table = text.starts_with('|');
            let width = text.chars().count();
            if width > WIDTH_MAX && !is_table && !text.contains("](") && !text.contains("source: ")
            {
                let rule = format!("{width} characters; prose wraps at 100");
                violations.push(BrokenRule::new(file, line, rule));
            }
        }
    }
    violations
}

pub(super) fn printed_text_is_plain_english(tree: &Tree) -> Vec<BrokenRule> {
    let is_printed = |file: &&File| {
        let is_here = PRINTED_IN
            .iter()
            .any(|folder| file.path.starts_with(folder));
        is_here && !file.is_test() && !file.path.contains("/examples/")
    };
    let mut violations = Vec::new();
    for file in tree.rust().filter(is_printed) {
        let untested: usize = file.untested_lines().map(|line| line.len() + 1).sum();
        let text = file.text.get(..untested).unwrap_or(&file.text);
        for (offset, printed) in code::blanked(text) {
            if is_help(text, offset, printed) || is_message(text, offset, printed) {
                check_turns(file, offset, printed, &mut violations);
            }
        }
    }
    violations
}

/// A comment of which clap makes help: it stands before the attribute of an option.
fn is_help(text: &str, offset: usize, comment: &str) -> bool {
    let mut after = text[offset..].lines().map(str::trim_start);
    let next = after.find(|line| !line.starts_with("///"));
    comment.starts_with("///") && next.is_some_and(|line| line.starts_with("#[arg("))
}

/// A literal of several words, if it is more than the text of an invariant.
fn is_message(text: &str, offset: usize, literal: &str) -> bool {
    let before = text[..offset].trim_end();
    !literal.starts_with("//")
        && literal.contains(' ')
        && !INVARIANTS.iter().any(|start| before.ends_with(start))
}

fn check_turns(file: &File, offset: usize, printed: &str, violations: &mut Vec<BrokenRule>) {
    let printed = printed.to_lowercase();
    for (turn, instead) in BANNED_TURNS.into_iter().chain(UNPRINTED_TURNS) {
        if has_words(&printed, turn) {
            let rule = format!("`{turn}` is hard to read: {instead}");
            let line = code::line_of(&file.text, offset);
            violations.push(BrokenRule::new(file, line, rule));
        }
    }
}

/// The lines that are no code, with their numbers.
pub(super) fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !is_fence && !in_code && !line.starts_with("    ")
    })
}

/// Whether a turn stands in a text between other words.
fn has_words(text: &str, turn: &str) -> bool {
    text.match_indices(turn).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + turn.len()..].chars().next();
        let ends = |neighbour: Option<char>| neighbour.is_none_or(|one| !one.is_alphanumeric());
        ends(before) && ends(after)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;

    #[test]
    fn hard_turns_in_messages_and_help_are_named() {
        let text = r#"//! Whoever reads this.
/// Whoever asks
#[arg(long)]
fn f() {
    // whoever
    log("nobody waits");
    log("nobody");
    x.expect("nobody waits");
}
#[cfg(test)]
mod tests { log("nobody waits"); }
"#;
        check(
            printed_text_is_plain_english,
            &[("cli/src/a.rs", text), ("bench/src/a.rs", text)],
            &[
                "cli/src/a.rs:2: `whoever` is hard to read: name the client, the user or the process",
                "cli/src/a.rs:6: `nobody` is hard to read: name the client, the user or the process",
            ],
        );
    }

    #[test]
    fn hard_turns_and_wide_lines_of_prose_are_named() {
        let wide = "a ".repeat(60);
        let text = format!(
            "Whoever asks is told.\nNobody's turn, so manyfold.\n```\nwhoever {wide}\n```\n    whoever\n| {wide} |\n{wide}\n"
        );
        check(
            documents_use_plain_english,
            &[("docs/a.md", &text), ("bench/results/b.md", "whoever")],
            &[
                "docs/a.md:1: `is told` is hard to read: say who tells what",
                "docs/a.md:1: `whoever` is hard to read: name the client, the user or the process",
                "docs/a.md:2: `nobody` is hard to read: name the client, the user or the process",
                "docs/a.md:8: 120 characters; prose wraps at 100",
            ],
        );
    }
}
