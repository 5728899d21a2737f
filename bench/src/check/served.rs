//! What checking costs beside a server that is checked.

use std::{fs, path::Path, process::Command};

use anyhow::{Context as _, Result, ensure};
use serde::Serialize;
use serde_json::Value;
use tempfile::NamedTempFile;

use crate::process::cpu_of_ended_children;

/// A check of a server of the lab's own.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Case {
    pub(super) service: &'static str,
    pub(super) pipeline: u32,
}

pub(super) const CASES: [Case; 6] = [
    Case::of("rooms", 1),
    Case::of("rooms", 16),
    Case::of("exchange", 1),
    Case::of("exchange", 16),
    Case::of("games", 1),
    Case::of("travel", 1),
];

/// One round.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Served {
    /// Operations and readings that were checked, a second.
    pub(super) rate: f64,
    /// Processor time of the checker for each of them, in nanoseconds.
    pub(super) checking_ns: f64,
    /// Processor time of all for each: server, generator and checker.
    pub(super) all_ns: f64,
}

impl Case {
    const fn of(service: &'static str, pipeline: u32) -> Self {
        Self { service, pipeline }
    }
}

/// Checks it with 50 users for so many seconds; every promise must be kept.
pub(super) fn measure(turnstile: &Path, case: Case, seconds: u32) -> Result<Served> {
    let report = NamedTempFile::new()?;
    let before = cpu_of_ended_children()?;
    let output = Command::new(turnstile)
        .args(["lab", "check", case.service, "-c", "50", "--quiet"])
        .args(["-P", &case.pipeline.to_string()])
        .args(["-d", &format!("{seconds}s"), "--json"])
        .arg(report.path())
        .output()
        .context("lab check")?;
    let used = cpu_of_ended_children()? - before;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}: {said}", case.service);
    let report = fs::read_to_string(report.path())?;
    let (checked, checking_ns) =
        parse(&report).with_context(|| format!("no figures in {report:?}"))?;
    Ok(Served {
        rate: checked / f64::from(seconds),
        checking_ns,
        all_ns: used.as_secs_f64() * 1e9 / checked,
    })
}

/// What was checked, and the processor time for each.
fn parse(report: &str) -> Option<(f64, f64)> {
    let report: Value = serde_json::from_str(report).ok()?;
    let proof = report.get("proof")?;
    let count = |name| proof.get(name)?.as_f64();
    let checked = count("replayed")? + count("readings")?;
    Some((checked, count("checking_ns")?))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn operations_and_readings_are_checked() {
        let report = r#"{"proof": {"replayed": 300, "readings": 20, "checking_ns": 450.5}}"#;
        assert_eq!(parse(report), Some((320.0, 450.5)));
        assert_eq!(parse(r#"{"proof": {"replayed": 300}}"#), None);
    }
}
