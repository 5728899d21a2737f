//! Modules of a crate that use each other in a circle.

use crate::modules;
use crate::tree::{Crate, Tree};

use super::BrokenRule;

/// Crates whose top modules still form cycles, with the number of modules in them. The list is a
/// ratchet: a number only falls, and a crate without cycles leaves the list.
const KNOTS: &[(&str, usize)] = &[];

pub(super) fn modules_form_no_new_cycle(tree: &Tree) -> Vec<BrokenRule> {
    let all = tree.crates.iter();
    all.filter_map(|one| violation(tree, one, KNOTS)).collect()
}

fn violation(tree: &Tree, one: &Crate, knots: &[(&str, usize)]) -> Option<BrokenRule> {
    let manifest = tree.file(&format!("{}/Cargo.toml", one.folder))?;
    let cycles = modules::cycles(&modules::uses(tree, one));
    let found: usize = cycles.iter().map(|cycle| cycle.len()).sum();
    let listed = knots.iter().find(|(folder, _)| *folder == one.folder);
    let allowed = listed.map_or(0, |(_, modules)| *modules);
    let rule = if found > allowed {
        let cycles: Vec<String> = cycles
            .into_iter()
            .map(|cycle| cycle.into_iter().collect::<Vec<_>>().join(" "))
            .collect();
        format!(
            "{found} modules use each other in cycles, {allowed} are allowed: {}",
            cycles.join("; ")
        )
    } else if found < allowed {
        format!("{found} modules in cycles: lower the crate's number in the list of knots")
    } else {
        return None;
    };
    Some(BrokenRule::new(manifest, 1, rule))
}

#[cfg(test)]
mod tests {
    use crate::tree::File;

    use super::*;

    fn check(knots: &[(&str, usize)], expected: &str) {
        let files = [
            ("a/Cargo.toml", ""),
            ("a/src/b.rs", "use crate::c::C;"),
            ("a/src/c.rs", "use crate::b::B;"),
        ];
        let tree = Tree {
            files: files.map(|(path, text)| File::new(path, text)).into(),
            ..Tree::default()
        };
        let one = Crate {
            name: String::new(),
            folder: "a".to_owned(),
            sees: Vec::new(),
        };
        let found = violation(&tree, &one, knots);
        let line = found.map(|found| found.to_string()).unwrap_or_default();
        assert_eq!(line, expected);
    }

    #[test]
    fn a_cycle_is_a_violation_unless_it_is_an_old_one() {
        check(
            &[],
            "a/Cargo.toml:1: 2 modules use each other in cycles, 0 are allowed: b c",
        );
        check(&[("a", 2)], "");
        check(
            &[("a", 3)],
            "a/Cargo.toml:1: 2 modules in cycles: lower the crate's number in the list of knots",
        );
    }
}
