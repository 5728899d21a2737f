//! `turnstile lab check`: load, and in the same run the proof that every answer was right.

mod faults;

use std::{
    num::NonZeroUsize,
    panic,
    path::PathBuf,
    sync::mpsc::{SyncSender, sync_channel},
    thread::{self, ScopedJoinHandle},
    time::Duration,
};

use anyhow::Context as _;
use clap::Args;
use turnstile_client::ServerAddress;
use turnstile_load::{
    check::{self, Watch},
    pace::{Pace, Progress},
    workload::{Load, Options},
};
use turnstile_result as result;

use super::{
    default_threads,
    notebook::{self, Notebook, OutputArguments},
    pacing::Pacing,
    watching::Behind,
    workload::Service,
};
use crate::{
    address::{self, DoorAddress},
    child::Server,
    connect::Security,
    exit::Coded,
    terminal,
};
use faults::{Fault, Storm, Survived};

/// How long a check takes when nothing was said of that.
const DURATION: Duration = Duration::from_secs(60);

/// What is kept of what users tell, in the result's directory, while the load runs.
const SPOOL: &str = "told.spool";

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// rooms: book, hold, cancel and query the same few rooms; exchange: send and cancel orders in
    /// the same few books; games: pair, move, offer draws and resign for the same few players;
    /// travel: reserve the same few flights, cars and rooms, in transactions and in single commands;
    /// seats: book, hold, cancel and query the same few seats of a show
    service: Service,
    /// RESP address of the server; no other client may use the checked service. Default: the lab
    /// starts its own server
    #[arg(long, value_name = "ADDR", value_parser = address::RESP, conflicts_with_all = ["turnstile", "faults"])]
    resp: Option<DoorAddress>,
    #[command(flatten)]
    security: Security,
    /// Program for the server that the lab starts; default: this one
    #[arg(long, value_name = "BIN")]
    turnstile: Option<PathBuf>,
    /// Faults of the lab's own server, at random instants: kill (SIGKILL and restart), pause,
    /// sync-error (a sync fails, the server must exit, and is restarted), full-disk (for a while),
    /// sync-lost (synced data is lost at the next kill: the check must find it)
    #[arg(long, value_delimiter = ',')]
    faults: Vec<Fault>,
    /// Replay after the run instead of during it; keeps about 30 bytes per request in the result's
    /// directory until then
    #[arg(long)]
    afterwards: bool,
    /// exchange: number of symbols, each with its own book, 1 to 1000
    #[arg(long, default_value = "4", value_parser = clap::value_parser!(u16).range(1..=1_000))]
    symbols: u16,
    /// Number of generator threads
    #[arg(short = 't', long, default_value_t = default_threads())]
    threads: NonZeroUsize,
    #[command(flatten)]
    pacing: Pacing,
    #[command(flatten)]
    output: OutputArguments,
}

/// The server that is checked.
struct CheckedServer {
    address: ServerAddress,
    /// One of the lab's own, its program, and where its data lies.
    own: Option<(Server, Storm)>,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let pacing = arguments.pacing.lasting(DURATION);
    let threads = arguments.threads.get();
    // What makes no sense is told before a server is started.
    let pace = pacing.pace(super::NOWHERE, threads)?;
    let fits =
        arguments
            .service
            .check_settings(&arguments.load(&pace, &arguments.options(), false));
    fits.map_err(|error| Coded::usage(error.to_string()))?;
    let data = tempfile::tempdir().context("a directory for the server's data")?;
    let checked = CheckedServer::of(arguments, data.path().join("data"))?;
    let target = result::Target {
        address: checked.address.to_string(),
        own: checked.own.is_some(),
        tls: checked.address.is_encrypted(),
        authenticated: checked.address.has_key(),
    };
    let name = arguments.service.name();
    let mut asked = notebook::asked("check", name, target, Some(&pacing), threads);
    if !arguments.faults.is_empty() {
        let faults: Vec<&str> = arguments.faults.iter().map(|fault| fault.name()).collect();
        let settings = &mut asked.settings;
        settings.insert("faults".to_owned(), faults.join(","));
    }
    if arguments.afterwards {
        let settings = &mut asked.settings;
        settings.insert("checked".to_owned(), "afterwards".to_owned());
    }
    let own = checked.own.as_ref().map(|(server, _)| server);
    let address = &checked.address;
    let processes = Behind::default().watched(own, address, Some(address));
    let mut notebook = Notebook::new(&arguments.output, asked, processes)?;
    let pace = pacing.pace(&checked.address, threads)?;
    let began = notebook.begin(None);
    let report = checked.check(arguments, &pace, &pacing, &mut notebook)?;
    notebook.keep(report.point.clone(), &pace, began);
    notebook.server(report.server.clone());
    terminal::line(&report)?;
    notebook.finish_as(report.verdict())
}

