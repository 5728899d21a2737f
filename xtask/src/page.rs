//! The console's page: whether `console/dist`, which the server holds, is what its sources build.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::step;

/// Installs what the page is built with, checks its types, builds it and compares.
pub(crate) fn check(root: &Path) -> Result<()> {
    let folder = root.join("console");
    let steps = [
        &["ci", "--no-audit", "--no-fund", "--loglevel=error"][..],
        &["run", "--silent", "check"],
    ];
    for words in steps {
        step::run(Command::new("npm").args(words).current_dir(&folder))
            .context("the page of the console, which wants Node 20")?;
    }
    Ok(())
}
