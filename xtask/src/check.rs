//! `cargo xtask check`: a first answer about a change, in about two minutes, without root and network.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::tree::{Crate, Tree};
use crate::{step, tidy};

/// A unit test that runs a program of Debian's, which `cargo xtask test` installs.
const NEEDS_A_PROGRAM: &str = "metrics_are_sound_in_both_formats";

/// Checks what differs from `base`, a commit.
pub(crate) fn run(root: &Path, base: &str) -> Result<()> {
    let changed = changed(root, base)?;
    let tree = Tree::load(root)?;
    let crates = crates_of(&tree.crates, &changed);
    step::timed("format", || {
        step::run(step::cargo(root).args(["fmt", "--all", "--check"]))
    })?;
    step::timed("tidy", || tidy::run(root))?;
    if crates.is_empty() {
        println!("xtask: no crate differs from {base}");
        return Ok(());
    }
    step::timed("lints", || {
        let mut lints = step::cargo(root);
        lints.args(["clippy", "--all-targets", "--quiet"]);
        step::run(lints.args(packages(&crates)).args(["--", "-D", "warnings"]))
    })?;
    step::timed("unit tests", || {
        for (targets, source) in [("--lib", "src/lib.rs"), ("--bins", "src/main.rs")] {
            let has_source = |one: &&Crate| root.join(&one.folder).join(source).exists();
            let crates: Vec<&Crate> = crates.iter().copied().filter(has_source).collect();
            if !crates.is_empty() {
                let mut tests = step::cargo(root);
                tests
                    .args(["test", targets, "--quiet"])
                    .args(packages(&crates));
                step::run(tests.args(["--", "--skip", NEEDS_A_PROGRAM]))?;
            }
        }
        Ok(())
    })
}

fn packages<'a>(crates: &[&'a Crate]) -> Vec<&'a str> {
    let names = crates.iter().map(|one| one.name.as_str());
    names.flat_map(|name| ["--package", name]).collect()
}

/// The paths that differ from a commit, those of new files among them.
fn changed(root: &Path, base: &str) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    for question in [
        &["diff", "--name-only", base][..],
        &["ls-files", "--others", "--exclude-standard"],
    ] {
        let listed = step::output(Command::new("git").args(question).current_dir(root))?;
        paths.extend(listed.lines().map(str::to_owned));
    }
    Ok(paths)
}

/// The crates that these paths belong to: the deepest folder with a crate counts.
fn crates_of<'a>(crates: &'a [Crate], paths: &[String]) -> Vec<&'a Crate> {
    let owner = |path: &String| {
        let holds = |one: &&Crate| {
            let rest = path.strip_prefix(one.folder.as_str());
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        crates
            .iter()
            .filter(holds)
            .max_by_key(|one| one.folder.len())
    };
    let mut found: Vec<&Crate> = paths.iter().filter_map(owner).collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found.dedup_by(|a, b| a.name == b.name);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_belongs_to_the_deepest_crate_around_it() {
        let crates = ["bench", "bench/harness", "cli", "domain/rooms"].map(|folder| Crate {
            name: format!("turnstile-{folder}"),
            folder: folder.to_owned(),
            sees: Vec::new(),
        });
        let paths = [
            "bench/harness/src/lib.rs",
            "cli/tests/cli/main.rs",
            "cli/src/main.rs",
            "domain/rooms2/src/lib.rs",
            "docs/lab.md",
        ];
        let found = crates_of(&crates, &paths.map(str::to_owned));
        let folders: Vec<&str> = found.iter().map(|one| one.folder.as_str()).collect();
        assert_eq!(folders, ["bench/harness", "cli"]);
    }
}
