//! What a server can be told, and where each value came from.
//!
//! Four layers, each over the one before: defaults, the TOML file, the environment
//! (`TURNSTILE__SECTION__KEY`), flags. All of them carry text, so that one parser checks a value
//! wherever it came from, and its error can name the place.

mod field;
mod file;
mod layers;
mod role;

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;
use tracing_subscriber::EnvFilter;
use turnstile_embedded::{Durability, Options};
use turnstile_server::{DatabaseUrl, InvalidOrigin, InvalidUrl, Origin};
use turnstile_travel::{Desk, limits::SETTING_MS_MAX};

use crate::{exit::Coded, logging, memory};

use field::Field;
pub(crate) use field::suggestion;
pub(crate) use layers::Layers;
pub(crate) use role::Role;

/// Everything `dev` and `serve` can be told.
#[derive(Debug)]
pub(crate) struct Config {
    /// `storage.data`: where the journal is.
    pub(crate) data: Option<PathBuf>,
    /// `storage.durability`: what an answer promises.
    pub(crate) durability: Durability,
    /// `storage.segment_bytes`: the length of the journal's segments.
    pub(crate) segment_bytes: u32,
    /// `storage.snapshot_records`: after how many records a snapshot is made; 0 for never.
    pub(crate) snapshot_records: u64,
    /// `doors.resp`: where the RESP door listens; nowhere when it is off.
    pub(crate) resp: Option<SocketAddr>,
    /// `doors.http`: where the HTTP door listens; nowhere when it is off.
    pub(crate) http: Option<SocketAddr>,
    /// `http.origins`: whose pages may use the HTTP door, besides its own.
    pub(crate) http_origins: Vec<Origin>,
    /// `doors.xml`: where the XML door listens; nowhere when it is off.
    pub(crate) xml: Option<SocketAddr>,
    /// `doors.travel`: where the door of travel listens; nowhere when it is off.
    pub(crate) travel: Option<SocketAddr>,
    /// The switches of the XML door: `xml.reply_length_line`, `xml.lenient_accounts`,
    /// `xml.self_match`.
    pub(crate) xml_options: turnstile_xml::Options,
    /// `doors.desk`: where a desk listens for its middleware.
    pub(crate) desk: Option<SocketAddr>,
    /// `travel.bill_total`: whether a bill on the door of travel ends with its total.
    pub(crate) bill_total: bool,
    /// `travel.role`: who of travel, or of games, is played by this process.
    pub(crate) role: Role,
    /// `travel.lifetime_ms`: how long a transaction lives after its last operation.
    pub(crate) lifetime_ms: u64,
    /// `travel.wait_ms`: how long a lock is waited for, and how long a desk may be silent.
    pub(crate) wait_ms: u64,
    /// `travel.fault_points`: whether clients may have processes of travel end themselves.
    pub(crate) fault_points: bool,
    /// `travel.peers`: where each desk listens that is played by another process.
    pub(crate) peers: Vec<(Desk, SocketAddr)>,
    /// `doors.games_arena`, `doors.games_scores`: where games listen on the ancestor's wire, for
    /// players and for arenas; nowhere when they are off. `games.scores`, `games.scores_wire`: where
    /// the scores are that are played by another process, and what they speak.
    pub(crate) duels: turnstile_server::Duels,
    /// `games.move_ms`, `games.grace_ms`, `games.claim_ms`: how long a move may take, how long a
    /// player may be disconnected, and when the other may claim the win.
    pub(crate) games: turnstile_games::Settings,
    /// `limits.connections`: how many connections the fast doors take together.
    pub(crate) connections: u32,
    /// `limits.players`: how many players may have a WebSocket at a time.
    pub(crate) players: u32,
    /// `limits.output_bytes`: how much of answers all connections together may leave unread.
    pub(crate) output_bytes: usize,
    /// `limits.request_ms`: how long a request may take to arrive whole.
    pub(crate) request_ms: u32,
    /// `limits.key_bytes`: how many bytes idempotency keys may take, if not a part of the memory.
    pub(crate) key_bytes: Option<u64>,
    /// `limits.slow_command_us`: how long a command takes that the slow log keeps.
    pub(crate) slow_command_us: u32,
    /// `limits.busy_poll_us`: how long the fast doors look for more before they sleep.
    pub(crate) busy_poll_us: u32,
    /// `rooms.verhoeff`: whether id numbers must have a valid check digit.
    pub(crate) verhoeff: bool,
    /// Where rooms are kept; without it, in the journal.
    pub(crate) rooms_backend: Option<DatabaseUrl>,
    /// The same of the exchange.
    pub(crate) exchange_backend: Option<DatabaseUrl>,
    /// `log.level`: what is logged.
    pub(crate) log_level: EnvFilter,
    /// `log.format`: how log lines look.
    pub(crate) log_format: logging::Format,
}

