//! A data directory: its files, its records, and the machine under it.

use std::{io, path::Path};

use turnstile_embedded::{
    BackendOpenError, DirectoryVersions, DiskUsage, JournalGrowth, StandingState, VerifyError,
    unfinished,
};
use turnstile_journal::OpenError as JournalError;
use turnstile_stats::units::{Count, to_float};
use turnstile_types::{Position, Timestamp};

use super::{Health, Symptom, holder, machine, ntp, room_left};
use crate::verify::{is_damage, no_verdict};

const UPGRADES: &str = "upgrades.md";
const START: &str = "recovery.md#what-a-start-does";
const NO_START: &str = "troubleshooting.md#the-server-does-not-start";
const COPIES: &str = "how-to/back-up.md";
const CORRUPT: &str = "runbooks.md#a-segment-is-corrupt";
const KEY: &str = "runbooks.md#idkey-is-lost";
const IN_DOUBT: &str = "runbooks.md#a-transaction-is-in-doubt";
const KEYS: &str = "limits.md#idempotency-keys";

pub(super) fn examine(directory: &Path) -> anyhow::Result<Vec<Symptom>> {
    if unfinished::is_marked(directory) {
        return Ok(only_around(directory, unfinished_copy(directory)));
    }
    let versions = match versions_of(directory) {
        Err(VerifyError::NoJournal) if directory.is_dir() => {
            return Ok(without_journal(directory));
        }
        versions => versions.map_err(|error| no_verdict(directory, &error))?,
    };
    if versions.refusal.as_ref().is_some_and(is_locked) {
        return Ok(only_around(directory, taken(directory)));
    }
    let mut symptoms = vec![in_use(directory, versions.is_live), readable(&versions)];
    // A server that has no record yet has no key yet either.
    if !versions.is_live || versions.last > Position(0) {
        symptoms.push(id_key(directory));
    }
    let mut logged = Timestamp(0);
    if versions.refusal.is_none() {
        let state = StandingState::read(directory);
        match state.or_else(|_removed| StandingState::read(directory)) {
            Ok(state) => {
                logged = state.time();
                symptoms.extend(open(&state));
            }
            Err(error) => symptoms.push(refused("state", &error)),
        }
    }
    symptoms.extend(around(directory, versions.growth, logged));
    Ok(symptoms)
}

/// A server may remove what is to be read. What is damaged is so the second time too.
fn versions_of(directory: &Path) -> Result<DirectoryVersions, VerifyError> {
    let versions = DirectoryVersions::of(directory)?;
    if versions.refusal.is_none() {
        return Ok(versions);
    }
    DirectoryVersions::of(directory)
}

/// A directory that a server may begin in.
fn without_journal(directory: &Path) -> Vec<Symptom> {
    let found = "there is no journal yet".to_owned();
    only_around(
        directory,
        Symptom::new("versions", UPGRADES, Health::Ok, found),
    )
}

/// A directory of which only this can be said.
fn only_around(directory: &Path, symptom: Symptom) -> Vec<Symptom> {
    let mut symptoms = vec![symptom];
    symptoms.extend(around(directory, None, Timestamp(0)));
    symptoms
}

fn in_use(directory: &Path, is_live: bool) -> Symptom {
    let found = if is_live {
        format!("{} has it", holder::of(directory))
    } else {
        "no process has it".to_owned()
    };
    Symptom::new("use", NO_START, Health::Ok, found)
}

/// A directory whose process has not said yet how far its journal is durable.
fn taken(directory: &Path) -> Symptom {
    let found = format!(
        "{} has it, and there is no journal to read yet: it starts there, or copies; look again later",
        holder::of(directory)
    );
    Symptom::new("use", START, Health::Note, found)
}

fn unfinished_copy(directory: &Path) -> Symptom {
    let (health, found) = match holder::find(directory) {
        Some(holder) => (Health::Note, format!("{holder} makes a copy here")),
        None => (
            Health::Wrong,
            "a copy was begun here and is not whole: make it again".to_owned(),
        ),
    };
    Symptom::new("use", COPIES, health, found)
}

const fn is_locked(error: &VerifyError) -> bool {
    matches!(
        error,
        VerifyError::Open(BackendOpenError::Journal(JournalError::Locked))
    )
}

/// The disk and the machine, as the directory needs them.
fn around(directory: &Path, growth: Option<JournalGrowth>, logged: Timestamp) -> Vec<Symptom> {
    let usage = DiskUsage::of(directory);
    let snapshot_bytes = usage.as_ref().map_or(0, |usage| usage.snapshot_bytes);
    let mut symptoms = vec![room(usage, growth)];
    symptoms.extend(machine::file_system(directory));
    symptoms.extend(machine::limits());
    symptoms.extend(machine::clock(logged));
    symptoms.push(ntp::kept());
    symptoms.extend(machine::memory(snapshot_bytes));
    symptoms
}

fn readable(versions: &DirectoryVersions) -> Symptom {
    if let Some(error) = &versions.refusal {
        return refused("versions", error);
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

/// Why something cannot be read, and the page that says what to do.
fn refused(check: &'static str, error: &VerifyError) -> Symptom {
    let (page, health) = match error {
        newer if newer.is_newer() => (UPGRADES, Health::Wrong),
        VerifyError::Open(BackendOpenError::IdKey(_)) => (KEY, Health::Wrong),
        VerifyError::Open(BackendOpenError::Journal(JournalError::Pending)) => {
            (COPIES, Health::Note)
        }
        damage if is_damage(damage) => (CORRUPT, Health::Wrong),
        _ => (NO_START, Health::Wrong),
    };
    Symptom::new(check, page, health, error.to_string())
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
