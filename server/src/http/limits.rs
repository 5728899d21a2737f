//! The limits of the HTTP door, each with the reason for its size. Those on heads and bodies are
//! with the framing, in `turnstile_http`.

use std::time::Duration;

/// Connections at a time: each costs some 20 KiB of buffers.
const CONNECTIONS_MAX: usize = 4_096;

/// Connections over that number which are told so at a time; more are closed without a word.
pub(super) const TURNED_AWAY_MAX: usize = 64;

/// A head arrives whole within this from its first byte, whatever trickles in between.
const HEAD_MAX: Duration = Duration::from_secs(10);

/// So does a body, from its first byte: it has 64 KiB at most.
const BODY_MAX: Duration = Duration::from_secs(20);

/// A connection on which nothing moves in either direction for so long is closed. Longer than what
/// proxies and pools keep idle connections for (60 s), so that they close first.
const IDLE_MAX: Duration = Duration::from_secs(75);

/// How often the three above are looked at: they are exceeded by this at most.
const SWEEP: Duration = Duration::from_secs(1);

/// Event streams at a time: each may be copied the whole ring.
const STREAMS_MAX: u64 = 256;

/// A stream on which nothing happens says so this often, that proxies keep it.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// When the server stops, connections get so long to take their answers.
const FAREWELL: Duration = Duration::from_secs(5);

/// The limits that a test needs smaller. A server uses [`HttpLimits::STANDARD`].
#[derive(Clone, Copy, Debug)]
pub struct HttpLimits {
    pub connections: usize,
    pub head: Duration,
    pub body: Duration,
    pub idle: Duration,
    pub sweep: Duration,
    pub streams: u64,
    pub heartbeat: Duration,
    pub farewell: Duration,
}

impl HttpLimits {
    pub const STANDARD: Self = Self {
        connections: CONNECTIONS_MAX,
        head: HEAD_MAX,
        body: BODY_MAX,
        idle: IDLE_MAX,
        sweep: SWEEP,
        streams: STREAMS_MAX,
        heartbeat: HEARTBEAT,
        farewell: FAREWELL,
    };
}

/// After an answer that ends a connection, what the peer still sends is read for so long, so that
/// the answer is not lost to a reset.
pub(super) const LINGER: Duration = Duration::from_secs(1);

/// Bytes that one read takes: several requests, and one of the largest in a few reads.
pub(super) const READ_BYTES: usize = 16 * 1_024;

const _: () = assert!(
    HEARTBEAT.as_secs() < IDLE_MAX.as_secs(),
    "a heartbeat keeps a stream"
);
