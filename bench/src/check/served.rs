//! What checking costs beside a server that is checked.

use std::{fs, path::Path, process::Command};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tempfile::NamedTempFile;

use crate::process::cpu_of_ended_children;

/// A check of a server of the lab's own.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServedCase {
    pub(super) service: &'static str,
    pub(super) pipeline: usize,
    pub(super) way: CheckTiming,
}

/// When what was told is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckTiming {
    Meanwhile,
    /// While the load runs, it is only written down.
    Afterwards,
}

pub(super) const CASES: [ServedCase; 8] = [
    ServedCase::of("rooms", 1, CheckTiming::Meanwhile),
    ServedCase::of("rooms", 16, CheckTiming::Meanwhile),
    ServedCase::of("rooms", 16, CheckTiming::Afterwards),
    ServedCase::of("exchange", 1, CheckTiming::Meanwhile),
    ServedCase::of("exchange", 16, CheckTiming::Meanwhile),
    ServedCase::of("exchange", 16, CheckTiming::Afterwards),
    ServedCase::of("games", 1, CheckTiming::Meanwhile),
    ServedCase::of("travel", 1, CheckTiming::Meanwhile),
];

/// One round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Served {
    /// Operations and readings that were checked, a second.
    pub(super) rate: f64,
    /// Processor time of the checker for each of them, in nanoseconds.
    pub(super) checking_ns: f64,
    /// Processor time of whoever writes down what is told, for each.
    pub(super) keeping_ns: f64,
    /// Processor time of all for each: server, generator and checker.
    pub(super) all_ns: f64,
}

impl CheckTiming {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Meanwhile => "meanwhile",
            Self::Afterwards => "afterwards",
        }
    }
}

impl ServedCase {
    const fn of(service: &'static str, pipeline: usize, way: CheckTiming) -> Self {
        Self {
            service,
            pipeline,
            way,
        }
    }

    /// Whether a user would check so: who asks through a pipeline wants a server at its limit, and no
    /// replay beside it.
    pub(super) fn is_judged(self) -> bool {
        (self.pipeline > 1) == (self.way == CheckTiming::Afterwards)
    }
}

impl Served {
    /// What the check takes of all processor time while the load runs, in percent, where telling costs
    /// so much.
    pub(super) fn share_percent(&self, way: CheckTiming, telling_ns: f64) -> f64 {
        let (check, all) = match way {
            CheckTiming::Meanwhile => (self.checking_ns, self.all_ns),
            CheckTiming::Afterwards => (self.keeping_ns, self.all_ns - self.checking_ns),
        };
        100.0 * (check + telling_ns) / all
    }
}

/// Checks it with 50 users for so many seconds; every promise must be kept.
pub(super) fn measure(turnstile: &Path, case: ServedCase, seconds: u32) -> Result<Served> {
    let report = NamedTempFile::new()?;
    let before = cpu_of_ended_children()?;
    let output = Command::new(turnstile)
        .args(["lab", "check", case.service, "-c", "50", "--quiet"])
        .args(["-P", &case.pipeline.to_string()])
        .args((case.way == CheckTiming::Afterwards).then_some("--afterwards"))
        .args(["-d", &format!("{seconds}s"), "--json"])
        .arg(report.path())
        .output()
        .context("lab check")?;
    let used = cpu_of_ended_children()? - before;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}: {said}", case.service);
    let report = fs::read_to_string(report.path())?;
    let (checked, checking_ns, keeping_ns) =
        parse(&report).with_context(|| format!("no figures in {report:?}"))?;
    Ok(Served {
        rate: checked / f64::from(seconds),
        checking_ns,
        keeping_ns,
        all_ns: used.as_secs_f64() * 1e9 / checked,
    })
}

/// What was checked, and the processor time of checking and keeping for each.
fn parse(report: &str) -> Option<(f64, f64, f64)> {
    let report: Value = serde_json::from_str(report).ok()?;
    let proof = report.get("points")?.get(0)?.get("check")?;
    let count = |name| proof.get(name)?.as_f64();
    let checked = count("replayed")? + count("readings")?;
    Some((checked, count("checking_ns")?, count("keeping_ns")?))
}

#[cfg(test)]
mod tests {
    use super::{CASES, CheckTiming, Served, parse};

    #[test]
    fn operations_and_readings_are_checked() {
        let report = r#"{"points": [{"check": {"replayed": 300, "readings": 20,
            "checking_ns": 450.5, "keeping_ns": 20.5}}]}"#;
        assert_eq!(parse(report), Some((320.0, 450.5, 20.5)));
        assert_eq!(parse(r#"{"points": [{"check": {"replayed": 300}}]}"#), None);
    }

    #[test]
    fn what_is_replayed_afterwards_is_no_part_of_the_load() {
        let served = Served {
            rate: 1.0,
            checking_ns: 400.0,
            keeping_ns: 20.0,
            all_ns: 2_400.0,
        };
        let share = |way| served.share_percent(way, 80.0);
        assert_eq!(
            (
                share(CheckTiming::Meanwhile),
                share(CheckTiming::Afterwards)
            ),
            (20.0, 5.0)
        );
    }

    #[test]
    fn each_service_and_pipeline_is_judged_once() {
        let judged = CASES.into_iter().filter(|case| case.is_judged());
        let mut judged: Vec<_> = judged.map(|case| (case.service, case.pipeline)).collect();
        judged.sort_unstable();
        let each = [
            ("exchange", 1),
            ("exchange", 16),
            ("games", 1),
            ("rooms", 1),
            ("rooms", 16),
            ("travel", 1),
        ];
        assert_eq!(judged, each);
    }
}
