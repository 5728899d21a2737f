//! `turnstile lab`: load, and the proof that the server stayed correct under it.

mod audit;
mod bottleneck;
mod calibrate;
mod capacity;
mod check;
mod compare;
mod doctor;
mod driven;
mod exchange;
mod foreign;
mod games;
mod notebook;
mod pacing;
mod pin;
mod quota;
mod record;
mod report;
mod reproduce;
mod shown;
mod subject;
mod sweep;
mod travel;
mod watching;
mod workload;

use std::{
    fs,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    num::{NonZero, NonZeroU32, NonZeroUsize},
    path::Path,
    str::FromStr,
    thread,
    time::Duration,
};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use turnstile_client::ServerAddress;
use turnstile_load::{pace::Progress, rooms, rush, seats, workload as load};
use turnstile_stats::units::{Count, PerSecond};

use driven::Driven;
use notebook::{Aims, Notebook, OutputArguments};
use pacing::Pacing;
use watching::Behind;

use crate::{
    address::{self, DoorAddress},
    connect::Security,
    terminal,
};

/// Nobody listens there: for settings that are looked at before a server is.
const NOWHERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run load on one service, or on any server: http://HOST:PORT/PATH, https://,
    /// resp://HOST:PORT, rediss://
    #[command(subcommand)]
    Run(Box<Run>),
    /// Add users until throughput stops growing; report capacity and knee with confidence intervals
    Sweep(Box<sweep::Arguments>),
    /// Find the highest rate that meets the objectives
    Capacity(Box<capacity::Arguments>),
    /// Find the resource that limits throughput, with its probability
    ///
    /// Measures what server, database and generator use while the number of users grows, and what
    /// the server's threads wait for. With --confirm, changes one resource at a time and measures
    /// the effect. See docs/lab-bottleneck.md.
    Bottleneck(Box<bottleneck::Arguments>),
    /// Compare two servers by pairs of runs in random order, or two saved runs
    Compare(Box<compare::Arguments>),
    /// Run load and check every answer during the run
    ///
    /// Users compete for few items. A naive model of the service replays each request and answer in
    /// the order of the positions in the answers; readers query while others write. A broken
    /// promise exits with code 97. docs/lab-check.md lists the checks.
    Check(Box<check::Arguments>),
    /// Record the requests and answers of a run or of a live server, with timestamps
    ///
    /// docs/lab-trace.md describes uses of a trace, docs/formats/trace.md its format.
    Record(Box<record::Recording>),
    /// Replay a recorded trace byte for byte and compare the answers
    Replay(Box<record::Replaying>),
    /// Let many clients request few rooms at the same instant; each room must be sold once
    ///
    /// Where the server has a waiting room, also proves that no client was let in before one that came
    /// earlier. See docs/lab.md.
    Rush(RushArguments),
    /// Check whether this machine gives trustworthy measurements: CPUs, limits, other processes,
    /// clocks, disk
    ///
    /// Each finding names its effect on measurements and a remedy. A bad one exits with code 98.
    /// docs/lab-calibrate.md lists the checks.
    Doctor(doctor::Arguments),
    /// Measure the error of the lab's generator against servers with known delays
    ///
    /// Covers percentiles, lateness, ten thousand users and memory; with --versus, also the CPU
    /// cost per request beside other generators. A failed claim exits with code 98.
    /// docs/lab-calibrate.md describes the servers and the claims.
    Calibrate(calibrate::Arguments),
    /// Echo numbers until standard input ends: the server for the crowd part of calibrate
    #[command(hide = true)]
    Answer,
    /// Find impossible figures in a table of measurements, made with any tool
    ///
    /// Applies laws that hold for every system to each point, and prints each broken law with the
    /// reason. A broken law exits with code 98. docs/lab-audit.md lists the laws.
    Audit(audit::Arguments),
    /// Repeat the originals' experiments and compare the results with the published ones
    ///
    /// The originals are five published course reports. Each of their conclusions is reported as
    /// confirmed, refuted or not testable here, with the reason. Takes minutes without --full and
    /// --as-published. See docs/lab-reproduce.md.
    Reproduce(reproduce::Arguments),
    /// Show a saved result as a page, a table or text
    Report(report::Arguments),
    /// List saved results
    Ls(report::Listing),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Run {
    /// Book and cancel hotel rooms
    Rooms(RoomsArguments),
    /// Send and cancel exchange orders
    ///
    /// Creates accounts and symbols for the run. At the end, checks that cash and shares are
    /// conserved and that every order is as acknowledged. docs/exchange-load.md describes the order
    /// flow and the checks.
    Exchange(exchange::Arguments),
    /// Play scripted tic-tac-toe in pairs of players
    ///
    /// Plays as the published load generator does, by default over the original's unframed wire. At
    /// the end, checks that every game was counted once. docs/games-load.md describes the script,
    /// the figures and the checks.
    Games(games::Arguments),
    /// Buy journeys in interactive transactions over the travel door
    ///
    /// Runs the original's two experiments: the time of each request in a transaction, beside the
    /// published figures, and response times of several clients at a rate. Creates flights, cars,
    /// rooms and customers for the run. At the end, checks that every journey was sold whole or not
    /// at all. docs/travel-load.md describes the load and the checks.
    Travel(travel::Arguments),
    /// Book and cancel seats of a show
    ///
    /// Adds a show of 20,000 seats for the run. Users book one to four adjacent seats, by name or the
    /// best ones, and cancel. At the end, checks that no seat was sold twice and that the server lists
    /// every booking as acknowledged. See docs/seats.md.
    Seats(PlainArguments),
    /// Any other server: http://HOST:PORT/PATH, or resp://HOST:PORT -- COMMAND; with TLS https:// and
    /// rediss://
    #[command(external_subcommand)]
    Foreign(Vec<String>),
}

