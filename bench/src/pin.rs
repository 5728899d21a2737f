//! Where the two ends of a measurement run: the server on one core, its client on another.

use std::process::Command;

use anyhow::{Context as _, Result};
use rustix::thread::{CpuSet, sched_setaffinity};

/// The core of every server, of its log and of the raw sync probe.
pub(crate) const SERVER_CORE: usize = 0;

/// The core of every client.
pub(crate) const CLIENT_CORE: usize = 1;

/// Keeps the calling thread on one core.
pub(crate) fn pin(core: usize) -> Result<()> {
    let mut cores = CpuSet::new();
    cores.set(core);
    sched_setaffinity(None, &cores).with_context(|| format!("cannot run on core {core}"))
}

/// A command whose process, with all its threads, stays on one core.
pub(crate) fn command(core: usize, program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new("taskset");
    command.arg("-c").arg(core.to_string()).arg(program);
    command
}
