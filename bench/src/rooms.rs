//! Every claim about the speed and memory of rooms, measured beside its peers.

mod depth;
mod restart;
mod single;

use anyhow::Result;

use crate::{
    contest::{self, CLIENT_CPU, Contender, RATE, SERVER_CPU},
    driver::{BOOK, FCALL, SET, Work},
    ground::Ground,
    ratio::Bound::{AtLeast, AtMost, None as Compared},
    section::{Part, Section},
    server::{
        Durability::{Memory, Sync},
        Kind::{Redis, Turnstile},
        Persistence,
    },
};

/// The parts, by the names they are asked for by.
pub(crate) const SECTIONS: [Part; 8] = [
    ("pipelined", pipelined),
    ("unpipelined", unpipelined),
    ("tax", tax),
    ("single", single::measure),
    ("http", http),
    ("generator", generator),
    ("restart", restart::measure),
    ("depth", depth::measure),
];

/// The programs beside our own.
pub(crate) const PROGRAMS: [&str; 3] = ["redis-server", "redis-benchmark", "wrk"];

const DURABLE: Contender = booked(Sync);
const IN_MEMORY: Contender = booked(Memory);
const ALWAYS_SET: Contender = redis(Persistence::Always, SET);
const ALWAYS_FCALL: Contender = redis(Persistence::Always, FCALL);
const NONE_SET: Contender = redis(Persistence::None, SET);
const NONE_FCALL: Contender = redis(Persistence::None, FCALL);

const fn booked(durability: crate::server::Durability) -> Contender {
    Contender {
        kind: Turnstile(durability),
        work: Work::Command(BOOK),
    }
}

const fn redis(persistence: Persistence, words: &'static [&'static str]) -> Contender {
    Contender {
        kind: Redis(persistence),
        work: Work::Command(words),
    }
}

fn pipelined(ground: &Ground) -> Result<Section> {
    let contenders = [
        DURABLE,
        IN_MEMORY,
        ALWAYS_SET,
        NONE_SET,
        ALWAYS_FCALL,
        NONE_FCALL,
    ];
    let mut section = contest::run(
        ground,
        "Pipelined, 50 x 16",
        ground.load(50, 16),
        &contenders,
    )?;
    let mut claim = |target: &str, figure, peer, bound| {
        section.claim(target, figure, (0, peer), bound);
    };
    claim(
        "50 x 16: rate of a durable booking / redis always SET",
        RATE,
        2,
        AtLeast(2.0),
    );
    claim(
        "50 x 16: server CPU of a durable booking / redis always SET",
        SERVER_CPU,
        2,
        AtMost(0.5),
    );
    claim(
        "50 x 16: rate of a durable booking / redis without persistence SET",
        RATE,
        3,
        AtLeast(1.0),
    );
    claim(
        "50 x 16: rate of a durable booking / the same in memory",
        RATE,
        1,
        AtLeast(0.6),
    );
    claim(
        "50 x 16: rate of a durable booking / redis always function",
        RATE,
        4,
        Compared,
    );
    claim(
        "50 x 16: rate of a durable booking / redis without persistence function",
        RATE,
        5,
        Compared,
    );
    Ok(section)
}

fn unpipelined(ground: &Ground) -> Result<Section> {
    let contenders = [DURABLE, ALWAYS_SET, NONE_SET, ALWAYS_FCALL];
    let title = "Unpipelined, 50 x 1";
    let mut section = contest::run(ground, title, ground.load(50, 1), &contenders)?;
    section.claim(
        "50 x 1: server CPU of a durable booking / redis always SET",
        SERVER_CPU,
        (0, 1),
        AtMost(0.8),
    );
    section.claim(
        "50 x 1: server CPU of a durable booking / redis without persistence SET",
        SERVER_CPU,
        (0, 2),
        AtMost(0.95),
    );
    section.claim(
        "50 x 1: rate of a durable booking / redis always SET",
        RATE,
        (0, 1),
        Compared,
    );
    Ok(section)
}

fn tax(ground: &Ground) -> Result<Section> {
    let contenders = [DURABLE, IN_MEMORY];
    let title = "Durability tax, 200 x 1";
    let mut section = contest::run(ground, title, ground.load(200, 1), &contenders)?;
    section.claim(
        "200 x 1: rate of a durable booking / the same in memory",
        RATE,
        (0, 1),
        AtLeast(0.85),
    );
    Ok(section)
}

fn http(ground: &Ground) -> Result<Section> {
    let over_http = Contender {
        kind: Turnstile(Sync),
        work: Work::Http,
    };
    let title = "HTTP, 64 connections";
    let mut section = contest::run(ground, title, ground.load(64, 1), &[over_http, DURABLE])?;
    section.claim(
        "64 x 1: rate of a durable booking over HTTP / over RESP",
        RATE,
        (0, 1),
        AtLeast(0.85),
    );
    section.claim(
        "64 x 1: server CPU of a durable booking over HTTP / over RESP",
        SERVER_CPU,
        (0, 1),
        Compared,
    );
    Ok(section)
}

fn generator(ground: &Ground) -> Result<Section> {
    let by_lab = Contender {
        kind: Turnstile(Sync),
        work: Work::Lab,
    };
    let title = "Generators, 50 x 1";
    let mut section = contest::run(ground, title, ground.load(50, 1), &[by_lab, DURABLE])?;
    section.claim(
        "50 x 1: CPU of our lab's generator / of redis-benchmark",
        CLIENT_CPU,
        (0, 1),
        AtMost(0.6),
    );
    Ok(section)
}
