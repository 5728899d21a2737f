//! The fixed limits of the HTTP door, each with the reason for its size. Those on heads and bodies are
//! with the framing, in `turnstile_http`.

use std::time::Duration;

pub(super) use crate::limits::CANCELS_AT_ONCE_AWAY;

/// Connections over that number which are told so and waited for at a time; more are told so and
/// closed at once, which may lose the answer of one that has sent much.
pub(super) const TURNED_AWAY_MAX: usize = 64;

/// Where all places are taken, one part in so many of the connections is asked to give way at once:
/// finding those that have rested longest means to look at all.
pub(super) const EVICTED_PART: usize = 64;

/// How often a newcomer looks whether a place has become free meanwhile.
pub(super) const EVICTION_LOOKS: usize = 16;

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

/// Steps of TLS handshakes in one round of the runtime. Most cost some 100 us, so that a flood of new
/// connections delays the requests of others by little.
pub(super) const HANDSHAKE_STEPS: usize = 4;

/// One part in so many of the places may be taken by connections whose TLS handshake is not done; for one
/// more, the oldest of them is dropped.
pub(super) const HANDSHAKES_PART: usize = 4;

/// Encrypted bytes of one connection that its socket has not taken: what is behind them is counted as
/// unsent.
pub(super) const TLS_UNSENT_BYTES: usize = 16 * 1_024;

/// Subscriptions of one socket.
pub(super) const SUBSCRIPTIONS: usize = 64;

/// Commands of one socket that may wait for their answers; beyond, it is not read from.
pub(super) const IN_FLIGHT: usize = 64;

/// Cancellations that are sent to the loop at once, so that its queue has room for others.
pub(super) const CANCELS_AT_ONCE: usize = 256;

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

/// Browser sessions that may be open; each takes some 400 bytes.
pub(super) const SESSIONS: usize = 10_000;

/// Sessions of one principal: the browsers of a team that shares it.
pub(super) const SESSIONS_OF_PRINCIPAL: usize = 100;

/// A session that rests so long ends: someone has left the browser.
pub(super) const SESSION_REST_MS: u64 = 60 * 60 * 1_000;

/// A session ends after so long in any case: a working day.
pub(super) const SESSION_AGE_MS: u64 = 12 * 60 * 60 * 1_000;

/// Tickets that may wait to be used.
pub(super) const TICKETS: usize = 10_000;

/// Tickets of one principal: a page opens a few streams at once.
pub(super) const TICKETS_OF_PRINCIPAL: usize = 1_000;

/// How long a ticket is good: a page uses it at once, over a slow line too.
pub(super) const TICKET_AGE_MS: u64 = 30 * 1_000;

/// Commands that are read for one page of the audit, shown or not: some tenths of a second.
pub(super) const AUDIT_COMMANDS: u64 = 100_000;

/// Bytes of commands and outcomes on a page of the audit, but for one that is longer.
pub(super) const AUDIT_BYTES: usize = 1_024 * 1_024;

/// Lines that a reading of the newest keeps, for the pages that follow.
pub(super) const AUDIT_NEWEST: usize = 1_000;

/// Results of a player that a recount shows.
pub(super) const RECOUNT_RESULTS: usize = 100;

/// For so long after a page its reader may ask for the next before another audit takes its place.
pub(super) const AUDIT_LEASE: Duration = Duration::from_secs(10);

/// An audit from which nobody has asked for a page for so long ends.
pub(super) const AUDIT_KEPT: Duration = Duration::from_secs(60);

/// Reads of the journal for backups and standbys at a time: each takes 4 MiB of memory, and the disk has
/// other work.
pub(super) const BACKUP_READS: usize = 2;

/// Loads of the lab that are remembered: their results stay in their folders.
pub(super) const LAB_RUNS: usize = 100;

/// Seconds of each that are kept: those of the longest load, its warm-up and its last answers.
pub(super) const LAB_SECONDS: usize = 1_000;

const _: () = assert!(SESSIONS_OF_PRINCIPAL < SESSIONS && SESSION_REST_MS < SESSION_AGE_MS);
const _: () = assert!(TICKETS_OF_PRINCIPAL < TICKETS);
