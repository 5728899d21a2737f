//! Metrics of one number each.

use crate::{
    core::gate::ServerStatus,
    counters::{Counters, DoorCounters},
};

/// A metric: its name, its kind, its help, and where its value is read.
pub(super) type Row<T> = (&'static str, &'static str, &'static str, fn(&T) -> u64);

pub(super) const CONNECTIONS: [Row<DoorCounters>; 7] = [
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
        "Connections without a request that were closed because another needed their places.",
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
];

pub(super) const WORK: [Row<Counters>; 10] = [
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
];

pub(super) const STATUS: [Row<ServerStatus>; 37] = [
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
        "Players who seek any opponent.",
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
        "games_rated_players",
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
