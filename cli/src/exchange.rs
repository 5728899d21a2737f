//! `turnstile exchange`: work with order books.

mod lobster;
mod market;
mod page;
mod replay;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Replay a LOBSTER message file through an order book
    ///
    /// Executions in the file name the resting order that they take from. Orders that rested before
    /// the file begins are not in it: without --book, the first rows of --levels lack them, and
    /// messages about them are counted and reported. Auctions (type 6) and halts (type 7) do not
    /// change the book. Without --levels, --trades and --top, only the totals are printed.
    Replay(replay::Arguments),
}

pub(crate) fn run(command: &Command) -> anyhow::Result<()> {
    let Command::Replay(arguments) = command;
    replay::run(arguments)
}
