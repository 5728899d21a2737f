//! `turnstile lab`: load, and the proof that the server stayed correct under it.

mod audit;
mod bottleneck;
mod calibrate;
mod capacity;
mod check;
mod compare;
mod doctor;
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
    fmt::Display,
    fs::File,
    io::BufWriter,
    net::SocketAddr,
    num::{NonZero, NonZeroUsize},
    path::{Path, PathBuf},
    str::FromStr,
    thread,
    time::Duration,
};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use turnstile_load::{Verdict, pace::Progress, resources::Watched, rooms, rush};
use turnstile_result as result;
use turnstile_stats::units::{Count, PerSecond};

use notebook::{Aims, Notebook, Output};
use pacing::Pacing;
use watching::Behind;

use crate::{
    address,
    child::{Doors, Server},
    exit::Coded,
    terminal,
};

/// The open property of `dev`, in which every room name exists.
const PROPERTY: &str = "bench";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Drives one service, or any server: http://HOST:PORT/PATH, https://, resp://HOST:PORT, rediss://
    #[command(subcommand)]
    Run(Box<Run>),
    /// More and more users, until they bring nothing: capacity and knee, with intervals
    Sweep(Box<sweep::Arguments>),
    /// The highest rate that meets objectives
    Capacity(Box<capacity::Arguments>),
    /// What holds a server back: the resource that is full, and how sure that is
    ///
    /// Looks at what server, database and generator use while more and more users ask, and at what the
    /// server's threads wait for. With --confirm one resource after the other is changed, and what that
    /// brings is told. docs/lab-bottleneck.md says how.
    Bottleneck(Box<bottleneck::Arguments>),
    /// Two servers by runs in pairs, in an order that chance decides; or two kept runs
    Compare(Box<compare::Arguments>),
    /// Load, and in the same run the proof: every answer replayed at its position
    ///
    /// Users want the same few things. What each asks and hears is replayed meanwhile in a naive model
    /// of the service, in the order of the positions that the answers tell; readers look while others
    /// change. A broken promise ends with exit code 97. docs/lab-check.md says what is checked.
    Check(Box<check::Arguments>),
    /// Keeps what a run or a live server is asked and answers, with its instants
    ///
    /// docs/lab-trace.md says what a trace is good for, docs/formats/trace.md what is in it.
    Record(Box<record::Recording>),
    /// Sends a recorded stream again, byte for byte, and compares the answers
    Replay(Box<record::Replaying>),
    /// Many clients want few rooms at the same instant: each room must be sold once
    Rush(RushArguments),
    /// What can be trusted on this machine: processors, limits, neighbours, clocks, disk
    ///
    /// Each is named with what it does to measurements, and its cure. One that is bad ends with exit
    /// code 98. docs/lab-calibrate.md says what is looked at.
    Doctor(doctor::Arguments),
    /// How far the lab's own generator is from what is known before
    ///
    /// Against servers whose delays follow a formula: percentiles, lateness, ten thousand users,
    /// memory; with --versus also its cost beside other generators. A claim that is not kept ends
    /// with exit code 98. docs/lab-calibrate.md describes the servers and the verdicts.
    Calibrate(calibrate::Arguments),
    /// Answers numbers with themselves until its input ends: the server of a calibration's crowd
    #[command(hide = true)]
    Answer,
    /// Looks for figures in a table that cannot be: whoever measured them, with whatever tool
    ///
    /// Laws that hold for every system are put to each point, and those that break one are named
    /// with the reason; the exit code is then 98. docs/lab-audit.md says which laws.
    Audit(audit::Arguments),
    /// Makes the ancestors' experiments again, and sets what they published beside it
    ///
    /// Says of each conclusion that they drew whether it is confirmed, refuted or not testable here,
    /// and why. Quick by default: minutes. docs/lab-reproduce.md describes what is measured.
    Reproduce(reproduce::Arguments),
    /// Shows a result that is there: as a page, a table or a text
    Report(report::Arguments),
    /// Lists the results that are there
    Ls(report::Listing),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Run {
    /// Guests who book and cancel
    Rooms(RoomsArguments),
    /// Traders who send and cancel orders
    ///
    /// Accounts and symbols are made for the run. At its end cash and shares must be what was put
    /// in, and every order what was acknowledged. docs/exchange-load.md describes the order flow
    /// and the proof.
    Exchange(exchange::Arguments),
    /// Pairs of players over the unframed wire of games
    ///
    /// Each plays scripted tic-tac-toe with its neighbour, as the published load generator does. At
    /// the end every game must have been counted once. docs/games-load.md describes the script, the
    /// figures and the proof.
    Games(games::Arguments),
    /// Clients who buy journeys in interactive transactions, over the door of travel
    ///
    /// The two experiments of the ancestor: what each request of a transaction takes, beside what
    /// was published, and response times of several clients at a rate. Flights, cars, rooms and
    /// customers are made for the run. At its end every journey must have been sold whole or not at
    /// all. docs/travel-load.md describes the load and the proof.
    Travel(travel::Arguments),
    /// Any other server: http://HOST:PORT/PATH, or resp://HOST:PORT -- COMMAND; with TLS https:// and
    /// rediss://
    #[command(external_subcommand)]
    Foreign(Vec<String>),
}

/// Which server, and where the result goes.
#[derive(Args, Debug)]
struct Target {
    /// RESP door of the server; without it, the lab starts one of its own
    #[arg(long, value_name = "ADDR", value_parser = address::parse)]
    resp: Option<SocketAddr>,
    /// Also write the result as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Generator threads
    #[arg(short = 't', long, default_value_t = default_threads())]
    threads: NonZeroUsize,
    #[command(flatten)]
    behind: Behind,
}

