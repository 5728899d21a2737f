//! `cargo xtask deny`: licences, sources, duplicates and known holes of what the workspace depends on.
//!
//! `cargo xtask ci` does not do it: building cargo-deny takes five minutes of CPU time, and its list of
//! known holes lies in a repository of its own on GitHub.

use std::{path::Path, process::Command};

use anyhow::Result;

use crate::{step, tool};

/// The version that reads our `deny.toml`.
const VERSION: &str = "0.20.2";

pub(crate) fn run(root: &Path) -> Result<()> {
    let cargo_deny = step::timed("cargo-deny", || tool::install(root, "cargo-deny", VERSION))?;
    let mut check = Command::new(cargo_deny);
    step::run(check.current_dir(root).arg("check"))
}
