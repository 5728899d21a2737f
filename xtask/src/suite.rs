//! `cargo xtask test`: everything the tests need, then all tests.

use std::io::{BufRead, BufReader};
use std::ops::AddAssign;
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::clients::Clients;
use crate::{step, tree};

pub(crate) fn run(root: &Path) -> Result<()> {
    let clients = step::timed("what the tests need", || Clients::install(root))?;
    step::timed("fuzz targets", || build_fuzz_targets(root))?;
    step::timed("tests", || test(root, &clients))
}

/// The fuzz targets are outside the workspace, because their crate wants its own flags to run.
fn build_fuzz_targets(root: &Path) -> Result<()> {
    if !root.join("fuzz/Cargo.toml").exists() {
        return Ok(());
    }
    let mut check = step::cargo(root);
    check.args([
        "check",
        "--quiet",
        "--manifest-path",
        "fuzz/Cargo.toml",
        "--target-dir",
    ]);
    step::run(check.arg(tree::target_folder(root)?.join("fuzz")))
}

fn test(root: &Path, clients: &Clients) -> Result<()> {
    let mut cargo = step::cargo(root);
    cargo.args(["test", "--workspace", "--no-fail-fast"]);
    cargo.envs(clients.environment());
    let (count, success) = follow(&mut cargo)?;
    println!(
        "tests: {} passed, {} failed, {} skipped",
        count.passed, count.failed, count.skipped
    );
    ensure!(success, "not all tests passed");
    ensure!(count.passed > 0, "no test ran");
    Ok(())
}

/// Shows what a test run writes while it runs, and counts its closing lines.
fn follow(cargo: &mut Command) -> Result<(Count, bool)> {
    let mut child = cargo.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let stdout = child.stdout.take().expect("the output was asked for");
    let count = show(BufReader::new(stdout))?;
    Ok((count, child.wait()?.success()))
}

fn show(output: BufReader<ChildStdout>) -> Result<Count> {
    let mut count = Count::default();
    for line in output.split(b'\n') {
        let line = line.context("reading what the tests write")?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        if let Some(closing) = Count::of_closing_line(&line) {
            count += closing;
        }
    }
    Ok(count)
}

/// Tests by their end.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    passed: u32,
    failed: u32,
    skipped: u32,
}

impl Count {
    /// Reads `test result: ok. 3 passed; 0 failed; 0 ignored; ...`.
    fn of_closing_line(line: &str) -> Option<Self> {
        let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
        let number = |label: &str| {
            counts
                .split("; ")
                .find_map(|part| part.strip_suffix(label)?.parse::<u32>().ok())
        };
        let (passed, failed) = (number(" passed")?, number(" failed")?);
        Some(Self {
            passed,
            failed,
            skipped: number(" ignored")?,
        })
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_counted() {
        let line = "test result: FAILED. 12 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.01s";
        let expected = Count {
            passed: 12,
            failed: 1,
            skipped: 2,
        };
        assert_eq!(Count::of_closing_line(line), Some(expected));
        assert_eq!(Count::of_closing_line("test journal::tears ... ok"), None);
    }
}
