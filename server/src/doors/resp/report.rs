//! What the server tells about itself: `INFO`, `CONFIG GET`, and the small questions of tools.

use std::{
    fmt::{Display, Write},
    fs,
};

use turnstile_embedded::{Durability, Headway, Services};
use turnstile_resp::{Arguments, Encoder, catalogue::Verb};
use turnstile_rooms::Rooms;
use turnstile_travel::Travel;
use turnstile_types::{Hosts, Machine as _};

use super::{following::matches, hello::COMPATIBLE_VERSION, put_catalogue, put_time};
use crate::{
    core::{
        engine::Engine, node_status::METRICS, partitions::Partitions, remote::Housed,
        slow_log::SLOW_LOG_ENTRIES,
    },
    counters::DoorName,
    registry::SERVICES,
};

pub(super) fn put(
    engine: &Engine,
    verb: Verb,
    arguments: Arguments<'_, '_>,
    reply: &mut Encoder<'_>,
) {
    match verb {
        Verb::Info => reply.text(&info(engine, arguments)),
        Verb::ConfigGet => put_config(engine, arguments, reply),
        Verb::Time => put_time(reply),
        Verb::DbSize => reply.integer(engine.totals::<Rooms>().bookings),
        Verb::Role => {
            reply.array(3);
            reply.text("master");
            reply.integer(0);
            reply.array(0);
        }
        Verb::LatencyLatest | Verb::LatencyHistory => reply.array(0),
        Verb::LatencyReset => reply.integer(0),
        Verb::LatencyDoctor => reply.text(LATENCY_DOCTOR),
        _ => put_catalogue(engine, verb, arguments, reply),
    }
}

/// The settings that Redis tools ask for before they start, in the words they know. They may be asked
/// for by patterns, as `*`.
fn put_config(engine: &Engine, arguments: Arguments<'_, '_>, reply: &mut Encoder<'_>) {
    let durable = engine.status().backend.durability != Durability::Memory;
    let slow_us = engine.slow_log.threshold().as_micros().to_string();
    let slow_entries = SLOW_LOG_ENTRIES.to_string();
    let known = [
        ("save", ""),
        ("appendonly", if durable { "yes" } else { "no" }),
        ("databases", "1"),
        ("maxmemory", "0"),
        ("slowlog-log-slower-than", &slow_us),
        ("slowlog-max-len", &slow_entries),
    ];
    let asked = |name: &str| {
        arguments
            .iter()
            .skip(2)
            .any(|word| matches(&word.to_ascii_lowercase(), name.as_bytes()))
    };
    let found: Vec<_> = known.into_iter().filter(|(name, _)| asked(name)).collect();
    reply.map(found.len());
    for (name, value) in found {
        reply.text(name);
        reply.text(value);
    }
}

const LATENCY_DOCTOR: &str = "This server samples no latency events. SLOWLOG GET shows commands that \
                              took long, INFO persistence how long groups take to become durable, \
                              and /metrics of the HTTP door how long requests take.";

/// The sections that are known before the journal is recovered.
const STANDS_ALONE: [&str; 7] = [
    "Server",
    "Clients",
    "Memory",
    "Persistence",
    "Stats",
    "Replication",
    "Cluster",
];

/// Writes one section.
type SectionWriter = fn(&Engine, &mut ReportText);

/// The named sections of `INFO`; without names, all.
fn info(engine: &Engine, arguments: Arguments<'_, '_>) -> String {
    let before: [(&str, SectionWriter); 7] = [
        ("Server", server),
        ("Clients", clients),
        ("Memory", memory),
        ("Persistence", persistence),
        ("Stats", stats),
        ("Replication", replication),
        ("Cluster", cluster),
    ];
    let behind: [(&str, SectionWriter); 2] = [("Backends", backends), ("Keyspace", keyspace)];
    let every = arguments.len() == 1
        || arguments.iter().skip(1).any(|word| {
            [&b"all"[..], b"everything", b"default"]
                .iter()
                .any(|all| word.eq_ignore_ascii_case(all))
        });
    let mut facts = ReportText(String::with_capacity(2_048));
    let is_loading = engine.recovery().is_some();
    let services = sections_of_services();
    for (title, put) in before.into_iter().chain(services).chain(behind) {
        if is_loading && !STANDS_ALONE.contains(&title) {
            continue;
        }
        let asked = arguments
            .iter()
            .skip(1)
            .any(|word| word.eq_ignore_ascii_case(title.as_bytes()));
        if every || asked {
            facts.title(title);
            put(engine, &mut facts);
        }
    }
    facts.0
}

