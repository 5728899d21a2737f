//! Which module of a crate uses which, read from the source text.
//!
//! A module here is a top module: `src/a.rs` with everything below `src/a/`. Where `src/a.rs` only
//! declares modules it is a folder, and the modules in it count instead: `a/b`. The crate's root is a
//! module as well. A name that the root only re-exports counts as a use of the module that defines
//! it. Unit tests do not count.

use std::collections::{BTreeMap, BTreeSet};

use crate::code;
use crate::tree::{Crate, Tree};

/// The root of a crate as a module.
pub(crate) const ROOT: &str = "lib";

/// For each module of a crate the other modules that it uses.
pub(crate) type Uses = BTreeMap<String, BTreeSet<String>>;

pub(crate) fn uses(tree: &Tree, one: &Crate) -> Uses {
    let prefix = format!("{}/src/", one.folder);
    let sources: Vec<(&str, String)> = tree
        .rust()
        .filter(|file| !file.is_test())
        .filter_map(|file| Some((file.path.strip_prefix(&prefix)?, file.untested_code())))
        .collect();
    let folders = sources
        .iter()
        .filter(|(_, code)| only_declares_modules(code));
    let mut names = RootNames {
        folders: folders
            .map(|(path, _)| without_ending(path).to_owned())
            .collect(),
        ..RootNames::default()
    };
    let files: Vec<(Place, &str)> = sources
        .iter()
        .map(|(path, code)| (Place::of(path, &names.folders), code.as_str()))
        .collect();
    names.modules = files
        .iter()
        .map(|(place, _)| place.module.clone())
        .collect();
    for (_, code) in files.iter().filter(|(place, _)| place.depth == 0) {
        names.exports.extend(re_exports(code, &names));
    }
    let mut uses = Uses::new();
    for (place, code) in &files {
        let used = uses.entry(place.module.clone()).or_default();
        let mut found = paths_from_the_root(code, place);
        if place.depth == 0 {
            found.extend(paths_in_the_root(code));
        }
        let modules = found.iter().map(|path| names.module(path));
        used.extend(modules.filter(|module| *module != place.module));
    }
    uses
}

/// What the names at the root of a crate stand for.
#[derive(Default)]
struct RootNames {
    modules: BTreeSet<String>,
    /// Modules that only declare others.
    folders: BTreeSet<String>,
    /// The names that the root re-exports, each with the module that it comes from.
    exports: BTreeMap<String, String>,
}

impl RootNames {
    /// The module that a path from the root leads to.
    fn module(&self, path: &[String]) -> String {
        let Some(first) = path.first() else {
            return ROOT.to_owned();
        };
        if let Some(module) = self.exports.get(first) {
            return module.clone();
        }
        let inner = path.get(1).map(|second| format!("{first}/{second}"));
        let inner =
            inner.filter(|inner| self.folders.contains(first) && self.modules.contains(inner));
        let module = inner.unwrap_or_else(|| first.clone());
        if self.modules.contains(&module) {
            module
        } else {
            ROOT.to_owned()
        }
    }
}

fn only_declares_modules(code: &str) -> bool {
    let mut statements = code.split(';').map(str::trim).filter(|it| !it.is_empty());
    let declares = |statement: &str| {
        let mut words = statement.split_whitespace().rev();
        words.next().is_some() && words.next() == Some("mod")
    };
    code.contains("mod ") && statements.all(declares)
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
    module: String,
    /// The folder that the module is in.
    folder: Option<String>,
    /// How many modules lie around its items: 0 for the root.
    depth: usize,
}

impl Place {
    fn of(path: &str, folders: &BTreeSet<String>) -> Self {
        let path = without_ending(path);
        if ["lib", "main"].contains(&path) {
            return Self {
                module: ROOT.to_owned(),
                folder: None,
                depth: 0,
            };
        }
        let mut segments = path.split('/');
        let top = segments.next().unwrap_or(path);
        let folder = folders.get(top).cloned();
        let inner = segments.next().filter(|_| folder.is_some());
        Self {
            module: inner.map_or_else(|| top.to_owned(), |inner| format!("{top}/{inner}")),
            folder,
            depth: path.split('/').count(),
        }
    }
}

fn without_ending(path: &str) -> &str {
    path.trim_end_matches(".rs").trim_end_matches("/mod")
}

