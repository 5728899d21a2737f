//! `turnstile dev`: a server to try things on.

mod journeys;
mod market;
mod orders;
mod pasted;
mod program;

use std::{
    fs::Permissions,
    io,
    net::SocketAddr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, anyhow};
use clap::Args;
use tempfile::TempDir;
use tokio::sync::oneshot;
use turnstile_embedded::{Durability, Options, Slowed};
use turnstile_rooms::{Command, Outcome, Refusal, Rooms};
use turnstile_server::{Ask, Gate, Request};
use turnstile_types::{Machine as _, Name};

use pasted::PastedTools;

use crate::{
    config::{Config, Flags, Layers, LogFlags, Role},
    exit::Coded,
    logging,
    reading::Reading,
    serving::Opened,
    supervisor::Supervisor,
    terminal,
};

/// The sample hotel: two floors of singles, doubles and twins, and one suite.
const HOTEL: &str = "hotel";
const HOTEL_ROOMS: [(&str, &str); 13] = [
    ("101", "single"),
    ("102", "single"),
    ("103", "single"),
    ("104", "double"),
    ("105", "double"),
    ("106", "twin"),
    ("201", "single"),
    ("202", "double"),
    ("203", "double"),
    ("204", "double"),
    ("205", "twin"),
    ("206", "twin"),
    ("301", "suite"),
];

/// The property in which every room name exists: for load tests.
const BENCH: &str = "bench";

/// What stands where in the answer of the line before it: RESP2, which redis-cli speaks, has no names.
const BOOKED: &str = "      answers 1 for done, reference, room, position in the journal";

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    flags: Flags,
    /// Also stop when standard input ends, for programs that start this one
    #[arg(long)]
    attached: bool,
    #[command(flatten)]
    slow: Slow,
    /// For tests: read disk faults from standard input, one per line: `sync-error N` and `sync-lost
    /// N` (fault at the N-th next sync), `full-disk`, `room` (ends full-disk). Uses small segments
    #[arg(long, requires = "attached", value_name = "BOOL", action = clap::ArgAction::Set, default_value_t = false)]
    disk_orders: bool,
}

/// How much longer than it has to a server takes for something, so that a measurement can tell what
/// that is worth. No configuration has it, and no server that serves anybody else.
#[derive(Args, Debug)]
struct Slow {
    /// For measurements: delay each journal sync by this many microseconds, up to one second
    #[arg(long, value_name = "US", requires = "attached", value_parser = clap::value_parser!(u64).range(..=1_000_000))]
    slow_sync_us: Option<u64>,
    /// For measurements: delay each command by this many nanoseconds, up to one second
    #[arg(long, value_name = "NS", requires = "attached", value_parser = clap::value_parser!(u64).range(..=1_000_000_000))]
    slow_command_ns: Option<u64>,
}

impl Slow {
    fn slowed(&self) -> Slowed {
        Slowed {
            sync: Duration::from_micros(self.slow_sync_us.unwrap_or_default()),
            command: Duration::from_nanos(self.slow_command_ns.unwrap_or_default()),
        }
    }
}

pub(crate) fn run(arguments: Arguments, log: &LogFlags) -> anyhow::Result<()> {
    let layers = layers(&arguments.flags, log);
    let mut config = Config::parse(&layers)?;
    logging::start(config.log_level.clone(), config.log_format);
    let directory = Directory::of(&config)?;
    let slowed = arguments.slow.slowed();
    let trouble = arguments.disk_orders.then_some(&orders::TROUBLE);
    let server = &mut config.server;
    server.data = directory.path().map(Path::to_owned);
    server.storage = Options {
        slowed,
        trouble,
        ..server.storage
    };
    if trouble.is_some() {
        server.storage.segment_bytes = orders::SEGMENT_BYTES;
    }
    // The results of loads that are started from the console end with this server, like its data.
    let lab = config.server.http.map(|_door| temporary("turnstile-lab-"));
    let lab = lab.transpose()?;
    if let Some(folder) = &lab {
        config.keep_lab_results(folder.path());
    }
    let (flags, log) = (arguments.flags, log.clone());
    let reading = Reading::new(layers, move || Ok(self::layers(&flags, &log)));
    let opened = Opened::start(&config, reading, Supervisor::default())?;
    if arguments.attached {
        let heed = trouble.map_or(ignore as fn(&str), |_| orders::heed);
        opened.stop_at_end_of_input(heed)?;
    }
    if let Some(console) = opened.console() {
        terminal::line(format_args!("console      {console}"))?;
    }
    opened.announce()?;
    let Some(serving) = opened.recovered()? else {
        return Ok(());
    };
    if is_guarded(&serving.gate()) {
        let told = "this directory asks for keys, and dev has none: use `turnstile serve`";
        return Err(Coded::usage(told.to_owned()).into());
    }
    let tools = PastedTools::new(config.certificate());
    make_samples(&serving.gate()).context("the sample properties")?;
    // The loop takes no commands of the exchange but at its doors.
    // A node of a cluster takes none of the batches by which that is made.
    let is_alone = config.settings()?.cluster.is_none();
    if let Some(door) = serving.door("resp").filter(|_| is_alone) {
        market::open(tools.own(door)?, config.server.databases.exchange.is_some())
            .context("the sample market")?;
    }
    // A middleware alone sells nothing before it has met the others.
    let journeys = serving
        .door("travel")
        .filter(|_| config.role == Role::All)
        .map(|door| anyhow::Ok((door, journeys::open(tools.own(door)?)?)))
        .transpose()
        .context("the sample journeys")?;
    if slowed != Slowed::NOT {
        let (sync, command) = (slowed.sync, slowed.command);
        terminal::line(format_args!(
            "slowed       each sync takes {sync:?} longer, each command {command:?}"
        ))?;
    }
    terminal::line("loopback only, no key needed")?;
    let resp = serving.door("resp");
    let rooms = lines_to_paste(&tools, resp, serving.door("http"));
    let exchange = market::lines_to_paste(&tools, resp, serving.door("xml"));
    let travel =
        journeys.and_then(|(door, last)| Some(journeys::line_to_paste(&tools, door, last?)));
    for line in rooms.into_iter().chain(exchange).chain(travel) {
        terminal::line(line)?;
    }
    serving.until_stopped()
}