macro_rules! sections {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// The totals of each service.
        fn sections_of_services() -> [(&'static str, SectionWriter); SERVICES.len()] {
            [$((stringify!($machine), totals::<turnstile_services::$name::$machine>)),+]
        }

        /// Which service lies where, and how that is kept and how it does.
        fn backends(engine: &Engine, facts: &mut ReportText) {
            $(database::<turnstile_services::$name::$machine>(engine, facts);)+
        }
    };
}

turnstile_services::services!(sections);

fn totals<M: Housed>(engine: &Engine, facts: &mut ReportText)
where
    Services: Hosts<M>,
{
    for (name, value) in turnstile_json::numbers(&engine.totals::<M>()) {
        facts.put(&format!("{}_{name}", M::NAME), value);
    }
    if M::SERVICE == Travel::SERVICE {
        lines(engine, facts);
    }
}

/// Lines of `name:value` under titles.
struct ReportText(String);

impl ReportText {
    fn title(&mut self, title: &str) {
        let gap = if self.0.is_empty() { "" } else { "\r\n" };
        self.write(format_args!("{gap}# {title}\r\n"));
    }

    fn put(&mut self, name: &str, value: impl Display) {
        self.write(format_args!("{name}:{value}\r\n"));
    }

    fn write(&mut self, line: std::fmt::Arguments<'_>) {
        self.0
            .write_fmt(line)
            .expect("writing to memory does not fail");
    }
}

fn server(engine: &Engine, facts: &mut ReportText) {
    facts.put("redis_version", COMPATIBLE_VERSION);
    facts.put("turnstile_version", env!("CARGO_PKG_VERSION"));
    facts.put("redis_mode", "standalone");
    facts.put("os", std::env::consts::OS);
    facts.put("process_id", std::process::id());
    facts.put("tcp_port", engine.resp_port);
    facts.put("transport", engine.transport.name());
    for (file, seconds) in engine.expiries.seconds_left(engine.now()) {
        facts.put(&format!("tls_{file}_expires_in_seconds"), seconds);
    }
    facts.put("uptime_in_seconds", engine.status().uptime.as_secs());
}

fn clients(engine: &Engine, facts: &mut ReportText) {
    let (resp, http) = (
        engine.counters.of(DoorName::Resp),
        engine.counters.of(DoorName::Http),
    );
    facts.put("connected_clients", resp.open.get());
    facts.put("http_connections", http.open.get());
    facts.put("blocked_clients", engine.counters.late_waiters.get());
    let counters = &engine.counters;
    let unsent = counters.fast_unsent_bytes.get() + counters.http_unsent_bytes.get();
    facts.put("clients_unsent_bytes", unsent);
}

/// What the system counts as resident; nothing where it does not say.
fn memory(_engine: &Engine, facts: &mut ReportText) {
    let resident = || {
        let statm = fs::read_to_string("/proc/self/statm").ok()?;
        let pages: usize = statm.split_whitespace().nth(1)?.parse().ok()?;
        pages.checked_mul(rustix::param::page_size())
    };
    if let Some(bytes) = resident() {
        facts.put("used_memory", bytes);
        facts.put("used_memory_rss", bytes);
    }
}

/// The bookings that stand, as tools count keys, and as `DBSIZE` does.
fn keyspace(engine: &Engine, facts: &mut ReportText) {
    let keys = engine.totals::<Rooms>().bookings;
    facts.put("db0", format_args!("keys={keys},expires=0,avg_ttl=0"));
}

fn persistence(engine: &Engine, facts: &mut ReportText) {
    if let Some(recovery) = engine.recovery() {
        let Headway { stage, done, total } = recovery.headway();
        facts.put("loading", 1);
        facts.put("loading_stage", stage.word());
        facts.put("loading_unit", stage.unit());
        facts.put("loading_done", done);
        facts.put("loading_total", total);
        if let Some(reason) = recovery.waits_for() {
            facts.put("loading_waits_for", reason);
        }
        return;
    }
    let status = engine.status();
    facts.put("loading", 0);
    facts.put("durability", status.backend.durability);
    facts.put("position", status.backend.position);
    facts.put("snapshot_position", status.backend.snapshot);
    facts.put("groups", engine.counters.groups.get());
    facts.put("records", engine.counters.records.get());
    facts.put("groups_inline", engine.counters.groups_inline.get());
    facts.put("groups_overlapped", engine.counters.groups_overlapped.get());
    facts.put("commit_ns_total", engine.counters.commit_ns.get());
    facts.put("log_thread", status.backend.log_thread);
    facts.put("read_only", u8::from(status.read_only));
    facts.put("clock_offset_ms", status.clock.offset_ms);
    facts.put("clock_jumps", status.clock.jumps);
}

