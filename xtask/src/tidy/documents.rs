//! Rules about documents: their links, their numbers and the table of contents of the book.

use std::path::{Component, Path, PathBuf};

use crate::tree::{File, Tree};

use super::BrokenRule;
use super::prose::prose;

/// The table of contents of the book.
pub(crate) const SUMMARY: &str = "docs/SUMMARY.md";

pub(super) fn links_resolve(tree: &Tree) -> Vec<BrokenRule> {
    let mut violations = Vec::new();
    for file in tree.with_extension("md") {
        for link in links(&file.text) {
            if let Some(missing) = missing(tree, file, &link) {
                violations.push(BrokenRule::new(file, link.line, missing));
            }
        }
    }
    violations
}

/// A relative link in a document.
#[derive(Debug)]
pub(crate) struct PageLink<'a> {
    line: usize,
    /// Empty for a heading of the same document.
    path: &'a str,
    heading: Option<&'a str>,
}

impl PageLink<'_> {
    /// The path from the root of the tree, if the link does not lead out of it.
    pub(crate) fn target(&self, file: &File) -> Option<String> {
        let mut path = PathBuf::from(&file.path);
        if !self.path.is_empty() {
            path.pop();
        }
        for part in Path::new(self.path).components() {
            match part {
                Component::Normal(name) => path.push(name),
                Component::CurDir => {}
                Component::ParentDir if path.pop() => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        path.into_os_string().into_string().ok()
    }
}

/// All relative links. Code blocks hold none.
pub(crate) fn links(text: &str) -> Vec<PageLink<'_>> {
    let mut links = Vec::new();
    for (line, text) in prose(text) {
        for part in text.split("](").skip(1) {
            let target = part.split([')', ' ']).next().unwrap_or_default();
            if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (path, heading) = match target.split_once('#') {
                Some((path, heading)) => (path, Some(heading)),
                None => (target, None),
            };
            links.push(PageLink {
                line,
                path,
                heading,
            });
        }
    }
    links
}

/// What is wrong with a link, if anything is.
fn missing(tree: &Tree, file: &File, link: &PageLink<'_>) -> Option<String> {
    let path = link.path;
    let Some(target) = link.target(file) else {
        return Some(format!("`{path}` is not there"));
    };
    let Some(heading) = link.heading else {
        let is_there = tree
            .files
            .iter()
            .any(|file| Path::new(&file.path).starts_with(&target));
        return (!is_there).then(|| format!("`{path}` is not there"));
    };
    let Some(other) = tree.file(&target) else {
        return Some(format!("`{path}` is not there"));
    };
    let is_there = anchors(&other.text).iter().any(|anchor| anchor == heading);
    (other.extension() == Some("md") && !is_there)
        .then(|| format!("`{target}` has no heading `#{heading}`"))
}

/// The anchors of the headings, as GitHub and mdBook form them.
fn anchors(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    for (_, line) in prose(text) {
        let Some(heading) = line.trim_start_matches('#').strip_prefix(' ') else {
            continue;
        };
        if !line.starts_with('#') {
            continue;
        }
        let slug = slug(heading);
        let earlier = anchors.iter().filter(|other| **other == slug).count();
        anchors.push(match earlier {
            0 => slug,
            count => format!("{slug}-{count}"),
        });
    }
    anchors
}

fn slug(heading: &str) -> String {
    // Of a link only the text counts.
    let mut text = String::new();
    for part in heading.split('[') {
        match part.split_once("](") {
            Some((shown, rest)) => {
                text.push_str(shown);
                text.push_str(rest.split_once(')').map_or("", |(_, rest)| rest));
            }
            None => text.push_str(part),
        }
    }
    text.trim()
        .chars()
        .filter_map(|character| match character {
            ' ' => Some('-'),
            '-' | '_' => Some(character),
            other => other.is_alphanumeric().then(|| other.to_ascii_lowercase()),
        })
        .collect()
}

/// mdBook renders only the pages that its table of contents lists.
pub(super) fn pages_are_in_the_book(tree: &Tree) -> Vec<BrokenRule> {
    let Some(summary) = tree.file(SUMMARY) else {
        return Vec::new();
    };
    let listed: Vec<String> = links(&summary.text)
        .iter()
        .filter_map(|link| link.target(summary))
        .collect();
    tree.with_extension("md")
        .filter(|file| file.path.starts_with("docs/") && file.path != SUMMARY)
        .filter(|file| !listed.contains(&file.path))
        .map(|file| BrokenRule::new(file, 1, format!("the page is not listed in {SUMMARY}")))
        .collect()
}

/// Two authors who take the same number at the same time meet here.
pub(super) fn decisions_are_numbered_once(tree: &Tree) -> Vec<BrokenRule> {
    let decisions = tree
        .with_extension("md")
        .filter(|file| file.path.starts_with("docs/decisions/") && file.stem() != "README");
    let mut violations = Vec::new();
    let mut numbers: Vec<&str> = Vec::new();
    for file in decisions {
        let number = file.stem().split('-').next().unwrap_or_default();
        let well_formed = number.len() == 4 && number.bytes().all(|byte| byte.is_ascii_digit());
        if !well_formed {
            violations.push(BrokenRule::new(
                file,
                1,
                "a decision is named `0001-what.md`",
            ));
        } else if numbers.contains(&number) {
            violations.push(BrokenRule::new(
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
    fn links_lead_to_headings() {
        let text = "\
# A `b` (c), d_e-f
## [On](b.md) foot
## [On](b.md) foot
```
# No heading
```
[a](#a-b-c-d_e-f) [b](a.md#on-foot-1) [c](b.md#on-foot) [d](#no-heading) [e](b.rs#L1)";
        let files = [("docs/a.md", text), ("docs/b.md", "# B"), ("docs/b.rs", "")];
        let expected = [
            "docs/a.md:7: `docs/b.md` has no heading `#on-foot`",
            "docs/a.md:7: `docs/a.md` has no heading `#no-heading`",
        ];
        check(links_resolve, &files, &expected);
    }

    #[test]
    fn every_page_is_in_the_book() {
        let files = [
            ("README.md", ""),
            ("docs/SUMMARY.md", "[A](a.md)\n- [B](b/c.md)"),
            ("docs/a.md", ""),
            ("docs/b/c.md", ""),
            ("docs/b/d.md", ""),
        ];
        let expected = ["docs/b/d.md:1: the page is not listed in docs/SUMMARY.md"];
        check(pages_are_in_the_book, &files, &expected);
    }

    #[test]
    fn relative_links_lead_to_files_and_folders_of_the_tree() {
        let text = "\
[a](../README.md#read-me) [b](formats/) [c](https://example.com/x#y)
[e](gone.md) and [f](../../outside.md)
```
[g](code.md)
```
[h](/etc)";
        let files = [
            ("README.md", "# Read me"),
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
