//! Names that an unknown one was probably meant to be.

use std::fmt;

use super::{COMMANDS, Syntax};

/// The longest name that is compared, in bytes: comparing costs the product of both lengths, and whoever
/// sends nonsense is not to keep the loop busy with it.
const COMPARED_MAX: usize = 32;

/// The most changes of a letter between a name and what was meant, and the letters needed for each.
const CHANGES_MAX: usize = 2;
const LETTERS_PER_CHANGE: usize = 3;

/// The most names in one suggestion.
const SUGGESTIONS_MAX: usize = 3;

/// Writes the end of an error message: nothing when there is nothing to suggest.
pub(super) fn put_suggestion(f: &mut fmt::Formatter<'_>, names: &[&str]) -> fmt::Result {
    let Some((first, others)) = names.split_first() else {
        return Ok(());
    };
    write!(f, ", did you mean '{first}'")?;
    for name in others {
        write!(f, " or '{name}'")?;
    }
    f.write_str("?")
}

/// The commands that are called like this behind the name of their service, or have this word in their
/// name; or else the one whose name is the nearest.
pub(super) fn commands_like(typed: &[u8]) -> Vec<&'static str> {
    let Some(typed) = comparable(typed) else {
        return Vec::new();
    };
    let names = COMMANDS.iter().map(|syntax| syntax.name);
    let (of, word) = typed.split_once('.').unwrap_or(("", &typed));
    let of_services = names.clone().filter(|name| {
        name.split_once('.').is_some_and(|(service, own)| {
            own == typed || (service == of && own.split('-').any(|part| part == word))
        })
    });
    let of_services: Vec<_> = of_services.take(SUGGESTIONS_MAX).collect();
    if of_services.is_empty() {
        nearest(&typed, names).into_iter().collect()
    } else {
        of_services
    }
}

/// The subcommand of this container whose name is the nearest.
pub(super) fn subcommands_like(container: &str, typed: &[u8]) -> Vec<&'static str> {
    let Some(typed) = comparable(typed) else {
        return Vec::new();
    };
    let container = COMMANDS.iter().find(|syntax| syntax.name == container);
    let subcommands = container.map_or(&[][..], |container| container.subcommands);
    let names = subcommands.iter().filter_map(Syntax::own_name);
    nearest(&typed, names).into_iter().collect()
}

/// A name in small letters; nothing when it is no name or too long.
fn comparable(typed: &[u8]) -> Option<String> {
    if typed.len() > COMPARED_MAX {
        return None;
    }
    let typed = std::str::from_utf8(typed).ok()?;
    typed.is_ascii().then(|| typed.to_ascii_lowercase())
}

fn nearest(typed: &str, names: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let changes_max = CHANGES_MAX.min(typed.len() / LETTERS_PER_CHANGE);
    names
        .filter(|name| name.len().abs_diff(typed.len()) <= changes_max)
        .map(|name| (strsim::osa_distance(typed, name), name))
        .filter(|&(changes, _)| changes <= changes_max)
        .min_by_key(|&(changes, _)| changes)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_command_is_answered_with_the_nearest_name() {
        let rows: [(&str, &[&str]); 11] = [
            ("ROOMS.BOK", &["rooms.book"]),
            ("room.book", &["rooms.book"]),
            ("exchange.place-ordre", &["exchange.place-order"]),
            (
                "exchange.account",
                &["exchange.create-account", "exchange.get-account"],
            ),
            ("ROOMS.ROOM", &["rooms.add-room", "rooms.withdraw-room"]),
            ("book", &["rooms.book", "travel.book", "seats.book"]),
            ("BOOK", &["rooms.book", "travel.book", "seats.book"]),
            ("pign", &["ping"]),
            ("get", &[]),
            ("zadd", &[]),
            ("", &[]),
        ];
        for (typed, expected) in rows {
            assert_eq!(commands_like(typed.as_bytes()), expected, "{typed}");
        }
        assert!(commands_like(&[b'r'; COMPARED_MAX + 1]).is_empty());
        assert!(commands_like(b"ping\xff").is_empty());
    }

    #[test]
    fn an_unknown_subcommand_is_answered_with_the_nearest_of_its_container() {
        let rows: [(&str, &str, &[&str]); 3] = [
            ("client", "LSIT", &["list"]),
            ("acl", "me", &[]),
            ("slowlog", "rest", &["reset"]),
        ];
        for (container, typed, expected) in rows {
            let found = subcommands_like(container, typed.as_bytes());
            assert_eq!(found, expected, "{container} {typed}");
        }
    }
}
