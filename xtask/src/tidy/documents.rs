//! Rules about documents: their links and their numbers.

use std::path::{Component, Path, PathBuf};

use crate::tree::{File, Tree};

use super::Violation;

pub(super) fn links_resolve(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in tree.with_extension("md") {
        for (line, target) in links(&file.text) {
            if !resolves(tree, file, target) {
                violations.push(Violation::new(
                    file,
                    line,
                    format!("`{target}` is not there"),
                ));
            }
        }
    }
    violations
}

/// The targets of all relative links, with their lines. Code blocks hold no links.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    let mut in_code = false;
    for (line, text) in (1..).zip(text.lines()) {
        in_code ^= text.trim_start().starts_with("```");
        if in_code {
            continue;
        }
        for part in text.split("](").skip(1) {
            let target = part.split([')', ' ', '#']).next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:") {
                links.push((line, target));
            }
        }
    }
    links
}

/// Whether a target, relative to the document, is a file of the tree or a folder of one.
fn resolves(tree: &Tree, file: &File, target: &str) -> bool {
    let mut path = PathBuf::from(&file.path);
    path.pop();
    for part in Path::new(target).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir if path.pop() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    tree.files
        .iter()
        .any(|file| Path::new(&file.path).starts_with(&path))
}

/// Two authors who take the same number at the same time meet here.
pub(super) fn decisions_are_numbered_once(tree: &Tree) -> Vec<Violation> {
    let decisions = tree
        .with_extension("md")
        .filter(|file| file.path.starts_with("docs/decisions/") && file.stem() != "README");
    let mut violations = Vec::new();
    let mut numbers: Vec<&str> = Vec::new();
    for file in decisions {
        let number = file.stem().split('-').next().unwrap_or_default();
        let well_formed = number.len() == 4 && number.bytes().all(|byte| byte.is_ascii_digit());
        if !well_formed {
            violations.push(Violation::new(
                file,
                1,
                "a decision is named `0001-what.md`",
            ));
        } else if numbers.contains(&number) {
            violations.push(Violation::new(
                file,
                1,
                format!("the number {number} is taken"),
            ));
        }
        numbers.push(number);
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;

    #[test]
    fn relative_links_lead_to_files_and_folders_of_the_tree() {
        let text = "\
[a](../README.md#top) [b](formats/) [c](https://example.com/x) [d](#here)
[e](gone.md) and [f](../../outside.md)
```
[g](code.md)
```
[h](/etc)";
        let files = [
            ("README.md", ""),
            ("docs/a.md", text),
            ("docs/formats/record.md", ""),
        ];
        let expected = [
            "docs/a.md:2: `gone.md` is not there",
            "docs/a.md:2: `../../outside.md` is not there",
            "docs/a.md:6: `/etc` is not there",
        ];
        check(links_resolve, &files, &expected);
    }

    #[test]
    fn a_decision_has_its_own_number() {
        let files = [
            ("docs/decisions/0001-a.md", ""),
            ("docs/decisions/0001-b.md", ""),
            ("docs/decisions/README.md", ""),
            ("docs/decisions/why.md", ""),
        ];
        let expected = [
            "docs/decisions/0001-b.md:1: the number 0001 is taken",
            "docs/decisions/why.md:1: a decision is named `0001-what.md`",
        ];
        check(decisions_are_numbered_once, &files, &expected);
    }
}