/// The topmost layer.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Flags {
    /// Data directory (journal, snapshots). Without it, dev uses a temporary one and serve does not
    /// start
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<String>,
    /// When the server answers: after the disk sync, after the write to the operating system, or at
    /// once and without any files (memory) [default: sync]
    #[arg(long, value_name = "sync|os|memory")]
    pub(crate) durability: Option<String>,
    /// Size of a journal segment in bytes, 4 MiB to 1 GiB [default: 67108864]
    #[arg(long, value_name = "BYTES")]
    pub(crate) segment_bytes: Option<String>,
    /// Records between two snapshots; 0 disables snapshots [default: 4000000]
    #[arg(long, value_name = "RECORDS")]
    pub(crate) snapshot_records: Option<String>,
    /// RESP address; port 0 picks a free port [default: 127.0.0.1:8479]
    #[arg(long, value_name = "ADDR|off")]
    pub(crate) resp: Option<String>,
    /// HTTP address; port 0 picks a free port [default: 127.0.0.1:8470]
    #[arg(long, value_name = "ADDR|off")]
    pub(crate) http: Option<String>,
    /// Allow pages of this origin to use HTTP, such as https://console.example; repeatable
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) http_origin: Vec<String>,
    /// XML address of the exchange; port 0 picks a free port [default: off; dev: 127.0.0.1:12345]
    #[arg(long, value_name = "ADDR|off")]
    pub(crate) xml: Option<String>,
    /// Travel address for command lines; port 0 picks a free port [default: off; dev:
    /// 127.0.0.1:12346]
    #[arg(long, value_name = "ADDR|off")]
    pub(crate) travel: Option<String>,
    /// Send a line with the length before each XML answer [default: false]
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) xml_reply_length_line: Option<String>,
    /// Accept any account name over XML, not only digits [default: false]
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) xml_lenient_accounts: Option<String>,
    /// Match XML orders of one account with each other [default: false]
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) xml_self_match: Option<String>,
    /// End each bill on the travel door with its total [default: false]
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) travel_bill_total: Option<String>,
    /// Part of travel or games that this process runs [default: all]
    #[arg(
        long,
        value_name = "all|middleware|flights|cars|rooms|customers|arena|scores"
    )]
    pub(crate) role: Option<String>,
    /// Address where this resource manager listens for its middleware; default: its address in
    /// travel.peers
    #[arg(long, value_name = "ADDR|off")]
    pub(crate) desk: Option<String>,
    /// Address of the process for flights
    #[arg(long, value_name = "ADDR")]
    pub(crate) peer_flights: Option<String>,
    /// Address of the process for cars
    #[arg(long, value_name = "ADDR")]
    pub(crate) peer_cars: Option<String>,
    /// Address of the process for rooms
    #[arg(long, value_name = "ADDR")]
    pub(crate) peer_rooms: Option<String>,
    /// Address of the process for customers
    #[arg(long, value_name = "ADDR")]
    pub(crate) peer_customers: Option<String>,
    /// Idle time after which a travel transaction is aborted, in milliseconds [default: 15000]
    #[arg(long, value_name = "MS")]
    pub(crate) travel_lifetime_ms: Option<String>,
    /// Timeout of travel for a lock, and for a peer process to answer, in milliseconds [default:
    /// 10000]
    #[arg(long, value_name = "MS")]
    pub(crate) travel_wait_ms: Option<String>,
    /// Let travel clients crash processes; only in builds with debug assertions [default: false]
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) travel_fault_points: Option<String>,
    /// Arena address for players, on the original's wire; port 0 picks a free port [default: off;
    /// dev: 127.0.0.1:21282]
    #[arg(long, value_name = "ADDR|off")]
    pub(crate) games_arena: Option<String>,
    /// Scores address for arenas, on the original's wire; port 0 picks a free port [default: off;
    /// dev: 127.0.0.1:21538]
    #[arg(long, value_name = "ADDR|off")]
    pub(crate) games_scores: Option<String>,
    /// Maximum number of connections over all doors but HTTP, 1 to 65535 [default: 16384]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) limit_connections: Option<String>,
    /// Maximum number of player WebSockets, 1 to 65535 [default: 12288]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) limit_players: Option<String>,
    /// Maximum bytes of unread answers of all clients, a quarter of it over HTTP; above it, the
    /// slowest clients are disconnected [default: 1073741824]
    #[arg(long, value_name = "BYTES")]
    pub(crate) limit_output_bytes: Option<String>,
    /// Timeout for a request to arrive completely over RESP, XML or travel's lines, in
    /// milliseconds; then its connection is closed [default: 30000]
    #[arg(long, value_name = "MS")]
    pub(crate) limit_request_ms: Option<String>,
    /// Memory for idempotency keys in bytes, from 1 MiB; a booking's key takes about 140 bytes. 0:
    /// an eighth of the machine's memory [default: 0]
    #[arg(long, value_name = "BYTES")]
    pub(crate) limit_key_bytes: Option<String>,
    /// Record commands in SLOWLOG that take this long to decide, in microseconds; 0 records every
    /// command [default: 10000]
    #[arg(long, value_name = "MICROSECONDS")]
    pub(crate) slow_command_us: Option<String>,
    /// Busy-poll for this many microseconds before sleeping, 0 to 10000. Lowers latency, uses CPU
    /// [default: 0]
    #[arg(long, value_name = "MICROSECONDS")]
    pub(crate) busy_poll_us: Option<String>,
    /// Time limit of a player for one move, in milliseconds [default: 300000]
    #[arg(long, value_name = "MS")]
    pub(crate) games_move_ms: Option<String>,
    /// Time a player may be disconnected before the match is lost, in milliseconds [default: 60000]
    #[arg(long, value_name = "MS")]
    pub(crate) games_grace_ms: Option<String>,
    /// Time a player must be away or late before the opponent may claim the win, in milliseconds
    /// [default: 30000]
    #[arg(long, value_name = "MS")]
    pub(crate) games_claim_ms: Option<String>,
    /// Address of the scores process, for an arena
    #[arg(long, value_name = "ADDR")]
    pub(crate) scores: Option<String>,
    /// Protocol of the scores process: ours (numbered) or the original's (ancestor) [default:
    /// numbered]
    #[arg(long, value_name = "numbered|ancestor")]
    pub(crate) scores_wire: Option<String>,
    /// Require a valid Verhoeff check digit at the end of id numbers [default: false]
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) verhoeff: Option<String>,
    /// Back end of rooms: embedded, or a postgres://, mysql:// or redis:// URL [default: embedded]
    #[arg(long, value_name = "URL|embedded")]
    pub(crate) rooms_backend: Option<String>,
    /// Back end of the exchange: embedded, or a postgres:// URL [default: embedded]
    #[arg(long, value_name = "URL|embedded")]
    pub(crate) exchange_backend: Option<String>,
}

