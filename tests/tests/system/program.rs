//! Other programs, run to their end.

use std::ffi::OsString;
use std::io::Write;
use std::process::{Command, Stdio};

/// Seconds after which a client that waits for ever is ended.
const DEADLINE: &str = "120";

/// Runs a program to its end, feeds it, and returns what it wrote; it must succeed.
pub(crate) fn output(program: impl Into<OsString>, arguments: &[&str], input: &[u8]) -> String {
    let program = program.into();
    let mut command = Command::new("timeout");
    command.arg(DEADLINE).arg(&program).args(arguments);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("every Debian has a timeout");
    let mut stdin = child.stdin.take().expect("the input was asked for");
    stdin.write_all(input).expect("the program reads its input");
    drop(stdin);
    let output = child.wait_with_output().expect("a child can be waited for");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{program:?}: {}\n{text}{errors}",
        output.status
    );
    text
}