/// Which server, and where the result goes.
#[derive(Args, Debug)]
struct Target {
    /// RESP address of the server; default: the lab starts its own server
    #[arg(long, value_name = "ADDR", value_parser = address::RESP)]
    resp: Option<DoorAddress>,
    #[command(flatten)]
    security: Security,
    /// Number of generator threads
    #[arg(short = 't', long, default_value_t = default_threads())]
    threads: NonZeroUsize,
    #[command(flatten)]
    behind: Behind,
}

impl Target {
    /// The RESP door that was named.
    fn named(&self) -> anyhow::Result<Option<ServerAddress>> {
        self.security.named_resp(self.resp.as_ref())
    }

    /// The server that was named, or one of our own.
    fn driven(&self) -> anyhow::Result<Driven> {
        Driven::over_resp(self.named()?, self.behind)
    }
}

/// A service at the RESP door.
#[derive(Args, Debug)]
pub(crate) struct PlainArguments {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    pacing: Pacing,
    #[command(flatten)]
    output: OutputArguments,
    #[command(flatten)]
    aims: Aims,
}

#[derive(Args, Debug)]
pub(crate) struct RoomsArguments {
    #[command(flatten)]
    plain: PlainArguments,
    /// Weights of the operations
    #[arg(long, default_value = "book=70,cancel=30")]
    mix: rooms::Mix,
}

#[derive(Args, Debug)]
pub(crate) struct RushArguments {
    #[command(flatten)]
    target: Target,
    /// Number of rooms for sale
    #[arg(long, default_value = "1")]
    rooms: NonZeroUsize,
    /// Number of clients; all ask at the same instant, each with an idempotency key of its own, and ask
    /// again while they wait in line
    #[arg(long, default_value = "500")]
    clients: NonZeroUsize,
    /// Number of connections that the clients share; all connect first
    #[arg(long, default_value = "500")]
    connections: NonZeroUsize,
    /// Start the lab's own server with a waiting room that lets in this many clients a second
    #[arg(long, value_name = "PER_SECOND", conflicts_with = "resp")]
    waiting_room_rate: Option<NonZeroU32>,
    #[command(flatten)]
    output: OutputArguments,
}

pub(crate) fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Run(run) => match *run {
            Run::Rooms(RoomsArguments { plain, mix }) => {
                let options = load::Options {
                    mix,
                    ..load::Options::default()
                };
                run_plain(&rooms::BookingLoad, &plain, &options)
            }
            Run::Exchange(arguments) => exchange::run(&arguments),
            Run::Games(arguments) => games::run(&arguments),
            Run::Travel(arguments) => travel::run(&arguments),
            Run::Seats(plain) => run_plain(&seats::TicketLoad, &plain, &load::Options::default()),
            Run::Foreign(words) => foreign::run(&words),
        },
        Command::Sweep(arguments) => sweep::run(&arguments),
        Command::Capacity(arguments) => capacity::run(&arguments),
        Command::Bottleneck(arguments) => bottleneck::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Record(arguments) => record::record(&arguments),
        Command::Replay(arguments) => record::replay(&arguments),
        Command::Rush(arguments) => run_rush(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Calibrate(arguments) => calibrate::run(&arguments),
        Command::Answer => calibrate::answer(),
        Command::Audit(arguments) => audit::run(&arguments),
        Command::Reproduce(arguments) => reproduce::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Ls(arguments) => report::list(&arguments),
    }
}

