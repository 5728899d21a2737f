//! `turnstile lab run games`.

use std::{
    net::SocketAddr,
    num::{NonZeroU64, NonZeroUsize},
    path::PathBuf,
    time::Duration,
};

use clap::Args;
use turnstile_load::games;
use turnstile_result as result;
use turnstile_stats::units::Count;

use super::{
    default_threads,
    notebook::{self, Aims, Notebook, Output},
    own_server, tell,
    watching::Behind,
};
use crate::child::Doors;

/// How long an arena may say nothing to anybody.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Games door of the server, its arena; without it, the lab starts a server of its own
    #[arg(long, value_name = "ADDR")]
    games_arena: Option<SocketAddr>,
    /// Connections, each a player who plays with the next; several numbers are run one after the
    /// other
    #[arg(short, long, value_delimiter = ',', default_value = "100")]
    connections: Vec<NonZeroUsize>,
    /// How many games each plays
    #[arg(short, long, value_name = "GAMES", default_value = "100")]
    iterations: NonZeroU64,
    /// The number of the first player; the others follow. Nobody else may play under them
    #[arg(long, default_value = "1")]
    first_player: u32,
    /// Leave the sockets as the ancestor's client has them, with Nagle's algorithm
    #[arg(long)]
    nagle: bool,
    /// Also write the result as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    aims: Aims,
    /// Generator threads
    #[arg(short = 't', long, default_value_t = default_threads())]
    threads: NonZeroUsize,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let connections = arguments.connections.iter();
    let (address, own) = match arguments.games_arena {
        Some(address) => (address, None),
        None => {
            let own = own_server(Doors::RespAndArena)?;
            let address = own.arena().expect("it was started with an arena");
            (address, Some(own))
        }
    };
    let config = games::Config {
        address,
        players: connections.map(|players| players.get()).collect(),
        first_player: arguments.first_player,
        iterations: arguments.iterations.get(),
        threads: arguments.threads.get(),
        no_delay: !arguments.nagle,
        patience: PATIENCE,
    };
    let target = result::Target {
        address: address.to_string(),
        own: own.is_some(),
    };
    let mut asked = notebook::asked("run", "games", target, None, config.threads);
    let setting = ("iterations".to_owned(), config.iterations.to_string());
    asked.settings.extend([setting]);
    let processes = Behind::default().watched(own.as_ref(), address, None);
    let mut notebook = Notebook::new(&arguments.output, asked, processes)?;
    let report = games::run(&config, &mut |progress| notebook.say(told(progress)))?;
    let points: Vec<_> = report
        .levels
        .iter()
        .map(|level| level.point.clone())
        .collect();
    notebook.keep_all(&points, config.threads);
    if let Some(own) = own {
        own.stop()?;
    }
    tell(&report, arguments.json.as_deref())?;
    notebook.finish(&arguments.aims)
}

fn told(progress: &games::Progress) -> String {
    format!(
        "{} players, {:.0?}: {} of {} games",
        Count(u64::try_from(progress.players).expect("players are at most 50,000")),
        progress.elapsed,
        Count(progress.played),
        Count(progress.planned)
    )
}
