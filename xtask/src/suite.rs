//! `cargo xtask test`: everything the tests need, then all tests.

use std::ops::AddAssign;
use std::path::Path;
use std::thread;

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

use crate::clients::{self, ForeignClients};
use crate::programs::{self, ProgramEnd};
use crate::{page, step, tree};

/// Programs that run at a time. Most tests of doors and back ends wait for other programs half of their
/// time.
const LANES: usize = 2;

pub(crate) fn run(root: &Path) -> Result<()> {
    clients::programs()?;
    // One waits for the network, the other for the processors.
    let clients = thread::scope(|scope| {
        let building = scope.spawn(|| {
            let build = || programs::build(root, &["--workspace"]);
            step::timed("building the tests", build).map(|_programs| ())
        });
        let clients = install(root);
        let built = building.join().expect("building does not panic");
        built.and(clients)
    })?;
    step::timed("the page of the console", || page::check(root))?;
    step::timed("tests", || passed(test(root, &["--workspace"], &clients)?))
}

fn passed((count, success): (Count, bool)) -> Result<()> {
    ensure!(success, "not all tests passed");
    ensure!(count.passed > 0, "no test ran");
    Ok(())
}

/// Installs what the tests need, then runs those of the crates in one folder.
pub(crate) fn run_area(root: &Path, area: &str) -> Result<()> {
    let inside = format!("{area}/");
    let crates = tree::crates(root)?;
    let packages: Vec<&str> = crates
        .iter()
        .filter(|one| one.folder == area || one.folder.starts_with(&inside))
        .flat_map(|one| ["--package", one.name.as_str()])
        .collect();
    ensure!(
        !packages.is_empty(),
        "no crate lies in the folder \"{area}\""
    );
    let clients = install(root)?;
    step::timed("tests", || passed(test(root, &packages, &clients)?))
}

/// Installs what the tests need.
pub(crate) fn install(root: &Path) -> Result<ForeignClients> {
    step::timed("what the tests need", || ForeignClients::install(root))
}

/// Runs the tests of some packages; says how many ended how, and whether all is well.
pub(crate) fn test(
    root: &Path,
    packages: &[&str],
    clients: &ForeignClients,
) -> Result<(Count, bool)> {
    let programs = programs::build(root, packages)?;
    // Cargo refuses to look for documentation where there is none.
    let has_library = programs.iter().any(|one| one.is_library);
    let threads = thread::available_parallelism()?.get() + 1;
    let mut whole = (Count::default(), true);
    programs::run(programs, LANES, threads, clients, |program, ended| {
        println!("     Running {program}\n{}", ended.output);
        if !ended.success {
            println!("error: {program} failed");
        }
        note(&mut whole, &program.name, &ended);
    })?;
    if has_library {
        let documented = programs::documented(root, packages, clients)?;
        println!("{}", documented.output);
        note(&mut whole, "documentation", &documented);
    }
    let (count, _) = &whole;
    println!(
        "tests: {} passed, {} failed, {} skipped",
        count.passed, count.failed, count.skipped
    );
    Ok(whole)
}

/// Adds what a program wrote about its tests. One that failed and does not close with the number of failed
/// tests, because it was killed or aborted, is a failure under its own name.
fn note((whole, success): &mut (Count, bool), program: &str, ended: &ProgramEnd) {
    let mut count = Count::default();
    for line in ended.output.lines() {
        if let Some(closing) = Count::of_closing_line(line) {
            count += closing;
        }
        count.failures.extend(failure(line));
    }
    if !ended.success && count.failed == 0 {
        count.failed = 1;
        count.failures.push(format!("{program} (the program)"));
    }
    *whole += count;
    *success &= ended.success;
}

/// The name of a test that failed, from the line that says so.
fn failure(line: &str) -> Option<String> {
    let name = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
    Some(name.to_owned())
}

/// Tests by their end.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Count {
    pub(crate) passed: u32,
    pub(crate) failed: u32,
    pub(crate) skipped: u32,
    /// The names of the tests that failed, and of programs that were killed or aborted.
    pub(crate) failures: Vec<String>,
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
            failures: Vec::new(),
        })
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.failures.extend(other.failures);
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
            failures: Vec::new(),
        };
        assert_eq!(Count::of_closing_line(line), Some(expected));
        assert_eq!(Count::of_closing_line("test journal::tears ... ok"), None);
    }

    #[test]
    fn a_program_that_ends_without_its_closing_line_is_a_failure() {
        let said = |output: &str, success: bool| {
            let mut whole = (Count::default(), true);
            let output = output.to_owned();
            note(&mut whole, "system", &ProgramEnd { output, success });
            let (count, success) = whole;
            (count.passed, count.failed, count.failures, success)
        };
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let (begun, own) = ("running 2 tests\ntest a ... ok\n", "system (the program)");
        assert_eq!(said(begun, false), (0, 1, names(&[own]), false));
        let failed = format!("{begun}test b ... FAILED\n");
        assert_eq!(said(&failed, false), (0, 1, names(&["b", own]), false));
        let closed = "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured";
        let closed = format!("{failed}{closed}\n");
        assert_eq!(said(&closed, false), (1, 1, names(&["b"]), false));
        let fine = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\n";
        assert_eq!(said(fine, true), (1, 0, names(&[]), true));
    }

    #[test]
    fn tests_that_fail_are_named() {
        let found = failure("test journal::tears ... FAILED");
        assert_eq!(found.as_deref(), Some("journal::tears"));
        assert_eq!(failure("test journal::tears ... ok"), None);
    }
}
