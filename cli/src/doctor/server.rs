//! A running server, by what it tells at its HTTP door.

use std::{
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use anyhow::anyhow;
use turnstile_client::{Denied, http};
use turnstile_stats::units::{Bytes, Count, Nanos, to_float};

use super::{Health, Symptom, metrics::ServerFigures, room_left};
use crate::audit::problem;

/// Two readings lie so far apart; what happens between them is the present rate.
const BETWEEN: Duration = Duration::from_secs(2);

/// Bytes of a group, and of a record with a usual payload, in the journal.
const GROUP_BYTES: f64 = 60.0;
const RECORD_BYTES: f64 = 100.0;

/// The mean of a group's write and sync. Above the first answers are slow; above the second something is
/// broken.
const COMMIT_SLOW: f64 = 0.02;
const COMMIT_BROKEN: f64 = 0.2;

/// A share of the memory for keys from which on it is worth knowing.
const KEYS_PART: f64 = 0.8;

/// Seconds between the clocks of two machines of which services keep both, at the most.
const CLOCKS_APART: f64 = 1.0;

/// A certificate that ends so soon should have been renewed.
const CERTIFICATE_SOON: f64 = 14.0 * 86_400.0;

/// Descriptors beside those of connections that the configuration bounds.
const OTHER_DESCRIPTORS: u64 = 1_024;

/// A share of descriptors or memory from which on the next request may find none.
const FULL_PART: f64 = 0.9;

const CLOCK: &str = "runbooks.md#the-clock-jumped";
const LIMITS: &str = "limits.md#too-many-connections";
const MEMORY: &str = "limits.md#memory";

pub(super) fn examine(server: &mut http::Connection) -> anyhow::Result<Vec<Symptom>> {
    let ready = server.get("/readyz")?;
    let first = (Instant::now(), read(server)?);
    // It may return sooner: the time between is measured.
    thread::park_timeout(BETWEEN);
    let here = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let second = (Instant::now(), read(server)?);
    let asked_for = second.0.elapsed();
    let seconds = second.0.duration_since(first.0).as_secs_f64();
    let mut symptoms = vec![readiness(ready.status, &ready.body)];
    symptoms.extend(of_figures(&first.1, &second.1, seconds));
    symptoms.extend(clock_beside_ours(&second.1, here, asked_for));
    Ok(symptoms)
}

fn read(server: &mut http::Connection) -> anyhow::Result<ServerFigures> {
    let answer = server.get("/metrics")?;
    let told = || problem(answer.status, &answer.body);
    match answer.status {
        200 => Ok(ServerFigures::parse(&String::from_utf8_lossy(&answer.body))),
        401 | 403 => Err(Denied::MissingRight(told()).into()),
        _ => Err(anyhow!("the server does not show its metrics: {}", told())),
    }
}

fn readiness(status: u16, body: &[u8]) -> Symptom {
    let (health, found) = match status {
        200 => (Health::Ok, "ready".to_owned()),
        _ => (
            Health::Wrong,
            format!("not ready: {}", problem(status, body)),
        ),
    };
    Symptom::new("readiness", "recovery.md", health, found)
}

/// What two readings, so many seconds apart, say.
fn of_figures(before: &ServerFigures, now: &ServerFigures, seconds: f64) -> Vec<Symptom> {
    let mut symptoms = Vec::new();
    symptoms.extend(version(now));
    symptoms.extend(durability(now));
    symptoms.extend(disk(before, now, seconds));
    symptoms.extend(commits(now));
    symptoms.extend(clock(now));
    symptoms.extend(travel(now));
    symptoms.extend(keys(now));
    symptoms.extend(connections(now));
    symptoms.extend(descriptors(now));
    symptoms.extend(memory(now));
    symptoms.extend(certificates(now));
    symptoms.extend(others(now));
    symptoms
}

fn version(now: &ServerFigures) -> Option<Symptom> {
    let version = now.label("turnstile_build_info", "version")?;
    let this = env!("CARGO_PKG_VERSION");
    let found = if version == this {
        format!("{version}, as this program")
    } else {
        format!("{version}; this program is {this}")
    };
    let health = Health::note_if(version != this);
    Some(Symptom::new("versions", "upgrades.md", health, found))
}

fn durability(now: &ServerFigures) -> Option<Symptom> {
    let level = now.label("turnstile_durability", "level")?;
    let found = match level {
        "sync" => "sync: an answer waits for the disk",
        "os" => "os: a power cut loses the last commands",
        _ => "memory: nothing is kept",
    };
    let health = Health::note_if(level != "sync");
    Some(Symptom::new(
        "durability",
        "reference/configuration.md",
        health,
        found.to_owned(),
    ))
}

fn disk(before: &ServerFigures, now: &ServerFigures, seconds: f64) -> Vec<Symptom> {
    let mut symptoms = Vec::new();
    if let Some(read_only) = now.of("turnstile_read_only") {
        let is_full = read_only > 0.0;
        let found = if is_full {
            "the disk is full: commands are refused"
        } else {
            "commands are taken"
        };
        let health = Health::wrong_if(is_full);
        symptoms.push(Symptom::new(
            "read only",
            super::DISK_FULL,
            health,
            found.to_owned(),
        ));
    }
    let Some(free) = now.of("turnstile_disk_free_bytes") else {
        return symptoms;
    };
    let grown = |name: &str| Some((now.of(name)? - before.of(name)?).max(0.0));
    let bytes = grown("turnstile_groups_total")
        .zip(grown("turnstile_records_total"))
        .map(|(groups, records)| groups * GROUP_BYTES + records * RECORD_BYTES);
    let rate = bytes
        .filter(|bytes| *bytes > 0.0)
        .map(|bytes| bytes / seconds);
    let how = match rate {
        Some(_) => "at the present rate, with some 100 bytes a record",
        None => "nothing was written while the doctor looked",
    };
    symptoms.push(room_left(whole(free), rate, how));
    symptoms
}

fn commits(now: &ServerFigures) -> Option<Symptom> {
    let count = now
        .of("turnstile_commit_seconds_count")
        .filter(|count| *count > 0.0)?;
    let mean = now.of("turnstile_commit_seconds_sum")? / count;
    let health = if mean > COMMIT_BROKEN {
        Health::Wrong
    } else {
        Health::note_if(mean > COMMIT_SLOW)
    };
    let found = format!("a group is durable in {} on average", Nanos(mean * 1e9));
    Some(Symptom::new(
        "sync",
        "runbooks.md#the-disk-is-slow",
        health,
        found,
    ))
}

fn clock(now: &ServerFigures) -> Option<Symptom> {
    let jumps = now.of("turnstile_clock_jumps_total")?;
    let offset = now.of("turnstile_clock_offset_seconds").unwrap_or_default();
    let health = if offset > 1.0 {
        Health::Wrong
    } else {
        Health::note_if(jumps > 0.0)
    };
    let found = format!(
        "{} jumps since the start; logged time is {} s from the clock",
        Count(whole(jumps)),
        Count(whole(offset))
    );
    Some(Symptom::new("clock", CLOCK, health, found))
}

/// The server read its clock while we waited for the figures: from `here` on, for as long as `asked_for`.
fn clock_beside_ours(now: &ServerFigures, here: Duration, asked_for: Duration) -> Option<Symptom> {
    let ahead = now.of("turnstile_time_seconds")? - here.as_secs_f64();
    let (least, way) = if ahead < 0.0 {
        (-ahead, "behind")
    } else {
        (ahead - asked_for.as_secs_f64(), "ahead of")
    };
    let (health, found) = if least > CLOCKS_APART {
        (
            Health::Note,
            format!("{} {way} the clock of this machine", Nanos(least * 1e9)),
        )
    } else {
        (Health::Ok, "agrees with this machine".to_owned())
    };
    Some(Symptom::new("clock beside ours", CLOCK, health, found))
}

fn travel(now: &ServerFigures) -> Vec<Symptom> {
    let page = "runbooks.md#a-transaction-is-in-doubt";
    let mut symptoms = Vec::new();
    if let Some(open) = now.of("turnstile_travel_open_transactions") {
        let found = format!("{} of travel", Count(whole(open)));
        symptoms.push(Symptom::new("open transactions", page, Health::Ok, found));
    }
    if let Some(in_doubt) = now.of("turnstile_travel_line_in_doubt") {
        let found = format!("{} wait for their decision", Count(whole(in_doubt)));
        let health = Health::wrong_if(in_doubt > 0.0);
        symptoms.push(Symptom::new("in doubt", page, health, found));
    }
    symptoms
}

fn keys(now: &ServerFigures) -> Option<Symptom> {
    let used = now.of("turnstile_idempotency_key_bytes")?;
    let most = now.of("turnstile_idempotency_key_bytes_max")?;
    let age = now
        .of("turnstile_idempotency_key_age_seconds")
        .unwrap_or_default();
    let part = if most > 0.0 { used / most } else { 0.0 };
    let found = format!(
        "{:.0} % of their memory used, the oldest {} s old",
        part * 100.0,
        Count(whole(age))
    );
    let health = if part >= 1.0 {
        Health::Wrong
    } else {
        Health::note_if(part > KEYS_PART)
    };
    Some(Symptom::new(
        "idempotency keys",
        "limits.md#idempotency-keys",
        health,
        found,
    ))
}

fn connections(now: &ServerFigures) -> Option<Symptom> {
    let open = now.of("turnstile_connections")?;
    let refused = now
        .of("turnstile_connections_refused_total")
        .unwrap_or_default();
    let found = format!(
        "{} open, {} refused since the start",
        Count(whole(open)),
        Count(whole(refused))
    );
    let health = Health::note_if(refused > 0.0);
    Some(Symptom::new("connections", LIMITS, health, found))
}

/// What the system allows the server to have open, beside what it has open and what full doors need.
fn descriptors(now: &ServerFigures) -> Option<Symptom> {
    let most = now.of("process_max_fds")?;
    let open = now.of("process_open_fds")?;
    let connections = now.of("turnstile_connections_max").unwrap_or_default();
    let needed = connections + to_float(OTHER_DESCRIPTORS);
    let (health, hint) = if open > most * FULL_PART {
        (Health::Wrong, "; raise LimitNOFILE or ulimit -n")
    } else if most < needed {
        (
            Health::Note,
            "; connections are refused before their limit: raise LimitNOFILE or ulimit -n",
        )
    } else {
        (Health::Ok, "")
    };
    let found = format!(
        "{} of {} open; {} connections need {}{hint}",
        Count(whole(open)),
        Count(whole(most)),
        Count(whole(connections)),
        Count(whole(needed))
    );
    Some(Symptom::new("descriptors", LIMITS, health, found))
}

/// What the control group of the server may take, beside what it takes. A snapshot takes the state twice.
fn memory(now: &ServerFigures) -> Option<Symptom> {
    let resident = now.of("process_resident_memory_bytes")?;
    let limit = now.of("turnstile_memory_limit_bytes")?;
    let taken = Bytes(whole(resident));
    let (health, found) = if limit <= 0.0 {
        (
            Health::Ok,
            format!("{taken} resident; its control group has no limit"),
        )
    } else {
        let health = if resident > limit * FULL_PART {
            Health::Wrong
        } else {
            Health::note_if(resident > limit / 2.0)
        };
        let hint = match health {
            Health::Ok => "",
            _ => "; a snapshot has the state in memory twice",
        };
        let limit = Bytes(whole(limit));
        (
            health,
            format!("{taken} resident of the {limit} of its control group{hint}"),
        )
    };
    Some(Symptom::new("memory", MEMORY, health, found))
}

fn certificates(now: &ServerFigures) -> Vec<Symptom> {
    let all = now.all("turnstile_tls_certificate_expires_seconds");
    let symptom = |(_, seconds): (&str, f64)| {
        let (health, found) = if seconds < 0.0 {
            (Health::Wrong, "has expired".to_owned())
        } else {
            let days = Count(whole(seconds / 86_400.0));
            let health = Health::note_if(seconds < CERTIFICATE_SOON);
            (health, format!("expires in {days} days"))
        };
        Symptom::new("certificate", "tls.md#renew-a-certificate", health, found)
    };
    all.map(symptom).collect()
}

/// What must be zero, or one, wherever it is shown.
fn others(now: &ServerFigures) -> Vec<Symptom> {
    let mut symptoms = Vec::new();
    let mut expect =
        |name: &str, check, page, is_wrong: fn(f64) -> bool, wrong: &str, right: &str| {
            if let Some(value) = now.all(name).map(|(_, value)| value).reduce(f64::max)
                && let Some(least) = now.all(name).map(|(_, value)| value).reduce(f64::min)
            {
                let is_wrong = is_wrong(value) || is_wrong(least);
                let found = if is_wrong { wrong } else { right };
                symptoms.push(Symptom::new(
                    check,
                    page,
                    Health::wrong_if(is_wrong),
                    found.to_owned(),
                ));
            }
        };
    expect(
        "turnstile_cluster_disputed",
        "cluster",
        "cluster.md",
        |value| value > 0.0,
        "another node has come to another state",
        "no node disputes the state",
    );
    expect(
        "turnstile_backend_answers",
        "databases",
        "backends.md",
        |value| value < 1.0,
        "a database does not answer",
        "all answer",
    );
    symptoms
}

/// A figure that counts something.
fn whole(figure: f64) -> u64 {
    format!("{:.0}", figure.max(0.0))
        .parse()
        .unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WELL: &str = "turnstile_durability{level=\"sync\"} 1
turnstile_read_only 0
turnstile_disk_free_bytes 1000000000000
turnstile_groups_total 10
turnstile_records_total 10
turnstile_commit_seconds_sum 0.01
turnstile_commit_seconds_count 10
turnstile_clock_jumps_total 0
turnstile_clock_offset_seconds 0
turnstile_travel_open_transactions 0
turnstile_idempotency_key_bytes 10
turnstile_idempotency_key_bytes_max 1000
turnstile_idempotency_key_age_seconds 3
turnstile_connections{door=\"resp\"} 1
turnstile_connections_refused_total{door=\"resp\"} 0
turnstile_connections_max 10000
process_open_fds 40
process_max_fds 65536
process_resident_memory_bytes 100000000
turnstile_memory_limit_bytes 4000000000
turnstile_cluster_disputed 0
";

    /// The health of a check after these figures have taken the place of those of a well server.
    fn check(changed: &str, check: &str, expected: Health) {
        let before = ServerFigures::parse(WELL);
        let name = |line: &str| line.split([' ', '{']).next().map(str::to_owned);
        let names: Vec<Option<String>> = changed.lines().map(name).collect();
        let kept = WELL.lines().filter(|line| !names.contains(&name(line)));
        let text: String = kept
            .chain(changed.lines())
            .map(|line| format!("{line}\n"))
            .collect();
        let symptoms = of_figures(&before, &ServerFigures::parse(&text), 2.0);
        let found = symptoms.iter().find(|symptom| symptom.check == check);
        let found = found.unwrap_or_else(|| panic!("{check} is not among {symptoms:?}"));
        assert_eq!(found.health, expected, "{found:?}");
    }

    #[test]
    fn a_well_server_has_nothing_to_note() {
        let figures = ServerFigures::parse(WELL);
        let symptoms = of_figures(&figures, &figures, 2.0);
        assert!(symptoms.len() >= 8, "{symptoms:?}");
        for symptom in symptoms {
            assert_eq!(symptom.health, Health::Ok, "{symptom:?}");
        }
    }

    #[test]
    fn clocks_apart_are_found_however_long_the_answer_took() {
        let found = |told: &str, asked_for| {
            let now = ServerFigures::parse(&format!("turnstile_time_seconds {told}\n"));
            let here = Duration::from_secs(1_800_000_000);
            let symptom = clock_beside_ours(&now, here, Duration::from_secs(asked_for));
            let symptom = symptom.expect("the time is told");
            (symptom.health, symptom.found)
        };
        let agrees = (Health::Ok, "agrees with this machine".to_owned());
        assert_eq!(found("1799999999.5", 0), agrees);
        assert_eq!(found("1800000003", 3), agrees);
        let (health, told) = found("1800000009", 3);
        assert_eq!(health, Health::Note);
        assert!(
            told.ends_with("ahead of the clock of this machine"),
            "{told}"
        );
        let (health, told) = found("1799999990", 3);
        assert_eq!(health, Health::Note);
        assert!(told.ends_with("behind the clock of this machine"), "{told}");
    }

    #[test]
    fn each_bad_figure_is_found() {
        let rows = [
            (
                "turnstile_durability{level=\"os\"} 1",
                "durability",
                Health::Note,
            ),
            ("turnstile_read_only 1", "read only", Health::Wrong),
            (
                "turnstile_disk_free_bytes 1000000",
                "disk left",
                Health::Wrong,
            ),
            (
                "turnstile_disk_free_bytes 1000000000\nturnstile_records_total 1000010",
                "disk left",
                Health::Wrong,
            ),
            ("turnstile_commit_seconds_sum 0.5", "sync", Health::Note),
            ("turnstile_commit_seconds_sum 5", "sync", Health::Wrong),
            ("turnstile_clock_jumps_total 1", "clock", Health::Note),
            ("turnstile_clock_offset_seconds 60", "clock", Health::Wrong),
            (
                "turnstile_travel_line_in_doubt{desk=\"cars\"} 1",
                "in doubt",
                Health::Wrong,
            ),
            (
                "turnstile_idempotency_key_bytes 900",
                "idempotency keys",
                Health::Note,
            ),
            (
                "turnstile_connections_refused_total{door=\"resp\"} 3",
                "connections",
                Health::Note,
            ),
            ("process_open_fds 60000", "descriptors", Health::Wrong),
            ("process_max_fds 4096", "descriptors", Health::Note),
            (
                "process_resident_memory_bytes 2500000000",
                "memory",
                Health::Note,
            ),
            (
                "process_resident_memory_bytes 3900000000",
                "memory",
                Health::Wrong,
            ),
            ("turnstile_memory_limit_bytes 0", "memory", Health::Ok),
            (
                "turnstile_tls_certificate_expires_seconds{file=\"certificate\"} -3",
                "certificate",
                Health::Wrong,
            ),
            ("turnstile_cluster_disputed 1", "cluster", Health::Wrong),
            (
                "turnstile_backend_answers{service=\"rooms\"} 0",
                "databases",
                Health::Wrong,
            ),
        ];
        for (changed, name, expected) in rows {
            check(changed, name, expected);
        }
    }
}
