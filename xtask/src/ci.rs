//! `cargo xtask ci`: what a change must pass. The machine that runs it is no concern of ours.

use std::path::Path;

use anyhow::Result;

use crate::{report, step, suite};

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
    suite::run(root)
}

fn cargo(root: &Path, arguments: &[&str]) -> Result<()> {
    step::run(step::cargo(root).args(arguments))
}
