//! The rules of the house, each a function from the tree to its violations.

mod arrows;
mod budgets;
mod comparisons;
mod console;
mod cycles;
pub(crate) mod documents;
mod formats;
mod prose;
pub(crate) mod types;
mod words;

use std::fmt;
use std::path::Path;

use anyhow::{Result, ensure};

use crate::tree::{File, Tree};

type HouseRule = fn(&Tree) -> Vec<BrokenRule>;

const RULES: [HouseRule; 19] = [
    words::first_line_says_what_the_file_is,
    words::names_are_nouns_of_the_business,
    words::code_has_no_banned_call,
    words::code_is_ascii,
    words::files_name_no_machine,
    arrows::crates_see_only_their_layers,
    cycles::modules_form_no_new_cycle,
    types::no_more_names_have_two_meanings,
    budgets::rust_files_fit,
    budgets::documents_fit,
    budgets::files_are_small,
    comparisons::tests_compare,
    documents::links_resolve,
    documents::pages_are_in_the_book,
    console::shown_commands_are_run,
    documents::decisions_are_numbered_once,
    prose::documents_use_plain_english,
    prose::printed_text_is_plain_english,
    formats::sources_have_their_hash,
];

/// A broken rule, in the form that editors can jump to.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BrokenRule {
    path: String,
    /// From 1.
    line: usize,
    rule: String,
}

impl BrokenRule {
    fn new(file: &File, line: usize, rule: impl Into<String>) -> Self {
        Self {
            path: file.path.clone(),
            line,
            rule: rule.into(),
        }
    }
}

impl fmt::Display for BrokenRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.rule)
    }
}

/// Prints every broken rule and fails if there is one.
pub(crate) fn run(root: &Path) -> Result<()> {
    let violations = violations(&Tree::load(root)?);
    for violation in &violations {
        println!("{violation}");
    }
    ensure!(
        violations.is_empty(),
        "rules of the house broken: {}",
        violations.len()
    );
    Ok(())
}

fn violations(tree: &Tree) -> Vec<BrokenRule> {
    let mut violations: Vec<BrokenRule> = RULES.iter().flat_map(|rule| rule(tree)).collect();
    violations.sort();
    violations
}

/// Writes the hash of each source into the document of its format.
pub(crate) fn bless(tree: &Tree) -> Result<()> {
    formats::bless(tree)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies one rule to a few files and compares its violations as lines.
    pub(super) fn check(rule: HouseRule, files: &[(&str, &str)], expected: &[&str]) {
        let files = files
            .iter()
            .map(|(path, text)| File::new(path, text))
            .collect();
        let tree = Tree {
            files,
            ..Tree::default()
        };
        let lines: Vec<String> = rule(&tree).iter().map(BrokenRule::to_string).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn the_house_is_tidy() {
        let tree = Tree::load(crate::root()).unwrap();
        let lines: Vec<String> = violations(&tree)
            .iter()
            .map(BrokenRule::to_string)
            .collect();
        assert!(lines.is_empty(), "\n{}", lines.join("\n"));
    }
}
