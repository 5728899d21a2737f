//! Rules about the commands that documents show: a test of the `cli` crate runs them.

use crate::tree::{File, Tree};

use super::BrokenRule;

/// What a command begins with.
const PROGRAMS: [&str; 6] = [
    "$ ",
    "turnstile ",
    "redis-cli ",
    "curl ",
    "cargo run ",
    "cargo xtask ",
];

/// What may follow `console`. The test, `cli/tests/cli/book.rs`, explains each.
fn is_known(note: &str) -> bool {
    matches!(note, "" | "numbers vary" | "server stopped")
        || note
            .strip_prefix("not run: ")
            .is_some_and(|reason| !reason.is_empty())
}

pub(super) fn shown_commands_are_run(tree: &Tree) -> Vec<BrokenRule> {
    let mut violations = Vec::new();
    let is_of_the_book = |file: &&File| file.path == "README.md" || file.path.starts_with("docs/");
    for file in tree.with_extension("md").filter(is_of_the_book) {
        check(file, &mut violations);
    }
    violations
}

fn check(file: &File, violations: &mut Vec<BrokenRule>) {
    // The words after the fence of the block that is open.
    let mut block: Option<&str> = None;
    let mut is_first = false;
    for (number, line) in (1..).zip(file.text.lines()) {
        if let Some(words) = line.strip_prefix("```") {
            block = block.is_none().then_some(words);
            is_first = true;
            if let Some(note) = block.and_then(|words| words.strip_prefix("console"))
                && !is_known(note.trim())
            {
                let rule = format!("`{}` is not what a console block may say", note.trim());
                violations.push(BrokenRule::new(file, number, rule));
            }
            continue;
        }
        let is_console = block.is_some_and(|words| words.starts_with("console"));
        if is_console && is_first && !line.starts_with("$ ") {
            let rule = "a console block begins with a command after `$ `";
            violations.push(BrokenRule::new(file, number, rule));
        }
        is_first = false;
        let indented = line.strip_prefix("    ").filter(|_| block.is_none());
        let shown = block.filter(|_| !is_console).map(|_| line).or(indented);
        if shown.is_some_and(|line| PROGRAMS.iter().any(|program| line.starts_with(program))) {
            let rule = "a command stands in a block of `console` lines, which a test runs";
            violations.push(BrokenRule::new(file, number, rule));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;

    #[test]
    fn commands_stand_in_blocks_that_a_test_runs() {
        let text = "\
```console
$ turnstile dev
ready
```
```console not run: needs a database
$ turnstile dev --rooms-backend postgres://localhost
```
```console not run:
turnstile dev
```
```sh
turnstile dev
```

    curl localhost
    127.0.0.1> PING
";
        let expected = [
            "docs/a.md:8: `not run:` is not what a console block may say",
            "docs/a.md:9: a console block begins with a command after `$ `",
            "docs/a.md:12: a command stands in a block of `console` lines, which a test runs",
            "docs/a.md:15: a command stands in a block of `console` lines, which a test runs",
        ];
        let files = [("docs/a.md", text), ("bench/results/b.md", text)];
        check(shown_commands_are_run, &files, &expected);
    }
}
