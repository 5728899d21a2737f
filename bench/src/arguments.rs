//! The arguments that measurements share.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::server;

/// How much is measured, and where the results go.
#[derive(Args, Debug)]
pub(crate) struct RunExtent {
    /// Little and short: to see that everything works
    #[arg(long)]
    pub(crate) quick: bool,
    /// Where the two files go
    #[arg(long, default_value = "bench/results")]
    pub(crate) out: PathBuf,
}

/// Our program under measurement.
#[derive(Args, Debug)]
pub(crate) struct Program {
    /// Our binary; without it, cargo builds the one that is shipped (profile `dist`)
    #[arg(long)]
    turnstile: Option<PathBuf>,
}

impl Program {
    /// Where it is, built if need be.
    pub(crate) fn path(&self) -> Result<PathBuf> {
        match &self.turnstile {
            Some(path) => Ok(path.clone()),
            None => server::build(),
        }
    }
}
