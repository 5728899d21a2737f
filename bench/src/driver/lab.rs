//! The generator of our lab: guests who book another room with every request.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;
use tempfile::NamedTempFile;

use super::{Load, Tally};
use crate::{pin, program::run, server::Server};

pub(super) fn drive(server: &Server, load: Load, turnstile: &Path) -> Result<Tally> {
    let report = NamedTempFile::new()?;
    let mut command = pin::command(pin::CLIENT_CORE, turnstile);
    command
        .args(["lab", "run", "rooms", "--mix", "book=100", "-t", "1"])
        .args(["-c", &load.connections.to_string()])
        .args(["-d", &format!("{}s", load.seconds)])
        .args(["--resp", &server.resp().to_string(), "--json"])
        .arg(report.path());
    run(&mut command)?;
    let report = std::fs::read_to_string(report.path())?;
    parse(&report).with_context(|| format!("no figures in {report:?}"))
}

/// The requests of the whole run; rate and CPU time of the measured window, in which the
/// generator does nothing but generate (its proof comes later).
fn parse(report: &str) -> Option<Tally> {
    let report: Value = serde_json::from_str(report).ok()?;
    let mut requests = 0;
    for operation in report.get("operations")?.as_array()? {
        requests += operation.get("done")?.as_u64()?;
        for count in operation.get("refused")?.as_object()?.values() {
            requests += count.as_u64()?;
        }
    }
    let figures = report.get("figures")?;
    Some(Tally {
        requests: u32::try_from(requests).ok()?,
        accepted: None,
        rate: figures.get("throughput")?.as_f64()?,
        client_us: figures.get("cpu_per_request")?.as_f64()? / 1e3,
    })
}

#[cfg(test)]
mod tests {
    use super::{Tally, parse};

    #[test]
    fn done_and_refused_are_requests() {
        let report = r#"{
            "operations": [
                {"name": "book", "done": 1000, "refused": {"sold_out": 20}, "errors": {}},
                {"name": "cancel", "done": 0, "refused": {}, "errors": {}}
            ],
            "figures": {"throughput": 51000.5, "cpu_per_request": 6500.0}
        }"#;
        let expected = Tally {
            requests: 1_020,
            accepted: None,
            rate: 51_000.5,
            client_us: 6.5,
        };
        assert_eq!(parse(report), Some(expected));
        assert_eq!(parse("{}"), None);
        assert_eq!(parse(""), None);
    }
}
