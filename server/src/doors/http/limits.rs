//! The limits of the HTTP door, each with the reason for its size. Those on heads and bodies are
//! with the framing, in `turnstile_http`.

use std::time::Duration;

use crate::core::feed::EVENTS_KEPT;

/// Connections that speak HTTP at a time: each costs some 20 KiB of buffers. Those that have become
/// sockets are not among them.
const CONNECTIONS_MAX: usize = 4_096;

/// Connections over that number which are told so and waited for at a time; more are told so and
/// closed at once, which may lose the answer of one that has sent much.
pub(super) const TURNED_AWAY_MAX: usize = 64;

/// Where all places are taken, one part in so many of the connections is asked to give way at once:
/// finding those that have rested longest means to look at all.
pub(super) const EVICTED_PART: usize = 64;

/// How often a newcomer looks whether a place has become free meanwhile.
pub(super) const EVICTION_LOOKS: usize = 16;

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

/// After an answer that ends a connection, what the peer still sends is read for so long, so that
/// the answer is not lost to a reset.
pub(super) const LINGER: Duration = Duration::from_secs(1);

/// The longest message of a client of a socket, in bytes: as long as a body.
pub(super) const MESSAGE_BYTES: usize = 64 * 1_024;

/// What the buffers of a socket of the feed hold each way, in bytes; a snapshot that is longer is
/// buffered whole.
pub(super) const SOCKET_BYTES: usize = 8 * 1_024;

/// The same of a player's: a move and what is told of it have some hundred bytes, and there may be ten
/// thousand players.
pub(super) const PLAYER_SOCKET_BYTES: usize = 1_024;

/// Subscriptions of one socket.
pub(super) const SUBSCRIPTIONS: usize = 64;

/// Commands of one socket that may wait for their answers; beyond, it is not read from.
pub(super) const IN_FLIGHT: usize = 64;

/// Orders that one socket cancels when it ends: some hundred kilobytes, and some milliseconds of
/// the loop.
const SESSION_ORDERS: usize = 10_000;

/// Cancellations that are sent to the loop at once, so that its queue has room for others.
pub(super) const CANCELS_AT_ONCE: usize = 256;

/// The same where a database decides: enough for a batch to be cheap, as its queue has a place for each.
pub(super) const CANCELS_AT_ONCE_AWAY: usize = 32;

/// How long it takes until those that were not taken are sent again.
pub(super) const CANCEL_AGAIN: Duration = Duration::from_millis(100);

/// How long it takes until a late answer is asked for again, when the loop's queue was full.
pub(super) const LATE_AGAIN: Duration = Duration::from_millis(100);

/// Prices of each side in the channel `top`.
pub(super) const TOP_LEVELS: u16 = 10;

/// How often the top of a book is told at most: faster than anybody reads it.
pub(super) const TOP_EVERY: Duration = Duration::from_millis(100);

/// Trades in a snapshot: as many as a screen shows.
pub(super) const SNAPSHOT_TRADES: u16 = 100;

/// Open orders of an account in a snapshot.
pub(super) const SNAPSHOT_ORDERS: u16 = 10_000;

/// Bytes that one read takes: several requests, and one of the largest in a few reads.
pub(super) const READ_BYTES: usize = 16 * 1_024;

const _: () = assert!(
    HEARTBEAT.as_secs() < IDLE_MAX.as_secs(),
    "a heartbeat keeps a stream"
);
