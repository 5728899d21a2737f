//! The harness as a program: how it is run, and what it prints.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use turnstile_harness::TRANSPORT_VARIABLE;

use crate::pin::{CLIENT_CORE, SERVER_CORE};

/// New orders in a workload of the harness: its default, and the only one it knows reports for.
const NEW_ORDERS: u32 = 1_000_000;

/// The directory in which the harness was built.
pub(super) struct HarnessProgram(PathBuf);

/// An engine in the harness.
pub(super) struct HarnessEngine {
    pub(super) name: String,
    pub(super) file: PathBuf,
    /// The value of [`TRANSPORT_VARIABLE`].
    pub(super) transport: &'static str,
}

/// What the harness says of one run.
#[derive(Debug, PartialEq)]
pub(super) struct Run {
    /// Messages per second.
    pub(super) rate: f64,
    /// SHA-256 of the report stream.
    pub(super) hash: String,
    /// Whether the harness knows these reports to be right.
    pub(super) valid: bool,
}

impl HarnessProgram {
    pub(super) fn at(path: &Path) -> Result<Self> {
        let built = path.join("harness").is_file() && path.join("generator").is_file();
        let make = "run \"make\" there; it needs cmake, g++ and libboost-dev";
        ensure!(
            built,
            "there is no built harness in {}; {make}",
            path.display()
        );
        Ok(Self(path.canonicalize()?))
    }

    pub(super) fn command(&self, engine: &HarnessEngine, scenario: &str, seed: u32) -> Command {
        let mut command = Command::new(self.0.join("harness"));
        command
            .current_dir(&self.0)
            .env(TRANSPORT_VARIABLE, engine.transport)
            .arg("--engine")
            .arg(&engine.file)
            .args(["--mode", "perf", "--scenario", scenario])
            .args(["--seed", &seed.to_string()])
            .args(["--count", &NEW_ORDERS.to_string()])
            .args(["--matcher-core", &SERVER_CORE.to_string()])
            .args(["--drainer-core", &CLIENT_CORE.to_string()]);
        command
    }

    /// Runs an engine. The harness ends with an error where it knows no right reports, too.
    pub(super) fn run(&self, engine: &HarnessEngine, scenario: &str, seed: u32) -> Result<Run> {
        let mut command = self.command(engine, scenario, seed);
        let output = command.stdin(Stdio::null()).output();
        let output = output.with_context(|| format!("cannot start {command:?}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        parse(&text).with_context(|| {
            let errors = String::from_utf8_lossy(&output.stderr);
            format!("{command:?} printed no result: {text}{errors}")
        })
    }

    /// The messages of a scenario, which the harness writes before the first run.
    pub(super) fn workload(&self, scenario: &str, seed: u32) -> PathBuf {
        let file = format!("orders_{scenario}_s{seed}_n{NEW_ORDERS}.bin");
        self.0.join(file)
    }
}

fn parse(text: &str) -> Option<Run> {
    let after = |label: &str| {
        let lines = text.lines();
        let mut values = lines.filter_map(|line| line.trim().strip_prefix(label));
        values.next().map(str::trim)
    };
    let millions: f64 = after("Throughput:")?
        .strip_suffix("M msgs/s")?
        .trim()
        .parse()
        .ok()?;
    Some(Run {
        rate: millions * 1e6,
        hash: after("Computed hash:")?.to_owned(),
        valid: after("Verdict:")? == "VALID",
    })
}

#[cfg(test)]
mod tests {
    use super::{Run, parse};

    const TEXT: &str = "Loading engine: x.so\n  Messages processed: 1996097\n  Throughput:         \
                        11.51 M msgs/s\n\nCorrectness check:\n  Computed hash: 00ff\n  Status: \
                        PASS\n\nVerdict: VALID\n";

    #[test]
    fn a_run_is_read_from_what_the_harness_prints() {
        let mut run = Run {
            rate: 11_510_000.0,
            hash: "00ff".to_owned(),
            valid: true,
        };
        assert_eq!(parse(TEXT), Some(run));
        run = parse(&TEXT.replace(": VALID", ": INVALID")).unwrap();
        assert!(!run.valid);
        assert_eq!(parse("ERROR: engine crashed"), None);
    }
}
