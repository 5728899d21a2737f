//! `turnstile demo`: every service from end to end, with crashes and a proof.

mod audit;
mod cluster;
mod crash;
mod players;
mod traders;
mod travellers;

use std::{
    fs::Permissions,
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use tempfile::TempDir;
use turnstile_load::rush;
use turnstile_stats::units::Count;

use crate::{
    child::{Doors, Server},
    exit::Coded,
    lab, resp, rooms,
    season::{self, AcknowledgedBooking, GuestPlan, SeasonPlayed, hotel_csv, published},
    terminal::{self, Table},
    travel::{self, network::FlightNetwork, sample},
    verify,
};
use crash::CrashDemo;
use traders::Traders;
use travellers::Travellers;

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Hotel-bookings CSV to replay; default: a season generated from its statistics
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// OpenFlights routes (routes.dat) for the travellers; default: flights between twelve cities
    #[arg(long, value_name = "FILE", requires = "airports")]
    routes: Option<PathBuf>,
    /// OpenFlights airports (airports.dat) for --routes
    #[arg(long, value_name = "FILE", requires = "routes")]
    airports: Option<PathBuf>,
    /// Amount of work
    #[arg(long, value_enum, default_value = "full")]
    scale: Scale,
    /// Random seed; the same seed generates the same season
    #[arg(long, default_value = "1")]
    seed: u64,
    /// Leave the server running until Ctrl-C
    #[arg(long)]
    stay: bool,
    /// Instead: three nodes on three NATS brokers on this machine, faults under load, and the proof.
    /// Needs Go 1.25 or newer to build the brokers, once
    #[arg(long, conflicts_with_all = ["input", "routes", "stay"])]
    cluster: bool,
    /// Directory that keeps the brokers once they are built; default: turnstile in the user's cache
    #[arg(long, value_name = "DIR", requires = "cluster")]
    brokers: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Scale {
    Small,
    Full,
}

/// How much of each thing is done.
struct Amounts {
    bookings: usize,
    rush_clients: usize,
    /// Acknowledged bookings after which the server is killed.
    crash_after: u64,
    /// For how long orders are sent; the server is killed in the middle of it.
    trading: Duration,
    /// For how long journeys are bought; the server is killed in the middle of it.
    travelling: Duration,
    /// Games of each player.
    games: u64,
}

impl Scale {
    const fn amounts(self) -> Amounts {
        match self {
            Self::Small => Amounts {
                bookings: 1_500,
                rush_clients: 100,
                crash_after: 1_000,
                trading: Duration::from_millis(600),
                travelling: Duration::from_millis(600),
                games: 10,
            },
            Self::Full => Amounts {
                bookings: 40_000,
                rush_clients: 500,
                crash_after: 50_000,
                trading: Duration::from_secs(3),
                travelling: Duration::from_secs(3),
                games: 500,
            },
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.cluster {
        return cluster::run(arguments.brokers.as_deref(), arguments.scale);
    }
    let begun = Instant::now();
    let amounts = arguments.scale.amounts();
    let directory = tempfile::Builder::new()
        .prefix("turnstile-demo-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir()?;
    let mut table = Table::default();
    // Files are read before anything is started: what is wrong with them is said at once.
    let bookings = bookings(arguments, &amounts, &mut table)?;
    let routes = routes(arguments)?;

    terminal::note("1/11 a server on an embedded journal, durability sync");
    let server = Server::start(Some(directory.path()), Doors::Resp)?;
    terminal::note("2/11 a season of bookings and cancellations");
    let played = play(&server, &bookings, &mut table)?;
    terminal::note("3/11 a rush for one room");
    let rush = rush_for_one_room(&server, &amounts, &mut table)?;
    terminal::note("4/11 load, and kill -9 in the middle of it");
    let crash = CrashDemo::cause(server, amounts.crash_after)?;
    terminal::note("5/11 the same directory again: is everything there that was acknowledged?");
    let restarted = Instant::now();
    let server = Server::start(Some(directory.path()), Doors::RespAndXml)?;
    table.row("kill -9", crash.summary());
    table.row(
        "restart",
        format_args!("ready again after {:.0?}", restarted.elapsed()),
    );
    check(&server, &played, &rush, &crash, &mut table)?;
    terminal::note(
        "6/11 traders who send and cancel orders over XML, and kill -9 in the middle of it",
    );
    let traders = Traders::lose(server, amounts.trading, arguments.seed)?;
    terminal::note("7/11 the same directory again: every order, every cent, every share?");
    let server = Server::start(Some(directory.path()), Doors::Every)?;
    traders.check(&server, &mut table)?;
    terminal::note(
        "8/11 travellers who buy journeys in transactions, and kill -9 in the middle of them",
    );
    let network = network(routes, &mut table);
    let travellers = Travellers::lose(server, &network, &amounts, arguments.seed, &mut table)?;
    terminal::note("9/11 the same directory again: is every journey whole, or not there at all?");
    let server = Server::start(Some(directory.path()), Doors::Every)?;
    travellers.check(&server, &mut table)?;
    terminal::note("10/11 players in pairs at the arena: is every game counted once?");
    players::play(&server, &amounts, &mut table)?;
    server.stop()?;
    players::recount(directory.path(), &mut table)?;
    terminal::note("11/11 every checksum, two replays, every rule");
    let verdict = verify::verify(directory.path())?;
    table.row("verify", verify::summary(&verdict));
    table.row("took", format_args!("{:.1?}", begun.elapsed()));
    table.print()?;
    verify::judge(&verdict)?;
    terminal::line("nothing lost, nothing sold twice")?;
    if arguments.stay {
        stay(directory)?;
    }
    Ok(())
}

/// What is replayed: a file, or a season drawn from the published figures.
fn bookings(
    arguments: &Arguments,
    amounts: &Amounts,
    table: &mut Table,
) -> anyhow::Result<Vec<GuestPlan>> {
    let Some(path) = &arguments.input else {
        table.row(
            "season",
            format_args!(
                "{} bookings drawn from the figures of the hotel data set, seed {}",
                Count(amounts.bookings.try_into().unwrap_or(u64::MAX)),
                arguments.seed
            ),
        );
        return Ok(published::season(amounts.bookings, arguments.seed));
    };
    let reading = hotel_csv::read(path)?;
    table.row(
        "season",
        format_args!("{} rows of {}", Count(reading.rows), path.display()),
    );
    for (reason, count) in &reading.left_out {
        table.row(format!("  not importable: {reason}"), Count(*count));
    }
    Ok(reading.season)
}

/// The routes of two files, where they are named.
fn routes(arguments: &Arguments) -> anyhow::Result<Option<travel::Reading>> {
    let files = arguments.routes.as_ref().zip(arguments.airports.as_ref());
    files
        .map(|(routes, airports)| travel::read(routes, airports))
        .transpose()
}

/// Where one travels: on these routes, or on those of the sample.
fn network(routes: Option<travel::Reading>, table: &mut Table) -> FlightNetwork {
    let Some(reading) = routes else {
        return sample::network();
    };
    travel::tabulate_reading(&reading, table);
    reading.network
}

fn play(
    server: &Server,
    bookings: &[GuestPlan],
    table: &mut Table,
) -> anyhow::Result<SeasonPlayed> {
    let mut door = resp::connect(server.resp())?;
    let played = season::play(&mut door, bookings, season::FILL_PERCENT)?;
    rooms::tabulate(&played, table);
    let seconds = played.took.as_secs_f64();
    table.row(
        "  replayed in",
        format_args!("{seconds:.1} s, one connection, pipelined"),
    );
    Ok(played)
}

fn rush_for_one_room(
    server: &Server,
    amounts: &Amounts,
    table: &mut Table,
) -> anyhow::Result<Vec<AcknowledgedBooking>> {
    let threads = lab::default_threads().get();
    let config = rush::Config {
        address: server.resp().into(),
        rooms: 1,
        clients: amounts.rush_clients,
        connections: amounts.rush_clients,
        threads,
        wish: rush::Wish::Any,
    };
    let report = rush::run(&config, &mut |_progress| {}).context("the rush")?;
    table.row(
        "rush",
        format_args!(
            "{} asked for one room: {} sold, {} refused, {} twice",
            report.asked(),
            report.sold(),
            report.refused(),
            report.twice()
        ),
    );
    if let Some(coded) = Coded::of_verdict(report.verdict()) {
        return Err(coded.because(&format!("the rush: {report}")).into());
    }
    let listed = audit::list(&mut resp::connect(server.resp())?, &report.property)?;
    let (there, sold) = (count(listed.len()), Count(report.sold()));
    if there != sold {
        let why = format!("{there} bookings are listed of {sold} that were sold in the rush");
        return Err(Coded::violation(why).into());
    }
    Ok(listed)
}

/// Looks for everything that was acknowledged before the crash, and for anything too much.
fn check(
    server: &Server,
    played: &SeasonPlayed,
    rush: &[AcknowledgedBooking],
    crash: &CrashDemo,
    table: &mut Table,
) -> anyhow::Result<()> {
    let mut door = resp::connect(server.resp())?;
    let settled = crash.settle(&mut door)?;
    let before = played.acknowledged.iter().chain(rush);
    let after = crash.acknowledged.iter().chain(&settled.acknowledged);
    let acknowledged: Vec<AcknowledgedBooking> = before.chain(after).cloned().collect();
    let listed = audit::judge(&mut door, &acknowledged)?;
    table.row(
        "  checked",
        format_args!(
            "{} acknowledged bookings are there, {} cancelled ones are not",
            count(listed),
            count(acknowledged.len() - listed)
        ),
    );
    table.row("  asked again", settled.summary());
    table.row(
        "  listed",
        format_args!("{} bookings, no room twice in one night", count(listed)),
    );
    Ok(())
}

fn count(number: usize) -> Count {
    Count(number.try_into().unwrap_or(u64::MAX))
}

/// Serves the demo's directory until somebody stops it. The directory stays.
fn stay(directory: TempDir) -> anyhow::Result<()> {
    let path = directory.keep();
    let server = Server::start(Some(&path), Doors::Every)?;
    for line in server.printed() {
        terminal::line(line)?;
    }
    terminal::line("ready; Ctrl-C stops it, the data stays")?;
    let status = server.wait()?;
    anyhow::ensure!(status.success(), "the server ended with {status}");
    Ok(())
}
