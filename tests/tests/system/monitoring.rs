//! What watches a server: a real Prometheus scrapes one under load, takes the alert rules and answers what the
//! dashboards ask; the rules have tests of their own, and Grafana's schema knows the dashboards.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value as Json;
use turnstile_client::Connection;
use turnstile_tests::Turnstile;

use crate::{clients::installed, program::output};

const PATIENCE: Duration = Duration::from_secs(120);

/// Shown only by servers with TLS, with travel in five processes, or with a database: a test of the server
/// compares these with the page of metrics.
const SHOWN_SELDOM: [&str; 3] = [
    "turnstile_tls_certificate_expires_seconds",
    "turnstile_travel_line_",
    "turnstile_backend_",
];

/// Panels that show something of a server under load, by their dashboards.
const VALUED: [&str; 15] = [
    "overview: Requests",
    "overview: Time to answer",
    "overview: Errors",
    "overview: Connections",
    "overview: Processor",
    "rooms: Requests",
    "rooms: 99th percentile",
    "rooms: Bookings",
    "disk: Time of a commit",
    "disk: Records of a group",
    "disk: Free",
    "cluster: Lag",
    "lab: Processor for a request",
    "lab: Spread of the time to answer",
    "lab: Syncing",
];

fn root() -> &'static Path {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().expect("the tests are a folder of the house")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|failure| panic!("{path}: {failure}"))
}

/// A Prometheus that scrapes a server and evaluates our alerts each second.
struct Prometheus {
    child: Child,
    url: String,
    _folder: tempfile::TempDir,
}

impl Prometheus {
    fn watch(target: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let config = folder.path().join("prometheus.yml");
        let rules = root().join("ops/prometheus/alerts.yml");
        let text = format!(
            "global: {{scrape_interval: 5s, scrape_timeout: 5s, evaluation_interval: 1s}}\n\
             rule_files: [{rules:?}]\n\
             scrape_configs:\n  - job_name: turnstile\n    static_configs: [{{targets: [{target:?}]}}]\n"
        );
        fs::write(&config, text).expect("the folder takes files");
        let log = folder.path().join("log");
        let mut prometheus = Command::new("prometheus");
        prometheus
            .arg("--config.file")
            .arg(&config)
            .arg("--storage.tsdb.path")
            .arg(folder.path().join("data"))
            .arg("--web.listen-address=127.0.0.1:0")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log).expect("the folder takes files"));
        let child = prometheus.spawn().expect("Debian's prometheus is there");
        let url = format!("http://{}", listening(&log));
        let prometheus = Self {
            child,
            url,
            _folder: folder,
        };
        prometheus.await_ready();
        prometheus
    }

    fn await_ready(&self) {
        let begun = Instant::now();
        let ready = format!("{}/-/ready", self.url);
        while !output("curl", &["-s", &ready], b"").contains("is Ready") {
            assert!(begun.elapsed() < PATIENCE, "it is not ready");
        }
    }

    /// What its API answers to a path, and what is asked there.
    fn ask(&self, path: &str, parameters: &[(&str, &str)]) -> Json {
        let url = format!("{}/api/v1/{path}", self.url);
        let mut arguments = vec!["-s", "-G", &url];
        let pairs = parameters
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        let pairs: Vec<String> = pairs.collect();
        for pair in &pairs {
            arguments.extend(["--data-urlencode", pair]);
        }
        let text = output("curl", &arguments, b"");
        let answer: Json = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"));
        assert_eq!(answer["status"], "success", "{pairs:?}: {answer}");
        answer["data"].clone()
    }

    /// Asks until the answer is as it should be.
    fn until(&self, (path, query): (&str, &str), is_so: impl Fn(&Json) -> bool) -> Json {
        let begun = Instant::now();
        loop {
            let answer = self.ask(path, &[("query", query)]);
            if is_so(&answer) {
                return answer;
            }
            assert!(begun.elapsed() < PATIENCE, "{path} {query}: {answer}");
            thread::yield_now();
        }
    }

    /// The values of a query at a time.
    fn values(&self, query: &str, time: &str) -> Vec<Json> {
        let answer = self.ask("query", &[("query", query), ("time", time)]);
        answer["result"].as_array().expect("it is a list").clone()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        self.child.kill().expect("it was not waited for");
        self.child.wait().expect("it is our child");
    }
}