/// Place of the flags about logging in a help text: below those of the command, above `--help`.
const LAST: usize = 998;

/// The flags about logging, which every command takes.
#[derive(Args, Clone, Debug)]
pub(crate) struct LogFlags {
    /// Log level on standard error: error, warn, info, debug, trace, or directives as in RUST_LOG
    /// [default: info]
    #[arg(long, global = true, display_order = LAST, value_name = "LEVEL")]
    pub(crate) log: Option<String>,
    /// Format of log lines [default: text]
    #[arg(long, global = true, display_order = LAST, value_name = "text|json")]
    pub(crate) log_format: Option<String>,
}

impl Config {
    /// How the directory is kept.
    pub(crate) fn storage(&self) -> Options {
        Options {
            segment_bytes: self.segment_bytes,
            snapshot_records: self.snapshot_records,
            key_bytes: self.key_bytes.unwrap_or_else(memory::for_keys),
            ..Options::with(self.durability)
        }
    }

    /// Checks every value.
    ///
    /// # Errors
    /// The first value that is wrong, and where it came from.
    pub(crate) fn parse(layers: &Layers) -> Result<Self, Coded> {
        Ok(Self {
            data: layers.parse(Field::Data, |text| {
                if text.is_empty() {
                    Err("a directory is needed".to_owned())
                } else {
                    Ok(PathBuf::from(text))
                }
            })?,
            durability: layers.required(Field::Durability, durability)?,
            segment_bytes: layers.required(Field::SegmentBytes, segment_bytes)?,
            snapshot_records: layers.required(Field::SnapshotRecords, |text| {
                text.parse()
                    .map_err(|_invalid| "it is a number of records, or 0".to_owned())
            })?,
            resp: layers.required(Field::Resp, door)?,
            http: layers.required(Field::Http, door)?,
            http_origins: layers.required(Field::HttpOrigins, origins)?,
            xml: layers.required(Field::Xml, door)?,
            travel: layers.required(Field::Travel, door)?,
            xml_options: turnstile_xml::Options {
                reply_length_line: layers.required(Field::ReplyLengthLine, boolean)?,
                lenient_accounts: layers.required(Field::LenientAccounts, boolean)?,
                self_match: layers.required(Field::SelfMatch, boolean)?,
                ..turnstile_xml::Options::default()
            },
            desk: layers.parse(Field::Desk, door)?.flatten(),
            bill_total: layers.required(Field::BillTotal, boolean)?,
            role: layers.required(Field::Role, Role::parse)?,
            lifetime_ms: layers.required(Field::LifetimeMs, milliseconds)?,
            wait_ms: layers.required(Field::WaitMs, milliseconds)?,
            fault_points: layers.required(Field::FaultPoints, fault_points)?,
            peers: role::peers(layers)?,
            duels: turnstile_server::Duels {
                arena: layers.required(Field::GamesArena, door)?,
                scores: layers.required(Field::GamesScores, door)?,
                tells: role::scores(layers)?,
            },
            games: turnstile_games::Settings {
                roles: layers.required(Field::Role, Role::parse)?.games(),
                move_ms: layers.required(Field::MoveMs, game_ms)?,
                grace_ms: layers.required(Field::GraceMs, game_ms)?,
                claim_ms: layers.required(Field::ClaimMs, game_ms)?,
                ..turnstile_games::Settings::FIRST
            },
            connections: layers.required(Field::Connections, connections)?,
            players: layers.required(Field::Players, connections)?,
            output_bytes: layers.required(Field::OutputBytes, output_bytes)?,
            request_ms: layers.required(Field::RequestMs, request_ms)?,
            key_bytes: layers.required(Field::KeyBytes, key_bytes)?,
            slow_command_us: layers.required(Field::SlowCommandUs, slow_command_us)?,
            busy_poll_us: layers.required(Field::BusyPollUs, busy_poll_us)?,
            verhoeff: layers.required(Field::Verhoeff, boolean)?,
            rooms_backend: layers.required(Field::RoomsBackend, backend)?,
            exchange_backend: layers.required(Field::ExchangeBackend, exchange_backend)?,
            log_level: layers.required(Field::LogLevel, logging::filter)?,
            log_format: layers.required(Field::LogFormat, |text| {
                <logging::Format as clap::ValueEnum>::from_str(text, false)
                    .map_err(|_invalid| "a log format is text or json".to_owned())
            })?,
        })
    }
}