/// All paths in the root itself, where they need no prefix.
fn paths_in_the_root(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for statement in code.split_inclusive(';') {
        if statement.rsplit(['\n', '}']).any(is_re_export) {
            continue;
        }
        for (at, word) in code::words(statement) {
            let before = statement[..at].chars().next_back();
            if before != Some(':') && statement[at + word.len()..].starts_with("::") {
                found.extend(paths(&statement[at..]));
            }
        }
    }
    found
}

fn is_re_export(line: &str) -> bool {
    line.trim_start().starts_with("pub") && line.contains("use ")
}

/// All paths that begin at the crate's root, or at the folder around a module.
fn paths_from_the_root(code: &str, place: &Place) -> Vec<Vec<String>> {
    let mut starts = vec![("crate::".to_owned(), None)];
    if place.depth > 0 {
        starts.push(("super::".repeat(place.depth), None));
    }
    if place.depth > 1 && place.folder.is_some() {
        starts.push(("super::".repeat(place.depth - 1), place.folder.clone()));
    }
    let mut found = Vec::new();
    for (start, folder) in &starts {
        for (at, _) in code.match_indices(start.as_str()) {
            // `$crate`, `other_crate::` and a longer chain of `super` are something else.
            let before = code[..at].chars().next_back();
            let rest = &code[at + start.len()..];
            let is_longer =
                before.is_some_and(|before| code::is_word(before) || "$:".contains(before));
            if is_longer || rest.starts_with("super::") {
                continue;
            }
            let from = |path: Vec<String>| folder.iter().cloned().chain(path).collect();
            found.extend(paths(rest).into_iter().map(from));
        }
    }
    found
}

/// The paths of a tree of names, as it stands behind `use` or in the middle of code.
fn paths(tree: &str) -> Vec<Vec<String>> {
    let tree = tree.trim_start();
    if let Some(group) = tree.strip_prefix('{') {
        return elements(group).into_iter().flat_map(paths).collect();
    }
    let name = tree.split(|letter| !code::is_word(letter)).next();
    let name = name.unwrap_or_default();
    let inner = tree[name.len()..].strip_prefix("::");
    let inner = inner.filter(|inner| {
        let first = inner.chars().next();
        first.is_some_and(|first| first == '{' || code::is_word(first))
    });
    match inner {
        None => vec![vec![name.to_owned()]],
        Some(inner) => {
            let behind = |path: Vec<String>| [name.to_owned()].into_iter().chain(path).collect();
            paths(inner).into_iter().map(behind).collect()
        }
    }
}

/// What stands between the commas of a group, up to its closing brace.
fn elements(group: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let mut begin = 0;
    let mut elements = Vec::new();
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => {
                elements.push(&group[begin..at]);
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                elements.push(&group[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    elements.retain(|element| !element.trim().is_empty());
    elements
}

/// The names that a root re-exports, each with the module that it comes from.
fn re_exports(code: &str, names: &RootNames) -> BTreeMap<String, String> {
    let mut exports = BTreeMap::new();
    for (at, _) in code.match_indices("use ") {
        let line = code[..at]
            .rsplit(['\n', ';', '}'])
            .next()
            .unwrap_or_default();
        if !line.trim_start().starts_with("pub") {
            continue;
        }
        let statement = code[at + 4..].trim_start();
        let statement = statement.strip_prefix("self::").unwrap_or(statement);
        for path in paths(statement).into_iter().filter(|path| path.len() > 1) {
            let module = names.module(&path);
            exports.extend(path.last().map(|name| (name.clone(), module)));
        }
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
    fn a_module_that_only_declares_others_is_a_folder() {
        let folder = ("f.rs", "//! A folder.\npub(crate) mod b;\nmod c;");
        let b = ("f/b.rs", "use crate::{f::{c::C, d}, g};");
        check(
            &[folder, b, ("f/c.rs", ""), ("g.rs", "use crate::f::c;")],
            &[],
        );
        let cycle: &[&[&str]] = &[&["f/b", "f/c"]];
        check(&[folder, b, ("f/c.rs", "use crate::f::b::B;")], cycle);
        check(&[folder, b, ("f/c/x.rs", "use super::super::b::B;")], cycle);
        let root = ("lib.rs", "mod f; pub use self::f::{b::{A, B}, c::C};");
        check(&[root, folder, b, ("f/c.rs", "use crate::B;")], cycle);
        let through = [("f/c.rs", "use crate::g;"), ("g.rs", "use crate::f::b;")];
        let all = [folder, b, through[0], through[1]];
        check(&all, &[&["f/b", "f/c", "g"]]);
        let more = ("f.rs", "mod b; mod c; fn f() {}");
        check(&[more, b, through[0], through[1]], &[&["f", "g"]]);
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
