//! One sample: a new server over an empty database, and users who book and cancel over RESP.

use std::{fmt, thread, time::Duration};

use anyhow::{Context as _, Result, ensure};
use turnstile_load::{
    pace::{self, Pace, Totals},
    rooms::{Config, Guest, Mix},
};

use super::home::{Databases, Home};
use crate::{ground::Ground, pin, probe::joined, section::Figure, server::Server};

pub(super) const RATE: &str = "requests/s";
pub(super) const MEAN: &str = "mean, ms";
pub(super) const TURNSTILE_CPU: &str = "Turnstile CPU, us/request";
pub(super) const DATABASE_CPU: &str = "database CPU, us/request";
pub(super) const BATCH: &str = "requests a batch";

/// How users ask: each for itself, and again as soon as it is answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit {
    pub(super) mix: Mix,
    pub(super) users: usize,
    pub(super) warm_up: Duration,
    pub(super) window: Duration,
}

/// What was seen of a visit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    rate: f64,
    mean_ms: f64,
    turnstile_us: f64,
    /// 0 without a database.
    database_us: f64,
    /// Requests that were committed together.
    batch: f64,
}

/// What the server had done until some instant.
struct Reading {
    turnstile: Duration,
    database: Duration,
    batches: u64,
}

/// Takes a sample; also what the database said of its durability.
pub(super) fn sample(
    ground: &Ground,
    databases: &Databases,
    home: Home,
    visit: Visit,
) -> Result<(Sample, String)> {
    let empty = databases.empty(home, ground)?;
    let mut more = Vec::new();
    if let Some(empty) = &empty {
        more = vec!["--rooms-backend".to_owned(), empty.url().to_owned()];
    }
    let server = ground.start_with(&more)?;
    let read = || -> Result<Reading> {
        let database = empty.as_ref().map(|empty| empty.cpu()).transpose()?;
        Ok(Reading {
            turnstile: server.cpu()?,
            database: database.unwrap_or_default(),
            batches: match &empty {
                None => server.groups()?,
                Some(_) => server.fact("rooms_backend_batches")?.parse()?,
            },
        })
    };
    drive(&server, visit, visit.warm_up, 0)?;
    let before = read()?;
    let totals = drive(&server, visit, visit.window, 1)
        .with_context(|| format!("{home}: {}", server.last_words().unwrap_or_default()))?;
    let after = read()?;
    let answered = answered(&totals)?;
    let us_each = |time: Duration| time.as_secs_f64() * 1e6 / answered;
    let batches = u32::try_from(after.batches - before.batches)?;
    let sample = Sample {
        rate: totals.figures().throughput,
        mean_ms: totals.times().summary().mean / 1e6,
        turnstile_us: us_each(after.turnstile - before.turnstile),
        database_us: us_each(after.database - before.database),
        batch: answered / f64::from(batches.max(1)),
    };
    Ok((sample, durability(&server, home)?))
}

fn durability(server: &Server, home: Home) -> Result<String> {
    if home == Home::Embedded {
        return Ok(format!("{home}: durability={}", server.fact("durability")?));
    }
    let version = server.fact("rooms_backend_version")?;
    let settings = server.fact("rooms_backend_durability")?;
    Ok(format!(
        "{home} ({version}): {}",
        settings.replace(',', ", ")
    ))
}

/// Has users ask for so long. The number makes what they ask for another than that of other times.
fn drive(server: &Server, visit: Visit, length: Duration, number: u64) -> Result<Totals<Guest>> {
    let config = Config {
        pace: Pace::closed(server.resp(), Duration::ZERO, length),
        users: visit.users,
        mix: visit.mix,
        property: "bench".to_owned(),
    };
    joined(thread::spawn(move || {
        pin::pin(pin::CLIENT_CORE)?;
        let guests = (0..config.users).map(|user| Guest::new(&config, user, number));
        Ok(pace::run(&config.pace, guests.collect(), &mut |_| {})?)
    }))
}

/// How many requests were answered. Users ask for what nobody has: anything but `done` is wrong.
fn answered(totals: &Totals<Guest>) -> Result<f64> {
    let mut done = 0;
    for operation in &totals.tally.operations {
        let refused = operation.refused.by_word();
        let errors = operation.errors.by_word();
        let fine = refused.is_empty() && errors.is_empty() && operation.unknown == 0;
        ensure!(
            fine,
            "{}: refused {refused:?}, errors {errors:?}",
            operation.name
        );
        done += operation.done;
    }
    ensure!(done > 0, "nothing was done");
    Ok(f64::from(u32::try_from(done)?))
}

pub(super) fn figures(samples: &[Sample]) -> Vec<Figure> {
    let figure = |name, value: fn(&Sample) -> f64| Figure {
        name,
        values: samples.iter().map(value).collect(),
    };
    vec![
        figure(RATE, |sample| sample.rate),
        figure(MEAN, |sample| sample.mean_ms),
        figure(TURNSTILE_CPU, |sample| sample.turnstile_us),
        figure(DATABASE_CPU, |sample| sample.database_us),
        figure(BATCH, |sample| sample.batch),
    ]
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.0} requests/s, mean {:.2} ms, CPU {:.1} us Turnstile, {:.1} us database, \
             {:.1} a batch",
            self.rate, self.mean_ms, self.turnstile_us, self.database_us, self.batch
        )
    }
}