fn run_plain(
    service: &dyn load::Service,
    arguments: &PlainArguments,
    options: &load::Options,
) -> anyhow::Result<()> {
    let threads = arguments.target.threads.get();
    let pacing = &arguments.pacing;
    // What makes no sense is told before a server is started.
    pacing.pace(NOWHERE, threads)?;
    let driven = arguments.target.driven()?;
    let mut asked = notebook::asked(
        "run",
        service.name(),
        driven.target(),
        Some(pacing),
        threads,
    );
    let setting = service.setting(options);
    let setting = setting.map(|(name, value)| (name.to_owned(), value));
    asked.settings.extend(setting);
    let mut notebook = Notebook::new(&arguments.output, asked, driven.watched())?;
    let pace = pacing.pace(&driven.address, threads)?;
    let load = load::Load {
        pace: &pace,
        users: pacing.connections.get(),
        resp: Some(driven.address.clone()),
        own: driven.is_own(),
        options,
    };
    let began = notebook.begin(None);
    let report = service.run(&load, &mut |progress| notebook.watch(progress))?;
    notebook.keep(report.point.clone(), &pace, began);
    notebook.server(report.server.clone());
    driven.stop()?;
    terminal::line(&report)?;
    notebook.finish(&arguments.aims)
}

fn run_rush(arguments: &RushArguments) -> anyhow::Result<()> {
    let target = &arguments.target;
    let driven = match arguments.waiting_room_rate {
        None => target.driven()?,
        Some(rate) => Driven::over_resp_with(
            &[("--waiting-room-rate".to_owned(), rate.to_string())],
            target.behind,
        )?,
    };
    let threads = target.threads.get();
    let config = rush::Config {
        address: driven.address.clone(),
        rooms: arguments.rooms.get(),
        clients: arguments.clients.get(),
        connections: arguments.connections.get(),
        threads,
        wish: rush::Wish::Any,
    };
    let mut asked = notebook::asked("rush", "rooms", driven.target(), None, threads);
    let settings = [
        ("rooms", config.rooms),
        ("clients", config.clients),
        ("connections", config.connections),
    ];
    for (name, value) in settings {
        asked.settings.insert(name.to_owned(), value.to_string());
    }
    let mut notebook = Notebook::new(&arguments.output, asked, driven.watched())?;
    let began = notebook.begin(None);
    let report = rush::run(&config, &mut |progress| notebook.watch(progress))?;
    notebook.keep(report.load.point.clone(), &config.pace(0), began);
    notebook.server(report.load.server.clone());
    driven.stop()?;
    terminal::line(&report)?;
    notebook.finish_as(report.verdict())
}

fn write_json(result: &impl serde::Serialize, path: &Path) -> anyhow::Result<()> {
    let text = serde_json::to_vec_pretty(result)?;
    fs::write(path, text).with_context(|| path.display().to_string())
}

/// One line on a terminal, nothing elsewhere.
#[derive(Debug)]
struct ProgressLine(ProgressBar);

impl ProgressLine {
    fn new(quiet: bool) -> Self {
        let style = ProgressStyle::with_template("{msg}").expect("the template is well formed");
        let bar = if quiet {
            ProgressBar::hidden()
        } else {
            ProgressBar::new_spinner()
        };
        Self(bar.with_style(style))
    }

    fn show(&self, progress: &Progress) {
        self.say(format!(
            "{:.0?} of {:.0?}  {} answered  {} refused  {} failed  {}/s",
            progress.elapsed,
            progress.planned,
            Count(progress.answered),
            Count(progress.refused),
            Count(progress.failed),
            PerSecond(progress.rate)
        ));
    }

    fn say(&self, text: String) {
        self.0.set_message(text);
    }

    /// Does something while the line is not there.
    fn aside(&self, something: impl FnOnce()) {
        self.0.suspend(something);
    }

    fn clear(&self) {
        self.0.finish_and_clear();
    }
}

/// Half of the processors, for the server needs the other half.
pub(crate) fn default_threads() -> NonZeroUsize {
    let all = thread::available_parallelism().map_or(1, NonZero::get);
    NonZero::new(all / 2).unwrap_or(NonZeroUsize::MIN)
}

/// A whole number of milliseconds, seconds or minutes.
fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no duration: write 500ms, 10s or 2m");
    let end = text.find(|character: char| !character.is_ascii_digit());
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let number = u64::from_str(number).map_err(|_invalid| wrong())?;
    let duration = match unit {
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        "m" => number.checked_mul(60).map(Duration::from_secs),
        _ => None,
    };
    duration.ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A full disk left a part of the file, and the command ended with 0.
    #[test]
    fn a_result_that_does_not_fit_on_the_disk_is_an_error() {
        let written = write_json(&"result", Path::new("/dev/full"));
        let told = written.map_err(|error| format!("{error:#}"));
        let full = "/dev/full: No space left on device (os error 28)";
        assert_eq!(told, Err(full.to_owned()));
    }

    #[test]
    fn a_duration_is_a_whole_number_with_its_unit() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        for text in [
            "",
            "10",
            "s",
            "1.5s",
            "-1s",
            "10 s",
            "10h",
            "99999999999999999999s",
        ] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
