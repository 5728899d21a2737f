//! Which machine, which programs, which commit: without them a figure says nothing.

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use serde::{Deserialize, Serialize};

/// What is written where a program or a file does not tell.
const UNKNOWN: &str = "unknown";

#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Machine {
    pub(crate) cpu: String,
    pub(crate) cores: String,
    pub(crate) kernel: String,
    pub(crate) load_average: String,
    /// UTC, RFC 3339.
    pub(crate) date: String,
    pub(crate) commit: String,
    /// The programs that take part, with what they say of their version.
    pub(crate) programs: BTreeMap<String, String>,
}

impl Machine {
    /// This machine, and those programs on it.
    pub(crate) fn with(programs: &[&Path]) -> Self {
        Self {
            cpu: cpu_model(),
            cores: said_by("nproc", &["--all"]),
            kernel: said_by("uname", &["-sr"]),
            load_average: read("/proc/loadavg"),
            date: said_by("date", &["-u", "+%Y-%m-%dT%H:%M:%SZ"]),
            commit: said_by("git", &["describe", "--always", "--dirty", "--abbrev=12"]),
            programs: programs.iter().map(|path| version(path)).collect(),
        }
    }
}

fn version(program: &Path) -> (String, String) {
    let name = program.file_name().unwrap_or(program.as_os_str());
    let said = said_by(&program.to_string_lossy(), &["--version"]);
    (name.to_string_lossy().into_owned(), said)
}

fn cpu_model() -> String {
    let text = read("/proc/cpuinfo");
    named(&text).unwrap_or(UNKNOWN).to_owned()
}

fn named(cpuinfo: &str) -> Option<&str> {
    let line = cpuinfo
        .lines()
        .find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim())
}

fn read(path: &str) -> String {
    fs::read_to_string(path).map_or_else(|_| UNKNOWN.to_owned(), |text| text.trim().to_owned())
}

/// The first line that a program prints. Some end with an error even when only asked for their
/// version, so how they end does not matter.
fn said_by(program: &str, arguments: &[&str]) -> String {
    let Ok(output) = Command::new(program).args(arguments).output() else {
        return UNKNOWN.to_owned();
    };
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().unwrap_or(UNKNOWN).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{UNKNOWN, named, said_by};

    #[test]
    fn the_processor_is_named_by_its_first_core() {
        let cpuinfo = "processor\t: 0\nmodel name\t: AMD EPYC: x\n\nmodel name\t: other\n";
        assert_eq!(named(cpuinfo), Some("AMD EPYC: x"));
        assert_eq!(named("processor\t: 0\n"), None);
    }

    #[test]
    fn a_program_that_is_not_there_is_unknown() {
        assert_eq!(said_by("turnstile-no-such-program", &[]), UNKNOWN);
    }
}
