//! `turnstile lab run exchange`.

use std::{net::SocketAddr, num::NonZeroUsize, time::Duration};

use clap::{Args, ValueEnum};
use turnstile_load::{exchange, pace::Length, resources::Watched};
use turnstile_result as result;

use super::{
    Target,
    notebook::{self, Aims, Notebook, Output},
    own_server,
    pacing::Pacing,
    watching::Behind,
};
use crate::{
    address,
    child::{Doors, Server},
    exit::Coded,
    terminal,
};

/// How long a one-shot run may take before what is not answered counts as unknown.
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    target: Target,
    /// Protocol of the orders
    #[arg(long, value_enum, default_value = "resp")]
    door: Door,
    /// XML address of the server, for --door xml. Add --resp of the same server to check the
    /// accounts too; without it, only the order statuses are checked
    #[arg(long, value_name = "ADDR", value_parser = address::parse)]
    xml: Option<SocketAddr>,
    #[command(flatten)]
    pacing: Pacing,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    aims: Aims,
    /// Run this many traders instead: each connects, sends one order, waits for the answer and
    /// disconnects; --connections of them at a time. Reports the total time
    #[arg(long, value_name = "TRADERS", conflicts_with_all = ["duration", "warm_up", "pipeline", "rate", "think", "stages"])]
    one_shot: Option<NonZeroUsize>,
    /// Number of symbols, each with its own book, 1 to 1000
    #[arg(long, default_value = "8", value_parser = clap::value_parser!(u16).range(1..=1_000))]
    symbols: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Door {
    Resp,
    Xml,
}

/// The server under load.
struct Driven {
    door: exchange::Door,
    address: SocketAddr,
    /// The RESP door of the same server, for the proof.
    proof: Option<SocketAddr>,
    own: Option<Server>,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let (pacing, threads) = (&arguments.pacing, arguments.target.threads.get());
    // What makes no sense is told before a server is started.
    pacing.pace(SocketAddr::from(([127, 0, 0, 1], 0)), threads)?;
    let driven = Driven::of(arguments)?;
    let one_shot = arguments.one_shot;
    let mut config = exchange::Config {
        door: driven.door,
        pace: pacing.pace(driven.address, threads)?,
        proof: driven.proof,
        users: one_shot.unwrap_or(pacing.connections).get(),
        one_shot: one_shot.map(|_| pacing.connections.get()),
        symbols: usize::from(arguments.symbols),
    };
    if one_shot.is_some() {
        config.pace.length = Length::Fixed {
            warm_up: Duration::ZERO,
            duration: PATIENCE,
        };
    }
    let mut asked = notebook::asked("run", "exchange", driven.target(), Some(pacing), threads);
    asked.settings.extend([
        (
            "door".to_owned(),
            format!("{:?}", arguments.door).to_lowercase(),
        ),
        ("symbols".to_owned(), arguments.symbols.to_string()),
    ]);
    let mut notebook = Notebook::new(
        &arguments.output,
        asked,
        driven.watched(arguments.target.behind),
    )?;
    let began = notebook.begin(None);
    let report = exchange::run(&config, &mut |progress| notebook.watch(progress))?;
    notebook.keep(report.point.clone(), &config.pace, began);
    notebook.server(report.server.clone());
    driven.own.map_or(Ok(()), Server::stop)?;
    terminal::line(&report)?;
    notebook.finish(&arguments.aims)
}

impl Driven {
    /// For `run.json`.
    fn target(&self) -> result::Target {
        result::Target {
            address: self.address.to_string(),
            own: self.own.is_some(),
        }
    }

    /// Server and database, where they can be found.
    fn watched(&self, behind: Behind) -> Vec<Watched> {
        behind.watched(self.own.as_ref(), self.address, self.proof)
    }

    /// The server that was named, or one of our own.
    fn of(arguments: &Arguments) -> anyhow::Result<Self> {
        let (resp, xml) = (arguments.target.resp, arguments.xml);
        match (arguments.door, resp, xml) {
            (Door::Resp, _, Some(_)) => {
                Err(Coded::usage("--xml is not driven: add --door xml".to_owned()).into())
            }
            (Door::Xml, Some(_), None) => Err(Coded::usage(
                "--resp names a server, but not its XML door: add --xml".to_owned(),
            )
            .into()),
            (Door::Resp, Some(address), None) => Ok(Self {
                door: exchange::Door::Resp,
                address,
                proof: Some(address),
                own: None,
            }),
            (Door::Xml, proof, Some(address)) => Ok(Self {
                door: exchange::Door::Xml,
                address,
                proof,
                own: None,
            }),
            (Door::Resp, None, None) => {
                let own = own_server(Doors::Resp, "--resp")?;
                Ok(Self::own(exchange::Door::Resp, own.resp(), own))
            }
            (Door::Xml, None, None) => {
                let own = own_server(Doors::RespAndXml, "--xml")?;
                let address = own.xml().expect("it was started with an XML door");
                Ok(Self::own(exchange::Door::Xml, address, own))
            }
        }
    }

    fn own(door: exchange::Door, address: SocketAddr, own: Server) -> Self {
        Self {
            door,
            address,
            proof: Some(own.resp()),
            own: Some(own),
        }
    }
}
