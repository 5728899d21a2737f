//! One sample: a new server over an empty database, and what it and the database use for each request.

use std::{fmt, time::Duration};

use anyhow::Result;

use super::home::{Databases, Empty, Home};
use crate::{driver::us_each, ground::Ground, section::Figure, server::Server};

pub(super) const RATE: &str = "requests/s";
pub(super) const MEAN: &str = "mean, ms";
pub(super) const TURNSTILE_CPU: &str = "Turnstile CPU, us/request";
pub(super) const DATABASE_CPU: &str = "database CPU, us/request";
pub(super) const BATCH: &str = "requests a batch";

/// A server of ours with one service somewhere, for one sample.
#[derive(Debug)]
pub(super) struct Visit<'a> {
    pub(super) server: Server,
    service: &'static str,
    home: Home,
    empty: Option<Empty<'a>>,
}

/// What has been used and done until some instant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    turnstile: Duration,
    database: Duration,
    batches: u64,
}

/// What the users have seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) requests: u32,
    /// Requests a second.
    pub(super) rate: f64,
    /// From a request to its answer.
    pub(super) mean_ms: f64,
}

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

impl<'a> Visit<'a> {
    /// Starts a server whose service, `rooms` or `exchange`, lies there.
    pub(super) fn begin(
        ground: &Ground,
        databases: &'a Databases,
        home: Home,
        service: &'static str,
    ) -> Result<Self> {
        let empty = databases.empty(home, ground)?;
        let there = |empty: &Empty<'_>| [format!("--{service}-backend"), empty.url().to_owned()];
        let more = empty.as_ref().map(there).into_iter().flatten();
        let server = ground.start_with(&more.collect::<Vec<_>>())?;
        Ok(Self {
            server,
            service,
            home,
            empty,
        })
    }

    pub(super) fn read(&self) -> Result<Reading> {
        let database = self.empty.as_ref().map(Empty::cpu).transpose()?;
        Ok(Reading {
            turnstile: self.server.cpu()?,
            database: database.unwrap_or_default(),
            batches: match &self.empty {
                None => self.server.groups()?,
                Some(_) => self.fact("batches")?.parse()?,
            },
        })
    }

    /// What was used since then for what was seen.
    pub(super) fn sample(&self, before: Reading, seen: Seen) -> Result<Sample> {
        let after = self.read()?;
        let batches = u32::try_from(after.batches - before.batches)?;
        Ok(Sample {
            rate: seen.rate,
            mean_ms: seen.mean_ms,
            turnstile_us: us_each(after.turnstile - before.turnstile, seen.requests),
            database_us: us_each(after.database - before.database, seen.requests),
            batch: f64::from(seen.requests) / f64::from(batches.max(1)),
        })
    }

    /// How safely the service is kept, as whoever keeps it says itself.
    pub(super) fn durability(&self) -> Result<String> {
        let home = self.home;
        if self.empty.is_none() {
            let durability = self.server.fact("durability")?;
            return Ok(format!("{home}: durability={durability}"));
        }
        let (version, settings) = (self.fact("version")?, self.fact("durability")?);
        Ok(format!(
            "{home} ({version}): {}",
            settings.replace(',', ", ")
        ))
    }

    /// What `INFO` says of the back end.
    fn fact(&self, name: &str) -> Result<String> {
        self.server
            .fact(&format!("{}_backend_{name}", self.service))
    }
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