fn durability(text: &str) -> Result<Durability, String> {
    [Durability::Sync, Durability::Os, Durability::Memory]
        .into_iter()
        .find(|durability| durability.to_string() == text)
        .ok_or_else(|| "durability is sync, os or memory".to_owned())
}

fn boolean(text: &str) -> Result<bool, String> {
    text.parse()
        .map_err(|_invalid| "it is either true or false".to_owned())
}

/// A segment holds the largest batch many times over, and an offset in it fits 32 bits.
fn segment_bytes(text: &str) -> Result<u32, String> {
    const BOUNDS: std::ops::RangeInclusive<u32> = 4 << 20..=1 << 30;
    let bytes = text.parse().ok().filter(|bytes| BOUNDS.contains(bytes));
    bytes.ok_or_else(|| format!("it is from {} to {} bytes", BOUNDS.start(), BOUNDS.end()))
}

fn origins(text: &str) -> Result<Vec<Origin>, String> {
    let origins = layers::listed(text).map(|origin| {
        let origin = origin.parse();
        origin.map_err(|invalid: InvalidOrigin| invalid.to_string())
    });
    origins.collect()
}

fn connections(text: &str) -> Result<u32, String> {
    const BOUNDS: std::ops::RangeInclusive<u32> = 1..=turnstile_server::Limits::CONNECTIONS_MOST;
    let number = text.parse().ok().filter(|number| BOUNDS.contains(number));
    number.ok_or_else(|| format!("it is from {} to {}", BOUNDS.start(), BOUNDS.end()))
}

