//! `/metrics`: its two formats, what it shows, and the page that lists it.

use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

use super::*;
use crate::doors::http::metrics::{BACKEND_COUNTS_HELP, BACKENDS, CERTIFICATES, LINES};

/// The page that lists every metric.
const PAGE: &str = include_str!("../../../../../docs/metrics.md");

/// A server with a directory, and all its doors that metrics tell of.
struct Observed {
    running: Running,
    _directory: tempfile::TempDir,
}

impl Observed {
    fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let door: Option<SocketAddr> = Some("127.0.0.1:0".parse().unwrap());
        let settings = Settings {
            data: Some(directory.path().to_owned()),
            storage: Options {
                segment_bytes: 1 << 20,
                ..Options::with(Durability::Sync)
            },
            resp: door,
            lines: door,
            commit: "0123456789ab",
            ..settings(door)
        };
        let observed = Self {
            running: start(&settings).unwrap(),
            _directory: directory,
        };
        let added = Peer::connect(observed.door("http")).post(
            "/v1/rooms/properties",
            "",
            r#"{"property":"bench","open":true}"#,
        );
        assert_eq!(added.status, 201, "{added:?}");
        observed
    }

    fn door(&self, wanted: &str) -> SocketAddr {
        let mut doors = self.running.doors().iter();
        doors.find(|(door, _)| *door == wanted).unwrap().1
    }

    fn client(&self, door: &str) -> Talker {
        Talker(BufReader::new(TcpStream::connect(self.door(door)).unwrap()))
    }

    fn classic(&self) -> String {
        Peer::connect(self.door("http")).get("/metrics", "").body
    }

    fn stop(self) {
        self.running.stopper().stop();
        self.running.join().unwrap();
    }
}

/// A client of a door whose requests are lines.
struct Talker(BufReader<TcpStream>);

impl Talker {
    fn send(&mut self, line: &str) {
        self.0.get_mut().write_all(line.as_bytes()).unwrap();
    }

    /// Reads up to a line that begins so.
    fn until(&mut self, start: &str) {
        let mut line = String::new();
        while !line.starts_with(start) {
            line.clear();
            assert_ne!(self.0.read_line(&mut line).unwrap(), 0, "{start}");
        }
    }
}

/// The value of a sample; nothing where there is none.
fn value(text: &str, sample: &str) -> Option<f64> {
    let mut lines = text.lines();
    let found = lines.find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
    found.map(|value| value.parse().unwrap())
}

/// How many requests of an operation were timed at a door.
fn timed(text: &str, door: &str, (service, operation): (&str, &str)) -> f64 {
    let labels = format!("door=\"{door}\",service=\"{service}\",operation=\"{operation}\"");
    let sample = |name: &str, more: &str| {
        let sample = format!("turnstile_request_duration_seconds_{name}{{{more}{labels}}}");
        value(text, &sample).unwrap_or(0.0)
    };
    let count = sample("count", "");
    let sum = sample("sum", "");
    assert!(
        count == 0.0 || sum > 0.0,
        "{labels}: a duration is positive"
    );
    count
}

#[test]
fn requests_are_timed_by_door_and_operation() {
    let observed = Observed::start();
    let mut client = observed.client("resp");
    for room in ["r1", "r2", "r3"] {
        client.send(&format!(
            "ROOMS.BOOK bench {room} 2027-01-01 2027-01-02 ada 234123412346\r\n"
        ));
        client.until(room);
    }
    let mut peer = Peer::connect(observed.door("http"));
    let asked = "/v1/rooms/properties/bench/availability?arrival=2027-01-01&departure=2027-01-02";
    assert_eq!(peer.get(asked, "").status, 200);
    let text = observed.classic();
    assert_eq!(timed(&text, "resp", ("rooms", "book")), 3.0);
    assert_eq!(timed(&text, "http", ("rooms", "book")), 0.0);
    assert_eq!(timed(&text, "http", ("rooms", "add_property")), 1.0);
    assert_eq!(timed(&text, "http", ("rooms", "get_availability")), 1.0);
    assert!(
        !text.contains("service=\"games\""),
        "only what was asked is shown"
    );
    observed.stop();
}

#[test]
fn a_request_that_waits_for_a_lock_is_timed_until_its_late_answer() {
    let observed = Observed::start();
    let (mut holder, mut waiter) = (observed.client("travel"), observed.client("travel"));
    holder.send("Start\nAddCars,1,rome,1,1\n");
    holder.until("Cars added");
    waiter.send("Start\nAddCars,2,rome,1,1\n");
    waiter.until("Transaction 2 started");
    let mut resp = observed.client("resp");
    let waits = || value(&observed.classic(), "turnstile_late_waiters") == Some(1.0);
    while !waits() {
        resp.send("PING\r\n");
        resp.until("+PONG");
    }
    let add = ("travel", "add_item");
    assert_eq!(timed(&observed.classic(), "travel", add), 1.0);
    holder.send("Commit,1\n");
    waiter.until("Cars added");
    assert_eq!(timed(&observed.classic(), "travel", add), 2.0);
    observed.stop();
}

