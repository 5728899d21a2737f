//! Every limit of the server, with the reason for its size.

mod http;

use std::{num::NonZeroU32, time::Duration};

use turnstile_resp::FRAME_BYTES_MAX;

pub use self::http::HttpLimits;
pub(crate) use self::http::{CANCELS_AT_ONCE_AWAY, EVENTS_KEPT};

/// Connections of the fast doors at a time, unless somebody says otherwise: ten thousand players, and
/// as many again who look on and operate. An idle one costs some kilobytes.
const CONNECTIONS_MAX: usize = 16_384;

/// A connection that says nothing for so long is closed. Pools of clients keep theirs alive with a
/// `PING` every few minutes at most.
const IDLE: Duration = Duration::from_secs(900);

/// A request that has begun arrives whole within this from its first byte, whatever trickles in
/// between. The largest has 16 MiB, so this asks for 5 Mbit/s.
const REQUEST: Duration = Duration::from_secs(30);

/// A connection that takes nothing of what it is owed for so long is closed.
const STALL: Duration = Duration::from_secs(30);

/// A client says who it is within this, where the server wants to know: it does so first of all.
const LOGIN: Duration = Duration::from_secs(10);

/// What a connection may be owed before it is not read from any more, in bytes. The reply that passes
/// it comes on top: a page of a listing has at most 1,000 entries of some 500 bytes, a batch at most
/// 1,024 replies. A follower who is owed so much of earlier groups is dropped; the messages of one
/// group come on top, which are some megabytes at most.
const CONNECTION_OUTPUT_BYTES_MAX: usize = 1_024 * 1_024;

/// What all connections together may be owed, those of HTTP among them, in bytes. Each may be owed a
/// megabyte and more; sixteen thousand of those would not fit in many machines. Beyond it the slowest
/// are dropped. A quarter is for HTTP, whose thread looks after its own.
const OUTPUT_BYTES_MAX: usize = 1_024 * 1_024 * 1_024;

/// Connections of the fast doors whose TLS handshake is not done; for one more, the oldest is dropped.
/// Clients that begin a handshake and leave it leave room for others.
const HANDSHAKES_MAX: usize = 1_024;

/// What all connections together may keep of requests that are not answered, in bytes. Each may begin
/// one of 16 MiB; ten thousand of those would not fit in any machine. Whoever asks for more is told
/// so and closed.
const INPUT_BYTES_MAX: usize = 1_024 * 1_024 * 1_024;

/// After a stop is asked for, connections that do not take their answers are dropped after this.
const FAREWELL: Duration = Duration::from_secs(5);

/// The limits that a test needs smaller, and those that a configuration decides. Others are as in
/// [`Limits::STANDARD`].
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub connections: usize,
    pub idle: Duration,
    /// How long a request may take to arrive whole at the doors for RESP, XML and travel.
    pub request: Duration,
    pub stall: Duration,
    /// How long a client has to say who it is, where the server wants to know.
    pub login: Duration,
    /// What one connection may be owed before it is not read from any more.
    pub connection_output_bytes: usize,
    /// What the connections of the fast doors may be owed together.
    pub output_bytes: usize,
    pub input_bytes: usize,
    /// Connections of the fast doors whose TLS handshake is not done.
    pub handshakes: usize,
    /// From the announcement that the server stops to its begin; zero: none is made.
    pub drain: Duration,
    pub farewell: Duration,
    /// For so long after something has happened the loop looks for more before it sleeps, because
    /// being woken takes tens of microseconds where a processor rests; zero: it sleeps at once.
    pub busy_poll: Duration,
    /// A run of commands that takes so long is kept in the slow log; zero: every one.
    pub slow_command: Duration,
    /// The log warns of requests that take so long until their answers leave; zero: of none.
    pub slow_request: Duration,
    /// Bookings and holds of rooms and seats that are let in each second while more come. Nothing: all.
    pub waiting_room: Option<NonZeroU32>,
    /// The most places in line of one principal. Where nobody has a key, all are one, and it is not bound.
    pub waiting_room_places: u32,
    pub http: HttpLimits,
}

impl Limits {
    /// As many connections as there are ports, and as all that is spared of their input allows.
    pub const CONNECTIONS_MOST: u32 = 65_535;

    /// The most bookings and holds that a waiting room lets in each second: more than a server decides.
    pub const WAITING_ROOM_RATE_MOST: u32 = 1_000_000;

    /// The whole line.
    pub const WAITING_ROOM_PLACES_MOST: u32 = 100_000;

