//! Running other programs, and saying how long each took.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

/// The cargo that runs us, in the workspace.
pub(crate) fn cargo(root: &Path) -> Command {
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut cargo = Command::new(program);
    cargo.current_dir(root);
    forget_our_package(&mut cargo);
    cargo
}

/// Hides from a program the package that we are: build scripts that look at such names would run again, and all
/// that needs them be built again, whenever another package asks.
fn forget_our_package(program: &mut Command) {
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            program.env_remove(&name);
        }
    }
}

/// A program that is ended with all that it has started when it runs longer than so many minutes, or when the
/// thread that starts it ends before it.
pub(crate) fn for_minutes(minutes: u32, program: &Path) -> Command {
    // `timeout` leaves our process group for one of its own, which Ctrl-C does not reach.
    let mut timeout = Command::new("setpriv");
    timeout
        .args(["--pdeathsig", "TERM", "--", "timeout"])
        .args(["--verbose", "--kill-after=1m", &format!("{minutes}m")])
        .arg(program);
    forget_our_package(&mut timeout);
    timeout
}

/// Runs a program to its end; it writes where we write.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("cannot start {}", line(command)))?;
    ensure!(status.success(), "{} ended with {status}", line(command));
    Ok(())
}

/// Runs a program to its end and returns what it wrote.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start {}", line(command)))?;
    ensure!(
        output.status.success(),
        "{} ended with {}",
        line(command),
        output.status
    );
    String::from_utf8(output.stdout)
        .with_context(|| format!("{} wrote something else than UTF-8", line(command)))
}

/// Whether a program runs and says yes; what it writes is dropped.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let quiet = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// Does one part of a longer command, with a line before it and its time after it.
pub(crate) fn timed<T>(name: &str, part: impl FnOnce() -> Result<T>) -> Result<T> {
    println!("xtask: {name}");
    let start = Instant::now();
    let result = part();
    let verdict = if result.is_ok() { "done" } else { "FAILED" };
    println!(
        "xtask: {name}: {verdict} in {:.1} s",
        start.elapsed().as_secs_f64()
    );
    result.with_context(|| name.to_owned())
}

/// The command as one would type it.
fn line(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy()];
    words.extend(
        command
            .get_args()
            .map(|argument| argument.to_string_lossy()),
    );
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::process::ExitStatusExt as _;
    use std::thread;

    use super::*;

    #[test]
    fn a_program_of_some_minutes_ends_with_the_thread_that_starts_it() {
        // Ctrl-C on `xtask test` left all programs of tests running: `timeout` had taken them out of our
        // process group.
        let starting = thread::spawn(|| {
            let mut command = for_minutes(10, Path::new("sh"));
            // It begins when `timeout` waits for it: before that, a signal ends `timeout` alone.
            let script = "until grep -q 'State:.S' /proc/$PPID/status; do :; done; echo begun; exec sleep 900";
            command.args(["-c", script]).stderr(Stdio::null());
            let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
            let mut line = String::new();
            let output = child.stdout.take().unwrap();
            BufReader::new(output).read_line(&mut line).unwrap();
            assert_eq!(line, "begun\n");
            child
        });
        let status = starting.join().unwrap().wait().unwrap();
        let terminated = 15;
        assert_eq!(status.signal(), Some(terminated));
    }
}
