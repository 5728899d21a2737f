//! The counters, as metrics for Prometheus. No ids and no names of guests stand in labels.

mod rows;

use std::{path::Path, sync::Arc, time::Duration};

use axum::http::{HeaderMap, header};
use turnstile_embedded::DiskUsage;
use turnstile_http::acceptance;

use super::{
    Door,
    call::joined,
    documents::content,
    exposition::{Exposition, Value},
    operations::Answered,
    process::put_process,
};
use crate::{
    core::{
        clock,
        gate::{LineStatus, ServerStatus},
        node_status::{self, ClusterStatus},
        partitions::FollowedPartition,
        tls::DoorTls,
    },
    counters::{COMMIT_BOUNDS_NS, Counter, Counters, DURATION_BOUNDS_NS, LineCounters, Tally},
    registry::SERVICES,
};

use self::rows::{CONNECTIONS, Row, STATUS, WORK};

/// The two forms of the answer, by what the client likes more.
pub(super) async fn metrics(door: Arc<Door>, headers: HeaderMap) -> Answered {
    let status = door.courier.status().await?;
    let mut all = Exposition::default();
    put_doors(&mut all, &door.counters);
    if let Some(tls) = &door.tls {
        put_certificates(&mut all, tls);
    }
    put_tallies(&mut all, &door.counters);
    put_rows(&mut all, &WORK, &door.counters);
    put_commits(&mut all, &door.counters);
    put_durations(&mut all, &door.counters);
    put_recovery(&mut all, &door.counters);
    if let Some(data) = &door.about.data {
        put_disk(&mut all, data);
    }
    put_rows(&mut all, &STATUS, &status);
    put_totals(&mut all, &status);
    put_rows(&mut all, &clock::METRICS, &status.clock);
    let cluster = status.cluster.unwrap_or_default();
    put_cluster(&mut all, &cluster, &door.about.partitions.others);
    put_lines(&mut all, &door.counters, &status);
    put_backends(&mut all, &status);
    let help = "When an answer leaves; 1 for the level in force.";
    all.begin("durability", "gauge", help);
    let level = status.backend.durability.to_string();
    all.sample(&[("level", &level)], Value::Whole(1));
    all.begin(
        "build_info",
        "gauge",
        "The version of the program and its commit; always 1.",
    );
    let labels = [
        ("version", env!("CARGO_PKG_VERSION")),
        ("commit", door.about.commit),
    ];
    all.sample(&labels, Value::Whole(1));
    put_process(&mut all);
    let accept = joined(&headers, header::ACCEPT);
    let likes = |form: &str| accept.as_ref().map_or(0, |accept| acceptance(accept, form));
    Ok(
        if likes("application/openmetrics-text") > likes("text/plain") {
            let form = "application/openmetrics-text; version=1.0.0; charset=utf-8";
            content(all.openmetrics(), form)
        } else {
            content(all.classic(), "text/plain; version=0.0.4; charset=utf-8")
        },
    )
}

fn put_rows<T>(all: &mut Exposition, rows: &[Row<T>], source: &T) {
    for (name, kind, help, value) in rows {
        all.begin(name, kind, help);
        all.sample(&[], Value::Whole(value(source)));
    }
}

/// How the node stands in its cluster; in further partitions, under their names.
fn put_cluster(all: &mut Exposition, own: &ClusterStatus, others: &[FollowedPartition]) {
    for (name, kind, help, value) in &node_status::METRICS {
        all.begin(name, kind, help);
        all.sample(&[], Value::Whole(value(own)));
        for other in others {
            let labels = [("partition", other.name.as_str())];
            all.sample(&labels, Value::Whole(value(&other.cluster())));
        }
    }
}

