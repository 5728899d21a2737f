//! `turnstile lab run exchange`.

use std::{num::NonZeroUsize, time::Duration};

use clap::{Args, ValueEnum};
use turnstile_load::{exchange, pace::Length};

use super::{
    Target,
    driven::Driven,
    notebook::{self, Aims, Notebook, OutputArguments},
    pacing::Pacing,
};
use crate::{
    address::{self, DoorAddress},
    child::Doors,
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
    #[arg(long, value_name = "ADDR", value_parser = address::LINES)]
    xml: Option<DoorAddress>,
    #[command(flatten)]
    pacing: Pacing,
    #[command(flatten)]
    output: OutputArguments,
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

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let (pacing, threads) = (&arguments.pacing, arguments.target.threads.get());
    // What makes no sense is told before a server is started.
    pacing.pace(super::NOWHERE, threads)?;
    let driven = arguments.driven()?;
    let one_shot = arguments.one_shot;
    let mut config = exchange::Config {
        door: match arguments.door {
            Door::Resp => exchange::Door::Resp,
            Door::Xml => exchange::Door::Xml,
        },
        pace: pacing.pace(&driven.address, threads)?,
        proof: driven.resp.clone(),
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
    let mut notebook = Notebook::new(&arguments.output, asked, driven.watched())?;
    let began = notebook.begin(None);
    let report = exchange::run(&config, &mut |progress| notebook.watch(progress))?;
    notebook.keep(report.point.clone(), &config.pace, began);
    notebook.server(report.server.clone());
    driven.stop()?;
    terminal::line(&report)?;
    notebook.finish(&arguments.aims)
}

impl Arguments {
    /// The server that was named, or one of our own.
    fn driven(&self) -> anyhow::Result<Driven> {
        let (resp, behind) = (self.target.named()?, self.target.behind);
        let wrong = |sentence: &str| Err(Coded::usage(sentence.to_owned()).into());
        match (self.door, resp, &self.xml) {
            (Door::Resp, _, Some(_)) => wrong("--xml is not driven: add --door xml"),
            (Door::Xml, Some(_), None) => {
                wrong("--resp names a server, but not its XML door: add --xml")
            }
            (Door::Resp, resp, None) => Driven::over_resp(resp, behind),
            (Door::Xml, resp, Some(door)) => {
                let address = self.target.security.keyless(door)?;
                Ok(Driven::named(address, resp, behind))
            }
            (Door::Xml, None, None) => Driven::start(Doors::RespAndXml, "--xml", behind),
        }
    }
}