/// Waits until the log says where the program listens.
fn listening(log: &Path) -> String {
    let begun = Instant::now();
    loop {
        let text = BufReader::new(File::open(log).expect("the log is there"));
        let mut lines = text.lines().map_while(Result::ok);
        let line = lines.find(|line| line.contains("msg=\"Listening on\""));
        if let Some(address) = line
            .as_deref()
            .and_then(|line| line.split("address=").nth(1))
        {
            return address.trim().to_owned();
        }
        assert!(
            begun.elapsed() < PATIENCE,
            "{}",
            fs::read_to_string(log).unwrap_or_default()
        );
        thread::yield_now();
    }
}

/// Asks each service something, over and over, until it is told to end.
fn load(server: &Turnstile, is_over: &AtomicBool) {
    let mut door = Connection::connect(server.resp(), PATIENCE).expect("the server listens");
    let mut ask = |line: &str| {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        door.command(&words).expect("the server answers")
    };
    ask("ROOMS.ADD-PROPERTY bench OPEN");
    let mut room = 0_u32;
    while !is_over.load(Ordering::Relaxed) {
        room += 1;
        ask(&format!(
            "ROOMS.BOOK bench {room} 2027-01-01 2027-01-03 ada 234123412346"
        ));
        ask("ROOMS.NO-SUCH-COMMAND");
        for service in ["EXCHANGE", "TRAVEL", "GAMES", "SEATS", "ACCESS"] {
            ask(&format!("{service}.GET-TOTALS"));
        }
    }
}

/// Ends the load with the test, also with one that fails.
struct LoadEnd<'a>(&'a AtomicBool);

impl Drop for LoadEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A dashboard's file, and the queries of its panels as a viewer of all servers sends them.
fn dashboards() -> Vec<(PathBuf, Vec<(String, String)>)> {
    let folder = fs::read_dir(root().join("ops/grafana")).expect("there are dashboards");
    let mut files: Vec<PathBuf> = folder
        .map(|file| file.expect("it is read").path())
        .collect();
    files.sort();
    let queries = |path: &PathBuf| {
        let text = fs::read_to_string(path).expect("it is there");
        let dashboard: Json = serde_json::from_str(&text).expect("it is JSON");
        let panels = dashboard["panels"]
            .as_array()
            .expect("it has panels")
            .clone();
        let of_panel = |panel: &Json| {
            let title = panel["title"].as_str().expect("it has a title").to_owned();
            let targets = panel["targets"].as_array().cloned().unwrap_or_default();
            let queries = targets.into_iter().map(move |target| {
                let query = target["expr"].as_str().expect("it asks something");
                let query = query
                    .replace("$__rate_interval", "1m")
                    .replace("$instance", ".*");
                (title.clone(), query)
            });
            queries.collect::<Vec<_>>()
        };
        panels.iter().flat_map(of_panel).collect()
    };
    files
        .iter()
        .map(|path| (path.clone(), queries(path)))
        .collect()
}

/// The metrics that a query names.
fn named(query: &str) -> impl Iterator<Item = &str> {
    let words = query.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.filter(|word| word.starts_with("turnstile_") || word.starts_with("process_"))
}

/// The page and the heading that a runbook names must be there.
fn assert_there(runbook: &str) {
    let (page, heading) = runbook.split_once('#').unwrap_or((runbook, ""));
    let text = read(page);
    let headings = text.lines().filter_map(|line| line.strip_prefix('#'));
    let mut slugs = headings.map(|line| {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let kept = words
            .chars()
            .filter(|one| one.is_alphanumeric() || " -_".contains(*one));
        kept.collect::<String>().replace(' ', "-")
    });
    assert!(
        heading.is_empty() || slugs.any(|slug| slug == heading),
        "{runbook}"
    );
}

