//! The counters, in the Prometheus text format. No ids and no names of guests stand in labels.

use std::{fmt::Write, sync::Arc};

use axum::extract::State;

use super::{Door, documents::content, operations::Answered};
use crate::{
    counters::{COMMIT_BOUNDS_NS, Counters, DoorCounters},
    gate::ServerStatus,
};

pub(super) async fn metrics(State(door): State<Arc<Door>>) -> Answered {
    let status = door.courier.status().await?;
    let mut text = String::with_capacity(8 * 1_024);
    put_doors(&mut text, &door.counters);
    put_work(&mut text, &door.counters);
    put_commits(&mut text, &door.counters);
    put_status(&mut text, &status);
    Ok(content(text, "text/plain; version=0.0.4; charset=utf-8"))
}

fn put(text: &mut String, line: std::fmt::Arguments<'_>) {
    text.write_fmt(line).expect("a string takes all text");
}

/// The lines before a metric's samples.
fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    put(
        text,
        format_args!("# HELP turnstile_{name} {help}\n# TYPE turnstile_{name} {kind}\n"),
    );
}

/// A metric with one sample.
fn one(text: &mut String, name: &str, kind: &str, help: &str, value: impl std::fmt::Display) {
    head(text, name, kind, help);
    put(text, format_args!("turnstile_{name} {value}\n"));
}

fn put_doors(text: &mut String, counters: &Counters) {
    let rows: [(&str, &str, &str, fn(&DoorCounters) -> u64); 5] = [
        ("connections", "gauge", "Open connections.", |door| {
            door.open.get()
        }),
        (
            "connections_total",
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
    for (name, kind, help, value) in rows {
        head(text, name, kind, help);
        for (door, counted) in [("resp", &counters.resp), ("http", &counters.http)] {
            put(
                text,
                format_args!("turnstile_{name}{{door=\"{door}\"}} {}\n", value(counted)),
            );
        }
    }
}

fn put_tally(
    text: &mut String,
    name: &str,
    help: &str,
    label: &str,
    counts: impl Iterator<Item = (&'static str, u64)>,
) {
    head(text, name, "counter", help);
    for (word, count) in counts {
        put(
            text,
            format_args!("turnstile_{name}{{{label}=\"{word}\"}} {count}\n"),
        );
    }
}

fn put_work(text: &mut String, counters: &Counters) {
    put_tally(
        text,
        "rooms_operations_total",
        "Requests to the rooms machine, by operation.",
        "operation",
        counters.operations.iter(),
    );
    put_tally(
        text,
        "rooms_outcomes_total",
        "Outcomes of rooms commands, by code.",
        "code",
        counters.outcomes.iter(),
    );
    put_tally(
        text,
        "errors_total",
        "Requests answered by an error, by code.",
        "code",
        counters.errors.iter(),
    );
    let rows = [
        (
            "replayed_total",
            "Answers given again to an idempotency key.",
            &counters.replayed,
        ),
        (
            "gate_requests_total",
            "Requests that came from other threads.",
            &counters.gate_taken,
        ),
        ("turns_total", "Turns of the loop.", &counters.turns),
    ];
    for (name, help, counter) in rows {
        one(text, name, "counter", help, counter.get());
    }
}

fn put_commits(text: &mut String, counters: &Counters) {
    one(
        text,
        "records_total",
        "counter",
        "Records written to the journal.",
        counters.records.get(),
    );
    let name = "commit_seconds";
    head(
        text,
        name,
        "histogram",
        "Time of one group's write and sync.",
    );
    let mut below = 0;
    let mut bounds = COMMIT_BOUNDS_NS.iter();
    for bucket in &counters.commits_by_time {
        below += bucket.get();
        let bound = bounds
            .next()
            .map_or_else(|| "+Inf".to_owned(), |&ns| seconds(ns));
        put(
            text,
            format_args!("turnstile_{name}_bucket{{le=\"{bound}\"}} {below}\n"),
        );
    }
    let sum = seconds(counters.commit_ns.get());
    put(
        text,
        format_args!("turnstile_{name}_sum {sum}\nturnstile_{name}_count {below}\n"),
    );
}

/// Nanoseconds as decimal seconds, exactly.
fn seconds(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

fn put_status(text: &mut String, status: &ServerStatus) {
    let backend = &status.backend;
    let totals = &status.totals;
    head(
        text,
        "durability",
        "gauge",
        "When an answer leaves; 1 for the level in force.",
    );
    put(
        text,
        format_args!(
            "turnstile_durability{{level=\"{}\"}} 1\n",
            backend.durability
        ),
    );
    let rows = [
        (
            "uptime_seconds",
            "gauge",
            "Since the loop began.",
            status.uptime.as_secs(),
        ),
        (
            "read_only",
            "gauge",
            "1 while the disk is full.",
            u64::from(status.read_only),
        ),
        (
            "position",
            "counter",
            "The last position assigned.",
            backend.position.0,
        ),
        (
            "snapshot_position",
            "gauge",
            "The newest snapshot.",
            backend.snapshot.0,
        ),
        (
            "groups_total",
            "counter",
            "Groups committed.",
            backend.groups,
        ),
        (
            "idempotency_keys",
            "gauge",
            "Keys remembered.",
            u64::try_from(backend.keys).unwrap_or(u64::MAX),
        ),
        (
            "rooms_bookings",
            "gauge",
            "Bookings that stand.",
            totals.bookings,
        ),
        ("rooms_holds", "gauge", "Open holds.", totals.holds),
        (
            "rooms_properties",
            "gauge",
            "Properties.",
            totals.properties,
        ),
        ("rooms_rooms", "gauge", "Rooms in sale.", totals.rooms),
        (
            "rooms_booked_total",
            "counter",
            "Bookings ever made.",
            totals.booked_total,
        ),
        (
            "rooms_cancelled_total",
            "counter",
            "Bookings cancelled.",
            totals.cancelled_total,
        ),
        (
            "rooms_held_total",
            "counter",
            "Holds ever made.",
            totals.held_total,
        ),
        (
            "rooms_expired_total",
            "counter",
            "Holds that expired.",
            totals.expired_total,
        ),
    ];
    for (name, kind, help, value) in rows {
        one(text, name, kind, help, value);
    }
}