    /// The longest time that a request may be given, in milliseconds: an idle connection gets no more.
    pub const REQUEST_MS_MOST: u32 = 900_000;

    /// Ten minutes, for each part of a stop: who waits for its end has long given up.
    pub const FAREWELL_MS_MOST: u32 = 600_000;

    /// Who is silent for longer gains nothing from a server that did not sleep.
    pub const BUSY_POLL_US_MOST: u32 = 10_000;

    /// A minute: nothing that is answered takes so long.
    pub const SLOW_COMMAND_US_MOST: u32 = 60_000_000;

    pub const STANDARD: Self = Self {
        connections: CONNECTIONS_MAX,
        idle: IDLE,
        request: REQUEST,
        stall: STALL,
        login: LOGIN,
        connection_output_bytes: CONNECTION_OUTPUT_BYTES_MAX,
        output_bytes: OUTPUT_BYTES_MAX - http_part(OUTPUT_BYTES_MAX),
        input_bytes: INPUT_BYTES_MAX,
        handshakes: HANDSHAKES_MAX,
        drain: Duration::ZERO,
        farewell: FAREWELL,
        busy_poll: Duration::ZERO,
        slow_command: Duration::from_millis(10),
        slow_request: Duration::ZERO,
        waiting_room: None,
        waiting_room_places: 10_000,
        http: HttpLimits::STANDARD,
    };

    /// The least that all connections may be owed together, in bytes: HTTP's part of it holds some of
    /// the longest answers.
    pub const OUTPUT_BYTES_LEAST: usize = 16 * 1_024 * 1_024;

    /// Lets all connections together be owed so many bytes.
    pub const fn bound_output(&mut self, bytes: usize) {
        self.http.output_bytes = http_part(bytes);
        self.output_bytes = bytes - self.http.output_bytes;
    }
}

/// What HTTP may owe of so many bytes.
const fn http_part(bytes: usize) -> usize {
    bytes / 4
}

/// Bytes read from a connection in one turn: a deep pipeline in one system call, and small enough
/// to stay in the cache.
pub(crate) const READ_BYTES: usize = 64 * 1_024;

/// Requests of one connection in one turn, so that a deep pipeline does not keep the others
/// waiting; the rest stays queued for the next turn.
pub(crate) const PIPELINE_DEPTH: usize = 1_024;

/// Requests of all connections in one turn, so that no group takes longer than some milliseconds.
pub(crate) const TURN_REQUESTS: usize = 16_384;

/// For so long a group that promises nothing stays open after its first answers have left. Longer than
/// an interactive transaction takes, so that its commit is its only sync; short, because events wait
/// for the group, and a crash takes it back.
pub(crate) const SOFT_AGE: Duration = Duration::from_millis(10);

/// How often the loop looks for further requests while a group is carried to the disk and nothing
/// else is to do. Then it waits for the disk: taking every request by itself costs more.
pub(crate) const LOOKS: u32 = 2;

/// A group that the loop commits itself waits for another look at the sockets when the last turn has
/// added at least so many requests to it: fewer clients are not worth a look.
pub(crate) const GROWTH_MIN: usize = 4;

/// And at least one part in so many of all that it holds, so that the looks soon end whatever comes.
pub(crate) const GROWTH_PART: usize = 8;

/// What is due and finds no room on the disk is tried again after this: the journal looks for space
/// no sooner.
pub(crate) const FULL_DISK_REST: Duration = Duration::from_millis(100);

/// Requests decoded ahead of their execution, so that what they touch is loaded meanwhile.
pub(crate) const AHEAD: usize = 16;

/// Connections that the system keeps in line at a door while the loop is at work; those beyond are
/// dropped, and their clients try again a second later. Linux itself keeps no more than 4,096 where
/// nobody has said otherwise.
pub(crate) const BACKLOG: i32 = 4_096;

/// Connections accepted in one turn: a storm of new ones does not keep the old ones waiting.
pub(crate) const ACCEPTS: usize = 64;

/// Requests from other threads that may wait for the loop; beyond, they are told to come again.
pub(crate) const GATE_QUEUE: usize = 4_096;

/// Requests that other partitions of this process have not answered; beyond, they are told to come again.
pub(crate) const RELAYED_MAX: usize = 16_384;

/// The same that wait for the loop of one partition.
pub(crate) const RELAYED_PER_PARTITION_MAX: usize = 4_096;

