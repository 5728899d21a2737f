//! The table of options: one entry declares everything about an option.

use turnstile_travel::Desk;

use super::{
    Role, bounds, cluster, operating,
    option::{
        ADDRESS, BOOLEAN, BYTES, DOOR, Declaration, INTEGER, LIST, MILLISECONDS, NUMBER, PEM,
        PRINCIPAL, TEXT,
    },
    values::{
        add_desk, address, backend, boolean, connections, directory, door, durability,
        exchange_backend, fault_points, file, games_ms, hosts, key_bytes, log_format, origins,
        output_bytes, players, principal, put, records, request, scores_wire, segment_bytes,
        travel_ms,
    },
};
use crate::logging;

/// All options, in the order of the help and of the printed file. Sections stay together.
pub(super) static OPTIONS: &[Declaration] = &[
    Declaration {
        path: "storage.data",
        flag: "data",
        value: "DIR",
        help: "Data directory (journal, snapshots). Without it, dev uses a temporary one and \
               serve does not start",
        example: "/a",
        set: |config, text| put(&mut config.server.data, directory(text)),
        ..TEXT
    },
    Declaration {
        path: "storage.durability",
        flag: "durability",
        value: "sync|os|memory",
        help: "When the server answers: after the disk sync, after the write to the operating \
               system, or at once and without any files (memory)",
        default: Some("sync"),
        example: "os",
        set: |config, text| put(&mut config.server.storage.durability, durability(text)),
        ..TEXT
    },
    Declaration {
        path: "storage.segment_bytes",
        flag: "segment-bytes",
        help: "Size of a journal segment in bytes, 4 MiB to 1 GiB",
        default: Some("67108864"),
        example: "4194304",
        set: |config, text| {
            put(
                &mut config.server.storage.segment_bytes,
                segment_bytes(text),
            )
        },
        ..BYTES
    },
    Declaration {
        path: "storage.snapshot_records",
        flag: "snapshot-records",
        value: "RECORDS",
        help: "Records between two snapshots; 0 disables snapshots",
        default: Some("4000000"),
        example: "0",
        set: |config, text| put(&mut config.server.storage.snapshot_records, records(text)),
        ..INTEGER
    },
    Declaration {
        path: "doors.resp",
        flag: "resp",
        help: "RESP address; port 0 picks a free port",
        default: Some("127.0.0.1:8479"),
        set: |config, text| put(&mut config.server.resp, door(text)),
        ..DOOR
    },
    Declaration {
        path: "doors.http",
        flag: "http",
        help: "HTTP address; port 0 picks a free port",
        default: Some("127.0.0.1:8470"),
        set: |config, text| put(&mut config.server.http, door(text)),
        ..DOOR
    },
    Declaration {
        // `serve` opens this door only if it is asked to: its wire knows no authentication, and
        // anybody may create accounts with any balance.
        path: "doors.xml",
        flag: "xml",
        help: "XML address of the exchange; port 0 picks a free port",
        default: Some("off"),
        dev: Some("127.0.0.1:12345"),
        set: |config, text| put(&mut config.server.xml, door(text)),
        ..DOOR
    },
    Declaration {
        // Closed in `serve` as well: anybody may stop the server here.
        path: "doors.travel",
        flag: "travel",
        help: "Travel address for command lines; port 0 picks a free port",
        default: Some("off"),
        dev: Some("127.0.0.1:12346"),
        set: |config, text| put(&mut config.server.lines, door(text)),
        ..DOOR
    },
    Declaration {
        path: "doors.desk",
        flag: "desk",
        help: "Address where this resource manager listens for its middleware; default: its \
               address in travel.peers",
        set: |config, text| put(&mut config.server.peers.door, door(text)),
        ..DOOR
    },
    Declaration {
        // Closed in `serve` as well: anybody is who they say here. The port is that of the original.
        path: "doors.games_arena",
        flag: "games-arena",
        help: "Arena address for players, on the original's wire; port 0 picks a free port",
        default: Some("off"),
        dev: Some("127.0.0.1:21282"),
        set: |config, text| put(&mut config.server.duels.arena, door(text)),
        ..DOOR
    },
    Declaration {
        path: "doors.games_scores",
        flag: "games-scores",
        help: "Scores address for arenas, on the original's wire; port 0 picks a free port",
        default: Some("off"),
        dev: Some("127.0.0.1:21538"),
        set: |config, text| put(&mut config.server.duels.scores, door(text)),
        ..DOOR
    },
    Declaration {
        path: "tls.certificate",
        flag: "tls-certificate",
        help: "Certificate chain of the server in PEM. With it, every address serves TLS only. \
               A change is loaded within a minute, or at SIGHUP",
        set: |config, text| put(&mut config.tls.certificate, file(text)),
        ..PEM
    },
    Declaration {
        path: "tls.key",
        flag: "tls-key",
        help: "Private key of the certificate in PEM. It is loaded with the certificate, or at SIGHUP",
        set: |config, text| put(&mut config.tls.key, file(text)),
        ..PEM
    },
    Declaration {
        path: "tls.client_ca",
        flag: "tls-client-ca",
        help: "Authorities in PEM that sign certificates of clients, and of other processes of \
               travel and games. A change is loaded within a minute, or at SIGHUP",
        set: |config, text| put(&mut config.tls.client_ca, file(text)),
        ..PEM
    },
    Declaration {
        path: "tls.plain",
        flag: "plain",
        help: "Serve clients of other machines without TLS, where something else protects the network",
        set: |config, text| put(&mut config.server.plain, boolean(text)),
        ..BOOLEAN
    },
    Declaration {
        path: "http.hosts",
        flag: "http-host",
        value: "NAME",
        help: "Name by which clients reach HTTP, besides localhost, addresses and the names in the \
               certificate; repeatable",
        default: Some(""),
        example: "console.example",
        set: |config, text| put(&mut config.server.http_hosts, hosts(text)),
        ..LIST
    },
    Declaration {
        path: "http.origins",
        flag: "http-origin",
        value: "ORIGIN",
        help: "Allow pages of this origin to use HTTP, such as https://console.example; \
               repeatable",
        default: Some(""),
        is_live: true,
        example: "http://a.example",
        set: |config, text| put(&mut config.server.http_origins, origins(text)),
        ..LIST
    },
    Declaration {
        path: "limits.connections",
        flag: "limit-connections",
        help: "Maximum number of connections over all doors but HTTP, 1 to 65535",
        default: Some("16384"),
        is_live: true,
        example: "1",
        set: |config, text| put(&mut config.server.limits.connections, connections(text)),
        ..NUMBER
    },
    Declaration {
        path: "limits.players",
        flag: "limit-players",
        help: "Maximum number of player WebSockets, 1 to 65535",
        default: Some("12288"),
        is_live: true,
        example: "1",
        set: |config, text| put(&mut config.server.limits.http.players, players(text)),
        ..NUMBER
    },
    Declaration {
        path: "limits.output_bytes",
        flag: "limit-output-bytes",
        help: "Maximum bytes of unread answers of all clients, a quarter of it over HTTP; above \
               it, the slowest clients are disconnected",
        default: Some("1073741824"),
        is_live: true,
        example: "16777216",
        set: |config, text| {
            config.server.limits.bound_output(output_bytes(text)?);
            Ok(())
        },
        ..BYTES
    },
    Declaration {
        path: "limits.request_ms",
        flag: "limit-request-ms",
        help: "Timeout for a request to arrive completely over RESP, XML or travel's lines, in \
               milliseconds; then its connection is closed",
        default: Some("30000"),
        is_live: true,
        example: "1",
        set: |config, text| put(&mut config.server.limits.request, request(text)),
        ..MILLISECONDS
    },
    Declaration {
        path: "limits.key_bytes",
        flag: "limit-key-bytes",
        help: "Memory for idempotency keys in bytes, from 1 MiB; a booking's key takes about \
               140 bytes. 0: an eighth of the machine's memory",
        default: Some("0"),
        example: "1048576",
        set: |config, text| put(&mut config.server.storage.key_bytes, key_bytes(text)),
        ..BYTES
    },
    bounds::DRAIN_MS,
    bounds::FAREWELL_MS,
    bounds::SLOW_COMMAND_US,
    bounds::SLOW_REQUEST_US,
    bounds::BUSY_POLL_US,
    bounds::WAITING_ROOM_RATE,
    bounds::WAITING_ROOM_PLACES,
    cluster::NATS,
    cluster::MONITORS,
    cluster::PARTITION,
    cluster::PARTITIONS,
    cluster::HOLDS,
    cluster::NODE,
    cluster::HOST,
    cluster::REPLICAS,
    cluster::STREAM_BYTES,
    cluster::SNAPSHOT_BYTES,
    cluster::SNAPSHOT_ENTRIES,
    cluster::ENTRY_VERSION,
    cluster::CREDENTIALS,
    cluster::AUTHORITIES,
    Declaration {
        path: "rooms.verhoeff",
        flag: "verhoeff",
        help: "Require a valid Verhoeff check digit at the end of id numbers",
        set: |config, text| put(&mut config.server.verhoeff, boolean(text)),
        ..BOOLEAN
    },
    Declaration {
        path: "rooms.backend",
        flag: "rooms-backend",
        value: "URL|embedded",
        help: "Back end of rooms: embedded, or a postgres://, mysql:// or redis:// URL",
        default: Some("embedded"),
        example: "redis://a/1",
        set: |config, text| put(&mut config.server.databases.rooms, backend(text)),
        ..TEXT
    },
    Declaration {
        path: "exchange.backend",
        flag: "exchange-backend",
        value: "URL|embedded",
        help: "Back end of the exchange: embedded, or a postgres:// URL",
        default: Some("embedded"),
        example: "postgres://a/market",
        set: |config, text| {
            put(
                &mut config.server.databases.exchange,
                exchange_backend(text),
            )
        },
        ..TEXT
    },
    Declaration {
        path: "xml.reply_length_line",
        flag: "xml-reply-length-line",
        help: "Send a line with the length before each XML answer",
        set: |config, text| {
            put(
                &mut config.server.xml_options.reply_length_line,
                boolean(text),
            )
        },
        ..BOOLEAN
    },
    Declaration {
        path: "xml.lenient_accounts",
        flag: "xml-lenient-accounts",
        help: "Accept any account name over XML, not only digits",
        set: |config, text| {
            put(
                &mut config.server.xml_options.lenient_accounts,
                boolean(text),
            )
        },
        ..BOOLEAN
    },
    Declaration {
        path: "xml.self_match",
        flag: "xml-self-match",
        help: "Match XML orders of one account with each other",
        set: |config, text| put(&mut config.server.xml_options.self_match, boolean(text)),
        ..BOOLEAN
    },
    Declaration {
        path: "xml.principal",
        flag: "xml-principal",
        help: "Principal of all who come to the XML address; needed once the directory has keys",
        set: |config, text| put(&mut config.server.principals.xml, principal(text)),
        ..PRINCIPAL
    },
    Declaration {
        path: "travel.principal",
        flag: "travel-principal",
        help: "Principal of all who come to the travel address; needed once the directory has keys",
        set: |config, text| put(&mut config.server.principals.lines, principal(text)),
        ..PRINCIPAL
    },
    Declaration {
        path: "travel.bill_total",
        flag: "travel-bill-total",
        help: "End each bill on the travel door with its total",
        set: |config, text| put(&mut config.server.lines_options.bill_total, boolean(text)),
        ..BOOLEAN
    },
    Declaration {
        path: "travel.role",
        flag: "role",
        value: "all|middleware|flights|cars|rooms|customers|arena|scores",
        help: "Part of travel or games that this process runs",
        default: Some("all"),
        example: "middleware",
        set: |config, text| put(&mut config.role, Role::parse(text)),
        ..TEXT
    },
    Declaration {
        path: "travel.lifetime_ms",
        flag: "travel-lifetime-ms",
        help: "Idle time after which a travel transaction is aborted, in milliseconds",
        default: Some("15000"),
        example: "1",
        set: |config, text| put(&mut config.travel.lifetime_ms, travel_ms(text)),
        ..MILLISECONDS
    },
    Declaration {
        path: "travel.wait_ms",
        flag: "travel-wait-ms",
        help: "Timeout of travel for a lock, and for a peer process to answer, in milliseconds",
        default: Some("10000"),
        example: "1",
        set: |config, text| put(&mut config.travel.wait_ms, travel_ms(text)),
        ..MILLISECONDS
    },
    Declaration {
        path: "travel.fault_points",
        flag: "travel-fault-points",
        help: "Let travel clients crash processes; only in builds with debug assertions",
        set: |config, text| put(&mut config.server.peers.fault_points, fault_points(text)),
        ..BOOLEAN
    },
    Declaration {
        path: "travel.peers.flights",
        flag: "peer-flights",
        help: "Address of the process for flights",
        set: |config, text| add_desk(config, Desk::Flights, text),
        ..ADDRESS
    },
    Declaration {
        path: "travel.peers.cars",
        flag: "peer-cars",
        help: "Address of the process for cars",
        set: |config, text| add_desk(config, Desk::Cars, text),
        ..ADDRESS
    },
    Declaration {
        path: "travel.peers.rooms",
        flag: "peer-rooms",
        help: "Address of the process for rooms",
        set: |config, text| add_desk(config, Desk::Rooms, text),
        ..ADDRESS
    },
    Declaration {
        path: "travel.peers.customers",
        flag: "peer-customers",
        help: "Address of the process for customers",
        set: |config, text| add_desk(config, Desk::Customers, text),
        ..ADDRESS
    },
    Declaration {
        path: "games.arena_principal",
        flag: "games-arena-principal",
        help: "Principal of all who come to the arena; needed once the directory has keys",
        set: |config, text| put(&mut config.server.principals.arena, principal(text)),
        ..PRINCIPAL
    },
    Declaration {
        path: "games.scores_principal",
        flag: "games-scores-principal",
        help: "Principal of all arenas that send results here; needed once the directory has keys",
        set: |config, text| put(&mut config.server.principals.scores, principal(text)),
        ..PRINCIPAL
    },
    Declaration {
        path: "games.move_ms",
        flag: "games-move-ms",
        help: "Time limit of a player for one move, in milliseconds",
        default: Some("300000"),
        example: "1",
        set: |config, text| put(&mut config.games.move_ms, games_ms(text)),
        ..MILLISECONDS
    },
    Declaration {
        path: "games.grace_ms",
        flag: "games-grace-ms",
        help: "Time a player may be disconnected before the match is lost, in milliseconds",
        default: Some("60000"),
        example: "1",
        set: |config, text| put(&mut config.games.grace_ms, games_ms(text)),
        ..MILLISECONDS
    },
    Declaration {
        path: "games.claim_ms",
        flag: "games-claim-ms",
        help: "Time a player must be away or late before the opponent may claim the win, in \
               milliseconds",
        default: Some("30000"),
        example: "1",
        set: |config, text| put(&mut config.games.claim_ms, games_ms(text)),
        ..MILLISECONDS
    },
    Declaration {
        path: "games.scores",
        flag: "scores",
        help: "Address of the scores process, for an arena",
        set: |config, text| put(&mut config.scores, address(text).map(Some)),
        ..ADDRESS
    },
    Declaration {
        path: "games.scores_wire",
        flag: "scores-wire",
        value: "numbered|ancestor",
        help: "Protocol of the scores process: ours (numbered) or the original's (ancestor)",
        default: Some("numbered"),
        example: "ancestor",
        set: |config, text| put(&mut config.scores_wire, scores_wire(text)),
        ..TEXT
    },
    operating::AUDIT_ADDRESSES,
    operating::LAB_RESULTS,
    operating::LAB_KEY_FILE,
    Declaration {
        path: "log.level",
        flag: "log",
        value: "LEVEL",
        help: "Log level on standard error: error, warn, info, debug, trace, or directives as \
               in RUST_LOG",
        default: Some("info"),
        foreign_variable: Some("RUST_LOG"),
        is_live: true,
        is_global: true,
        example: "warn",
        set: |config, text| put(&mut config.log_level, logging::filter(text)),
        ..TEXT
    },
    Declaration {
        path: "log.format",
        flag: "log-format",
        value: "text|json",
        help: "Format of log lines",
        default: Some("text"),
        is_global: true,
        example: "json",
        set: |config, text| put(&mut config.log_format, log_format(text)),
        ..TEXT
    },
    operating::ACCESS_LOG,
    operating::TRACES_COLLECTOR,
    operating::TRACES_ONE_IN,
];
