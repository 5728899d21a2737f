//! `turnstile lab run exchange`.

use std::{net::SocketAddr, num::NonZeroUsize, time::Duration};

use clap::{Args, ValueEnum};
use turnstile_load::exchange;

use super::{ProgressLine, Target, conclude, duration, own_server};
use crate::{
    child::{Doors, Server},
    exit::Coded,
};

/// How long a one-shot run may take before what is not answered counts as unknown.
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    target: Target,
    /// Which door is driven
    #[arg(long, value_enum, default_value = "resp")]
    door: Door,
    /// XML door of the server, for --door xml. Add its --resp, where the accounts can be looked
    /// into: without it only what the orders' statuses tell is proven
    #[arg(long, value_name = "ADDR")]
    xml: Option<SocketAddr>,
    /// Connections, each a trader who waits for the answer before the next request
    #[arg(short, long, default_value = "50")]
    connections: NonZeroUsize,
    /// How long to measure, such as 10s or 500ms
    #[arg(short, long, default_value = "10s", value_parser = duration)]
    duration: Duration,
    /// How long to warm up before that
    #[arg(long, default_value = "1s", value_parser = duration)]
    warm_up: Duration,
    /// Requests under way on each connection
    #[arg(short = 'P', long, default_value = "1")]
    pipeline: NonZeroUsize,
    /// Instead: so many traders, each of whom connects, sends one order, waits for the answer and
    /// goes; --connections of them at a time. The time of all of them is told
    #[arg(long, value_name = "TRADERS", conflicts_with_all = ["duration", "warm_up", "pipeline"])]
    one_shot: Option<NonZeroUsize>,
    /// Symbols, each with a book of its own: 1 to 1000
    #[arg(long, default_value = "8", value_parser = clap::value_parser!(u16).range(1..=1_000))]
    symbols: u16,
    /// The same seed sends the same requests
    #[arg(long, default_value = "1")]
    seed: u64,
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
    let driven = Driven::of(arguments)?;
    let one_shot = arguments.one_shot;
    let config = exchange::Config {
        door: driven.door,
        address: driven.address,
        proof: driven.proof,
        users: one_shot.unwrap_or(arguments.connections).get(),
        threads: arguments.target.threads.get(),
        pipeline: arguments.pipeline.get(),
        warm_up: one_shot.map_or(arguments.warm_up, |_| Duration::ZERO),
        duration: one_shot.map_or(arguments.duration, |_| PATIENCE),
        one_shot: one_shot.map(|_| arguments.connections.get()),
        symbols: usize::from(arguments.symbols),
        seed: arguments.seed,
    };
    let line = ProgressLine::new();
    let report = exchange::run(&config, &mut |progress| line.show(progress))?;
    line.finish();
    driven.own.map_or(Ok(()), Server::stop)?;
    conclude(&report, report.verdict(), arguments.target.json.as_deref())
}

impl Driven {
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
                let own = own_server(Doors::Resp)?;
                Ok(Self::own(exchange::Door::Resp, own.resp(), own))
            }
            (Door::Xml, None, None) => {
                let own = own_server(Doors::RespAndXml)?;
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