/// The totals of services, as their fields describe them.
fn put_totals(all: &mut Exposition, status: &ServerStatus) {
    status.totals.each(&mut |service, field, value| {
        let kind = if field.name.ends_with("_total") {
            "counter"
        } else {
            "gauge"
        };
        let help = format!("{}.", field.meaning.trim_end_matches('.'));
        all.begin(&format!("{service}_{}", field.name), kind, &help);
        all.sample(&[], Value::Whole(value));
    });
}

fn put_doors(all: &mut Exposition, counters: &Counters) {
    for (name, kind, help, value) in CONNECTIONS {
        all.begin(name, kind, help);
        for (door, counted) in counters.doors() {
            let value = value(counted);
            all.sample(&[("door", door)], Value::Whole(value));
        }
    }
}

/// When certificates expire: name, kind, help.
pub(super) const CERTIFICATES: (&str, &str, &str) = (
    "tls_certificate_expires_seconds",
    "gauge",
    "Seconds until the first certificate in a file expires; below 0 when it has.",
);

fn put_certificates(all: &mut Exposition, tls: &DoorTls) {
    let (name, kind, help) = CERTIFICATES;
    all.begin(name, kind, help);
    for (file, seconds) in tls.expiries.seconds_left(clock::system().wall) {
        all.sample(&[("file", file)], Value::Signed(seconds));
    }
}

/// The metrics of lines: name, kind, help.
pub(super) const LINES: [(&str, &str, &str); 7] = [
    ("connected", "gauge", "1 while the peer is connected."),
    ("sent_total", "counter", "Parcels sent, again included."),
    (
        "received_total",
        "counter",
        "Parcels received, again included.",
    ),
    (
        "unacknowledged",
        "gauge",
        "Parcels that the peer has not said to have taken.",
    ),
    (
        "in_doubt",
        "gauge",
        "Transactions that wait for their decision at the desk here.",
    ),
    ("life", "gauge", "How often this end has started anew."),
    (
        "peer_life",
        "gauge",
        "How often the peer has, as far as it is known.",
    ),
];

/// The values of these metrics, in their order.
fn line_values(counted: &LineCounters, line: &LineStatus) -> [u64; LINES.len()] {
    let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    [
        counted.connected.get(),
        counted.parcels_out.get(),
        counted.parcels_in.get(),
        count(line.unacknowledged),
        count(line.in_doubt),
        line.life,
        line.peer_life,
    ]
}

/// The lines to other processes of travel, where there are any.
fn put_lines(all: &mut Exposition, counters: &Counters, status: &ServerStatus) {
    let lines = status.lines.iter();
    let lines: Vec<_> = lines
        .filter_map(|(desk, line)| Some((desk, line_values(counters.line(desk), line.as_ref()?))))
        .collect();
    if lines.is_empty() {
        return;
    }
    for (place, (name, kind, help)) in LINES.into_iter().enumerate() {
        all.begin(&format!("travel_line_{name}"), kind, help);
        for (desk, values) in &lines {
            let value = values.get(place).copied().unwrap_or_default();
            all.sample(&[("desk", &desk.to_string())], Value::Whole(value));
        }
    }
}

/// Whether a database answers: name, kind, help.
pub(super) const BACKENDS: (&str, &str, &str) =
    ("backend_answers", "gauge", "1 while the database answers.");

pub(super) const BACKEND_COUNTS_HELP: &str =
    "What the server has done at the database; see docs/backends.md.";

/// The databases that decide services, where there are any.
fn put_backends(all: &mut Exposition, status: &ServerStatus) {
    let services = SERVICES.iter().zip(status.databases);
    let known = services.filter_map(|(service, known)| Some((service.name, known?)));
    let backends: Vec<_> = known.collect();
    let Some((_, first)) = backends.first() else {
        return;
    };
    let (name, kind, help) = BACKENDS;
    all.begin(name, kind, help);
    for (service, backend) in &backends {
        let answers = u8::from(backend.answers);
        all.sample(&[("service", service)], Value::Whole(answers.into()));
    }
    for (place, (name, _)) in first.counts.iter().enumerate() {
        let help = BACKEND_COUNTS_HELP;
        all.begin(&format!("backend_{name}_total"), "counter", help);
        for (service, backend) in &backends {
            let count = backend.counts.get(place).map_or(0, |(_, count)| *count);
            all.sample(&[("service", service)], Value::Whole(count));
        }
    }
}

