//! Loads of the lab that operators start over HTTP.

use turnstile_chassis::{Fields, Source as _, Words, whole};
use turnstile_types::{Principal, Timestamp};

use crate::{
    given::Given,
    operation::lab::{
        CLIENTS, KINDS, LAB_CLIENTS_MAX, LAB_RATE_MAX, LAB_ROOMS_MAX, LAB_SECONDS_MAX, SECONDS,
        SERVICES,
    },
    problem::Problem,
    schema::Schemas,
};

/// What the load is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum LabKind {
    /// Load on one service, and a proof at its end.
    Run,
    /// Many clients that want few rooms at the same instant.
    Rush,
    /// Load whose every answer is checked.
    Check,
}

/// A load that somebody wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LabOrder {
    pub kind: LabKind,
    /// One of the words of the operation.
    pub service: &'static str,
    pub clients: u64,
    /// How long it lasts; a rush ends when all clients have their answers.
    pub seconds: u64,
    /// Requests a second, whatever the answers take; without it each client waits for its answer.
    pub rate: Option<u64>,
    /// Rooms for sale in a rush.
    pub rooms: u64,
}

/// Reads a wish for a load.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read_lab_order<'a>(given: &'a Given<'a>) -> Result<LabOrder, Problem> {
    let word = |words: &'static [&'static str]| {
        move |text: &'a [u8]| {
            let found = words.iter().find(|word| word.as_bytes() == text);
            found
                .copied()
                .ok_or_else(|| format!("one of {}", words.join(", ")))
        }
    };
    given.read_with(|reader| {
        let kind = reader.required("kind", word(KINDS));
        let service = reader.optional("service", word(&SERVICES));
        let clients = reader.optional("clients", |text| whole(text, 1, LAB_CLIENTS_MAX));
        let seconds = reader.optional("seconds", |text| whole(text, 1, LAB_SECONDS_MAX));
        let rate = reader.optional("rate", |text| whole(text, 1, LAB_RATE_MAX));
        let rooms = reader.optional("rooms", |text| whole(text, 1, LAB_ROOMS_MAX));
        let kind = match kind? {
            "rush" => LabKind::Rush,
            "check" => LabKind::Check,
            _ => LabKind::Run,
        };
        Some(LabOrder {
            kind,
            service: service?.unwrap_or("rooms"),
            clients: clients?.unwrap_or(CLIENTS),
            seconds: seconds?.unwrap_or(SECONDS),
            rate: rate?,
            rooms: rooms?.unwrap_or(1),
        })
    })
}

/// How a load stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum LabState {
    Running,
    /// It came to its end, and has a result.
    Ended,
    /// It was stopped before its end.
    Stopped,
    /// It could not begin, or broke off.
    Failed,
}

/// One load, as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct LabRunView {
    /// Its number: one more than that of the load before.
    pub run: u64,
    pub kind: LabKind,
    pub service: Box<str>,
    pub clients: u64,
    /// How long it was to last; a rush ends by itself.
    pub seconds: Option<u64>,
    /// Requests a second, where that was asked for.
    pub rate: Option<u64>,
    /// Rooms for sale in a rush.
    pub rooms: Option<u64>,
    /// Who started it.
    pub principal: Principal,
    pub state: LabState,
    pub began: Timestamp,
    pub ended: Option<Timestamp>,
    /// How long it has run, in milliseconds.
    pub elapsed_ms: u64,
    /// Answers so far, of any kind.
    pub answered: u64,
    /// Of them, refusals.
    pub refused: u64,
    /// Errors, and requests without an answer.
    pub failed: u64,
    /// Answers a second, since the last look.
    pub per_second: u64,
    /// What the proof says at the end: the verdict of the result.
    pub verdict: Option<Box<str>>,
    /// What the load said last.
    pub message: Option<Box<str>>,
    /// Whether there is a report.
    pub has_report: bool,
}

/// What can be asked for.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct LabOffer {
    pub kind: LabKind,
    /// The services that such a load can be for.
    pub services: Vec<Box<str>>,
}

/// Loads, the newest first.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct LabRunList {
    pub runs: Vec<LabRunView>,
    /// What can be started, one for each kind.
    pub offers: Vec<LabOffer>,
}

/// A second of a load, as it stood at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields)]
pub struct LabSecond {
    /// How long the load had run, in milliseconds.
    pub elapsed_ms: u64,
    /// Answers so far, of any kind.
    pub answered: u64,
    /// Of them, refusals.
    pub refused: u64,
    /// Errors, and requests without an answer.
    pub failed: u64,
    /// Answers a second, since the second before.
    pub per_second: u64,
    /// The median response of about a second; none while the load warms up.
    pub p50_ns: Option<u64>,
    /// Ninety-nine of a hundred responses took less.
    pub p99_ns: Option<u64>,
    /// Answers that were checked so far, of a check and a rush.
    pub checked: Option<u64>,
    /// Of them, those that break a promise.
    pub violations: Option<u64>,
}

/// How a load went, second by second.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct LabSeconds {
    pub run: u64,
    pub state: LabState,
    /// The oldest first; none of a load from before a restart.
    pub seconds: Vec<LabSecond>,
}

/// Reads the number of a load, and from which instant of it on its seconds are wanted.
///
/// # Errors
/// Everything that is wrong with them.
pub fn read_lab_progress<'a>(given: &'a Given<'a>) -> Result<(u64, Option<u64>), Problem> {
    given.read_with(|reader| {
        let run = reader.required("run", |text| whole(text, 1, u64::MAX));
        let after = reader.optional("after", |text| whole(text, 0, u64::MAX));
        Some((run?, after?))
    })
}

/// Reads the number of a load.
///
/// # Errors
/// It is none.
pub fn read_lab_run<'a>(given: &'a Given<'a>) -> Result<u64, Problem> {
    given.read_with(|reader| reader.required("run", |text| whole(text, 1, u64::MAX)))
}

pub(crate) fn schemas() -> Schemas {
    Schemas::new("")
        .named::<LabRunView>("LabRun", "A load of the lab, as it stands.")
        .named::<LabRunList>("LabRunList", "Loads of the lab, the newest first.")
        .named::<LabSeconds>("LabSeconds", "How a load went, second by second.")
}
