//! Programs of crates.io that some commands need.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::{step, tree};

/// Builds a program of crates.io below the target folder, unless this version of it is there already.
pub(crate) fn install(root: &Path, name: &str, version: &str) -> Result<PathBuf> {
    let tools = tree::target_folder(root)?.join("tools");
    let folder = tools.join(format!("{name}-{version}"));
    let tool = folder.join("bin").join(name);
    if !tool.exists() {
        let mut cargo = step::cargo(root);
        cargo.args(["install", name, "--version", version]);
        step::run(cargo.args(["--locked", "--quiet", "--root"]).arg(&folder))?;
    }
    Ok(tool)
}
