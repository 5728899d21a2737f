//! Budgets: how long a file may be. The budget of a function is a lint of clippy.

use crate::tree::{FILE_BYTES_MAX, File, Tree};

use super::BrokenRule;

/// Lines of a Rust file before its unit tests.
const RUST_LINES_MAX: usize = 500;
const README_LINES_MAX: usize = 120;
const DECISION_LINES_MAX: usize = 60;

/// Files over the budget, with their lines. The list is a ratchet: a number only falls,
/// and a file that fits leaves the list.
const OVERSIZED: &[(&str, usize)] = &[];

pub(super) fn rust_files_fit(tree: &Tree) -> Vec<BrokenRule> {
    rust_files_fit_but(tree, OVERSIZED)
}

fn rust_files_fit_but(tree: &Tree, oversized: &[(&str, usize)]) -> Vec<BrokenRule> {
    let mut violations = Vec::new();
    for file in tree.rust().filter(|file| !file.is_test()) {
        let lines = file.untested_lines().count();
        let listed = oversized
            .iter()
            .find(|(path, _)| *path == file.path)
            .map(|(_, lines)| *lines);
        let budget = listed.unwrap_or(RUST_LINES_MAX);
        let rule = if lines > budget {
            format!("{lines} lines before the tests; the budget is {budget}")
        } else if listed.is_some() && lines < budget {
            format!(
                "{lines} lines before the tests: lower its number in the list of oversized files"
            )
        } else {
            continue;
        };
        violations.push(BrokenRule::new(file, 1, rule));
    }
    violations
}

pub(super) fn documents_fit(tree: &Tree) -> Vec<BrokenRule> {
    let mut violations = Vec::new();
    for file in tree.with_extension("md") {
        let Some(budget) = document_budget(file) else {
            continue;
        };
        let lines = file.text.lines().count();
        if lines > budget {
            let rule = format!("{lines} lines; the budget is {budget}");
            violations.push(BrokenRule::new(file, 1, rule));
        }
    }
    violations
}

fn document_budget(file: &File) -> Option<usize> {
    if file.path.starts_with("docs/decisions/") {
        return Some(DECISION_LINES_MAX);
    }
    (file.stem() == "README").then_some(README_LINES_MAX)
}

pub(super) fn files_are_small(tree: &Tree) -> Vec<BrokenRule> {
    let large = tree.files.iter().filter(|file| file.bytes > FILE_BYTES_MAX);
    large
        .map(|file| {
            BrokenRule::new(
                file,
                1,
                format!("{} bytes; git keeps them for ever", file.bytes),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;

    fn lines(count: usize) -> String {
        "x\n".repeat(count)
    }

    #[test]
    fn tests_do_not_count() {
        let tested = format!("{}#[cfg(test)]\n{}", lines(500), lines(500));
        check(
            rust_files_fit,
            &[("a.rs", &tested), ("a/tests.rs", &lines(900))],
            &[],
        );
        let expected = ["a.rs:1: 501 lines before the tests; the budget is 500"];
        check(rust_files_fit, &[("a.rs", &lines(501))], &expected);
    }

    #[test]
    fn the_list_of_oversized_files_only_shrinks() {
        let oversized = [("a.rs", 600)];
        let broken = |count: usize| {
            let tree = Tree {
                files: vec![File::new("a.rs", &lines(count))],
                ..Tree::default()
            };
            rust_files_fit_but(&tree, &oversized)
                .iter()
                .map(ToString::to_string)
                .collect::<String>()
        };
        assert_eq!(broken(600), "");
        assert_eq!(
            broken(601),
            "a.rs:1: 601 lines before the tests; the budget is 600"
        );
        let lower =
            "a.rs:1: 599 lines before the tests: lower its number in the list of oversized files";
        assert_eq!(broken(599), lower);
    }

    #[test]
    fn a_readme_and_a_decision_are_short() {
        let files = [
            ("README.md", lines(121)),
            ("docs/decisions/0001-a.md", lines(61)),
            ("docs/formats/record.md", lines(900)),
        ];
        let files = files.each_ref().map(|(path, text)| (*path, text.as_str()));
        let expected = [
            "README.md:1: 121 lines; the budget is 120",
            "docs/decisions/0001-a.md:1: 61 lines; the budget is 60",
        ];
        check(documents_fit, &files, &expected);
    }

    #[test]
    fn large_files_stay_out_of_git() {
        let file = File {
            bytes: FILE_BYTES_MAX + 1,
            ..File::new("a.bin", "")
        };
        let tree = Tree {
            files: vec![file, File::new("b.bin", "x")],
            ..Tree::default()
        };
        let lines: Vec<String> = files_are_small(&tree)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(lines, ["a.bin:1: 1048577 bytes; git keeps them for ever"]);
    }
}
