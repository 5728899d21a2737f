//! Which layer sees which: the arrows of the house.

use crate::tree::{Crate, CrateDependency, Tree};

use super::BrokenRule;

/// The root folders that a crate of a root folder may depend on.
/// `domain` is not here: its crates see what they share and their own parts, never each other; only
/// the list of services sees all of them.
const ARROWS: [(&str, &[&str]); 14] = [
    ("seed", &[]),
    ("engine", &["domain", "engine", "seed"]),
    ("backends", &["domain", "engine", "backends", "seed"]),
    ("fronts", &["domain", SHARED_JSON]),
    ("server", &["domain", "engine", "backends", "fronts"]),
    ("client", &["domain", "fronts"]),
    ("lab", &["domain", "fronts", "client", "lab", "seed"]),
    (
        "cli",
        &[
            "domain", "engine", "backends", "fronts", "server", "client", "lab",
        ],
    ),
    ("sim", EVERYTHING),
    ("tests", EVERYTHING),
    ("trial", &[SHARED_WORDS]),
    ("bench", EVERYTHING),
    ("fuzz", EVERYTHING),
    ("xtask", EVERYTHING),
];

const EVERYTHING: &[&str] = &[
    "domain", "engine", "backends", "fronts", "server", "client", "lab", "cli", "sim", "tests",
    "trial", "bench", "seed",
];

const SHARED_WORDS: &str = "domain/types";

/// What every machine is built on.
const SHARED_CHASSIS: &str = "domain/chassis";

/// The list of all machines.
const SHARED_LIST: &str = "domain/services";

/// Macros for what every machine is built on.
const SHARED_DERIVE: &str = "domain/derive";

/// The form of fields that every front shares which writes JSON.
const SHARED_JSON: &str = "fronts/json";

/// What the tests of every crate share; the product is built without it.
const SHARED_TRIALS: &str = "trial";

/// What a machine is made of, where it is a crate of its own: the part and its machine.
const PARTS: [(&str, &str); 1] = [("domain/book", "domain/exchange")];

pub(super) fn crates_see_only_their_layers(tree: &Tree) -> Vec<BrokenRule> {
    let mut violations = Vec::new();
    for one in &tree.crates {
        for seen in one.sees.iter().filter(|seen| !may_see(&one.folder, seen)) {
            violations.extend(violation(tree, one, seen));
        }
    }
    violations
}

fn may_see(from: &str, seen: &CrateDependency) -> bool {
    let to = seen.folder.as_str();
    if to == SHARED_TRIALS && seen.in_tests {
        return true;
    }
    if from == SHARED_LIST {
        return layer(to) == "domain";
    }
    if layer(from) == "domain" {
        return match to {
            SHARED_WORDS => from != SHARED_WORDS,
            SHARED_DERIVE => from == SHARED_CHASSIS,
            SHARED_CHASSIS => ![SHARED_WORDS, SHARED_DERIVE, SHARED_CHASSIS].contains(&from),
            part => PARTS.contains(&(part, from)),
        };
    }
    ARROWS.iter().any(|(folder, sees)| {
        *folder == layer(from) && (sees.contains(&layer(to)) || sees.contains(&to))
    })
}

fn layer(folder: &str) -> &str {
    folder.split('/').next().unwrap_or(folder)
}

fn violation(tree: &Tree, one: &Crate, seen: &CrateDependency) -> Option<BrokenRule> {
    let manifest = tree.file(&format!("{}/Cargo.toml", one.folder))?;
    let found = (1..)
        .zip(manifest.text.lines())
        .find(|(_, line)| line.starts_with(&seen.name));
    let line = found.map_or(1, |(line, _)| line);
    let rule = format!("no arrow leads from `{}` to `{}`", one.folder, seen.folder);
    Some(BrokenRule::new(manifest, line, rule))
}

#[cfg(test)]
mod tests {
    use crate::tree::File;

    use super::*;

    fn check(from: &str, to: &str, allowed: bool) {
        check_where(false, from, to, allowed);
    }

    fn check_where(in_tests: bool, from: &str, to: &str, allowed: bool) {
        let seen = CrateDependency {
            name: "turnstile-x".to_owned(),
            folder: to.to_owned(),
            in_tests,
        };
        let tree = Tree {
            files: vec![File::new(
                &format!("{from}/Cargo.toml"),
                "[dependencies]\nturnstile-x = 1",
            )],
            crates: vec![Crate {
                name: String::new(),
                folder: from.to_owned(),
                sees: vec![seen],
            }],
            ..Tree::default()
        };
        let violations = crates_see_only_their_layers(&tree);
        let lines: Vec<String> = violations.iter().map(ToString::to_string).collect();
        let broken = format!("{from}/Cargo.toml:2: no arrow leads from `{from}` to `{to}`");
        assert_eq!(lines, if allowed { Vec::new() } else { vec![broken] });
    }

    #[test]
    fn machines_see_the_shared_words_and_never_each_other() {
        check("domain/rooms", "domain/types", true);
        check("domain/rooms", "domain/travel", false);
        check("domain/types", "domain/rooms", false);
        check("domain/rooms", "domain/chassis", true);
        check("domain/chassis", "domain/types", true);
        check("domain/chassis", "domain/derive", true);
        check("domain/derive", "domain/chassis", false);
        check("domain/rooms", "domain/derive", false);
        check("domain/chassis", "domain/rooms", false);
        check("domain/types", "domain/chassis", false);
        check("domain/rooms", "engine/record", false);
        check("domain/exchange", "domain/book", true);
        check("domain/book", "domain/exchange", false);
        check("domain/rooms", "domain/book", false);
        check("domain/services", "domain/rooms", true);
        check("domain/services", "engine/record", false);
        check("domain/rooms", "domain/services", false);
    }

    #[test]
    fn arrows_point_one_way() {
        check("engine/sequencer", "domain/types", true);
        check("engine/record", "backends/embedded", false);
        check("engine/journal", "seed", true);
        check("domain/rooms", "seed", false);
        check("server", "seed", false);
        check("fronts/resp", "domain/rooms", true);
        check("fronts/xml", "domain/exchange", true);
        check("fronts/xml", "fronts/resp", false);
        check("fronts/resp", "fronts/http", false);
        check("fronts/resp", "fronts/json", true);
        check("fronts/resp", "engine/record", false);
        check("client", "server", false);
        check("lab/load", "server", false);
        check("server", "client", false);
        check("cli", "lab/load", true);
    }

    #[test]
    fn nothing_of_the_product_sees_its_tests() {
        check("tests", "sim", true);
        check("cli", "sim", false);
        check("server", "tests", false);
        check("domain/rooms", "trial", false);
        check("server", "trial", false);
        check("bench", "trial", true);
        check_where(true, "domain/rooms", "trial", true);
        check_where(true, "domain/rooms", "sim", false);
        check("trial", "domain/types", true);
        check("trial", "domain/rooms", false);
    }

    #[test]
    fn a_folder_without_a_place_in_the_house_sees_nothing() {
        check("attic", "domain/types", false);
    }
}
