//! Generators: each runs on the client's core, and says how many requests were answered how fast.

mod lab;
pub(crate) mod pgbench;
mod pipe;
mod redis_benchmark;
mod wrk;

use std::{path::Path, time::Duration};

use anyhow::Result;

use crate::server::Server;

pub(crate) use pipe::{
    Journey, LinesClient, Managers, Order, Places, REQUESTS, REQUESTS_OF_A_GAME, Speech, World,
    done, put_line, started, travel,
};
pub(crate) use redis_benchmark::{BOOK, FCALL, SET, drive as redis_benchmark};

/// How hard a server is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) connections: u32,
    /// Requests under way on each connection.
    pub(crate) depth: u32,
    /// For generators that are told a number of requests.
    pub(crate) requests: u32,
    /// For generators that are told a time.
    pub(crate) seconds: u32,
}

/// What is sent, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// One command over and over by redis-benchmark, each time with another room or key.
    Command(&'static [&'static str]),
    /// Bookings over HTTP by wrk.
    Http,
    /// Bookings over RESP by the generator of our lab.
    Lab,
    /// Whatever a generator of this program says.
    Speech(Speech),
}

/// What a generator has seen and used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tally {
    pub(crate) requests: u32,
    /// How many of them were done and not refused, where the generator reads its answers.
    pub(crate) accepted: Option<u32>,
    /// Requests a second.
    pub(crate) rate: f64,
    /// The generator's CPU time (user and system) a request.
    pub(crate) client_us: f64,
}

/// Makes what the work needs, before anything is measured.
pub(crate) fn prepare(work: Work, server: &Server, load: Load) -> Result<()> {
    match work {
        Work::Command(_) | Work::Http | Work::Lab => Ok(()),
        Work::Speech(speech) => pipe::prepare(speech, server, load),
    }
}

/// Drives a server; `turnstile` is our binary, which holds the lab.
pub(crate) fn drive(work: Work, server: &Server, load: Load, turnstile: &Path) -> Result<Tally> {
    match work {
        Work::Command(words) => redis_benchmark::drive(words, server, load),
        Work::Http => wrk::drive(server, load),
        Work::Lab => lab::drive(server, load, turnstile),
        Work::Speech(speech) => pipe::drive(speech, server, load),
    }
}

/// The nearest count to what was computed, at least 1.
pub(crate) fn nearest(value: f64) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to what fits"
    )]
    let nearest = value.round().clamp(1.0, 1e9) as u32;
    nearest
}

/// Microseconds a request.
pub(crate) fn us_each(time: Duration, requests: u32) -> f64 {
    time.as_secs_f64() * 1e6 / f64::from(requests)
}
