//! The same operation over RESP, in the document: programs that show both need not know the rules.

use turnstile_chassis::{Kind, Need};

use crate::operation::{Answerer, Operation};

/// The command and what follows it, word by word, as a client writes it; nothing for what only HTTP has.
///
/// A word in brackets is optional, `[NAME name]` has its name before its value, `name|WORD` says by that
/// word that there is none, and `name ...` comes once or several times.
pub(super) fn words(operation: &Operation) -> Option<Vec<String>> {
    let (Answerer::Command(service, _) | Answerer::Query(service, _)) = operation.answerer else {
        return None;
    };
    let service = service.name();
    let mut command = service.to_ascii_uppercase() + ".";
    for (place, character) in operation.id.get(service.len()..)?.char_indices() {
        if place > 0 && character.is_ascii_uppercase() {
            command.push('-');
        }
        command.push(character.to_ascii_uppercase());
    }
    let mut words = vec![command];
    for parameter in &operation.parameters {
        let (name, option) = (parameter.name, parameter.name.to_ascii_uppercase());
        words.push(match (parameter.need, &parameter.kind) {
            (Need::Required, _) => name.to_owned(),
            (Need::RequiredOr(none), _) => format!("{name}|{none}"),
            (Need::Repeated { .. }, _) => format!("{name} ..."),
            (Need::Optional, Kind::Flag) => format!("[{option}]"),
            (Need::OptionalWord, _) => format!("[{name}]"),
            (Need::Optional, _) => format!("[{option} {name}]"),
        });
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::operations;

    /// The reference is generated from the commands that the RESP door knows.
    #[test]
    fn the_words_are_those_of_the_reference() {
        let reference = include_str!("../../../../docs/reference/operations.md");
        let shown: Vec<&str> = reference.lines().collect();
        let mut known = 0;
        for words in operations().iter().filter_map(words) {
            let mut usage = Vec::new();
            for word in &words {
                let (name, _) = word.split_once('|').unwrap_or((word, ""));
                usage.push(match name.strip_suffix(" ...") {
                    Some(name) => format!("{name} [{name} ...]"),
                    None => name.to_owned(),
                });
            }
            let usage = usage.join(" ");
            let is_shown = shown
                .iter()
                .any(|line| *line == usage || **line == format!("{usage} [KEY key]"));
            assert!(is_shown, "{usage}");
            known += 1;
        }
        assert!(known > 90, "{known}");
    }
}
