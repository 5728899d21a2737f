//! Rules about the English of documents.

use crate::tree::{File, Tree};

use super::Violation;

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

/// Pages that a command writes are not held to this: their texts stand in code.
fn is_written_by_hand(file: &File) -> bool {
    !file.path.starts_with("bench/results/")
}

pub(super) fn documents_use_plain_english(tree: &Tree) -> Vec<Violation> {
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
                    violations.push(Violation::new(file, line, rule));
                }
            }
            let is_table = text.starts_with('|');
            let width = text.chars().count();
            if width > WIDTH_MAX && !is_table && !text.contains("](") && !text.contains("source: ")
            {
                let rule = format!("{width} characters; prose wraps at 100");
                violations.push(Violation::new(file, line, rule));
            }
        }
    }
    violations
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
