//! What puts load on a server: the lab, or a program of others, as a scenario writes its command line.

pub(crate) mod exchange_core;
pub(crate) mod fill;
pub(crate) mod lab;
pub(crate) mod pgbench;
pub(crate) mod redis_benchmark;
pub(crate) mod tables;
pub(crate) mod trips;
mod wrk;

use std::{collections::BTreeMap, net::SocketAddr, path::Path, str::FromStr};

use anyhow::{Context as _, Result, bail};

use crate::server::{DoorAddresses, KEYS, Protection};

/// What was seen in one run, by name: `rate` in units a second, `count` of units in the whole run,
/// `client us` of the generator's CPU time for one, and what else the generator reports.
pub(crate) type Measures = BTreeMap<String, f64>;

/// Names of measures that several files use.
pub(crate) const RATE: &str = "rate";
pub(crate) const COUNT: &str = "count";
pub(crate) const CLIENT_US: &str = "client us";
pub(crate) const SERVER_US: &str = "server us";
pub(crate) const DATABASE_US: &str = "database us";
pub(crate) const REFUSED_PERCENT: &str = "refused %";

/// For a word of a load, what counts the requests that were accepted.
const COUNTERS: [(&str, &str); 6] = [
    ("wrk", "rooms_booked_total"),
    ("ROOMS.BOOK", "rooms_booked_total"),
    ("EXCHANGE.PLACE-ORDER", "exchange_orders_total"),
    ("TRAVEL.BOOK", "travel_booked_total"),
    ("SET", KEYS),
    ("FCALL", KEYS),
];

/// Where a load goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    pub(crate) doors: DoorAddresses,
    /// What clients need to get in.
    pub(crate) protection: &'a Protection,
    /// The address of a database, for a load that goes to one.
    pub(crate) database: Option<&'a str>,
    /// Our binary, which contains the lab.
    pub(crate) turnstile: &'a Path,
    /// The core of the generator.
    pub(crate) core: usize,
}

/// Runs a command line against a server.
pub(crate) fn drive(line: &str, target: Target<'_>) -> Result<Measures> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (&program, words) = words.split_first().context("a load is a command line")?;
    match program {
        "lab" => lab::drive(words, target),
        "redis-benchmark" => redis_benchmark::drive(words, target.doors.resp, target.protection),
        "wrk" => wrk::drive(words, target.doors.http),
        "pgbench" => trips::drive(words, target.database.context("pgbench needs PostgreSQL")?),
        "tables" => tables::drive(words, target),
        "exchange-core" => exchange_core::drive(words),
        other => bail!("there is no load `{other}`"),
    }
}

/// What counts the accepted requests of a load; none where nothing does.
pub(crate) fn counter(line: &str) -> Option<&'static str> {
    let counter = |word| COUNTERS.into_iter().find(|(known, _)| *known == word);
    let (_, counter) = line.split_whitespace().find_map(counter)?;
    Some(counter)
}

/// What a tool reached that counts requests itself.
pub(crate) fn reached(count: u32, rate: f64, client_us: f64) -> Measures {
    let measures = [
        (COUNT, f64::from(count)),
        (RATE, rate),
        (CLIENT_US, client_us),
    ];
    measures
        .map(|(name, value)| (name.to_owned(), value))
        .into()
}

/// The value of an option in a command line: of `-c` in `-c 50`.
fn option<N: FromStr>(words: &[&str], name: &str) -> Result<N> {
    let at = words.iter().position(|word| *word == name);
    let value = at.and_then(|at| words.get(at + 1)?.parse().ok());
    value.with_context(|| format!("{name} with a number is missing in `{}`", words.join(" ")))
}

/// An address as a URL has it.
fn port(address: SocketAddr) -> String {
    address.port().to_string()
}

#[cfg(test)]
mod tests {
    use super::{KEYS, counter};

    #[test]
    fn the_command_of_a_load_tells_what_counts_its_accepted_requests() {
        // Orders and trips of `lab resp` were not counted: a server that refused all of them met its bounds.
        let rows = [
            ("wrk -c 64 -d 4s", Some("rooms_booked_total")),
            (
                "redis-benchmark -n 9 ROOMS.BOOK bench r",
                Some("rooms_booked_total"),
            ),
            (
                "lab resp -- EXCHANGE.PLACE-ORDER bench",
                Some("exchange_orders_total"),
            ),
            ("lab resp -- TRAVEL.BOOK c f", Some("travel_booked_total")),
            ("redis-benchmark -n 9 SET room ada", Some(KEYS)),
            ("redis-benchmark -n 9 FCALL book 1 room", Some(KEYS)),
            ("lab rooms --mix book=100", None),
        ];
        for (load, expected) in rows {
            assert_eq!(counter(load), expected, "{load}");
        }
    }
}
