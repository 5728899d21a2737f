//! The limits of the HTTP door that a configuration or a test decides, with the reasons.

use std::time::Duration;

/// Connections that speak HTTP at a time: each costs some 20 KiB of buffers. Those that have become
/// sockets are not among them.
const CONNECTIONS_MAX: usize = 4_096;

/// How many events are kept for those who come back: a tenth of a second of a busy exchange, hours
/// in a hotel.
pub(crate) const EVENTS_KEPT: usize = 65_536;

/// Bytes of answers that all connections together may leave unread: a quarter of what a server keeps
/// for all doors.
const OUTPUT_BYTES_MAX: usize = 256 * 1_024 * 1_024;

/// A head arrives whole within this from its first byte, whatever trickles in between.
const HEAD_MAX: Duration = Duration::from_secs(10);

/// So does a body, from its first byte: it has 64 KiB at most.
const BODY_MAX: Duration = Duration::from_secs(20);

/// A connection on which nothing moves in either direction for so long is closed. Longer than what
/// proxies and pools keep idle connections for (60 s), so that they close first.
const IDLE_MAX: Duration = Duration::from_secs(75);

/// How often the three above are looked at: they are exceeded by twice this at most.
const SWEEP: Duration = Duration::from_secs(1);

/// Event streams and sockets at a time that may follow everything: each may be copied the whole ring.
const STREAMS_MAX: u64 = 256;

/// Sockets of players at a time, unless somebody says otherwise: each is told only what concerns it.
const PLAYERS_MAX: u64 = 12_288;

/// A stream on which nothing happens says so this often, that proxies keep it.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// A client of a socket that takes nothing for so long is dropped: what it is owed is kept for it.
const STALL: Duration = Duration::from_secs(30);

/// When the server stops, connections get so long to take their answers.
const FAREWELL: Duration = Duration::from_secs(5);

/// Orders that one socket cancels when it ends: some hundred kilobytes, and some milliseconds of
/// the loop.
const SESSION_ORDERS: usize = 10_000;

/// Cancellations that a socket sends at once where a database decides: enough for a batch to be
/// cheap, as its queue has a place for each.
pub(crate) const CANCELS_AT_ONCE_AWAY: usize = 32;

/// The limits that a test needs smaller. A server uses [`HttpLimits::STANDARD`].
#[derive(Clone, Copy, Debug)]
pub struct HttpLimits {
    pub connections: usize,
    /// Bytes of answers that all connections together may leave unread.
    pub output_bytes: usize,
    pub head: Duration,
    pub body: Duration,
    pub idle: Duration,
    pub sweep: Duration,
    pub streams: u64,
    pub players: u64,
    pub heartbeat: Duration,
    pub stall: Duration,
    /// Events of the exchange that are kept for those who follow.
    pub events: usize,
    /// Open orders that one socket can cancel at its end.
    pub session_orders: usize,
    pub farewell: Duration,
}

impl HttpLimits {
    pub const STANDARD: Self = Self {
        connections: CONNECTIONS_MAX,
        output_bytes: OUTPUT_BYTES_MAX,
        head: HEAD_MAX,
        body: BODY_MAX,
        idle: IDLE_MAX,
        sweep: SWEEP,
        streams: STREAMS_MAX,
        players: PLAYERS_MAX,
        heartbeat: HEARTBEAT,
        stall: STALL,
        events: EVENTS_KEPT,
        session_orders: SESSION_ORDERS,
        farewell: FAREWELL,
    };

    /// How many requests may wait for one database at a time: one of each connection, and the last ones
    /// of sockets.
    pub(crate) fn away(&self) -> usize {
        let sockets = usize::try_from(self.streams).expect("sockets are few");
        self.connections + sockets * CANCELS_AT_ONCE_AWAY
    }
}

const _: () = assert!(
    HEARTBEAT.as_secs() < IDLE_MAX.as_secs(),
    "a heartbeat keeps a stream"
);
