//! The document of a format carries the hash of its source, so that no format changes in silence.
//!
//! A line `source: engine/record/src/lib.rs xxh3:0123456789abcdef` names one source file.
//! Whoever changes that file reads the document again and runs `cargo xtask tidy --bless`.

use std::fs;

use anyhow::{Context, Result};
use xxhash_rust::xxh3::xxh3_64;

use crate::tree::{File, Tree};

use super::BrokenRule;

const ACCEPT: &str = "read this document again, then `cargo xtask tidy --bless`";

pub(super) fn sources_have_their_hash(tree: &Tree) -> Vec<BrokenRule> {
    documents(tree)
        .flat_map(|document| stale_lines(tree, document))
        .collect()
}

fn documents(tree: &Tree) -> impl Iterator<Item = &File> {
    tree.with_extension("md")
        .filter(|file| file.path.starts_with("docs/formats/"))
}

fn stale_lines(tree: &Tree, document: &File) -> Vec<BrokenRule> {
    let mut violations = Vec::new();
    let mut sources = 0;
    for (line, text) in (1..).zip(document.text.lines()) {
        let Some(path) = source(text) else { continue };
        sources += 1;
        match fresh_line(tree, path) {
            None => violations.push(BrokenRule::new(
                document,
                line,
                format!("`{path}` is not there"),
            )),
            Some(fresh) if fresh == text => {}
            Some(_) => {
                let rule = format!("`{path}` has changed: {ACCEPT}");
                violations.push(BrokenRule::new(document, line, rule));
            }
        }
    }
    if sources == 0 {
        violations.push(BrokenRule::new(
            document,
            1,
            "no line `source: <path> xxh3:<hash>`",
        ));
    }
    violations
}

/// The path in a `source:` line, with or without its hash.
fn source(line: &str) -> Option<&str> {
    line.strip_prefix("source: ")?.split_whitespace().next()
}

/// The line as it should be. Unit tests are no part of a format.
fn fresh_line(tree: &Tree, path: &str) -> Option<String> {
    let lines: Vec<&str> = tree.file(path)?.untested_lines().collect();
    Some(format!(
        "source: {path} xxh3:{:016x}",
        xxh3_64(lines.join("\n").as_bytes())
    ))
}

pub(super) fn bless(tree: &Tree) -> Result<()> {
    for document in documents(tree) {
        let fresh = blessed(tree, document);
        if fresh != document.text {
            fs::write(tree.root.join(&document.path), fresh)
                .with_context(|| format!("cannot write {}", document.path))?;
        }
    }
    Ok(())
}

fn blessed(tree: &Tree, document: &File) -> String {
    let mut text = String::with_capacity(document.text.len());
    for line in document.text.lines() {
        let fresh = source(line).and_then(|path| fresh_line(tree, path));
        text.push_str(fresh.as_deref().unwrap_or(line));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;

    #[test]
    fn a_document_names_its_source_and_its_hash() {
        let files = [
            (
                "docs/formats/a.md",
                "# A\nsource: a.rs xxh3:0000000000000000\nsource: b.rs\n",
            ),
            ("docs/formats/b.md", "# B\n"),
            ("a.rs", "//! A.\n"),
        ];
        let expected = [
            "docs/formats/a.md:2: `a.rs` has changed: read this document again, then `cargo xtask tidy --bless`",
            "docs/formats/a.md:3: `b.rs` is not there",
            "docs/formats/b.md:1: no line `source: <path> xxh3:<hash>`",
        ];
        check(sources_have_their_hash, &files, &expected);
    }

    #[test]
    fn a_blessed_document_holds_until_its_source_changes() {
        let source = "//! A.\n#[cfg(test)]\nmod tests {\n";
        let document = File::new("docs/formats/a.md", "# A\nsource: a.rs\n");
        let tree = Tree {
            files: vec![document, File::new("a.rs", source)],
            ..Tree::default()
        };
        let text = blessed(&tree, &tree.files[0]);

        check(
            sources_have_their_hash,
            &[("docs/formats/a.md", &text), ("a.rs", "//! A.\n")],
            &[],
        );
        let expected = "docs/formats/a.md:2: `a.rs` has changed: read this document again, then `cargo xtask tidy --bless`";
        let files = [("docs/formats/a.md", text.as_str()), ("a.rs", "//! B.\n")];
        check(sources_have_their_hash, &files, &[expected]);
    }
}
