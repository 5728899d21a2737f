//! The command line.

use clap::{Parser, Subcommand};
use turnstile_embedded::{FORMATS, FormatVersion};

use crate::{
    audit, backup, call, cluster, completions, config::LogFlags, config_print, demo, dev, doctor,
    exchange, follow, games, init, journal, key, lab, manual, principal, rooms, serve, state,
    travel, tx, upgrade, verify,
};

const EXIT_CODES: &str = "\
Exit codes:
   0  success
   1  any other error
   2  wrong command line or configuration, or a directory that a newer version wrote
  74  a server's disk failed, at its start or later
  77  a server asked for a key, did not accept it, or it lacks a right
  94  `doctor` has found something wrong
  95  the last group of a directory is torn and may have been acknowledged
  96  a measurement did not become steady or precise in time
  97  something was sold twice, lost or contradicted
  98  a measurement is invalid
  99  an objective was missed";

/// The version, the commit and the target.
const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("TURNSTILE_BUILD"),
    ")"
);

/// The same, and the newest version of each stored format.
fn long_version() -> String {
    let formats = FORMATS.map(|FormatVersion { name, newest }| format!("{name} {newest}"));
    format!(
        "{VERSION}\nformats, and all older versions: {}",
        formats.join(", ")
    )
}

/// Sell things that must never be sold twice, and measure how much load such a server holds
#[derive(Debug, Parser)]
#[command(name = "turnstile", version = VERSION, long_version = long_version(), after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) log: LogFlags,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a server for trying things out: loopback only, no keys, sample data
    Dev(dev::Arguments),
    /// Run a server from a configuration file, environment variables and options
    Serve(serve::Arguments),
    /// Make a data directory with its first administrator, whose key is shown once
    Init(init::InitArguments),
    /// Create, list, rotate and revoke keys
    Key(key::KeyArguments),
    /// Add, list and remove principals, and give them roles
    Principal(principal::PrincipalArguments),
    /// Show the configuration
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Verify a data directory: all checksums, two replays, all business rules
    Verify(verify::Arguments),
    /// Show who did what: every command of a data directory, from its journal
    Audit(audit::Arguments),
    /// Show the records of a data directory, and how much there is
    #[command(subcommand)]
    Journal(journal::JournalCommand),
    /// Back up a data directory or a running server, whole or what is new since the last time
    Backup(backup::BackupArguments),
    /// Restore a backup into an empty directory, up to any position or instant
    Restore(backup::RestoreArguments),
    /// Keep a copy of the directory of a running server, at most a second behind it
    Follow(follow::FollowArguments),
    /// Look for what is wrong, or soon will be, with a data directory or a running server
    Doctor(doctor::DoctorArguments),
    /// Write what stands in a data directory as rows for other programs
    #[command(subcommand)]
    State(state::StateCommand),
    /// Check whether this program reads a data directory that another version wrote
    Upgrade(upgrade::UpgradeArguments),
    /// Import bookings into a running server, or copy rooms between back ends
    #[command(subcommand)]
    Rooms(rooms::Command),
    /// Replay market data through an order book
    #[command(subcommand)]
    Exchange(exchange::Command),
    /// Check the statistics of games
    #[command(subcommand)]
    Games(games::Games),
    /// Import flights into a running server
    #[command(subcommand)]
    Travel(travel::Command),
    /// List, show and resolve travel transactions
    #[command(subcommand)]
    Tx(tx::Command),
    /// Call one operation of a service: `call rooms.book property=hotel ...`
    Call(call::Arguments),
    /// Show and operate the nodes of a cluster
    #[command(subcommand)]
    Cluster(cluster::ClusterCommand),
    /// Measure a server and check its answers under load
    #[command(subcommand)]
    Lab(lab::Command),
    /// Run everything in under a minute: bookings, a rush, trades, journeys, games, three kill -9,
    /// a check. With --cluster: three nodes that share a log, and faults
    Demo(demo::Arguments),
    /// Print a completion script for a shell
    Completions(completions::Arguments),
    /// Write the manual pages of all commands into a directory
    Man(manual::ManualArguments),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the effective configuration and the origin of each value
    Print(config_print::Arguments),
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_book_lists_the_exit_codes_of_the_help() {
        let page = include_str!("../../docs/exit-codes.md");
        let rows = page.lines().filter_map(|line| {
            let mut cells = line.strip_prefix("| ")?.split(" | ");
            let code: u8 = cells.next()?.parse().ok()?;
            Some(format!("{code:4}  {}", cells.next()?))
        });
        let rows: Vec<String> = rows.collect();
        let lines: Vec<&str> = super::EXIT_CODES.lines().skip(1).collect();
        assert_eq!(rows, lines);
    }
}
