//! `turnstile travel`: work with the travel of a running server.

mod aircraft;
pub(crate) mod network;
mod open_flights;
pub(crate) mod sample;
pub(crate) mod stocking;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use turnstile_stats::units::Count;

use crate::{
    address::{self, DoorAddress},
    connect::Security,
    lines,
    terminal::{self, Table},
};
use network::FlightNetwork;
pub(crate) use open_flights::Reading;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Import the public routes and airports of OpenFlights
    ///
    /// Each route becomes a flight, and each destination airport a location with cars and rooms;
    /// docs/travel-load.md lists the rules for seats and prices. Existing items are not changed, so
    /// an import can be repeated or continued.
    Import(TravelImportArguments),
}

#[derive(Args, Debug)]
pub(crate) struct TravelImportArguments {
    #[command(flatten)]
    files: Files,
    /// Travel address of the server
    #[arg(long, value_name = "ADDR", value_parser = address::LINES, default_value = lines::ADDRESS)]
    travel: DoorAddress,
    #[command(flatten)]
    security: Security,
}

#[derive(Args, Debug)]
struct Files {
    /// Routes of OpenFlights (routes.dat)
    #[arg(long, value_name = "FILE")]
    routes: PathBuf,
    /// Airports of OpenFlights (airports.dat)
    #[arg(long, value_name = "FILE")]
    airports: PathBuf,
}

pub(crate) fn run(command: &Command) -> anyhow::Result<()> {
    let Command::Import(arguments) = command;
    let files = &arguments.files;
    let reading = read(&files.routes, &files.airports)?;
    let mut door = lines::connect(arguments.security.keyless(&arguments.travel)?)?;
    let stocked = stocking::stock(&mut door, &reading.network.wares())?;
    let mut table = Table::default();
    tabulate_reading(&reading, &mut table);
    tabulate(&reading.network, &mut table);
    table.row("added", Count(stocked.added));
    table.row("  in transactions", Count(stocked.transactions));
    table.row("took", format_args!("{:.1?}", stocked.took));
    table.print()?;
    if stocked.there > 0 {
        terminal::line(format_args!(
            "{} of {} items were there already: an item is imported once, however often the files \
             are",
            Count(stocked.there),
            Count(stocked.there + stocked.added)
        ))?;
    }
    Ok(())
}

/// Reads both files.
///
/// # Errors
/// One cannot be read.
pub(crate) fn read(routes: &Path, airports: &Path) -> anyhow::Result<Reading> {
    open_flights::read(routes, airports)
}

/// The rows about what was read.
pub(crate) fn tabulate_reading(reading: &Reading, table: &mut Table) {
    table.row("airports read", Count(reading.airports));
    for (reason, count) in &reading.airports_left_out {
        table.row(format!("  not usable: {reason}"), Count(*count));
    }
    table.row("routes read", Count(reading.routes));
    for (reason, count) in &reading.routes_left_out {
        table.row(format!("  not importable: {reason}"), Count(*count));
    }
    table.row("  of unknown aircraft", Count(reading.unknown_aircraft));
}

/// The rows about what is to be sold.
pub(crate) fn tabulate(network: &FlightNetwork, table: &mut Table) {
    let length = |length: usize| Count(u64::try_from(length).expect("a count fits 64 bits"));
    let sum = |counts: &mut dyn Iterator<Item = u32>| Count(counts.map(u64::from).sum());
    let (flights, places) = (&network.flights, &network.places);
    table.row("flights", length(flights.len()));
    table.row(
        "  seats",
        sum(&mut flights.iter().map(|flight| flight.seats)),
    );
    table.row("locations", length(places.len()));
    table.row("  cars", sum(&mut places.iter().map(|place| place.cars)));
    table.row("  rooms", sum(&mut places.iter().map(|place| place.rooms)));
}
