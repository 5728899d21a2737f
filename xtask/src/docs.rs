//! `cargo xtask docs`: builds the book of `docs/` into `target/book` with mdBook.
//!
//! `cargo xtask ci` does not build it: installing mdBook takes three minutes of CPU time. `cargo xtask
//! tidy` checks the table of contents and all links in a second.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::tidy::documents::{SUMMARY, links};
use crate::tree::{self, File, Tree};
use crate::{step, tool};

const VERSION: &str = "0.5.4";

/// The configuration of mdBook, in the root of the repository.
const CONFIG: &str = "book.toml";

const README: &str = "README.md";

pub(crate) fn run(root: &Path) -> Result<()> {
    let mdbook = step::timed("mdbook", || tool::install(root, "mdbook", VERSION))?;
    let target = tree::target_folder(root)?;
    let source = target.join("book-source");
    stage(&Tree::load(root)?, &source.join("src")).context("copying the pages")?;
    fs::copy(root.join(CONFIG), source.join(CONFIG)).context("copying book.toml")?;
    let mut build = Command::new(mdbook);
    build
        .arg("build")
        .arg(&source)
        .env("MDBOOK_BOOK__SRC", "src");
    step::run(build.arg("--dest-dir").arg(target.join("book")))
}

/// Copies `docs/` and all files outside it that its pages link to. Everything keeps its path, so that
/// all links hold.
fn stage(tree: &Tree, folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    let paths = shown(tree);
    for path in &paths {
        let to = folder.join(path);
        fs::create_dir_all(to.parent().expect("it is below a folder"))?;
        fs::copy(tree.root.join(path), to)?;
    }
    Ok(fs::write(
        folder.join("SUMMARY.md"),
        contents(tree, &paths),
    )?)
}

/// The README, the files of `docs/`, and those that they and the documents among those link to.
fn shown(tree: &Tree) -> BTreeSet<&str> {
    let pages = tree
        .files
        .iter()
        .filter(|file| file.path.starts_with("docs/") || file.path == README);
    let mut waiting: Vec<&File> = pages.collect();
    let mut shown = BTreeSet::new();
    while let Some(file) = waiting.pop() {
        if shown.insert(file.path.as_str()) && file.extension() == Some("md") {
            let links = links(&file.text);
            let targets = links.iter().filter_map(|link| link.target(file));
            waiting.extend(targets.filter_map(|target| tree.file(&target)));
        }
    }
    shown
}

/// The table of contents, seen from the root: the README first, which becomes `index.html`, and the
/// other documents outside `docs/` last.
fn contents(tree: &Tree, paths: &BTreeSet<&str>) -> String {
    let summary = tree.file(SUMMARY).map_or("", |file| file.text.as_str());
    let pages = summary
        .trim_start_matches("# Summary")
        .replace("](", "](docs/");
    let mut contents = format!("[Turnstile]({README})\n{pages}\n# The repository\n\n");
    let outside = paths
        .iter()
        .filter(|path| !path.starts_with("docs/") && **path != README);
    for file in outside.filter_map(|path| tree.file(path)) {
        if file.extension() == Some("md") {
            let title = file.text.lines().next().unwrap_or_default();
            let title = title.trim_start_matches('#').trim();
            writeln!(contents, "- [{title}]({})", file.path).expect("a string takes everything");
        }
    }
    contents
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_book_shows_the_pages_and_what_they_link_to() {
        let files = [
            ("CHANGELOG.md", "# Changes"),
            ("CONTRIBUTING.md", "# Contributing"),
            ("README.md", "# Read me\n[code](src/main.rs)"),
            ("docs/SUMMARY.md", "# Summary\n- [A](a.md)\n"),
            ("docs/a.md", "[changes](../CHANGELOG.md) [gone](b.md)"),
            ("docs/image.png", ""),
            ("src/lib.rs", ""),
            ("src/main.rs", ""),
        ];
        let tree = Tree {
            files: files.map(|(path, text)| File::new(path, text)).into(),
            ..Tree::default()
        };
        let shown = shown(&tree);
        let expected = [
            "CHANGELOG.md",
            "README.md",
            "docs/SUMMARY.md",
            "docs/a.md",
            "docs/image.png",
            "src/main.rs",
        ];
        assert_eq!(shown, BTreeSet::from(expected));
        assert_eq!(
            contents(&tree, &shown),
            "[Turnstile](README.md)\n\n- [A](docs/a.md)\n\n# The repository\n\n- [Changes](CHANGELOG.md)\n"
        );
    }
}
