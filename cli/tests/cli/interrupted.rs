//! System calls that are interrupted by a signal before they have done anything.

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use crate::process::{Server, ask, run, settled, turnstile, words};

/// No tracer takes longer to end after what it traces.
const PATIENCE: Duration = Duration::from_secs(30);

/// The server, of whose calls `which` every other one is interrupted, as the tracer writes to `trace`.
fn interrupted(which: &[&str], trace: &Path) -> Command {
    let mut command = Command::new("strace");
    // The tracer stands aside, so that the server is our child.
    command.args(["-D", "-f", "-qq", "-o"]).arg(trace);
    command.args(["-e", &format!("trace={},exit_group", which.join(","))]);
    for call in which {
        command.args(["-e", &format!("inject={call}:error=EINTR:when=2+2")]);
    }
    command.args(["--", env!("CARGO_BIN_EXE_turnstile")]);
    settled(command)
}

/// Whether processes may be traced here; said loudly when they may not.
fn may_trace() -> bool {
    let mut probe = Command::new("strace");
    let probed = probe.args(["-qq", "-o", "/dev/null", "true"]).output();
    let may = probed.is_ok_and(|output| output.status.success());
    if !may {
        let notice = b"\n*** NOT TESTED: that interrupted writes and syncs are made again\n\
                       *** Nothing can be traced here: `strace true` fails\n\n";
        std::io::stderr().write_all(notice).unwrap();
    }
    may
}

#[test]
fn writes_and_syncs_that_are_interrupted_are_made_again() {
    if !may_trace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (trace, data) = (folder.path().join("trace"), folder.path().join("data"));
    let calls = ["pwrite64", "fdatasync"];
    let mut command = interrupted(&calls, &trace);
    command.args(["dev", "--resp", "127.0.0.1:0", "--http", "off"]);
    command.args(["--xml", "off", "--travel", "off"]);
    command.args(["--games-arena", "off", "--games-scores", "off", "--data"]);
    let server = Server::start(command.arg(&data));
    let mut door = server.connect();
    for number in 1..=20 {
        let line = format!("ROOMS.BOOK bench r{number} 2027-01-01 2027-01-02 ada 234123412346");
        let answer = words(&ask(&mut door, &line));
        assert!(answer.starts_with("1 "), "booking {number}: {answer}");
    }
    server.stop();
    let traced = whole(&trace);
    for call in calls {
        let injected = |line: &&str| line.contains(call) && line.contains("(INJECTED)");
        let count = traced.lines().filter(injected).count();
        assert!(
            count >= 10,
            "{call} was interrupted {count} times: {traced}"
        );
    }
    let verdict = run(turnstile().arg("verify").arg(&data));
    assert!(verdict.out.contains(" 20 bookings stand"), "{verdict:?}");
}

/// What a tracer has written, when it has seen the end.
fn whole(trace: &Path) -> String {
    let end = Instant::now() + PATIENCE;
    loop {
        let traced = fs::read_to_string(trace).unwrap();
        if traced.contains("exit_group(0)") || Instant::now() > end {
            return traced;
        }
        thread::yield_now();
    }
}