fn stats(engine: &Engine, facts: &mut ReportText) {
    let counters = &engine.counters;
    let resp = counters.of(DoorName::Resp);
    facts.put("total_connections_received", resp.accepted.get());
    facts.put("rejected_connections", resp.refused.get());
    facts.put("evicted_clients", counters.dropped());
    facts.put(
        "http_evicted_idle",
        counters.of(DoorName::Http).evicted.get(),
    );
    facts.put("total_commands_processed", counters.requests.get());
    facts.put("total_net_input_bytes", resp.bytes_in.get());
    facts.put("total_net_output_bytes", resp.bytes_out.get());
    facts.put("total_error_replies", counters.errors.total());
    facts.put("failed_logins", counters.sum(|door| &door.failed_logins));
    facts.put("tls_handshakes", counters.sum(|door| &door.handshakes.open));
    facts.put(
        "tls_handshakes_done",
        counters.sum(|door| &door.handshakes.done),
    );
    facts.put(
        "tls_handshakes_resumed",
        counters.sum(|door| &door.handshakes.resumed),
    );
    facts.put(
        "tls_handshakes_failed",
        counters.sum(|door| &door.handshakes.failed),
    );
    facts.put("replayed_keys", counters.replayed.get());
    let status = engine.status();
    facts.put("idempotency_keys", status.backend.keys.kept);
    facts.put("idempotency_key_bytes", status.backend.keys.bytes);
    facts.put("idempotency_key_bytes_max", status.backend.key_bytes_max);
    facts.put("idempotency_key_age_seconds", status.key_age.as_secs());
    facts.put("loop_turns", counters.turns.get());
    let line = status.waiting_room;
    facts.put("waiting_room_rate", line.rate);
    facts.put("waiting_room_waiting", line.waiting);
    facts.put("waiting_room_let_in", line.let_in);
    facts.put("waiting_room_longest_wait_ms", line.longest_wait_ms);
}

/// A server alone: nothing is replicated, and clients that look for the master have found it.
fn replication(_engine: &Engine, facts: &mut ReportText) {
    facts.put("role", "master");
    facts.put("connected_slaves", 0);
    facts.put("master_repl_offset", 0);
}

/// No cluster in the sense of Redis: clients need not ask which node has a key. What stands behind it is
/// how a node stands among those that share its log.
fn cluster(engine: &Engine, facts: &mut ReportText) {
    facts.put("cluster_enabled", 0);
    let (Some(cluster), Some(status)) = (&engine.cluster, engine.cluster_status()) else {
        return;
    };
    for (name, value) in cluster.names() {
        facts.put(&format!("cluster_{name}"), value);
    }
    for (name, _, _, value) in METRICS {
        facts.put(name.trim_end_matches("_total"), value(&status));
    }
    let lines = engine.partitions.iter().flat_map(Partitions::lines);
    for line in lines {
        let Some(figures) = line.figures() else {
            continue;
        };
        let values = METRICS.map(|(name, _, _, value)| {
            let name = name
                .trim_start_matches("cluster_")
                .trim_end_matches("_total");
            format!("{name}={}", value(&figures.cluster))
        });
        facts.put(
            &format!("cluster_partition_{}", line.name),
            values.join(","),
        );
    }
}

fn database<M: Housed>(engine: &Engine, facts: &mut ReportText) {
    let service = M::NAME;
    let Some(remote) = M::remote(&engine.remotes) else {
        return facts.put(&format!("{service}_backend"), "embedded");
    };
    let known = remote.known();
    let mut put = |name: &str, value: &dyn Display| facts.put(&format!("{service}_{name}"), value);
    put("backend", &known.facts.product);
    put("backend_version", &known.facts.version);
    put("backend_place", &known.facts.place);
    put("backend_schema", &known.facts.schema);
    let settings = known.facts.durability.iter();
    let settings: Vec<_> = settings
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    put("backend_durability", &settings.join(","));
    put(
        "backend_unsupported",
        &remote.backend().unsupported().join(","),
    );
    put(
        "backend_trouble",
        &known.trouble.as_deref().unwrap_or("none"),
    );
    for (name, count) in remote.backend().tally().named() {
        put(&format!("backend_{name}"), &count);
    }
}

/// The lines to other processes of travel.
fn lines(engine: &Engine, facts: &mut ReportText) {
    for (desk, line) in engine.status().lines.iter() {
        let Some(line) = line else { continue };
        let counted = engine.counters.line(desk);
        let (connected, sent) = (counted.connected.get(), counted.parcels_out.get());
        let received = counted.parcels_in.get();
        let (unacknowledged, in_doubt) = (line.unacknowledged, line.in_doubt);
        let (life, peer_life) = (line.life, line.peer_life);
        facts.put(
            &format!("travel_line_{desk}"),
            format_args!(
                "connected={connected},sent={sent},received={received},\
                 unacknowledged={unacknowledged},in_doubt={in_doubt},life={life},\
                 peer_life={peer_life}"
            ),
        );
    }
}
