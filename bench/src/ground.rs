//! What all sections of a run share: the binary, a place for files, and how much is measured.

use std::{
    io::{self, Write as _},
    path::PathBuf,
};

use anyhow::Result;

use crate::{
    driver::Load,
    probe::Probe,
    server::{Company, Durability, Kind, Server},
};

#[derive(Debug)]
pub(crate) struct Ground {
    /// Our shipped binary.
    pub(crate) turnstile: PathBuf,
    /// Where servers keep their files and the raw probe its own: on the disk that is measured.
    pub(crate) scratch: PathBuf,
    pub(crate) quick: bool,
}

impl Ground {
    pub(crate) const fn rounds(&self) -> usize {
        if self.quick { 3 } else { 5 }
    }

    /// A load for one sample: some four seconds of a peer, or one in a quick run.
    pub(crate) const fn load(&self, connections: u32, depth: u32) -> Load {
        let (pipelined, single, seconds) = if self.quick {
            (400_000, 50_000, 1)
        } else {
            (1_600_000, 200_000, 4)
        };
        Load {
            connections,
            depth,
            requests: if depth > 1 { pipelined } else { single },
            seconds,
        }
    }

    pub(crate) fn start(&self, kind: Kind) -> Result<Server> {
        Server::start(kind, &self.turnstile, &self.scratch)
    }

    /// Starts our durable server, with more to be told.
    pub(crate) fn start_with(&self, more: &[String]) -> Result<Server> {
        let kind = Kind::Turnstile(Durability::Sync);
        Server::start_as(kind, more, &self.turnstile, &self.scratch)
    }

    /// Starts travel in so many processes: one or five.
    pub(crate) fn start_travel(&self, in_five: bool) -> Result<Company> {
        if in_five {
            return Company::of_five(&self.turnstile, &self.scratch);
        }
        let server = self.start(Kind::Turnstile(Durability::Sync))?;
        Ok(Company::of_one(server))
    }

    pub(crate) fn probe(&self) -> Result<Probe> {
        Probe::take(&self.scratch)
    }
}

/// Tells whoever waits at the terminal what is being measured.
pub(crate) fn tell(what: &str) -> Result<()> {
    writeln!(io::stderr(), "{what}")?;
    Ok(())
}
