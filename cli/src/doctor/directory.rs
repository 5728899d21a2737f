//! A data directory: its files, its records, and the machine under it.

use std::{io, path::Path};

use turnstile_embedded::{DirectoryVersions, DiskUsage, JournalGrowth, StandingState, VerifyError};
use turnstile_stats::units::{Count, to_float};
use turnstile_types::Timestamp;

use super::{Health, Symptom, machine, room_left};
use crate::verify::no_verdict;

const UPGRADES: &str = "upgrades.md";
const CORRUPT: &str = "runbooks.md#a-segment-is-corrupt";
const KEY: &str = "runbooks.md#idkey-is-lost";
const IN_DOUBT: &str = "runbooks.md#a-transaction-is-in-doubt";
const KEYS: &str = "limits.md#idempotency-keys";

pub(super) fn examine(directory: &Path) -> anyhow::Result<Vec<Symptom>> {
    let versions = DirectoryVersions::of(directory);
    let versions = match versions {
        Err(VerifyError::NoJournal) if directory.is_dir() => {
            return Ok(without_journal(directory));
        }
        versions => versions.map_err(|error| no_verdict(directory, &error))?,
    };
    let mut symptoms = vec![readable(&versions), id_key(directory)];
    let mut logged = Timestamp(0);
    if versions.refusal.is_none() {
        let state = StandingState::read(directory);
        match state {
            Ok(state) => {
                logged = state.time();
                symptoms.extend(open(&state));
            }
            Err(error) => symptoms.push(Symptom::new(
                "state",
                CORRUPT,
                Health::Wrong,
                error.to_string(),
            )),
        }
    }
    symptoms.extend(around(directory, versions.growth, logged));
    Ok(symptoms)
}

/// A directory that a server may begin in.
fn without_journal(directory: &Path) -> Vec<Symptom> {
    let found = "there is no journal yet".to_owned();
    let mut symptoms = vec![Symptom::new("versions", UPGRADES, Health::Ok, found)];
    symptoms.extend(around(directory, None, Timestamp(0)));
    symptoms
}

/// The disk and the machine, as the directory needs them.
fn around(directory: &Path, growth: Option<JournalGrowth>, logged: Timestamp) -> Vec<Symptom> {
    let usage = DiskUsage::of(directory);
    let snapshot_bytes = usage.as_ref().map_or(0, |usage| usage.snapshot_bytes);
    let mut symptoms = vec![room(usage, growth)];
    symptoms.extend(machine::file_system(directory));
    symptoms.extend(machine::limits());
    symptoms.extend(machine::clock(logged));
    symptoms.extend(machine::memory(snapshot_bytes));
    symptoms
}

fn readable(versions: &DirectoryVersions) -> Symptom {
    if let Some(refused) = &versions.refusal {
        let page = if refused.is_newer() {
            UPGRADES
        } else {
            CORRUPT
        };
        return Symptom::new("versions", page, Health::Wrong, refused.to_string());
    }
    let wrote = versions
        .programs
        .last()
        .map_or("a version that is not noted", |last| &last.version);
    let torn = match versions.torn_bytes {
        0 => String::new(),
        bytes => format!(
            "; a torn tail of {} bytes, which the next start cuts",
            Count(bytes)
        ),
    };
    let found = format!(
        "written by {wrote}, up to position {}{torn}",
        Count(versions.last.0)
    );
    let health = Health::note_if(versions.torn_bytes > 0);
    Symptom::new(
        "versions",
        if torn.is_empty() { UPGRADES } else { CORRUPT },
        health,
        found,
    )
}

fn id_key(directory: &Path) -> Symptom {
    let is_there = directory.join(turnstile_embedded::ID_KEY_FILE).exists();
    let found = if is_there {
        "there: keep a copy elsewhere"
    } else {
        "missing: no server starts without it"
    };
    Symptom::new("id.key", KEY, Health::wrong_if(!is_there), found.to_owned())
}

/// What is open in the state.
fn open(state: &StandingState) -> Vec<Symptom> {
    let open = state.services().travel().totals().open;
    let transactions = Symptom::new(
        "open transactions",
        IN_DOUBT,
        Health::note_if(open > 0 && !state.is_live()),
        format!("{} of travel; turnstile tx list shows them", Count(open)),
    );
    let keys = state.key_figures();
    let age = keys
        .oldest
        .map(|oldest| state.time().0.saturating_sub(oldest.0) / 1_000);
    let found = match age {
        None => "none is remembered".to_owned(),
        Some(age) => format!(
            "{} remembered, the oldest for {} s of logged time",
            Count(u64::try_from(keys.kept).unwrap_or(u64::MAX)),
            Count(age)
        ),
    };
    vec![
        transactions,
        Symptom::new("idempotency keys", KEYS, Health::Ok, found),
    ]
}

/// How long the disk lasts, if the journal goes on to grow as it has since its oldest record.
fn room(usage: io::Result<DiskUsage>, growth: Option<JournalGrowth>) -> Symptom {
    match usage {
        Ok(usage) => {
            let rate = growth.and_then(rate);
            let how = match rate {
                Some(_) => "at the rate since the oldest record",
                None => "how fast it fills is not known",
            };
            room_left(usage.free_bytes, rate, how)
        }
        Err(error) => Symptom::new(
            "disk left",
            super::DISK_FULL,
            Health::Wrong,
            error.to_string(),
        ),
    }
}

/// Bytes of groups a second of logged time, if it took any.
fn rate(growth: JournalGrowth) -> Option<f64> {
    let JournalGrowth { first, last, bytes } = growth;
    let milliseconds = last.0.saturating_sub(first.0);
    (milliseconds > 0).then(|| to_float(bytes) * 1_000.0 / to_float(milliseconds))
}