/// How old what a node knows of rights may be when it has another partition decide something, in
/// milliseconds: a round trip through the brokers each second is no load.
pub(crate) const RIGHTS_KNOWN_MS: u64 = 1_000;

/// After so much work with queries in it, a part of a turn answers what it has, and leaves the rest to
/// the next: a turn of commands takes about as long.
pub(crate) const SLICE: Duration = Duration::from_millis(5);

/// Requests from other threads that are taken in one turn.
pub(crate) const GATE_BATCH: usize = 1_024;

/// Commands of one `MULTI` batch: it is executed in one turn.
pub(crate) const BATCH_COMMANDS: usize = 1_024;

/// Commands of one `MULTI` batch whose answers may be long: all of them are owed at once.
pub(crate) const BATCH_READS: usize = 16;

/// Bytes of one `MULTI` batch: with what its records add, it fits one group of the journal.
pub(crate) const BATCH_BYTES: usize = 512 * 1_024;

/// Channels and patterns that one connection may follow.
pub(crate) const SUBSCRIPTIONS: usize = 64;

/// Open transactions of travel that one connection may have started. Its requests are answered one
/// after the other, so this is many times what a client works on at once.
pub(crate) const TRANSACTIONS_PER_CONNECTION: usize = 1_000;

/// Open holds that one connection may have made: a quarter of those of its principal.
pub(crate) const HOLDS_PER_CONNECTION: usize = 250;

/// Open matches that one connection may have begun, for others to play.
pub(crate) const MATCHES_PER_CONNECTION: usize = 1_000;

/// What all clients of HTTP together may have open of each of these tables: so many of so many parts.
pub(crate) const HTTP_SHARE: (usize, usize) = (3, 4);

/// What all closed connections together may have left open of a table: one part in so many. Clients that
/// come back after a broken network find theirs, and the others lose little.
pub(crate) const CLOSED_SHARE: usize = 10;

/// When closed connections have left too much open, one part in so many of their share is made free.
pub(crate) const EVICTED_PART: usize = 16;

/// When a share is used up, so many of its members are asked for in a turn whether they have ended: all
/// of a connection's, and some of HTTP's.
pub(crate) const SHARE_LOOKS: usize = 1_000;

/// How far a principal can be in debt for answers that were longer than its quota: one page of a listing
/// does not shut it out for longer than this.
pub(crate) const QUOTA_DEBT_MOST: Duration = Duration::from_secs(60);

/// The longest name of a connection, and of a channel, in bytes.
pub(crate) const LABEL_BYTES: usize = 256;

/// Output that a connection keeps allocated while it is owed nothing, in bytes.
pub(crate) const OUTPUT_KEPT_BYTES: usize = 64 * 1_024;

/// Sweeps after which a connection that says nothing keeps none: ten thousand that are there and rest
/// are to cost little.
pub(crate) const OUTPUT_KEPT_SWEEPS: u32 = 5;

/// When connections are dropped because all together are owed too much, one part in so many of the
/// bound is made free: finding the slowest means to look at all.
pub(crate) const SHED_PART: usize = 16;

/// What a connection may keep of an unfinished request, in bytes, however much the others keep: an
/// ordinary request that comes in pieces is served while large ones are not.
pub(crate) const INPUT_SPARED_BYTES: usize = 16 * 1_024;

/// Connections to the door of a desk: one middleware has one, and a few more while it comes back.
pub(crate) const PEERS: u64 = 16;

/// Sweeps after which a connection whose TLS handshake is not done is dropped.
pub(crate) const HANDSHAKE_SWEEPS: u32 = 10;

/// Steps of TLS handshakes in one turn. Most cost some 100 us, so that a flood of new connections delays
/// the requests of others by little.
pub(crate) const HANDSHAKES: usize = 4;

/// What is kept of a TLS record, or of a message of the handshake, whose rest is still to come, in
/// bytes: a record has 16 KiB and some, and a chain of certificates less.
pub(crate) const TLS_PARTIAL_BYTES: usize = 32 * 1_024;

/// What is encrypted before the socket has taken some of it, in bytes: the rest waits where it is owed.
pub(crate) const TLS_SEALED_BYTES: usize = 64 * 1_024;

/// TLS sessions that the server keeps for clients without tickets, so that they need no signature when
/// they come back.
pub(crate) const TLS_SESSIONS: usize = 1_024;
/// Logins from one source that may fail within [`FAILED_LOGINS_MS`]: a person mistypes, a pool of a
/// hundred connections comes with yesterday's key.
pub(crate) const FAILED_LOGINS: u32 = 200;