impl Arguments {
    fn options(&self) -> Options {
        Options {
            symbols: usize::from(self.symbols),
            ..Options::default()
        }
    }

    /// A load of the RESP door; `own`: of a server that the lab has started.
    fn load<'a>(&self, pace: &'a Pace, options: &'a Options, own: bool) -> Load<'a> {
        Load {
            pace,
            users: self.pacing.connections.get(),
            resp: Some(pace.address.clone()),
            own,
            options,
        }
    }
}

fn owned(flags: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(flag, value): &(&str, &str)| ((*flag).to_owned(), (*value).to_owned());
    flags.iter().map(owned).collect()
}

impl CheckedServer {
    fn of(arguments: &Arguments, data: PathBuf) -> anyhow::Result<Self> {
        if let Some(door) = &arguments.resp {
            let address = arguments.security.resp(door)?;
            return Ok(Self { address, own: None });
        }
        let storm = Storm::new(
            arguments.faults.clone(),
            arguments.pacing.seed(),
            arguments.turnstile.clone(),
            data,
            owned(arguments.service.flags_when_checked()),
        );
        let server = storm.start(faults::free_port()?)?;
        let address = server.resp();
        terminal::note(format_args!(
            "measuring a server of our own at {address}, not one that runs already: embedded journal \
             in a temporary directory, durability sync; --resp ADDR checks a running one"
        ));
        Ok(Self {
            address: address.into(),
            own: Some((server, storm)),
        })
    }

    /// Runs the load with its faults, and stops a server of the lab's own.
    fn check(
        self,
        arguments: &Arguments,
        pace: &Pace,
        pacing: &Pacing,
        notebook: &mut Notebook,
    ) -> anyhow::Result<check::Report> {
        let when = if arguments.afterwards {
            let spool = notebook.folder().join(SPOOL);
            check::When::Afterwards { spool }
        } else {
            check::When::Meanwhile
        };
        let own = self.own.is_some();
        let drive = |watch: &mut dyn Watch| -> anyhow::Result<check::Report> {
            let options = arguments.options();
            let load = arguments.load(pace, &options, own);
            Ok(arguments.service.check(&load, &when, watch)?)
        };
        let Some((server, storm)) = self.own else {
            return drive(&mut |progress: &Progress| notebook.watch(progress));
        };
        let (load, load_ends) = sync_channel::<()>(0);
        let end = Duration::from_secs_f64(pacing.point_s_max());
        let (report, survived) = thread::scope(|scope| {
            let storm = &storm;
            let raging = scope.spawn(move || storm.rage(server, end, &load_ends));
            let mut beside = BesideStorm {
                notebook: &mut *notebook,
                storm: Some((load, raging)),
                survived: None,
            };
            let report = drive(&mut beside);
            // A load that could not be made was never over.
            beside.load_is_over();
            (report, beside.survived.expect("the storm has ended"))
        });
        let survived = survived?;
        if !arguments.faults.is_empty() {
            notebook.note(&survived.summary());
        }
        let report = report?;
        if survived.is_untouched() && !arguments.faults.is_empty() {
            let short = "the run was too short for a fault: name a longer --duration";
            return Err(Coded::invalid(short.to_owned()).into());
        }
        survived.server.stop()?;
        Ok(report)
    }
}

/// Watches a load beside which a storm rages.
struct BesideStorm<'a, 'scope> {
    notebook: &'a mut Notebook,
    /// What tells it, by its end, that the load is over; and the storm.
    storm: Option<(
        SyncSender<()>,
        ScopedJoinHandle<'scope, anyhow::Result<Survived>>,
    )>,
    survived: Option<anyhow::Result<Survived>>,
}

impl Watch for BesideStorm<'_, '_> {
    fn progress(&mut self, progress: &Progress) {
        self.notebook.watch(progress);
    }

    /// Ends the storm: what stands in the end is asked of a server that is left alone.
    fn load_is_over(&mut self) {
        if let Some((load, raging)) = self.storm.take() {
            drop(load);
            let survived = raging.join();
            self.survived = Some(survived.unwrap_or_else(|panic| panic::resume_unwind(panic)));
        }
    }
}
