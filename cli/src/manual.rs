//! `turnstile man`: the manual pages of all commands as files.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Command};

#[derive(Args, Debug)]
pub(crate) struct ManualArguments {
    /// Existing directory for the pages
    dir: PathBuf,
}

/// Writes a page for the program with this command line, and one for each of its commands.
pub(crate) fn run(arguments: &ManualArguments, command: Command) -> anyhow::Result<()> {
    let dir = &arguments.dir;
    clap_mangen::generate_to(command, dir)
        .with_context(|| format!("cannot write the manual pages to {}", dir.display()))
}
