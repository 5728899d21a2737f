//! Metrics of one number each.

use crate::{
    core::gate::ServerStatus,
    counters::{Counters, DoorCounters},
};

/// A metric: its name, its kind, its help, and where its value is read.
pub(super) type Row<T> = (&'static str, &'static str, &'static str, fn(&T) -> u64);

pub(super) const CONNECTIONS: [Row<DoorCounters>; 12] = [
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
    (
        "connections_evicted_total",
        "counter",
        "Connections that were closed because another needed their places: without a request, or without a login.",
        |door| door.evicted.get(),
    ),
    (
        "connections_dropped_total",
        "counter",
        "Connections dropped because all clients together left too much unread.",
        |door| door.dropped.get(),
    ),
    ("bytes_in_total", "counter", "Bytes read.", |door| {
        door.bytes_in.get()
    }),
    ("bytes_out_total", "counter", "Bytes written.", |door| {
        door.bytes_out.get()
    }),
    (
        "failed_logins_total",
        "counter",
        "Logins with a key that is none, or has ended.",
        |door| door.failed_logins.get(),
    ),
    (
        "tls_handshakes",
        "gauge",
        "TLS handshakes of clients that are not over.",
        |door| door.handshakes.open.get(),
    ),
    (
        "tls_handshakes_done_total",
        "counter",
        "TLS handshakes of clients that were done, resumed ones among them.",
        |door| door.handshakes.done.get(),
    ),
    (
        "tls_handshakes_resumed_total",
        "counter",
        "TLS handshakes that went on with an earlier session.",
        |door| door.handshakes.resumed.get(),
    ),
    (
        "tls_handshakes_failed_total",
        "counter",
        "TLS handshakes that broke, or that either side gave up.",
        |door| door.handshakes.failed.get(),
    ),
];

pub(super) const WORK: [Row<Counters>; 15] = [
    (
        "connections_max",
        "gauge",
        "Connections that all doors but HTTP may have open together.",
        |all| all.connections_max.get(),
    ),
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
    (
        "travel_transactions_left",
        "gauge",
        "Transactions of closed connections, some of which may have ended.",
        |all| all.transactions_left.get(),
    ),
    (
        "unsent_bytes",
        "gauge",
        "Memory of answers that clients have not taken, in bytes.",
        |all| all.fast_unsent_bytes.get() + all.http_unsent_bytes.get(),
    ),
    (
        "recovery_records",
        "gauge",
        "Records replayed at the start, after the snapshot.",
        |all| all.recovery_records.get(),
    ),
    (
        "requests_logged_total",
        "counter",
        "Lines written to the access log.",
        |all| all.access_lines.get(),
    ),
    (
        "requests_not_logged_total",
        "counter",
        "Lines of the access log that were dropped, because its disk was slow or full.",
        |all| all.access_lines_dropped.get(),
    ),
    (
        "requests_traced_total",
        "counter",
        "Requests of which the collector of traces has taken the spans.",
        |all| all.traced_requests.get(),
    ),
    (
        "requests_not_traced_total",
        "counter",
        "Requests whose spans were dropped, because the collector was slow or away.",
        |all| all.traced_requests_dropped.get(),
    ),
];

pub(super) const STATUS: [Row<ServerStatus>; 13] = [
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
    (
        "waiting_room_rate",
        "gauge",
        "Bookings and holds that are let in each second while others wait; 0 where all are.",
        |all| all.waiting_room.rate,
    ),
    (
        "waiting_room_waiting",
        "gauge",
        "Callers in line, with those who have left and whose turn has not come.",
        |all| all.waiting_room.waiting,
    ),
    (
        "waiting_room_let_in_total",
        "counter",
        "Bookings and holds that were let in.",
        |all| all.waiting_room.let_in,
    ),
    (
        "waiting_room_longest_wait_seconds",
        "gauge",
        "How long the first in line has waited.",
        |all| all.waiting_room.longest_wait_ms / 1_000,
    ),
];
