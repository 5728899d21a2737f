//! The command line.

use clap::{Parser, Subcommand};

use crate::{
    call, completions, config::LogFlags, config_print, demo, dev, exchange, games, lab, rooms,
    serve, travel, tx, verify,
};

const EXIT_CODES: &str = "Exit codes: 0 fine; 2 the command line or the configuration is wrong, or a newer \
    version wrote the directory; 74 a server's disk failed, while it served or as it started; 95 the last \
    group of a directory is torn and may have been acknowledged; 96 a measurement did not become steady or precise in its time; 97 something was sold twice, \
    lost or contradicted; 98 a measurement is invalid; 99 an objective was missed; 1 anything else.";

/// The version, the commit and the target.
const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("TURNSTILE_BUILD"),
    ")"
);

/// A server for things that must never be sold twice, and the lab that shows how much load it holds
#[derive(Debug, Parser)]
#[command(name = "turnstile", version = VERSION, after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) log: LogFlags,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serves on loopback, without keys, with sample properties
    Dev(dev::Arguments),
    /// Serves as a configuration says
    Serve(serve::Arguments),
    /// Shows the configuration
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Checks a data directory: every checksum, two replays, every rule of the business
    Verify(verify::Arguments),
    /// Works with the rooms of a running server
    #[command(subcommand)]
    Rooms(rooms::Command),
    /// Works with order books
    #[command(subcommand)]
    Exchange(exchange::Command),
    /// Works with the statistics of games
    #[command(subcommand)]
    Games(games::Games),
    /// Works with the travel of a running server
    #[command(subcommand)]
    Travel(travel::Command),
    /// Works with the transactions of travel
    #[command(subcommand)]
    Tx(tx::Command),
    /// Call one operation of a service: `call rooms.book property=hotel ...`
    Call(call::Arguments),
    /// Measures a server, and proves that it stayed correct
    #[command(subcommand)]
    Lab(lab::Command),
    /// Shows the whole thing in under a minute: a season, a rush, a kill -9, and the proof
    Demo(demo::Arguments),
    /// Writes a completion script for a shell
    Completions(completions::Arguments),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Prints the effective configuration and where each value came from
    Print(config_print::Arguments),
}