/// Whether the directory has had a key.
fn is_guarded(gate: &Gate) -> bool {
    let access = gate.access();
    let access = access.borrow();
    access.as_ref().is_some_and(|access| access.is_guarded())
}

/// What `dev` serves by: no file has a say.
fn layers(flags: &Flags, log: &LogFlags) -> Layers {
    Layers::about_logging(log).of_dev().flags(flags, log)
}

/// Whoever starts a server may write to it; it is only the end that counts.
const fn ignore(_line: &str) {}

/// A directory of our own, whose name begins with this.
fn temporary(prefix: &str) -> io::Result<TempDir> {
    tempfile::Builder::new()
        .prefix(prefix)
        .permissions(Permissions::from_mode(0o700))
        .tempdir()
}

/// Where the data is.
enum Directory {
    /// Nowhere: it is kept in memory only.
    Nowhere,
    /// In a directory that was named, and stays.
    Named(PathBuf),
    /// In one of our own, that goes with us.
    Temporary(TempDir),
}

impl Directory {
    fn of(config: &Config) -> anyhow::Result<Self> {
        if config.server.storage.durability == Durability::Memory {
            return Ok(Self::Nowhere);
        }
        let Some(data) = &config.server.data else {
            return Ok(Self::Temporary(temporary("turnstile-")?));
        };
        Ok(Self::Named(data.clone()))
    }

    fn path(&self) -> Option<&Path> {
        match self {
            Self::Nowhere => None,
            Self::Named(path) => Some(path),
            Self::Temporary(directory) => Some(directory.path()),
        }
    }
}

/// Makes the sample properties by ordinary commands; those of an earlier start are left alone.
fn make_samples(gate: &Gate) -> anyhow::Result<()> {
    let name = |text: &str| Name::parse(text.as_bytes()).expect("the samples have names");
    let property = name(HOTEL);
    let open = Command::AddProperty {
        property: name(BENCH),
        open: true,
    };
    let closed = Command::AddProperty {
        property,
        open: false,
    };
    let rooms = HOTEL_ROOMS
        .iter()
        .map(|(room, room_type)| Command::AddRoom {
            property,
            room: name(room),
            room_type: name(room_type),
        });
    // One after the other: both have the same numbers in every database.
    ask_all(gate, [open])?;
    ask_all(gate, [closed])?;
    ask_all(gate, rooms)
}

/// Asks all before the first is answered: they go into one group, with one sync. A database may decide
/// them in any order.
fn ask_all<'a>(gate: &Gate, commands: impl IntoIterator<Item = Command<'a>>) -> anyhow::Result<()> {
    let mut answers = Vec::new();
    for command in commands {
        let mut bytes = Vec::new();
        Rooms::encode_command(&command, &mut bytes);
        let (reply, answer) = oneshot::channel();
        gate.ask(Ask::Rooms(Request::Command {
            caller: turnstile_server::Caller::server(),
            key: None,
            command: bytes,
            reply,
        }))?;
        answers.push((command, answer));
    }
    for (command, answer) in answers {
        let answer = answer.blocking_recv().context("the server stopped")?;
        match answer.map_err(|error| anyhow!("{error}"))?.outcome {
            Outcome::Done(_) | Outcome::Refused(Refusal::PropertyExists | Refusal::RoomExists) => {}
            Outcome::Refused(refusal) => {
                return Err(anyhow!("{command:?} is refused: {}", refusal.code()));
            }
        }
    }
    Ok(())
}

/// Lines that a newcomer can paste, as far as their doors are open.
fn lines_to_paste(
    tools: &PastedTools,
    resp: Option<SocketAddr>,
    http: Option<SocketAddr>,
) -> Vec<String> {
    let curl = http.map(|address| {
        format!(
            "try   {}/v1/rooms/properties/{HOTEL}/availability?arrival=2027-12-24&departure=2027-12-27'",
            tools.curl(address)
        )
    });
    let cli = resp.map(|address| {
        format!(
            "try   {} ROOMS.BOOK {HOTEL} type:double 2027-12-24 2027-12-27 ada 234123412346",
            tools.redis_cli(address)
        )
    });
    let rush = resp.map(|address| {
        let program = program::name();
        let resp = tools.resp(address);
        format!("try   {program} lab rush --rooms 1 --clients 500 {resp}")
    });
    let answer = cli.as_ref().map(|_line| BOOKED.to_owned());
    [curl, cli, answer, rush].into_iter().flatten().collect()
}