fn output_bytes(text: &str) -> Result<usize, String> {
    const LEAST: usize = turnstile_server::Limits::OUTPUT_BYTES_LEAST;
    let bytes = text.parse().ok().filter(|bytes| *bytes >= LEAST);
    bytes.ok_or_else(|| format!("it is at least {LEAST} bytes"))
}

fn request_ms(text: &str) -> Result<u32, String> {
    const BOUNDS: std::ops::RangeInclusive<u32> = 1..=turnstile_server::Limits::REQUEST_MS_MOST;
    let ms = text.parse().ok().filter(|ms| BOUNDS.contains(ms));
    ms.ok_or_else(|| format!("it is from {} to {} ms", BOUNDS.start(), BOUNDS.end()))
}

/// Nothing: a part of the machine's memory.
fn key_bytes(text: &str) -> Result<Option<u64>, String> {
    const LEAST: u64 = 1 << 20;
    match text.parse() {
        Ok(0) => Ok(None),
        Ok(bytes @ LEAST..) => Ok(Some(bytes)),
        _ => Err(format!("it is 0, or at least {LEAST} bytes")),
    }
}

fn slow_command_us(text: &str) -> Result<u32, String> {
    let most = turnstile_server::Limits::SLOW_COMMAND_US_MOST;
    let micros = text.parse().ok().filter(|micros| *micros <= most);
    micros.ok_or_else(|| format!("it is from 0, for every command, to {most} microseconds"))
}

fn busy_poll_us(text: &str) -> Result<u32, String> {
    let most = turnstile_server::Limits::BUSY_POLL_US_MOST;
    let micros = text.parse().ok().filter(|micros| *micros <= most);
    micros.ok_or_else(|| format!("it is from 0, for never, to {most} microseconds"))
}

fn milliseconds(text: &str) -> Result<u64, String> {
    up_to_ms(text, SETTING_MS_MAX)
}

/// A time of games.
fn game_ms(text: &str) -> Result<u64, String> {
    up_to_ms(text, turnstile_games::limits::SETTING_MS_MAX)
}

fn up_to_ms(text: &str, max: u64) -> Result<u64, String> {
    let bounds = 1..=max;
    let ms = text.parse().ok().filter(|ms| bounds.contains(ms));
    ms.ok_or_else(|| format!("it is from 1 to {max} ms"))
}

fn fault_points(text: &str) -> Result<bool, String> {
    match boolean(text)? {
        true if !turnstile_server::HAS_FAULT_POINTS => {
            Err("this build has no fault points: it was built without debug assertions".to_owned())
        }
        allowed => Ok(allowed),
    }
}

/// The URL of a database, or nothing when the journal is meant.
fn backend(text: &str) -> Result<Option<DatabaseUrl>, String> {
    if text == "embedded" {
        return Ok(None);
    }
    let url = text.parse().map(Some);
    url.map_err(|invalid: InvalidUrl| format!("{invalid}, or embedded"))
}

/// The same, of a database that can keep an exchange.
fn exchange_backend(text: &str) -> Result<Option<DatabaseUrl>, String> {
    match backend(text)? {
        Some(url) if !url.keeps_exchange() => {
            Err("an exchange is kept in postgres://user@host:port/database, or embedded".to_owned())
        }
        url => Ok(url),
    }
}

/// The address of a door, or nothing when it is off.
fn door(text: &str) -> Result<Option<SocketAddr>, String> {
    if text == "off" {
        return Ok(None);
    }
    address(text).map(Some)
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let address = crate::address::parse(text).map_err(|sentence| format!("{sentence}, or off"))?;
    if address.ip().is_loopback() {
        Ok(address)
    } else {
        Err(
            "only loopback addresses are served: keys and TLS are not built yet, so anybody who \
             reaches this address could book and cancel"
                .to_owned(),
        )
    }
}
