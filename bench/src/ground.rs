//! What all sections of a run share: the binary, a place for files, and how much is measured.

use std::{
    io::{self, Write as _},
    path::PathBuf,
};

use anyhow::Result;

use crate::{
    probe::Probe,
    server::{Kind, Server},
};

#[derive(Debug)]
pub(crate) struct Ground {
    /// Our shipped binary.
    pub(crate) turnstile: PathBuf,
    /// Where servers and probes keep their files: on the disk that is measured.
    pub(crate) scratch: PathBuf,
    pub(crate) quick: bool,
}

impl Ground {
    pub(crate) const fn rounds(&self) -> usize {
        if self.quick { 3 } else { 5 }
    }

    /// Starts a server with nothing in it.
    pub(crate) fn start(&self, kind: Kind) -> Result<Server> {
        self.start_with(kind, &[])
    }

    /// The same, with more arguments.
    pub(crate) fn start_with(&self, kind: Kind, more: &[String]) -> Result<Server> {
        Server::start(kind, more, &self.turnstile, &self.scratch)
    }

    pub(crate) fn probe(&self) -> Result<Probe> {
        Probe::take(&self.scratch)
    }
}

/// Prints what is being measured on the terminal.
pub(crate) fn tell(what: &str) -> Result<()> {
    writeln!(io::stderr(), "{what}")?;
    Ok(())
}
