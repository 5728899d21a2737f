//! The console in a real browser: its pages, its board at its size, hours of events, and its pictures.

mod board;
mod budgets;
mod hour;
mod load;
mod page;
mod pictures;
mod world;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::{
    arguments::{Program, RunExtent},
    machine::Machine,
    report::Report,
    server::{Kind, Server, ServerDurability},
};

#[derive(Args, Debug)]
pub(crate) struct ConsoleArguments {
    #[command(flatten)]
    extent: RunExtent,
    #[command(flatten)]
    program: Program,
    /// Where the server keeps its files: a directory on the disk of interest
    #[arg(long, default_value = "/var/tmp")]
    scratch: PathBuf,
    #[command(subcommand)]
    what: Option<Part>,
}

#[derive(Debug, Subcommand)]
enum Part {
    /// The memory of pages that stay open at 1,000 events a second; writes console-hour.json and
    /// console-hour.md
    Hour {
        /// Length of the run
        #[arg(long, default_value_t = 60)]
        minutes: usize,
    },
    /// Takes the pictures of README and book
    Pictures {
        /// Where they go
        #[arg(long, default_value = "docs/images")]
        into: PathBuf,
    },
}

/// Measures, or takes the pictures, of which there is no report.
pub(crate) fn measure(arguments: &ConsoleArguments) -> Result<Option<Report>> {
    let turnstile = arguments.program.path()?;
    let kind = Kind::Turnstile(ServerDurability::Sync);
    let server = Server::start(kind, &[], &turnstile, &arguments.scratch)?;
    let machine = Machine::with(&[turnstile.as_path()]);
    let quick = arguments.extent.quick;
    let write = |name, told, sections| {
        let measured = (Some(machine), sections);
        Report::written(&arguments.extent, name, told, measured).map(Some)
    };
    match &arguments.what {
        None => {
            let (rounds, watched) = if quick { (1, 2) } else { (3, 10) };
            let watched = std::time::Duration::from_secs(watched);
            let mut sections = vec![budgets::measure(&server, rounds, watched)?];
            sections.extend(board::measure(&server, quick)?);
            let told = [
                "The console, measured",
                "`turnstile-bench console` measures again; it needs Chromium.",
            ];
            write("console", told, sections)
        }
        Some(Part::Hour { minutes }) => {
            let told = [
                "An hour of the console",
                "`turnstile-bench console hour` measures again; it needs Chromium.",
            ];
            write(
                "console-hour",
                told,
                vec![hour::measure(&server, *minutes)?],
            )
        }
        Some(Part::Pictures { into }) => pictures::take(&server, into).map(|()| None),
    }
}
