//! `turnstile exchange`: work with order books.

mod lobster;
mod market;
mod page;
mod replay;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Drives an order book with a LOBSTER message file
    Replay(replay::Arguments),
}

pub(crate) fn run(command: &Command) -> anyhow::Result<()> {
    let Command::Replay(arguments) = command;
    replay::run(arguments)
}
