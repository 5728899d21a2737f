//! What is planted, and what the lab should say of it.

use crate::pin::{CLIENT_CORE, SERVER_CORE};

/// Where a server runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// On the core of servers; the generator has another.
    Apart,
    /// On whatever cores there are.
    Anywhere,
}

/// A server with one bottleneck.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) name: &'static str,
    /// The words after `planted`.
    pub(super) server: Vec<&'static str>,
    pub(super) place: Place,
    /// The words after `lab bottleneck`.
    pub(super) words: Vec<&'static str>,
    /// The core on which neighbours spin.
    pub(super) neighbours: Option<usize>,
    /// Any of these is right.
    pub(super) expected: &'static [&'static str],
}

/// A run that should be refused, or one that should not.
#[derive(Debug)]
pub(super) struct Bad {
    pub(super) name: &'static str,
    pub(super) server: Vec<&'static str>,
    /// The words after `lab run`.
    pub(super) words: Vec<&'static str>,
    pub(super) neighbours: Option<usize>,
    pub(super) codes: &'static [i32],
}

/// Name, the server's words, those of the lab, and what is right.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

const CPU: &[&str] = &["server cpu"];
const THREAD: &[&str] = &["server thread"];
const DATABASE: &[&str] = &["database cpu", "database thread"];
const LOCK: &[&str] = &["lock"];
const DISK: &[&str] = &["disk"];
const SLOTS: &[&str] = &["slots"];
const USERS: &[&str] = &["users"];
const ACK: &[&str] = &["delayed ack"];
const GENERATOR: &[&str] = &["generator thread"];
const NEIGHBOURS: &[&str] = &["neighbours"];

#[rustfmt::skip]
const APART: [Row; 16] = [
    ("processor, 300 us", "compute --micros 300", "-c 16", CPU),
    ("processor, 1 ms", "compute --micros 1000", "-c 32", CPU),
    ("processor of the database, 300 us", "behind --micros 300", "-c 16", DATABASE),
    ("processor of the database, 1 ms", "behind --micros 1000", "-c 32", DATABASE),
    ("a lock held for 1 ms", "pool --micros 1000", "-c 16", LOCK),
    ("a lock held for 5 ms", "pool --micros 5000", "-c 32", LOCK),
    ("a sync under a lock", "sync", "-c 16", DISK),
    ("two syncs at a time", "sync --slots 2", "-c 32", DISK),
    ("a pool of 4, 5 ms", "pool --micros 5000 --slots 4", "-c 16", SLOTS),
    ("a pool of 3, 2 ms", "pool --micros 2000 --slots 3", "-c 32", SLOTS),
    ("a link of 20 ms", "delay --micros 20000", "-c 16", USERS),
    ("too few connections, 5 ms", "delay --micros 5000", "-c 8", USERS),
    ("a delayed acknowledgement", "pieces", "-c 16", ACK),
    ("the same with 8 users", "pieces", "-c 8", ACK),
    ("the generator, 64 under way", "echo", "-c 16 -P 64", GENERATOR),
    ("the generator, 256 under way", "echo", "-c 16 -P 256", GENERATOR),
];

#[rustfmt::skip]
const ANYWHERE: [Row; 2] = [
    ("one thread of two processors, 300 us", "thread --micros 300", "-c 16", THREAD),
    ("one thread of two processors, 1 ms", "thread --micros 1000", "-c 32", THREAD),
];

#[rustfmt::skip]
const CROWDED: [(Row, usize); 2] = [
    (("neighbours of the server", "thread --micros 300", "-c 16", NEIGHBOURS), SERVER_CORE),
    (("neighbours of the generator", "echo", "-c 16", NEIGHBOURS), CLIENT_CORE),
];

/// Two of each kind.
pub(super) fn named() -> Vec<Case> {
    let case = |(name, server, words, expected): Row| Case {
        name,
        server: server.split(' ').collect(),
        place: Place::Apart,
        words: words.split(' ').collect(),
        neighbours: None,
        expected,
    };
    let anywhere = ANYWHERE.into_iter().map(|row| Case {
        place: Place::Anywhere,
        ..case(row)
    });
    let crowded = CROWDED.into_iter().map(|(row, core)| Case {
        neighbours: Some(core),
        ..case(row)
    });
    APART
        .into_iter()
        .map(case)
        .chain(anywhere)
        .chain(crowded)
        .collect()
}

fn run(
    name: &'static str,
    server: &'static str,
    words: &'static str,
    codes: &'static [i32],
) -> Bad {
    Bad {
        name,
        server: server.split(' ').collect(),
        words: words.split(' ').collect(),
        neighbours: None,
        codes,
    }
}

const INVALID: &[i32] = &[98];
const UNKNOWN: &[i32] = &[96, 98];
/// Nothing can be said of a server that answers nobody.
const NOTHING: &[i32] = &[98, 1];

/// Name, the server's words, those of the lab, and which exit codes refuse it.
type BadRow = (&'static str, &'static str, &'static str, &'static [i32]);

#[rustfmt::skip]
const STARVED: [BadRow; 3] = [
    ("a starved generator", "compute --micros 100", "-c 8", INVALID),
    ("a starved generator at a rate", "echo", "-c 8 -r 3000", INVALID),
    ("a starved generator, busy itself", "echo", "-c 16 -P 16", INVALID),
];

#[rustfmt::skip]
const BAD: [BadRow; 12] = [
    ("a generator that is full", "echo", "-c 16 -P 256", INVALID),
    ("a rate above the capacity", "compute --micros 1000", "-c 16 -r 2000", INVALID),
    ("a rate far above it", "compute --micros 5000", "-c 64 -r 5000", INVALID),
    ("too few connections for the rate", "delay --micros 20000", "-c 4 -r 400", INVALID),
    ("an error in twenty answers", "errors", "-c 8", INVALID),
    ("the same at a rate", "errors", "-c 8 -r 1000", INVALID),
    ("connections that are closed", "closes", "-c 8", INVALID),
    ("half of the connections are never answered", "silent", "-c 8", INVALID),
    ("bytes that are no answers", "garbled", "-c 4", NOTHING),
    ("delayed acknowledgements", "pieces", "-c 8", INVALID),
    ("a server that grows slower", "drifts --micros 300", "-c 8 --max-time 8s", UNKNOWN),
    ("more precision than the time allows", "compute --micros 300", "-c 8 --precision 0.01% --max-time 4s", UNKNOWN),
];

/// Runs whose figures say nothing of the server, or not enough.
pub(super) fn bad() -> Vec<Bad> {
    let one = |(name, server, words, codes): BadRow| run(name, server, words, codes);
    let starved = STARVED.into_iter().map(|row| Bad {
        neighbours: Some(CLIENT_CORE),
        ..one(row)
    });
    starved.chain(BAD.into_iter().map(one)).collect()
}

/// A run in which nothing is wrong: one of several loads, all below the capacity of server and generator.
pub(super) fn sound(number: u32) -> Bad {
    const FINE: &[i32] = &[0];
    match number % 4 {
        0 => run("a processor, full", "compute --micros 300", "-c 8", FINE),
        1 => run("a link", "delay --micros 5000", "-c 16", FINE),
        2 => run("a rate", "compute --micros 300", "-c 16 -r 1000", FINE),
        _ => run("a pool", "pool --micros 2000 --slots 3", "-c 16", FINE),
    }
}
