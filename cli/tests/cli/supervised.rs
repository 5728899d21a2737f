//! A service manager as systemd is one: it hears that the server is ready, lives, reloads and stops.

use std::{
    os::{
        linux::net::SocketAddrExt as _,
        unix::net::{SocketAddr, UnixDatagram},
    },
    path::Path,
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use rustix::process::Signal;

use crate::process::{Server, run, turnstile};

const TIMEOUT: Duration = Duration::from_secs(60);

/// Signs of life without another message after which there will be none.
const BEATS_MAX: usize = 6_000;

/// Reads all messages from now on, as a service manager does also while the server begins.
fn listen(socket: UnixDatagram) -> Receiver<String> {
    let (heard, messages) = mpsc::sync_channel(BEATS_MAX);
    thread::spawn(move || {
        let mut message = [0; 4096];
        while let Ok(length) = socket.recv(&mut message) {
            let text = String::from_utf8(message[..length].to_vec()).unwrap();
            if heard.send(text).is_err() {
                break;
            }
        }
    });
    messages
}

/// The next message that is neither a sign of life nor about a start that takes its time.
fn told(messages: &Receiver<String>) -> String {
    let is_other = |message: &String| {
        message != "WATCHDOG=1\n" && !message.starts_with("EXTEND_TIMEOUT_USEC=")
    };
    let mut next = (0..BEATS_MAX).map(|_| received(messages));
    next.find(is_other).expect("a message among signs of life")
}

fn received(messages: &Receiver<String>) -> String {
    messages.recv_timeout(TIMEOUT).unwrap()
}

fn check(socket: UnixDatagram, name: &str, directory: &Path) {
    let messages = &listen(socket);
    let mut serve = turnstile();
    serve.args(["serve", "--resp", "127.0.0.1:0", "--http", "off", "--data"]);
    serve.arg(directory).env("NOTIFY_SOCKET", name);
    let server = Server::start(
        serve
            .env("WATCHDOG_USEC", "40000")
            .env_remove("WATCHDOG_PID"),
    );
    assert_eq!(told(messages), "READY=1\nSTATUS=serving\n");
    // Nobody asks this server anything: each beat has the loop turn for the next.
    let beats = (0..3).map(|_| received(messages));
    assert_eq!(beats.collect::<Vec<_>>(), ["WATCHDOG=1\n"; 3]);
    server.signal(Signal::HUP);
    let reloads = told(messages);
    let us = reloads
        .strip_prefix("RELOADING=1\nMONOTONIC_USEC=")
        .unwrap();
    assert!(us.trim_end().parse::<u64>().is_ok_and(|us| us > 0), "{us}");
    assert_eq!(told(messages), "READY=1\n");
    server.terminate();
    let stops = "STOPPING=1\nSTATUS=stopping: accepted requests are answered\n";
    assert_eq!(told(messages), stops);
    server.stop();
}

#[test]
fn a_service_manager_hears_that_the_server_is_ready_lives_reloads_and_stops() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    check(
        socket,
        path.to_str().unwrap(),
        &directory.path().join("data"),
    );
}

#[test]
fn its_address_may_be_an_abstract_name() {
    let directory = tempfile::tempdir().unwrap();
    let name = format!("turnstile-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let socket = UnixDatagram::bind_addr(&address).unwrap();
    check(socket, &format!("@{name}"), &directory.path().join("data"));
}

#[test]
fn a_service_manager_that_is_not_there_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("nobody");
    let mut serve = turnstile();
    serve
        .args(["serve", "--data"])
        .arg(directory.path().join("data"));
    let ended = run(serve.env("NOTIFY_SOCKET", &socket));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.err.contains("of NOTIFY_SOCKET"), "{ended:?}");
    assert!(!directory.path().join("data").exists());
}
