//! Programs that are started, and run to their end.

use std::{
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};

use crate::process;

/// Exit codes of the lab for a point that is not known precisely enough, and for one that its checks
/// refuse: a generator that is busy all the time is what is measured here.
const MEASURED: [i32; 2] = [96, 98];

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
    let code = output.status.code();
    let fine = output.status.success() || code.is_some_and(|code| MEASURED.contains(&code));
    ensure!(fine, "{command:?}: {}", output.status);
    let cpu = process::cpu_of_ended_children()? - before;
    Ok((String::from_utf8(output.stdout)?, cpu))
}
