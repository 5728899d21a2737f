//! `turnstile completions`: a completion script on standard output.

use std::io;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Shell to complete for
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut script = Vec::new();
    let mut command = crate::arguments::Arguments::command();
    clap_complete::generate(arguments.shell, &mut command, "turnstile", &mut script);
    io::Write::write_all(&mut io::stdout().lock(), &script)?;
    Ok(())
}
