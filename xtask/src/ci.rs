//! `cargo xtask ci`: what a change must pass. The machine that runs it is no concern of ours.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;

use crate::{report, step, suite};

/// A minute of histories, each with crashes; at least 20,000 of them on two cores.
const SIMULATOR: [&str; 8] = [
    "run",
    "--profile",
    "sim",
    "--package",
    "turnstile-sim",
    "--",
    "--seconds",
    "60",
];

pub(crate) fn run(root: &Path) -> Result<()> {
    step::timed("format", || cargo(root, &["fmt", "--all", "--check"]))?;
    step::timed("lints", || {
        let lints = [
            "clippy",
            "--workspace",
            "--all-targets",
            "--quiet",
            "--",
            "-D",
            "warnings",
        ];
        cargo(root, &lints)
    })?;
    step::timed("tidy", || report(root))?;
    suite::run(root)?;
    step::timed("simulator", || {
        let seed = seed();
        cargo(root, &[&SIMULATOR[..], &["--seed", &seed]].concat())
    })
}

/// The seed of this run: no two runs try the same histories. A failure prints its own.
fn seed() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = now.expect("the clock is after 1970").as_secs();
    // A minute tries fewer histories than this, so runs do not overlap.
    (seconds * 100_000).to_string()
}

fn cargo(root: &Path, arguments: &[&str]) -> Result<()> {
    step::run(step::cargo(root).args(arguments))
}