/// A metric with a sample for each of some words, which are its label's values.
fn put_tally(all: &mut Exposition, name: &str, help: &str, label: &'static str, tally: &Tally) {
    all.begin(name, "counter", help);
    for (word, count) in tally.iter() {
        all.sample(&[(label, word)], Value::Whole(count));
    }
}

fn put_tallies(all: &mut Exposition, counters: &Counters) {
    for (service, counted) in SERVICES.iter().zip(&counters.services) {
        let waited = if service.answers_late {
            "; those that waited, twice"
        } else {
            ""
        };
        let service = service.name;
        let help = format!("Requests to {service}, by operation.");
        let name = format!("{service}_operations_total");
        put_tally(all, &name, &help, "operation", &counted.operations);
        let help = format!("Outcomes of {service} commands, by code{waited}.");
        let name = format!("{service}_outcomes_total");
        put_tally(all, &name, &help, "code", &counted.outcomes);
    }
    let help = "Requests answered by an error, by code.";
    put_tally(all, "errors_total", help, "code", &counters.errors);
}

fn put_commits(all: &mut Exposition, counters: &Counters) {
    let name = "commit_seconds";
    all.begin(name, "histogram", "Time of one group's write and sync.");
    let counts = counters.commits_by_time.iter().map(Counter::get);
    let sum_ns = counters.commit_ns.get();
    all.sample(&[], histogram(sum_ns, &COMMIT_BOUNDS_NS, counts));
}

fn put_durations(all: &mut Exposition, counters: &Counters) {
    let help = "Time from the turn that read a request until its answer was written.";
    all.begin("request_duration_seconds", "histogram", help);
    for one in counters.durations.iter() {
        let labels = [
            ("door", one.door),
            ("service", one.service),
            ("operation", one.operation),
        ];
        let counts = one.buckets.into_iter();
        all.sample(&labels, histogram(one.sum_ns, &DURATION_BOUNDS_NS, counts));
    }
}

fn put_recovery(all: &mut Exposition, counters: &Counters) {
    let help = "Time that the recovery at the start took.";
    all.begin("recovery_seconds", "gauge", help);
    let took = seconds(counters.recovery_ns.get());
    all.sample(&[], Value::Real(took));
}

/// What the directory takes; nothing where it cannot be read.
fn put_disk(all: &mut Exposition, directory: &Path) {
    let usage = match DiskUsage::of(directory) {
        Ok(usage) => usage,
        Err(failure) => {
            tracing::debug!(%failure, "the data directory cannot be read for metrics");
            return;
        }
    };
    for (name, help, bytes) in [
        (
            "journal_bytes",
            "Bytes of the journal's segments.",
            usage.journal_bytes,
        ),
        (
            "snapshot_bytes",
            "Bytes of snapshots.",
            usage.snapshot_bytes,
        ),
        (
            "disk_free_bytes",
            "Bytes that the server may still write to the file system of its directory.",
            usage.free_bytes,
        ),
    ] {
        all.begin(name, "gauge", help);
        all.sample(&[], Value::Whole(bytes));
    }
}

fn histogram(sum_ns: u64, bounds_ns: &[u64], counts: impl Iterator<Item = u64>) -> Value {
    let bounds = bounds_ns.iter().map(|&ns| seconds(ns));
    let buckets: Vec<_> = bounds.chain([f64::INFINITY]).zip(counts).collect();
    let count = buckets.iter().map(|(_, count)| count).sum();
    Value::Buckets(seconds(sum_ns), count, buckets)
}

fn seconds(ns: u64) -> f64 {
    Duration::from_nanos(ns).as_secs_f64()
}
