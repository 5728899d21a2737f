//! wrk, with a script that books another room with every request: `wrk -c 64 -d 4s`.

use std::{io::Write as _, net::SocketAddr};

use anyhow::{Context as _, Result};
use tempfile::NamedTempFile;

use super::{Measures, reached};
use crate::{pin, process::us_each, program::run};

/// The room is a number of fixed width, so that every request has the same length.
const SCRIPT: &str = r#"
local body = '{"property":"bench","wish":"http:%09d",'
  .. '"arrival":"2027-01-01","departure":"2027-01-02",'
  .. '"guest":"ada","id_number":"234123412346"}'
local request_line = "POST /v1/rooms/bookings HTTP/1.1\r\n"
local template
local room = 0

function init(arguments)
  template = request_line
    .. "Host: " .. wrk.host .. ":" .. wrk.port .. "\r\n"
    .. "Content-Type: application/json\r\n"
    .. "Content-Length: " .. #string.format(body, 0) .. "\r\n\r\n"
    .. body
end

function request()
  room = room + 1
  return string.format(template, room)
end
"#;

pub(super) fn drive(words: &[&str], server: SocketAddr) -> Result<Measures> {
    let mut script = NamedTempFile::with_suffix(".lua")?;
    script.write_all(SCRIPT.as_bytes())?;
    let mut command = pin::command(pin::CLIENT_CORE, "wrk");
    command.args(["-t", "1"]).args(words).arg("-s");
    command.arg(script.path()).arg(format!("http://{server}/"));
    let (output, cpu) = run(&mut command)?;
    let summary = parse(&output).with_context(|| format!("no summary in {output:?}"))?;
    let WrkReport { requests, rate } = summary;
    Ok(reached(requests, rate, us_each(cpu, requests)))
}

#[derive(Debug, PartialEq)]
struct WrkReport {
    requests: u32,
    rate: f64,
}

fn parse(output: &str) -> Option<WrkReport> {
    let requests = output.lines().find_map(|line| {
        let (count, rest) = line.trim().split_once(' ')?;
        rest.starts_with("requests in ")
            .then(|| count.parse().ok())?
    })?;
    let rate = output.lines().find_map(|line| {
        let rate = line.trim().strip_prefix("Requests/sec:")?;
        rate.trim().parse().ok()
    })?;
    Some(WrkReport { requests, rate })
}

#[cfg(test)]
mod tests {
    use super::{WrkReport, parse};

    const OUTPUT: &str = "Running 3s test @ http://127.0.0.1:8470/
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.20ms  300.00us   9.00ms   90.00%
    Req/Sec    50.00k     1.00k   52.00k    70.00%
  153120 requests in 3.00s, 40.10MB read
  Non-2xx or 3xx responses: 12
Requests/sec:  51034.56
Transfer/sec:     13.36MB
";

    #[test]
    fn requests_and_rate_are_read_from_the_summary() {
        let expected = WrkReport {
            requests: 153_120,
            rate: 51_034.56,
        };
        assert_eq!(parse(OUTPUT), Some(expected));
    }

    #[test]
    fn an_output_without_a_summary_gives_nothing() {
        assert_eq!(parse(""), None);
        assert_eq!(parse(&OUTPUT.replace("Requests/sec", "Request")), None);
        assert_eq!(parse(&OUTPUT.replace("requests in", "in")), None);
    }
}
