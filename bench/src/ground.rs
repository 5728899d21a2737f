//! What all sections of a run share: the binary, a place for files, and how much is measured.

use std::{
    io::{self, Write as _},
    path::PathBuf,
};

use anyhow::{Context as _, Result};

use crate::{
    probe::MachineProbe,
    server::{Kind, Server},
};

#[derive(Debug)]
pub(crate) struct Ground {
    /// Our shipped binary.
    pub(crate) turnstile: PathBuf,
    /// An older one.
    pub(crate) older: Option<PathBuf>,
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
        let program = match kind {
            Kind::Older => {
                let older = self.older.as_ref();
                older.context("name the older program: --older PATH")?
            }
            Kind::Turnstile(_)
            | Kind::Keyed
            | Kind::Encrypted
            | Kind::Five
            | Kind::Redis(_)
            | Kind::RedisEncrypted => &self.turnstile,
        };
        Server::start(kind, more, program, &self.scratch)
    }

    pub(crate) fn probe(&self) -> Result<MachineProbe> {
        MachineProbe::take(&self.scratch)
    }
}

/// Prints what is being measured on the terminal.
pub(crate) fn tell(what: &str) -> Result<()> {
    writeln!(io::stderr(), "{what}")?;
    Ok(())
}