#[test]
fn the_directory_and_the_recovery_are_shown() {
    let observed = Observed::start();
    let text = observed.classic();
    let journal = value(&text, "turnstile_journal_bytes").unwrap();
    assert!(journal >= f64::from(1 << 20), "{journal}");
    assert_eq!(value(&text, "turnstile_snapshot_bytes"), Some(0.0));
    assert!(value(&text, "turnstile_disk_free_bytes").unwrap() > 0.0);
    assert!(value(&text, "turnstile_recovery_seconds").unwrap() > 0.0);
    assert_eq!(value(&text, "turnstile_recovery_records"), Some(0.0));
    let build = format!(
        "turnstile_build_info{{version=\"{}\",commit=\"0123456789ab\"}}",
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(value(&text, &build), Some(1.0));
    observed.stop();
}

/// Each metric as the page has it: name, kind, labels, help.
fn shown(text: &str) -> BTreeSet<[String; 4]> {
    let mut rows = BTreeSet::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let (name, help) = line
            .strip_prefix("# HELP ")
            .unwrap()
            .split_once(' ')
            .unwrap();
        let kind = lines.next().unwrap();
        let (_, kind) = kind
            .strip_prefix("# TYPE ")
            .unwrap()
            .split_once(' ')
            .unwrap();
        let mut labels = Vec::new();
        while let Some(sample) = lines.next_if(|line| !line.starts_with('#')) {
            let inner = sample
                .split_once('{')
                .and_then(|(_, rest)| rest.split_once('}'));
            let pairs = inner.map_or("", |(inner, _)| inner).split("\",");
            let names = pairs.filter_map(|pair| Some(pair.split_once('=')?.0));
            labels = names.filter(|name| *name != "le").collect();
        }
        rows.insert([name, kind, &*labels.join(", "), help].map(str::to_owned));
    }
    rows
}

/// Metrics that only some servers show.
fn shown_by_others() -> BTreeSet<[String; 4]> {
    let lines = LINES.map(|(name, kind, help)| (format!("travel_line_{name}"), kind, "desk", help));
    let counts = turnstile_contract::Tally::default().named();
    let counts = counts.map(|(name, _)| {
        let name = format!("backend_{name}_total");
        (name, "counter", "service", BACKEND_COUNTS_HELP)
    });
    let (name, kind, help) = BACKENDS;
    let backends = [(name.to_owned(), kind, "service", help)];
    let (name, kind, help) = CERTIFICATES;
    let certificates = [(name.to_owned(), kind, "file", help)];
    let all = lines.into_iter().chain(counts).chain(backends);
    let all = all.chain(certificates);
    let rows = all.map(|(name, kind, labels, help)| {
        [&*format!("turnstile_{name}"), kind, labels, help].map(str::to_owned)
    });
    rows.collect()
}

#[test]
fn the_page_lists_every_metric() {
    let observed = Observed::start();
    let text = observed.classic();
    let text = text.replace("# HELP", "\n# HELP");
    let text: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    let mut expected = shown(&text.join("\n"));
    expected.append(&mut shown_by_others());
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `"));
    let listed: BTreeSet<[String; 4]> = rows
        .map(|row| {
            let cells: Vec<&str> = row.trim_end_matches('|').split('|').collect();
            let cell = |place: usize| cells[place].trim().trim_end_matches('`').to_owned();
            [cell(0), cell(1), cell(2), cell(3)]
        })
        .collect();
    let row = |[name, kind, labels, help]: &[String; 4]| {
        format!("| `{name}` | {kind} | {labels} | {help} |").replace("|  |", "| |")
    };
    let missing: Vec<String> = expected.difference(&listed).map(row).collect();
    let wrong: Vec<String> = listed.difference(&expected).map(row).collect();
    assert!(
        missing.is_empty() && wrong.is_empty(),
        "docs/metrics.md lacks\n{}\nand has\n{}",
        missing.join("\n"),
        wrong.join("\n")
    );
    observed.stop();
}

/// `connections` and `connections_total` clashed in OpenMetrics, which names counters without their
/// `_total`, and `position` was a counter without it.
#[test]
fn metrics_are_sound_in_both_formats() {
    let observed = Observed::start();
    let mut peer = Peer::connect(observed.door("http"));
    let classic = peer.get("/metrics", "");
    let form = classic.header("content-type").unwrap();
    assert_eq!(form, "text/plain; version=0.0.4; charset=utf-8");
    let mut promtool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("promtool is in Debian's package prometheus");
    let mut input = promtool.stdin.take().unwrap();
    input.write_all(classic.body.as_bytes()).unwrap();
    drop(input);
    let judged = promtool.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&judged.stderr);
    assert_eq!((judged.status.code(), &*told), (Some(0), ""));
    for name in [
        "turnstile_build_info{version=",
        "turnstile_connections_accepted_total{door=\"http\"} ",
        "turnstile_position ",
        "process_cpu_seconds_total ",
        "process_start_time_seconds ",
        "process_resident_memory_bytes ",
        "process_open_fds ",
    ] {
        assert!(classic.body.contains(&format!("\n{name}")), "{name}");
    }

    let scraper = "Accept: application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.3\r\n";
    let open = peer.get("/metrics", scraper);
    let form = open.header("content-type").unwrap();
    assert_eq!(
        form,
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    );
    assert!(open.body.ends_with("\n# EOF\n"));
    let named = |text: &str| -> Vec<(String, String)> {
        let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
        let words = types.map(|line| line.split_once(' ').unwrap());
        words
            .map(|(name, kind)| (name.to_owned(), kind.to_owned()))
            .collect()
    };
    let mut families = named(&open.body);
    assert_eq!(families.len(), named(&classic.body).len());
    for (name, kind) in &families {
        assert!(!name.ends_with("_total"), "{name}");
        let sample = if kind == "counter" {
            format!("{name}_total")
        } else {
            name.clone()
        };
        assert!(open.body.contains(&format!("\n{sample}")), "{name}");
    }
    families.sort();
    families.dedup_by(|left, right| left.0 == right.0);
    assert_eq!(
        families.len(),
        named(&open.body).len(),
        "no name is there twice"
    );
    observed.stop();
}