/// The time in which failed logins are counted, in milliseconds.
pub(crate) const FAILED_LOGINS_MS: u64 = 60_000;

/// Lines of the access log that wait to be written, each of some 300 bytes: what a disk that stops for a
/// moment holds up. Beyond it lines are dropped and counted.
pub(crate) const ACCESS_LINES: usize = 16_384;

/// Requests whose spans wait for the collector: beyond it they are dropped and counted. Each has five spans
/// of some 300 bytes, so that what is sent at once stays well below the 20 MiB that a collector takes.
pub(crate) const TRACED_REQUESTS: usize = 2_048;

/// How long spans wait for others to be sent with them.
pub(crate) const SPANS_GATHERED: Duration = Duration::from_secs(1);

/// How long a collector may take for spans.
pub(crate) const COLLECTOR_TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes that are read of what a collector answers.
pub(crate) const COLLECTOR_ANSWER_BYTES: u64 = 64 * 1_024;

/// How long the end of a server waits for the last lines of the access log, and for the last spans.
pub(crate) const ACCESS_LOG_END: Duration = Duration::from_secs(5);

/// Events of security that are kept for those who come back.
pub(crate) const SECURITY_EVENTS: usize = 1_024;

/// Sources of failed logins that are kept; each takes some 60 bytes.
pub(crate) const FAILED_LOGIN_SOURCES: usize = 10_000;

/// Sweeps after which a connection between processes on which nobody has said hello is dropped.
pub(crate) const HELLO_SWEEPS: u32 = 5;

/// What is put on a connection between processes before the peer has taken some of it, in bytes; the
/// last few parcels come on top. The rest stays where the machine keeps it.
pub(crate) const LINE_OUTPUT_BYTES: usize = 1_024 * 1_024;

/// Results that are on their way to distant scores, in bytes; the rest stays where the machine keeps
/// it. Less than makes a connection wait until it is taken: two that wait for each other to take
/// something would wait for ever.
pub(crate) const RESULTS_OUTPUT_BYTES: usize = 64 * 1_024;

/// Parcels that are put on a connection in one piece.
pub(crate) const POST_BATCH: usize = 64;

/// How long the middleware rests before it dials a desk again, at first and at last.
pub(crate) const DIAL_REST_MIN: Duration = Duration::from_millis(10);
pub(crate) const DIAL_REST_MAX: Duration = Duration::from_millis(500);

/// How often in a lifetime the middleware greets its desks. One that it has not greeted for two
/// lifetimes takes it for lost.
pub(crate) const GREETINGS_PER_LIFETIME: u64 = 3;

/// How often idle and stalled connections are looked for.
pub(crate) const SWEEP: Duration = Duration::from_secs(1);

/// Sweeps after which a connection that was told goodbye and keeps talking is dropped.
pub(crate) const PARTING_SWEEPS: u32 = 3;

/// Events of the poll that are taken in one turn; the others wait in the kernel.
pub(crate) const EVENTS: usize = 1_024;

const _: () = assert!(RESULTS_OUTPUT_BYTES < CONNECTION_OUTPUT_BYTES_MAX);
const _: () = assert!(HttpLimits::STANDARD.output_bytes == http_part(OUTPUT_BYTES_MAX));
const _: () = assert!(CONNECTION_OUTPUT_BYTES_MAX < Limits::OUTPUT_BYTES_LEAST / 4);
const _: () = assert!(Limits::REQUEST_MS_MOST as u64 == IDLE.as_secs() * 1_000);
const _: () = assert!(AHEAD <= PIPELINE_DEPTH && PIPELINE_DEPTH <= TURN_REQUESTS);
const _: () = assert!(Limits::CONNECTIONS_MOST as usize * INPUT_SPARED_BYTES < INPUT_BYTES_MAX);
const _: () = assert!(TRANSACTIONS_PER_CONNECTION <= SHARE_LOOKS);
const _: () = assert!(HOLDS_PER_CONNECTION <= SHARE_LOOKS);
const _: () = assert!(MATCHES_PER_CONNECTION <= SHARE_LOOKS);
const _: () = assert!(GATE_BATCH <= GATE_QUEUE);
const _: () = assert!(GREETINGS_PER_LIFETIME > 1);
const _: () = assert!(BATCH_BYTES < FRAME_BYTES_MAX);
const _: () = assert!(READ_BYTES <= FRAME_BYTES_MAX);
