//! What other processes can see of a server's memory.

use std::{
    fs,
    os::unix::{
        fs::{MetadataExt as _, chown},
        process::CommandExt as _,
    },
    path::Path,
    process::Command,
};

use crate::process::{Server, run, settled};

/// The user of the server where the tests run as root; otherwise it is that of the tests.
const NOBODY: u32 = 65_534;

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// A command of a user without privileges.
fn command(program: impl AsRef<Path>) -> Command {
    let mut command = settled(Command::new(program.as_ref()));
    command.current_dir("/").env("LC_ALL", "C");
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

#[test]
fn the_memory_of_a_serving_process_is_closed_to_its_own_user() {
    let directory = tempfile::tempdir().unwrap();
    let (program, data) = (
        directory.path().join("turnstile"),
        directory.path().join("data"),
    );
    fs::copy(env!("CARGO_BIN_EXE_turnstile"), &program).unwrap();
    fs::create_dir(&data).unwrap();
    if is_root() {
        for path in [directory.path(), &program, &data] {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
    let mut serve = command(&program);
    serve.args(["serve", "--http", "off", "--resp", "127.0.0.1:0", "--data"]);
    let server = Server::start(serve.arg(&data));
    let memory = |process: u32| format!("/proc/{process}/mem");
    let owner = |process| fs::metadata(memory(process)).unwrap().uid();

    // The kernel gives the files of a process that cannot be dumped to root.
    assert_eq!(owner(server.pid()), 0);
    let read = run(command("head").args(["-c", "1", &memory(server.pid())]));
    assert!(read.err.contains("Permission denied"), "{read:?}");

    let mut other = command("sleep").arg("60").spawn().unwrap();
    let others = owner(other.id());
    other.kill().unwrap();
    other.wait().unwrap();
    assert_ne!(others, 0, "a process that does not hide is seen");
    server.stop();
}
