//! Names of types: one name has one meaning.

use std::collections::{BTreeMap, BTreeSet};

use crate::code;
use crate::tree::Tree;

use super::BrokenRule;

/// So many names of structs, enums, traits and aliases may be defined in two or more production
/// files. The number is a ratchet: it only falls.
const TWO_MEANINGS_MAX: usize = 80;

/// The names of types that are defined in two or more production files, with these files.
pub(crate) fn with_two_meanings(tree: &Tree) -> BTreeMap<String, Vec<&str>> {
    let mut places: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for file in tree.rust().filter(|file| !file.is_test()) {
        let code = file.untested_code();
        let defined: BTreeSet<&str> = code.lines().flat_map(defined).collect();
        for name in defined {
            places.entry(name.to_owned()).or_default().push(&file.path);
        }
    }
    places.retain(|_, files| files.len() > 1);
    places
}

/// The names of types that a line defines. A `type` that is indented is one of a trait, whose name its
/// implementations share.
fn defined(line: &str) -> Vec<&str> {
    let words: Vec<&str> = code::words(line).map(|(_, word)| word).collect();
    let defines = |word: &str| match word {
        "struct" | "enum" | "trait" => true,
        "type" => !line.starts_with(' '),
        _ => false,
    };
    let pairs = words.windows(2).filter(|pair| defines(pair[0]));
    let names = pairs.map(|pair| pair[1]);
    names
        .filter(|name| name.starts_with(char::is_uppercase))
        .collect()
}

pub(super) fn no_more_names_have_two_meanings(tree: &Tree) -> Vec<BrokenRule> {
    violation(tree, TWO_MEANINGS_MAX).into_iter().collect()
}

fn violation(tree: &Tree, most: usize) -> Option<BrokenRule> {
    let names = with_two_meanings(tree);
    let found = names.len();
    let manifest = tree.file("Cargo.toml")?;
    (found > most).then(|| {
        let newest: Vec<String> = names
            .iter()
            .map(|(name, files)| format!("{name} ({})", files.join(", ")))
            .collect();
        let rule = format!(
            "{found} type names are defined in two or more files, {most} are allowed; rename the one \
             that you added: {}",
            newest.join("; ")
        );
        BrokenRule::new(manifest, 1, rule)
    })
}

#[cfg(test)]
mod tests {
    use crate::tree::File;

    use super::*;

    fn check(most: usize, expected: &str) {
        let files = [
            ("Cargo.toml", ""),
            ("a/src/b.rs", "struct Order; type Line = u8; trait Only {}"),
            (
                "a/src/c.rs",
                "enum Order {} struct Line;\nimpl A {\n    type Only = u8;\n}\n#[cfg(test)]\nmod tests { struct Only; }",
            ),
            ("a/tests/d.rs", "struct Only;"),
        ];
        let tree = Tree {
            files: files.map(|(path, text)| File::new(path, text)).into(),
            ..Tree::default()
        };
        let found = violation(&tree, most);
        let line = found.map(|found| found.to_string()).unwrap_or_default();
        assert_eq!(line, expected);
    }

    #[test]
    fn a_name_with_two_meanings_more_than_allowed_is_a_violation() {
        check(2, "");
        check(
            1,
            "Cargo.toml:1: 2 type names are defined in two or more files, 1 are allowed; rename the \
             one that you added: Line (a/src/b.rs, a/src/c.rs); Order (a/src/b.rs, a/src/c.rs)",
        );
    }
}
