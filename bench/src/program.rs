//! Programs that are started, and run to their end.

use std::{
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};

use crate::process;

/// The lab's exit code for a point that its checks refuse.
const REFUSED: i32 = 98;

/// Spawns a program; a missing one is named, with what installs it.
pub(crate) fn spawn(command: &mut Command) -> Result<Child> {
    command.spawn().with_context(|| {
        let programs = "taskset (util-linux), redis-server, redis-benchmark (redis-tools) and wrk";
        format!("cannot start {command:?}; needed are {programs}")
    })
}

/// Runs a generator to its end: what it printed, and the CPU time it used.
pub(crate) fn run(command: &mut Command) -> Result<(String, Duration)> {
    let before = process::cpu_of_ended_children()?;
    let child = spawn(command.stdin(Stdio::null()).stdout(Stdio::piped()))?;
    let output = child.wait_with_output()?;
    // The lab refuses points whose generator was busy all the time, which is what is measured here.
    let fine = output.status.success() || output.status.code() == Some(REFUSED);
    ensure!(fine, "{command:?}: {}", output.status);
    let cpu = process::cpu_of_ended_children()? - before;
    Ok((String::from_utf8(output.stdout)?, cpu))
}