#[test]
fn a_prometheus_scrapes_a_server_under_load_and_answers_all_dashboards() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let server = Turnstile::dev_with(data.path(), &[]);
    let prometheus = Prometheus::watch(&server.http().to_string());
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| load(&server, &is_over));
        let _load = LoadEnd(&is_over);
        judge(&prometheus, &server);
    });
}

fn judge(prometheus: &Prometheus, server: &Turnstile) {
    let enough = "count_over_time(up{job=\"turnstile\"}[10m]) >= 4";
    let answer = prometheus.until(("query", enough), |answer| answer["result"][0].is_object());
    // Later a busy machine may miss a scrape, after which nothing has a value.
    let time = answer["result"][0]["value"][0].to_string();
    let targets = prometheus.ask("targets", &[]);
    let target = &targets["activeTargets"][0];
    let is_scraped = (&target["health"], &target["lastError"]);
    assert_eq!(is_scraped, (&"up".into(), &"".into()));
    let failed = prometheus.values("up{job=\"turnstile\"} == 0", &time);
    assert_eq!(failed, [Json::Null; 0]);

    let is_evaluated = |rules: &Json| rules_of(rules).all(|rule| rule["health"] == "ok");
    let rules = prometheus.until(("rules", ""), is_evaluated);
    let in_file = read("ops/prometheus/alerts.yml")
        .matches("- alert: ")
        .count();
    assert_eq!((rules_of(&rules).count(), in_file > 0), (in_file, true));

    let shown = output(
        "curl",
        &["-sf", &format!("http://{}/metrics", server.http())],
        b"",
    );
    let is_shown = |metric: &str| {
        let is_sample = |line: &str| {
            line.strip_prefix(metric)
                .is_some_and(|rest| rest.starts_with(['{', ' ']))
        };
        shown.lines().any(is_sample) || SHOWN_SELDOM.iter().any(|seldom| metric.starts_with(seldom))
    };
    let mut unknown = BTreeSet::new();
    for rule in rules_of(&rules) {
        let query = rule["query"].as_str().expect("a rule asks something");
        unknown.extend(
            named(query)
                .filter(|metric| !is_shown(metric))
                .map(str::to_owned),
        );
        let runbook = rule["annotations"]["runbook"].as_str();
        assert_there(runbook.unwrap_or_else(|| panic!("{rule}")));
    }
    let mut valued = BTreeSet::new();
    for (path, queries) in dashboards() {
        let file = path.file_stem().expect("it has a name").to_string_lossy();
        for (title, query) in queries {
            unknown.extend(
                named(&query)
                    .filter(|metric| !is_shown(metric))
                    .map(str::to_owned),
            );
            if !prometheus.values(&query, &time).is_empty() {
                valued.insert(format!("{file}: {title}"));
            }
        }
    }
    assert!(unknown.is_empty(), "/metrics does not have {unknown:?}");
    for panel in VALUED {
        assert!(valued.contains(panel), "{panel} shows nothing: {valued:?}");
    }
}

fn rules_of(rules: &Json) -> impl Iterator<Item = &Json> {
    let groups = rules["groups"].as_array().into_iter().flatten();
    groups.flat_map(|group| group["rules"].as_array().into_iter().flatten())
}

#[test]
fn the_tests_of_the_alerts_pass_and_each_alert_has_one() {
    let tests = root().join("ops/prometheus/alerts_test.yml");
    let tests = tests.to_str().expect("the path is UTF-8");
    output("promtool", &["test", "rules", tests], b"");
    let expected = read("ops/prometheus/alerts_test.yml");
    let rules = read("ops/prometheus/alerts.yml");
    let alerts = rules
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- alert: "));
    for alert in alerts {
        assert!(
            expected.contains(&format!("alertname: {alert}\n")),
            "{alert} has no test"
        );
    }
}

#[test]
fn the_schema_of_grafana_knows_everything_in_the_dashboards() {
    let dashboards = dashboards();
    let paths = dashboards
        .iter()
        .map(|(path, _)| path.to_str().expect("the path is UTF-8"));
    let paths: Vec<&str> = paths.collect();
    let program = installed("TURNSTILE_TEST_GRAFANA");
    let told = output(program, &paths, b"");
    assert_eq!(told.lines().count(), paths.len(), "{told}");
}
