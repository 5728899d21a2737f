//! The programs in which cargo puts the tests, and running them beside each other.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::clients::ForeignClients;
use crate::step;

/// One of them takes less than half of that on two cores. When it takes more, a test hangs, and its last
/// lines say which one has been running for long.
const MINUTES_MAX: u32 = 30;

/// Those that run for minutes, the longest first. They begin before all others, so that none of them is
/// left over at the end.
const LONG: [&str; 6] = ["system", "cli", "jetstream", "load", "mysql", "postgres"];

/// What cargo calls the kinds of libraries that are there. Each may have tests in its documentation.
const LIBRARIES: [&str; 2] = ["lib", "proc-macro"];

/// A program of tests.
#[derive(Debug)]
pub(crate) struct TestProgram {
    /// The name of its target.
    pub(crate) name: String,
    path: PathBuf,
    /// The folder of its package, in which its tests run.
    folder: PathBuf,
    /// Whether it has the tests of a library, whose documentation may hold more.
    pub(crate) is_library: bool,
}

/// What a program came to.
pub(crate) struct ProgramEnd {
    /// All that it wrote.
    pub(crate) output: String,
    pub(crate) success: bool,
}

/// What cargo says of each thing that it builds.
#[derive(Deserialize)]
struct CargoLine {
    reason: String,
    #[serde(default)]
    manifest_path: PathBuf,
    executable: Option<PathBuf>,
    target: Option<BuiltTarget>,
    profile: Option<BuildProfile>,
}

#[derive(Deserialize)]
struct BuiltTarget {
    name: String,
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct BuildProfile {
    test: bool,
}

/// Builds the tests of some packages; gives their programs, those that run long first.
pub(crate) fn build(root: &Path, packages: &[&str]) -> Result<Vec<TestProgram>> {
    let mut cargo = step::cargo(root);
    cargo.args([
        "test",
        "--no-run",
        "--quiet",
        "--message-format=json-render-diagnostics",
    ]);
    let output = step::output(cargo.args(packages))?;
    let programs = output.lines().filter_map(|line| program(line).transpose());
    let mut programs: Vec<TestProgram> = programs.collect::<Result<_>>()?;
    let rank = |one: &TestProgram| LONG.iter().position(|long| one.name == *long);
    programs.sort_by_key(|one| rank(one).unwrap_or(LONG.len()));
    Ok(programs)
}

/// The program of tests of which cargo tells in a line, if it is one.
fn program(line: &str) -> Result<Option<TestProgram>> {
    let built: CargoLine = serde_json::from_str(line).context("reading what cargo has built")?;
    let is_test = built.reason == "compiler-artifact" && built.profile.is_some_and(|one| one.test);
    let (Some(path), Some(target), true) = (built.executable, built.target, is_test) else {
        return Ok(None);
    };
    let folder = built.manifest_path.parent();
    Ok(Some(TestProgram {
        is_library: target
            .kind
            .iter()
            .any(|kind| LIBRARIES.contains(&kind.as_str())),
        name: target.name,
        path,
        folder: folder.context("a package lies in a folder")?.to_owned(),
    }))
}

/// Runs programs to their ends, `lanes` of them at a time, each with so many threads; tells `each` of one
/// after the other.
pub(crate) fn run(
    programs: Vec<TestProgram>,
    lanes: usize,
    threads: usize,
    clients: &ForeignClients,
    each: impl FnMut(&TestProgram, ProgramEnd) + Send,
) -> Result<()> {
    let waiting = Mutex::new(VecDeque::from(programs));
    let each = Mutex::new(each);
    let next = || {
        waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
    };
    let lane = || -> Result<()> {
        while let Some(program) = next() {
            let ended = program.run(threads, clients)?;
            let mut each = each.lock().unwrap_or_else(PoisonError::into_inner);
            each(&program, ended);
        }
        Ok(())
    };
    thread::scope(|scope| {
        let lanes: Vec<_> = (0..lanes).map(|_| scope.spawn(lane)).collect();
        let mut ends = lanes.into_iter().map(|one| one.join());
        ends.try_for_each(|end| end.expect("a lane does not panic"))
    })
}

/// Runs the tests that stand in the documentation of some packages.
pub(crate) fn documented(
    root: &Path,
    packages: &[&str],
    clients: &ForeignClients,
) -> Result<ProgramEnd> {
    let mut cargo = step::cargo(root);
    cargo.args(["test", "--doc", "--no-fail-fast"]);
    to_its_end(cargo.args(packages).envs(clients.environment()))
}

impl TestProgram {
    fn run(&self, threads: usize, clients: &ForeignClients) -> Result<ProgramEnd> {
        let mut command = step::for_minutes(MINUTES_MAX, &self.path);
        command
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .env("RUST_TEST_THREADS", threads.to_string())
            .envs(clients.environment());
        to_its_end(&mut command)
    }
}

fn to_its_end(command: &mut Command) -> Result<ProgramEnd> {
    let (mut reader, writer) = io::pipe()?;
    let stdout = writer.try_clone()?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(writer)
        .spawn()?;
    // Our own ends of the pipe would keep it open.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut output = Vec::new();
    reader.read_to_end(&mut output)?;
    Ok(ProgramEnd {
        success: child.wait()?.success(),
        output: String::from_utf8_lossy(&output).into_owned(),
    })
}

impl fmt::Display for TestProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.path.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_tests_is_known_among_all_that_cargo_builds() {
        let built = |kind: &str, test: bool, executable: &str| {
            let line = format!(
                "{{\"reason\": \"compiler-artifact\", \"manifest_path\": \"/house/book/Cargo.toml\", \
                 \"target\": {{\"name\": \"book\", \"kind\": [\"{kind}\"]}}, \
                 \"profile\": {{\"test\": {test}}}, \"executable\": {executable}}}"
            );
            program(&line).unwrap()
        };
        let found = built("lib", true, "\"/target/book-1\"").unwrap();
        assert_eq!(found.to_string(), "book (/target/book-1)");
        assert_eq!(found.folder, Path::new("/house/book"));
        assert!(found.is_library);
        assert!(
            built("proc-macro", true, "\"/target/book-3\"")
                .unwrap()
                .is_library
        );
        let of_a_folder = built("test", true, "\"/target/book-2\"").unwrap();
        assert!(!of_a_folder.is_library);
        assert!(built("bin", false, "\"/target/book\"").is_none());
        assert!(built("lib", false, "null").is_none());
        let end = "{\"reason\": \"build-finished\", \"success\": true}";
        assert!(program(end).unwrap().is_none());
    }
}