#[derive(Args, Debug)]
pub(crate) struct RoomsArguments {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    pacing: Pacing,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    aims: Aims,
    /// Shares of the operations
    #[arg(long, default_value = "book=70,cancel=30")]
    mix: rooms::Mix,
}

#[derive(Args, Debug)]
pub(crate) struct RushArguments {
    #[command(flatten)]
    target: Target,
    /// Rooms for sale
    #[arg(long, default_value = "1")]
    rooms: NonZeroUsize,
    /// Clients; each connects first and asks once
    #[arg(long, default_value = "500")]
    clients: NonZeroUsize,
}

pub(crate) fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Run(run) => match *run {
            Run::Rooms(arguments) => run_rooms(&arguments),
            Run::Exchange(arguments) => exchange::run(&arguments),
            Run::Games(arguments) => games::run(&arguments),
            Run::Travel(arguments) => travel::run(&arguments),
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

fn run_rooms(arguments: &RoomsArguments) -> anyhow::Result<()> {
    let threads = arguments.target.threads.get();
    let pacing = &arguments.pacing;
    // What makes no sense is told before a server is started.
    pacing.pace(SocketAddr::from(([127, 0, 0, 1], 0)), threads)?;
    let driven = Driven::of(&arguments.target)?;
    let target = driven.target();
    let mut asked = notebook::asked("run", "rooms", target, Some(pacing), threads);
    asked
        .settings
        .insert("mix".to_owned(), arguments.mix.to_string());
    let mut notebook = Notebook::new(&arguments.output, asked, driven.watched())?;
    let config = rooms::Config {
        pace: pacing.pace(driven.address, threads)?,
        users: pacing.connections.get(),
        mix: arguments.mix,
        property: PROPERTY.to_owned(),
    };
    let began = notebook.begin(None);
    let report = rooms::run(&config, &mut |progress| notebook.watch(progress))?;
    notebook.keep(report.point.clone(), &config.pace, began);
    notebook.server(Some(server(&report.server)));
    driven.stop()?;
    tell(&report, arguments.target.json.as_deref())?;
    notebook.finish(&arguments.aims)
}

fn run_rush(arguments: &RushArguments) -> anyhow::Result<()> {
    let driven = Driven::of(&arguments.target)?;
    let config = rush_for(
        driven.address,
        arguments.rooms.get(),
        arguments.clients.get(),
        arguments.target.threads.get(),
    );
    let line = ProgressLine::new(false);
    let report = rush::run(&config, &mut |progress| line.show(progress))?;
    line.clear();
    driven.stop()?;
    conclude(&report, report.verdict(), arguments.target.json.as_deref())
}

/// A rush in which every client asks for any room.
pub(crate) const fn rush_for(
    address: SocketAddr,
    rooms: usize,
    clients: usize,
    threads: usize,
) -> rush::Config {
    rush::Config {
        address,
        rooms,
        clients,
        threads,
        wish: rush::Wish::Any,
    }
}

/// The server under load.
struct Driven {
    address: SocketAddr,
    own: Option<Server>,
    behind: Behind,
}

impl Driven {
    fn of(target: &Target) -> anyhow::Result<Self> {
        if let Some(address) = target.resp {
            return Ok(Self {
                address,
                own: None,
                behind: target.behind,
            });
        }
        let own = own_server(Doors::Resp, "--resp")?;
        Ok(Self {
            address: own.resp(),
            own: Some(own),
            behind: target.behind,
        })
    }

    /// For `run.json`.
    fn target(&self) -> result::Target {
        result::Target {
            address: self.address.to_string(),
            own: self.own.is_some(),
        }
    }

    /// Server and database, where they can be found.
    fn watched(&self) -> Vec<Watched> {
        self.behind
            .watched(self.own.as_ref(), self.address, Some(self.address))
    }

    fn stop(self) -> anyhow::Result<()> {
        self.own.map_or(Ok(()), Server::stop)
    }
}

/// Starts a server for this measurement; `flag` names one that runs already. Whoever has started `dev`
/// might think that it is measured.
fn own_server(doors: Doors, flag: &str) -> anyhow::Result<Server> {
    let server = Server::start(None, doors)?;
    terminal::note(format_args!(
        "measuring a server of our own at {}, not one that runs already: embedded journal in a \
         temporary directory, durability sync; {flag} ADDR measures a running one",
        server.resp()
    ));
    Ok(server)
}

/// What a server has said of itself, for `run.json`.
fn server(said: &rooms::Server) -> result::Server {
    result::Server {
        version: said.version.clone(),
        durability: said.durability.clone(),
        back_end: said.back_end.clone(),
    }
}

/// Prints and writes the result; an unproven one is an error with its own exit code.
fn conclude<R: Display + serde::Serialize>(
    report: &R,
    verdict: Verdict,
    json: Option<&Path>,
) -> anyhow::Result<()> {
    tell(report, json)?;
    match verdict {
        Verdict::Fine => Ok(()),
        Verdict::Invalid => Err(Coded::invalid("the run is invalid".to_owned()).into()),
        Verdict::Violated => Err(Coded::violation("the server broke a promise".to_owned()).into()),
    }
}

/// Prints what a workload says of its run, and writes it where it was asked for.
fn tell<R: Display + serde::Serialize>(report: &R, json: Option<&Path>) -> anyhow::Result<()> {
    terminal::line(report)?;
    json.map_or(Ok(()), |path| write_json(report, path))
}

fn write_json(result: &impl serde::Serialize, path: &Path) -> anyhow::Result<()> {
    let shown = || path.display().to_string();
    let file = File::create(path).with_context(shown)?;
    serde_json::to_writer_pretty(BufWriter::new(file), result).with_context(shown)
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
