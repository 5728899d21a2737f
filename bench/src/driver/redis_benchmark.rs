//! redis-benchmark, the same for both sides.

use anyhow::{Context as _, Result};

use super::{Load, Tally, us_each};
use crate::{pin, program::run, server::Server};

/// Rooms and keys are drawn from so many. Few are drawn twice: n requests meet about n^2 / 2r
/// rooms again.
const KEY_SPACE: &str = "100000000";

/// A durable booking of a room for a night.
pub(crate) const BOOK: &[&str] = &[
    "ROOMS.BOOK",
    "bench",
    "room:__rand_int__",
    "2027-01-01",
    "2027-01-02",
    "ada",
    "234123412346",
];

/// The same check-and-set as a function of Redis.
pub(crate) const FCALL: &[&str] = &[
    "FCALL",
    "book",
    "1",
    "room:__rand_int__:2027-01-01",
    "ada",
    "234123412346",
];

/// A plain write of 64 bytes, as `-t set -d 64` does it.
pub(crate) const SET: &[&str] = &[
    "SET",
    "key:__rand_int__",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
];

/// Has a command sent over and over; in each word `__rand_int__` stands for another number.
pub(crate) fn drive(words: &[&str], server: &Server, load: Load) -> Result<Tally> {
    let mut command = pin::command(pin::CLIENT_CORE, "redis-benchmark");
    command
        .args(["-h", "127.0.0.1", "-r", KEY_SPACE, "--csv"])
        .args(["-p", &server.resp().port().to_string()])
        .args(["-c", &load.connections.to_string()])
        .args(["-P", &load.depth.to_string()])
        .args(["-n", &load.requests.to_string()])
        .args(words);
    let (csv, cpu) = run(&mut command)?;
    Ok(Tally {
        requests: load.requests,
        accepted: None,
        rate: parse_rate(&csv).with_context(|| format!("no rate in {csv:?}"))?,
        client_us: us_each(cpu, load.requests),
    })
}

/// The column `rps` of the one row. Every field is quoted, and a test's name may hold commas.
fn parse_rate(csv: &str) -> Option<f64> {
    let mut lines = csv.lines();
    let head = lines.find(|line| line.starts_with("\"test\""))?;
    let column = fields(head).position(|name| name == "rps")?;
    fields(lines.next()?).nth(column)?.parse().ok()
}

fn fields(line: &str) -> impl Iterator<Item = &str> {
    line.trim().trim_matches('"').split("\",\"")
}

#[cfg(test)]
mod tests {
    use super::{SET, parse_rate};

    const HEAD: &str = r#""test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms""#;

    #[test]
    fn the_rate_is_read_by_its_column() {
        let row = r#""SET a, b","812182.75","0.895","0.224","0.759""#;
        assert_eq!(parse_rate(&format!("{HEAD}\n{row}\n")), Some(812_182.75));
        let swapped = "\"test\",\"p50_latency_ms\",\"rps\"\n\"GET\",\"0.5\",\"10.00\"\n";
        assert_eq!(parse_rate(swapped), Some(10.0));
        let warned = format!("WARNING: Could not fetch server CONFIG\n{HEAD}\n{row}\n");
        assert_eq!(parse_rate(&warned), Some(812_182.75));
    }

    #[test]
    fn a_run_that_was_refused_has_no_rate() {
        assert_eq!(parse_rate(""), None);
        assert_eq!(parse_rate(&format!("{HEAD}\n")), None);
    }

    #[test]
    fn a_plain_write_has_64_bytes() {
        assert_eq!(SET[2].len(), 64);
    }
}
