//! redis-benchmark: `redis-benchmark -c 50 -P 16 -n 100000 SET key:__rand_int__ value`.

use std::{fs, net::SocketAddr};

use anyhow::{Context as _, Result};

use super::{Measures, option, port, reached};
use crate::{pin, process::us_each, program::run, server::Protection};

/// Rooms and keys are drawn from this many. Few are drawn twice: n requests meet about n^2 / 2r
/// rooms again.
const KEY_SPACE: &str = "100000000";

/// Sends a command over and over; in each word `__rand_int__` stands for another number.
pub(crate) fn drive(
    words: &[&str],
    server: SocketAddr,
    Protection { key_file, ca }: &Protection,
) -> Result<Measures> {
    let requests: u32 = option(words, "-n")?;
    let mut command = pin::command(pin::CLIENT_CORE, "redis-benchmark");
    command
        .args(["-h", "127.0.0.1", "-r", KEY_SPACE, "--csv"])
        .args(["-p", &port(server)]);
    if let Some(ca) = ca {
        command.arg("--tls").arg("--cacert").arg(ca);
    }
    if let Some(file) = key_file {
        command.args(["-a", fs::read_to_string(file)?.trim()]);
    }
    command.args(words);
    let (csv, cpu) = run(&mut command)?;
    let rate = parse_rate(&csv).with_context(|| format!("no rate in {csv:?}"))?;
    Ok(reached(requests, rate, us_each(cpu, requests)))
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
    use super::parse_rate;

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
}
