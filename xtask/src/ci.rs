//! `cargo xtask ci`: what a change must pass. The machine that runs it is no concern of ours.

use std::path::Path;

use anyhow::Result;

use crate::{step, suite, tidy};

/// A minute of histories from the first seed on, each with crashes; at least 20,000 of them on two
/// cores. The same for everybody, so that a red run speaks of the change; whoever looks for what
/// nobody has seen yet gives `--seed` and more time.
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

/// Half a minute of histories of several nodes on a shared log.
const CLUSTER_SIMULATOR: [&str; 9] = [
    "run",
    "--profile",
    "sim",
    "--package",
    "turnstile-sim",
    "--",
    "--cluster",
    "--seconds",
    "30",
];

/// A quarter of a minute of histories of several partitions.
const PARTITION_SIMULATOR: [&str; 9] = [
    "run",
    "--profile",
    "sim",
    "--package",
    "turnstile-sim",
    "--",
    "--partitions",
    "--seconds",
    "15",
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
    step::timed("tidy", || tidy::run(root))?;
    step::timed("simulator", || cargo(root, &SIMULATOR))?;
    step::timed("simulator of clusters", || cargo(root, &CLUSTER_SIMULATOR))?;
    step::timed("simulator of partitions", || {
        cargo(root, &PARTITION_SIMULATOR)
    })?;
    suite::run(root)
}

fn cargo(root: &Path, arguments: &[&str]) -> Result<()> {
    step::run(step::cargo(root).args(arguments))
}
