//! `turnstile rooms`: work with the rooms of a running server, or move them.

mod copy;

use std::{collections::BTreeSet, fmt::Display, path::PathBuf};

use clap::{Args, Subcommand};
use turnstile_client::Connection;
use turnstile_stats::units::Count;

use crate::{
    address::{self, DoorAddress},
    connect::Security,
    exit::Coded,
    resp,
    season::{self, GuestPlan, SeasonPlayed, hotel_csv},
    terminal::{self, Table},
};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Import the public hotel-bookings CSV
    ///
    /// Replays bookings and cancellations in their original order. Creates the rooms first: for
    /// each hotel and type a percentage (--fill) of the peak demand. Refused if a hotel of the file
    /// is on the server already, unless --again is given.
    Import(ImportArguments),
    /// Copy all rooms data from a data directory to a database, or back
    ///
    /// A place is postgres://..., mysql://...?engine=..., redis://..., or a data directory, as a
    /// path or as embedded:DIR. Stop the servers of both places first. Compares both places after
    /// the copy; exits with code 97 if they differ.
    Copy(copy::CopyArguments),
}

#[derive(Args, Debug)]
pub(crate) struct ImportArguments {
    /// CSV file of bookings
    file: PathBuf,
    /// RESP address of the server
    #[arg(long, value_name = "ADDR", value_parser = address::RESP, default_value = resp::ADDRESS)]
    resp: DoorAddress,
    #[command(flatten)]
    security: Security,
    /// Rooms of each type in percent of its peak demand, 1 to 1000; below 100 some bookings are
    /// refused
    #[arg(long, value_name = "PERCENT", default_value_t = season::FILL_PERCENT, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    fill: u32,
    /// Import into hotels that are there already, to finish an interrupted import. Each request has
    /// a key derived from its row, so a row is not booked twice within a day; the server forgets keys
    /// that are older, and books their rows again
    #[arg(long)]
    again: bool,
}

pub(crate) fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Import(arguments) => import(&arguments),
        Command::Copy(arguments) => copy::run(&arguments),
    }
}

fn import(arguments: &ImportArguments) -> anyhow::Result<()> {
    let reading = hotel_csv::read(&arguments.file)?;
    let mut door = resp::connect(arguments.security.resp(&arguments.resp)?)?;
    if !arguments.again {
        refuse_second(&mut door, &reading.season)?;
    }
    let played = season::play(&mut door, &reading.season, arguments.fill)?;
    let mut table = Table::default();
    table.row("read", Count(reading.rows));
    for (reason, count) in &reading.left_out {
        table.row(format!("  not importable: {reason}"), Count(*count));
    }
    tabulate(&played, &mut table);
    table.row("took", format_args!("{:.1?}", played.took));
    table.print()?;
    if played.replayed > 0 {
        terminal::line(format_args!(
            "{} of {} answers had been given before: these rows were not imported again",
            Count(played.replayed),
            Count(played.answers)
        ))?;
    }
    Ok(())
}

/// Refuses a season whose properties are there: the server remembers the keys of an earlier import for a
/// day only.
fn refuse_second(door: &mut Connection, season: &[GuestPlan]) -> anyhow::Result<()> {
    let properties: BTreeSet<&str> = season.iter().map(|plan| plan.property).collect();
    for property in properties {
        door.send(&[b"ROOMS.LIST-ROOMS", property.as_bytes(), b"LIMIT", b"1"]);
        let answer = door.receive()?;
        let is_there = resp::field(&answer, "rooms").is_some();
        if is_there {
            return Err(Coded::usage(format!(
                "the property \"{property}\" is there already: --again imports into it, and books the rows \
                 of an import from more than a day ago again"
            ))
            .into());
        }
        resp::made(&answer, "unknown_property")?;
    }
    Ok(())
}

/// The rows about what became of a season.
pub(crate) fn tabulate(played: &SeasonPlayed, table: &mut Table) {
    table.row("rooms", Count(u64::from(played.rooms)));
    table.row("booked", Count(played.booked));
    by_reason(table, "  refused", &played.refused);
    table.row("cancelled", Count(played.cancelled));
    by_reason(
        table,
        "  cancellation refused",
        &played.cancellations_refused,
    );
    table.row("  fell away, not booked", Count(played.fell_away));
}

fn by_reason<'a, R: Display + 'a>(
    table: &mut Table,
    label: &str,
    counts: impl IntoIterator<Item = (&'a R, &'a u64)>,
) {
    for (reason, count) in counts {
        table.row(format!("{label}: {reason}"), Count(*count));
    }
}
