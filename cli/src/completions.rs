//! `turnstile completions`: a completion script on standard output.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::terminal;

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Shell to complete for
    shell: Shell,
}

/// Prints the script for a program with this command line.
pub(crate) fn run(arguments: &Arguments, mut command: Command) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "turnstile", &mut script);
    terminal::write(&script)?;
    Ok(())
}
