//! `turnstile games recount`: compares the statistics of a directory with its journal.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use turnstile_embedded::recount_games;
use turnstile_stats::units::Count;

use crate::{exit::Coded, terminal, verify::no_verdict};

#[derive(Subcommand, Debug)]
pub(crate) enum Games {
    /// Recount all results in the journal and compare every statistic
    Recount(Arguments),
}

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Data directory. It must not be in use by a server, and is not changed
    dir: PathBuf,
}

pub(crate) fn run(Games::Recount(arguments): Games) -> anyhow::Result<()> {
    let dir = &arguments.dir;
    let recounted = recount_games(dir).map_err(|error| no_verdict(dir, &error))?;
    for difference in &recounted.differences {
        terminal::line(difference)?;
    }
    terminal::line(format_args!(
        "{} results, counted again after position {}: {} differences",
        Count(recounted.results),
        recounted.from,
        recounted.differences.len()
    ))?;
    if recounted.differences.is_empty() {
        Ok(())
    } else {
        let message = "the statistics do not say what the journal says".to_owned();
        Err(Coded::violation(message).into())
    }
}
