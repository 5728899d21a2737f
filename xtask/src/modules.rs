//! Which module of a crate uses which, read from the source text.
//!
//! A module here is a top module: `src/a.rs` with everything below `src/a/`. The crate's root is a
//! module as well. A name that the root only re-exports counts as a use of the module that defines
//! it. Unit tests do not count.

use std::collections::{BTreeMap, BTreeSet};

use crate::code;
use crate::tree::{Crate, Tree};

/// The root of a crate as a module.
pub(crate) const ROOT: &str = "lib";

/// For each top module of a crate the other top modules that it uses.
pub(crate) type Uses = BTreeMap<String, BTreeSet<String>>;

pub(crate) fn uses(tree: &Tree, one: &Crate) -> Uses {
    let prefix = format!("{}/src/", one.folder);
    let files: Vec<(Place, String)> = tree
        .rust()
        .filter(|file| !file.is_test())
        .filter_map(|file| {
            Some((
                Place::of(file.path.strip_prefix(&prefix)?),
                file.untested_code(),
            ))
        })
        .collect();
    let modules: BTreeSet<&str> = files.iter().map(|(place, _)| place.top.as_str()).collect();
    let mut exports = BTreeMap::new();
    for (_, code) in files.iter().filter(|(place, _)| place.depth == 0) {
        exports.extend(re_exports(code));
    }
    let mut uses = Uses::new();
    for (place, code) in &files {
        let used = uses.entry(place.top.clone()).or_default();
        let mut names = names_from_the_root(code, place.depth);
        if place.depth == 0 {
            names.extend(names_in_the_root(code));
        }
        for name in names {
            let name = exports.get(&name).unwrap_or(&name).as_str();
            let module = if modules.contains(name) { name } else { ROOT };
            if module != place.top {
                used.insert(module.to_owned());
            }
        }
    }
    uses
}

/// The groups of modules of which each uses each other, be it over others; largest first.
pub(crate) fn cycles(uses: &Uses) -> Vec<BTreeSet<String>> {
    let reach: BTreeMap<&str, BTreeSet<&str>> = uses
        .keys()
        .map(|from| (from.as_str(), reached(uses, from)))
        .collect();
    let mutual = |a: &str, b: &str| reach[a].contains(b) && reach[b].contains(a);
    let mut cycles: Vec<BTreeSet<String>> = Vec::new();
    for one in uses.keys().filter(|one| mutual(one, one)) {
        if cycles.iter().any(|cycle| cycle.contains(one)) {
            continue;
        }
        let cycle = uses.keys().filter(|other| mutual(one, other));
        cycles.push(cycle.cloned().collect());
    }
    cycles.sort_by_key(|cycle| std::cmp::Reverse(cycle.len()));
    cycles
}

fn reached<'a>(uses: &'a Uses, from: &str) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut next = vec![from];
    while let Some(at) = next.pop() {
        for used in uses.get(at).into_iter().flatten() {
            if seen.insert(used.as_str()) {
                next.push(used);
            }
        }
    }
    seen
}

/// Where a file stands in its crate.
struct Place {
    top: String,
    /// How many modules lie around its items: 0 for the root.
    depth: usize,
}

impl Place {
    fn of(path: &str) -> Self {
        let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
        let top = path.split('/').next().unwrap_or(path);
        if ["lib", "main"].contains(&top) {
            return Self {
                top: ROOT.to_owned(),
                depth: 0,
            };
        }
        Self {
            top: top.to_owned(),
            depth: path.split('/').count(),
        }
    }
}

/// The first names of all paths in the root itself, where they need no prefix.
fn names_in_the_root(code: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for statement in code.split_inclusive(';') {
        let re_export = statement.rsplit(['\n', '}']).any(is_re_export);
        let paths = code::words(statement).filter(|(at, word)| {
            let before = statement[..*at].chars().next_back();
            before != Some(':') && statement[at + word.len()..].starts_with("::")
        });
        if !re_export {
            names.extend(paths.map(|(_, word)| word.to_owned()));
        }
    }
    names
}

fn is_re_export(line: &str) -> bool {
    line.trim_start().starts_with("pub") && line.contains("use ")
}

