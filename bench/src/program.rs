//! Programs that are started, and run to their end.

use std::{
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};

use crate::process;

/// What `timeout` ends with when it has ended a program.
const TOO_LONG: i32 = 124;

/// A command that is ended when it takes longer than this, or when the thread that starts it ends before it.
pub(crate) fn bounded(program: &Path, patience: Duration) -> Command {
    // `timeout` leaves our process group for one of its own, which Ctrl-C does not reach.
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "TERM", "--", "timeout"]);
    command.args(["--kill-after", "5", &patience.as_secs().to_string()]);
    command.arg(program);
    command
}

/// Spawns a program; a missing one is named, with what installs it.
pub(crate) fn spawn(command: &mut Command) -> Result<Child> {
    command.spawn().with_context(|| {
        let programs = "taskset (util-linux), redis-server, redis-benchmark (redis-tools) and wrk";
        format!("cannot start {command:?}; needed are {programs}")
    })
}

/// Runs a program to its end: what it printed, and the CPU time it used.
pub(crate) fn run(command: &mut Command) -> Result<(String, Duration)> {
    let before = process::cpu_of_ended_children()?;
    let child = spawn(command.stdin(Stdio::null()).stdout(Stdio::piped()))?;
    let said = finish(child, command, &[0])?;
    let cpu = process::cpu_of_ended_children()? - before;
    Ok((said, cpu))
}

/// Waits until a program has ended with one of these exit codes: what it printed.
pub(crate) fn finish(child: Child, command: &Command, codes: &[u8]) -> Result<String> {
    let output = child.wait_with_output()?;
    let code = output.status.code();
    ensure!(code != Some(TOO_LONG), "{command:?} took too long");
    let fine = code.is_some_and(|code| codes.iter().any(|fine| i32::from(*fine) == code));
    ensure!(fine, "{command:?}: {}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}
