//! `turnstile lab run games`.

use std::num::{NonZeroU64, NonZeroUsize};

use clap::{Args, ValueEnum};
use turnstile_client::ServerAddress;
use turnstile_load::{
    games::{self, PATIENCE},
    pace::Pace,
};

use super::{
    default_threads,
    driven::Driven,
    notebook::{self, Aims, Notebook, OutputArguments},
    pacing::{Extent, Level, LoadShape, Pacing},
    watching::Behind,
};
use crate::{
    address::{self, DoorAddress},
    child::Doors,
    connect::Security,
    exit::Coded,
    terminal,
};

/// Games per player without `--iterations`, `--duration` and `--precision`.
const ITERATIONS: NonZeroU64 = NonZeroU64::new(100).expect("it is above zero");

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Protocol: the original's unframed wire with one connection per player, or RESP with one per
    /// pair
    #[arg(long, value_enum, default_value = "wire")]
    door: Door,
    /// Arena address of the server, for --door wire; default: the lab starts its own server
    #[arg(long, value_name = "ADDR", value_parser = address::LINES)]
    games_arena: Option<DoorAddress>,
    /// Processes of the lab's own server, for --door wire: arena and scores in one, or separate
    #[arg(
        long,
        value_enum,
        default_value = "one",
        conflicts_with = "games_arena"
    )]
    servers: ServerLayout,
    /// RESP address of the server, for --door resp
    #[arg(long, value_name = "ADDR", value_parser = address::RESP)]
    resp: Option<DoorAddress>,
    #[command(flatten)]
    security: Security,
    /// Number of players; each plays the next one. Several numbers run one after the other
    #[arg(short, long, value_delimiter = ',', default_value = "100")]
    connections: Vec<NonZeroUsize>,
    /// Games per player [default: 100, without --duration and --precision]
    #[arg(short, long, value_name = "GAMES", conflicts_with_all = ["duration", "precision"])]
    iterations: Option<NonZeroU64>,
    /// Open loop: games started per second by all pairs together; or stages TIME:RATE that ramp to
    /// each rate, such as 10s:100,1m:500. Without it, a pair starts a game when its last one has
    /// ended
    #[arg(short, long)]
    rate: Option<Level>,
    #[command(flatten)]
    manner: LoadShape,
    #[command(flatten)]
    extent: Extent,
    /// Number of the first player; the others follow. No other client may play under these numbers
    #[arg(long, default_value = "1")]
    first_player: u32,
    /// Leave Nagle's algorithm on, as the original's client does
    #[arg(long)]
    nagle: bool,
    #[command(flatten)]
    output: OutputArguments,
    #[command(flatten)]
    aims: Aims,
    /// Number of generator threads
    #[arg(short = 't', long, default_value_t = default_threads())]
    threads: NonZeroUsize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Door {
    Wire,
    Resp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ServerLayout {
    One,
    Separate,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    // What makes no sense is told before a server is started.
    arguments.config(super::NOWHERE)?.check()?;
    let driven = arguments.driven()?;
    let config = arguments.config(&driven.address)?;
    let pacing = arguments.pacing();
    let threads = config.pace.threads;
    let mut asked = notebook::asked("run", "games", driven.target(), Some(&pacing), threads);
    let door = format!("{:?}", arguments.door).to_lowercase();
    asked.settings.insert("door".to_owned(), door);
    if let Some(games) = config.iterations {
        let setting = ("iterations".to_owned(), games.to_string());
        asked.settings.extend([setting]);
        asked.precision = None;
    }
    let mut notebook = Notebook::new(&arguments.output, asked, driven.watched())?;
    let mut levels = Vec::with_capacity(config.players.len());
    for &players in &config.players {
        let began = notebook.begin(None);
        let level = games::play(&config, players, &mut |progress| notebook.watch(progress))?;
        notebook.keep(level.load.point.clone(), &config.paced(), began);
        levels.push(level);
    }
    driven.stop()?;
    let report = games::Report::new(&config, levels);
    terminal::line(&report)?;
    notebook.finish(&arguments.aims)
}

impl Arguments {
    /// How one number of players is paced.
    fn pacing(&self) -> Pacing {
        let one = self.connections.first().copied();
        Pacing::plain(
            one.unwrap_or(NonZeroUsize::MIN),
            self.rate.clone(),
            self.manner.clone(),
            self.extent.clone(),
        )
    }

    fn config(&self, address: impl Into<ServerAddress>) -> anyhow::Result<games::Config> {
        let connections = self.connections.iter();
        let timed = self.extent.is_told() || self.staged();
        Ok(games::Config {
            door: match self.door {
                Door::Wire => games::Door::Wire,
                Door::Resp => games::Door::Resp,
            },
            pace: Pace {
                no_delay: !self.nagle,
                patience: Some(PATIENCE),
                ..self.pacing().pace(address, self.threads.get())?
            },
            players: connections.map(|players| players.get()).collect(),
            first_player: self.first_player,
            iterations: self.iterations.or_else(|| (!timed).then_some(ITERATIONS)),
        })
    }

    /// Whether stages say how long it takes.
    fn staged(&self) -> bool {
        self.rate.as_ref().is_some_and(Level::has_stages) || self.manner.stages().is_some()
    }

    /// The server that was named, or one of our own.
    fn driven(&self) -> anyhow::Result<Driven> {
        let behind = Behind::default();
        let wrong = |sentence: &str| Err(Coded::usage(sentence.to_owned()).into());
        match (self.door, &self.games_arena, &self.resp) {
            (Door::Wire, _, Some(_)) | (Door::Resp, Some(_), _) => {
                wrong("--games-arena goes with --door wire, and --resp with --door resp")
            }
            (Door::Wire, Some(door), None) => {
                let address = self.security.keyless(door)?;
                Ok(Driven::named(address, None, behind))
            }
            (Door::Wire, None, None) if self.servers == ServerLayout::Separate => {
                Driven::start_games()
            }
            (Door::Resp, None, None) if self.servers == ServerLayout::Separate => {
                wrong("--servers separate goes with --door wire")
            }
            (Door::Wire, None, None) => Driven::start(Doors::RespAndArena, "--games-arena", behind),
            (Door::Resp, None, resp) => {
                Driven::over_resp(self.security.named_resp(resp.as_ref())?, behind)
            }
        }
    }
}
