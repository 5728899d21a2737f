//! A service manager hears that a node lives only while the loops of all of its partitions turn.

use std::{fs, os::unix::net::UnixDatagram, time::Duration};

use turnstile_tests::Turnstile;
use turnstile_trial::Injection;

use crate::{cluster_snapshots::scene, partitions::of_two};

/// The service manager wants to hear something as often as this, in microseconds; a server says it four times.
const PATIENCE_US: &str = "400000";

/// Silence that is longer than some signs of life take on a busy machine. Silence by mistake fails nothing.
const SILENCE: Duration = Duration::from_secs(3);

/// Signs of life after which nobody withholds any.
const BEATS_MAX: usize = 400;

/// Has a thread hang when it next waits for something to do.
fn stall(thread: u32) -> Injection {
    let hang = "--inject=epoll_wait:delay_enter=3600000000";
    Injection::into(thread, &["--trace=epoll_wait", hang])
}

/// What the server says next; nothing if it says nothing for some time.
fn next(socket: &UnixDatagram) -> Option<String> {
    let mut message = [0; 4096];
    let length = socket.recv(&mut message).ok()?;
    Some(String::from_utf8_lossy(&message[..length]).into_owned())
}

fn await_beat(socket: &UnixDatagram) {
    while next(socket).as_deref() != Some("WATCHDOG=1\n") {}
}

#[test]
fn a_partition_whose_loop_hangs_is_seen_by_the_service_manager() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (_brokers, places) = scene::<1>(folder.path(), "268435456");
    let [place] = places.map(of_two);
    fs::create_dir(&place.data).expect("a folder for a node");
    let path = folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).expect("a socket");
    socket.set_read_timeout(Some(SILENCE)).expect("a socket");
    let environment = [
        ("NOTIFY_SOCKET", path.into_os_string()),
        ("WATCHDOG_USEC", PATIENCE_US.into()),
    ];
    let node = Turnstile::begin_in(&place.data, &place.arguments, &environment).ready();
    await_beat(&socket);
    for name in ["fast-loop", "partition-loop"] {
        let threads = node.threads(name);
        let [thread] = threads[..] else {
            panic!("threads called {name}: {threads:?}");
        };
        let stalled = stall(thread);
        let mut beats = 0;
        while next(&socket).is_some() {
            beats += 1;
            assert!(
                beats < BEATS_MAX,
                "{name} hangs, and the server says that it lives"
            );
        }
        drop(stalled);
        await_beat(&socket);
    }
    assert!(node.stop().success(), "a node ends well");
}