/// The first names of all paths that begin at the crate's root.
fn names_from_the_root(code: &str, depth: usize) -> BTreeSet<String> {
    let mut starts = vec!["crate::".to_owned()];
    if depth > 0 {
        starts.push("super::".repeat(depth));
    }
    let mut names = BTreeSet::new();
    for start in &starts {
        for (at, _) in code.match_indices(start.as_str()) {
            // `$crate`, `other_crate::` and a longer chain of `super` are something else.
            let before = code[..at].chars().next_back();
            if before.is_some_and(|before| code::is_word(before) || "$:".contains(before)) {
                continue;
            }
            names.extend(first_names(&code[at + start.len()..]));
        }
    }
    names
}

/// The first name of a path, or those of a group in braces.
fn first_names(path: &str) -> Vec<String> {
    let word = |path: &str| {
        path.split(|letter| !code::is_word(letter))
            .next()
            .map(str::to_owned)
    };
    let Some(group) = path.strip_prefix('{') else {
        return word(path).into_iter().collect();
    };
    let mut depth = 0_usize;
    let mut names = Vec::new();
    let mut fresh = true;
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => fresh = true,
            letter if fresh && code::is_word(letter) => {
                names.extend(word(&group[at..]));
                fresh = false;
            }
            _ => {}
        }
    }
    names
}

/// The names that a root re-exports, each with the module that it comes from.
fn re_exports(code: &str) -> BTreeMap<String, String> {
    let mut exports = BTreeMap::new();
    for (at, _) in code.match_indices("use ") {
        let line = code[..at]
            .rsplit(['\n', ';', '}'])
            .next()
            .unwrap_or_default();
        let Some(statement) = code[at + 4..].split(';').next() else {
            continue;
        };
        let Some((module, names)) = statement.trim_start_matches("self::").split_once("::") else {
            continue;
        };
        if !line.trim_start().starts_with("pub") {
            continue;
        }
        let names = code::words(names).map(|(_, word)| word.to_owned());
        exports.extend(names.map(|name| (name, module.to_owned())));
    }
    exports
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::File;

    fn check(files: &[(&str, &str)], expected: &[&[&str]]) {
        let files = files
            .iter()
            .map(|(path, text)| File::new(&format!("a/src/{path}"), text))
            .collect();
        let one = Crate {
            name: String::new(),
            folder: "a".to_owned(),
            sees: Vec::new(),
        };
        let tree = Tree {
            files,
            ..Tree::default()
        };
        let cycles = cycles(&uses(&tree, &one));
        let cycles: Vec<Vec<&str>> = cycles
            .iter()
            .map(|cycle| cycle.iter().map(String::as_str).collect())
            .collect();
        assert_eq!(cycles, expected);
    }

    #[test]
    fn modules_that_use_each_other_are_a_cycle() {
        let b = ("b.rs", "fn f() { crate::c::f() }");
        check(
            &[("lib.rs", "mod b; mod c;"), b, ("c.rs", "fn f() {}")],
            &[],
        );
        check(&[b, ("c.rs", "use crate::{d, b::{f, g}};")], &[&["b", "c"]]);
        check(&[b, ("c/x.rs", "use super::super::b;")], &[&["b", "c"]]);
        check(&[b, ("c/x.rs", "use super::b;")], &[]);
    }

    #[test]
    fn a_cycle_may_lead_over_others() {
        let files = [
            ("b.rs", "use crate::c::C;"),
            ("c.rs", "use crate::d::D;"),
            ("d.rs", "use super::b::B;"),
            ("e.rs", "use crate::b::B;"),
        ];
        check(&files, &[&["b", "c", "d"]]);
    }

    #[test]
    fn what_the_root_re_exports_belongs_to_its_module() {
        let root = ("lib.rs", "mod b; mod c; pub use b::{B, C};");
        let (b, c) = (("b.rs", "use crate::c::D;"), ("c.rs", "use crate::B;"));
        check(&[root, b, c], &[&["b", "c"]]);
        check(&[root, ("b.rs", "pub struct B;"), c], &[]);
    }

    #[test]
    fn what_the_root_defines_makes_it_a_module() {
        let root = ("lib.rs", "mod b; pub struct A; fn f() { b::f() }");
        check(&[root, ("b.rs", "use crate::A;")], &[&["b", "lib"]]);
    }

    #[test]
    fn tests_comments_and_macros_do_not_count() {
        let b = ("b.rs", "use crate::c::C;");
        let tested = "#[cfg(test)]\nmod tests { use crate::b; }";
        check(&[b, ("c.rs", tested)], &[]);
        check(&[b, ("c.rs", "// crate::b")], &[]);
        check(
            &[b, ("c.rs", "macro_rules! m { () => { $crate::b::f() } }")],
            &[],
        );
    }
}
