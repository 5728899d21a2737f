//! The counters, as metrics for Prometheus. No ids and no names of guests stand in labels.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::State,
    http::{HeaderMap, header},
};
use turnstile_exchange::Exchange;
use turnstile_http::acceptance;
use turnstile_rooms::Rooms;

use super::{
    Door,
    documents::content,
    exposition::{Exposition, Value},
    operations::Answered,
    process::put_process,
};
use crate::{
    counters::{COMMIT_BOUNDS_NS, Counter, Counters, DoorCounters, LineCounters, Tally},
    gate::{LineStatus, ServerStatus},
    remote::Housed as _,
};

/// A metric: its name, its kind, its help, and where its value is read.
type Row<T> = (&'static str, &'static str, &'static str, fn(&T) -> u64);

const DOORS: [Row<DoorCounters>; 5] = [
    ("connections", "gauge", "Open connections.", |door| {
        door.open.get()
    }),
    (
        "connections_accepted_total",
        "counter",
        "Connections ever accepted.",
        |door| door.accepted.get(),
    ),
    (
        "connections_refused_total",
        "counter",
        "Connections over the limit.",
        |door| door.refused.get(),
    ),
    ("bytes_in_total", "counter", "Bytes read.", |door| {
        door.bytes_in.get()
    }),
    ("bytes_out_total", "counter", "Bytes written.", |door| {
        door.bytes_out.get()
    }),
];

const WORK: [Row<Counters>; 7] = [
    (
        "replayed_total",
        "counter",
        "Answers given again to an idempotency key.",
        |all| all.replayed.get(),
    ),
    (
        "gate_requests_total",
        "counter",
        "Requests that came from other threads.",
        |all| all.gate_taken.get(),
    ),
    ("turns_total", "counter", "Turns of the loop.", |all| {
        all.turns.get()
    }),
    (
        "records_total",
        "counter",
        "Records written to the journal.",
        |all| all.records.get(),
    ),
    (
        "groups_inline_total",
        "counter",
        "Groups that the loop synced itself.",
        |all| all.groups_inline.get(),
    ),
    (
        "groups_overlapped_total",
        "counter",
        "Groups that were synced while the loop made the next.",
        |all| all.groups_overlapped.get(),
    ),
    (
        "late_waiters",
        "gauge",
        "Connections and others that wait for a late answer.",
        |all| all.late_waiters.get(),
    ),
];

const STATUS: [Row<ServerStatus>; 37] = [
    ("uptime_seconds", "gauge", "Since the loop began.", |all| {
        all.uptime.as_secs()
    }),
    ("read_only", "gauge", "1 while the disk is full.", |all| {
        u64::from(all.read_only)
    }),
    ("position", "gauge", "The last position assigned.", |all| {
        all.backend.position.0
    }),
    (
        "snapshot_position",
        "gauge",
        "The newest snapshot.",
        |all| all.backend.snapshot.0,
    ),
    ("groups_total", "counter", "Groups committed.", |all| {
        all.backend.groups
    }),
    (
        "idempotency_keys",
        "gauge",
        "Idempotency keys kept.",
        |all| all.backend.keys.kept as u64,
    ),
    ("idempotency_key_bytes", "gauge", "Bytes of keys.", |all| {
        all.backend.keys.bytes
    }),
    (
        "idempotency_key_bytes_max",
        "gauge",
        "Bytes that keys may take.",
        |all| all.backend.key_bytes_max,
    ),
    (
        "idempotency_key_age_seconds",
        "gauge",
        "Age of the oldest key.",
        |all| all.key_age.as_secs(),
    ),
    ("rooms_bookings", "gauge", "Bookings that stand.", |all| {
        all.totals.bookings
    }),
    ("rooms_holds", "gauge", "Open holds.", |all| {
        all.totals.holds
    }),
    ("rooms_properties", "gauge", "Properties.", |all| {
        all.totals.properties
    }),
    ("rooms_rooms", "gauge", "Rooms in sale.", |all| {
        all.totals.rooms
    }),
    (
        "rooms_booked_total",
        "counter",
        "Bookings ever made.",
        |all| all.totals.booked_total,
    ),
    (
        "rooms_cancelled_total",
        "counter",
        "Bookings cancelled.",
        |all| all.totals.cancelled_total,
    ),
    ("rooms_held_total", "counter", "Holds ever made.", |all| {
        all.totals.held_total
    }),
    (
        "rooms_expired_total",
        "counter",
        "Holds that expired.",
        |all| all.totals.expired_total,
    ),
    ("exchange_accounts", "gauge", "Accounts.", |all| {
        all.exchange.accounts.into()
    }),
    ("exchange_symbols", "gauge", "Symbols.", |all| {
        all.exchange.symbols.into()
    }),
    (
        "exchange_open_orders",
        "gauge",
        "Orders that are open.",
        |all| all.exchange.open_orders.into(),
    ),
    (
        "exchange_orders_total",
        "counter",
        "Orders ever accepted.",
        |all| all.exchange.orders,
    ),
    (
        "exchange_trades_total",
        "counter",
        "Trades ever made.",
        |all| all.exchange.trades,
    ),
    (
        "travel_open_transactions",
        "gauge",
        "Transactions that are not over.",
        |all| all.travel.open,
    ),
    (
        "travel_itineraries",
        "gauge",
        "Itineraries that stand.",
        |all| all.travel.itineraries,
    ),
    (
        "travel_items",
        "gauge",
        "Flights, and towns with cars or rooms.",
        |all| all.travel.items,
    ),
    ("travel_customers", "gauge", "Customers.", |all| {
        all.travel.customers
    }),
    (
        "travel_xids_total",
        "counter",
        "Numbers given to transactions, with those that restarts skipped.",
        |all| all.travel.xids,
    ),
    (
        "travel_booked_total",
        "counter",
        "Itineraries ever made.",
        |all| all.travel.booked,
    ),
    (
        "games_players",
        "gauge",
        "Players whom the arena knows.",
        |all| all.games.players.into(),
    ),
    (
        "games_open_matches",
        "gauge",
        "Matches that are played.",
        |all| all.games.open.into(),
    ),
    (
        "games_seeking",
        "gauge",
        "Players who look for anybody.",
        |all| all.games.seeking.into(),
    ),
    (
        "games_away",
        "gauge",
        "Players whose connection to a match is gone.",
        |all| all.games.away.into(),
    ),
    (
        "games_unreported",
        "gauge",
        "Results that the scores server has not acknowledged.",
        |all| all.games.unreported,
    ),
    (
        "games_rated",
        "gauge",
        "Players who have a standing.",
        |all| all.games.rated.into(),
    ),
    (
        "games_matches_total",
        "counter",
        "Matches ever begun.",
        |all| all.games.begun,
    ),
    ("games_moves_total", "counter", "Moves ever made.", |all| {
        all.games.moves
    }),
    (
        "games_results_total",
        "counter",
        "Results counted.",
        |all| all.games.results,
    ),
];

/// The two forms of the answer, by what the client likes more.
pub(super) async fn metrics(State(door): State<Arc<Door>>, headers: HeaderMap) -> Answered {
    let status = door.courier.status().await?;
    let mut all = Exposition::default();
    put_doors(&mut all, &door.counters);
    put_tallies(&mut all, &door.counters);
    put_rows(&mut all, &WORK, &door.counters);
    put_commits(&mut all, &door.counters);
    put_rows(&mut all, &STATUS, &status);
    put_rows(&mut all, &crate::clock::METRICS, &status.clock);
    put_lines(&mut all, &door.counters, &status);
    put_backends(&mut all, &status);
    let help = "When an answer leaves; 1 for the level in force.";
    all.begin("durability", "gauge", help);
    let level = status.backend.durability.to_string();
    all.sample(&[("level", &level)], Value::Whole(1));
    all.begin(
        "build_info",
        "gauge",
        "The version of the program; always 1.",
    );
    let version = env!("CARGO_PKG_VERSION");
    all.sample(&[("version", version)], Value::Whole(1));
    put_process(&mut all);
    let accept = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok());
    let likes = |form: &str| accept.map_or(0, |accept| acceptance(accept, form));
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

fn put_doors(all: &mut Exposition, counters: &Counters) {
    for (name, kind, help, value) in DOORS {
        all.begin(name, kind, help);
        for (door, counted) in [
            ("resp", &counters.resp),
            ("http", &counters.http),
            ("xml", &counters.xml),
            ("travel", &counters.lines),
            ("desk", &counters.desk),
            ("games_arena", &counters.arena),
            ("games_scores", &counters.scores),
        ] {
            let value = value(counted);
            all.sample(&[("door", door)], Value::Whole(value));
        }
    }
}

/// The metrics of lines: name, kind, help.
const LINES: [(&str, &str, &str); 7] = [
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

/// The databases that decide services, where there are any.
fn put_backends(all: &mut Exposition, status: &ServerStatus) {
    let services = [
        (Rooms::NAME, status.rooms_backend),
        (Exchange::NAME, status.exchange_backend),
    ];
    let known = services
        .into_iter()
        .filter_map(|(service, known)| Some((service, known?)));
    let backends: Vec<_> = known.collect();
    let Some((_, first)) = backends.first() else {
        return;
    };
    let help = "1 while the database answers.";
    all.begin("backend_answers", "gauge", help);
    for (service, backend) in &backends {
        let answers = u8::from(backend.answers);
        all.sample(&[("service", service)], Value::Whole(answers.into()));
    }
    for (place, (name, _)) in first.counts.iter().enumerate() {
        let help = "What the server has done at the database; see docs/backends.md.";
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
    for (service, who, waited, counted) in [
        ("rooms", "the rooms machine", "", &counters.rooms),
        ("exchange", "the exchange", "", &counters.exchange),
        (
            "travel",
            "travel",
            "; those that waited, twice",
            &counters.travel,
        ),
        ("games", "games", "", &counters.games),
    ] {
        let help = format!("Requests to {who}, by operation.");
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
    let seconds = |ns: u64| Duration::from_nanos(ns).as_secs_f64();
    let bounds = COMMIT_BOUNDS_NS.iter().map(|&ns| seconds(ns));
    let counts = counters.commits_by_time.iter().map(Counter::get);
    let buckets: Vec<_> = bounds.chain([f64::INFINITY]).zip(counts).collect();
    let count = buckets.iter().map(|(_, count)| count).sum();
    let sum = seconds(counters.commit_ns.get());
    all.sample(&[], Value::Buckets(sum, count, buckets));
}
