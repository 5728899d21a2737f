//! What is shown of the result of a load; docs/formats/run-json.md describes the file.

use std::{collections::BTreeMap, fs, path::Path, time::Duration};

use serde::Deserialize;
use turnstile_http::{LabKind, LabRunView};
use turnstile_types::Timestamp;

pub(super) const RESULT: &str = "run.json";
pub(super) const REPORT: &str = "report.html";

#[derive(Debug, Deserialize)]
pub(super) struct LabResult {
    pub(super) verdict: Box<str>,
    took_s: f64,
    asked: LabAsked,
    points: Vec<LabPoint>,
}

#[derive(Debug, Deserialize)]
struct LabAsked {
    command: Box<str>,
    workload: Box<str>,
    settings: BTreeMap<Box<str>, Box<str>>,
}

#[derive(Debug, Deserialize)]
struct LabPoint {
    load: LabPointLoad,
    window_s: f64,
    operations: Vec<LabOperation>,
}

/// How hard a point drives.
#[derive(Debug, Deserialize)]
#[serde(tag = "loop", rename_all = "snake_case")]
enum LabPointLoad {
    Closed { users: u64 },
    Open { rate: f64, connections: u64 },
    Count { users: u64 },
}

/// How often one operation was answered, and how.
#[derive(Debug, Deserialize)]
struct LabOperation {
    done: u64,
    refused: BTreeMap<Box<str>, u64>,
    errors: BTreeMap<Box<str>, u64>,
    unknown: u64,
}

impl LabResult {
    /// The result in a folder; nothing where there is none.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        let text = fs::read(folder.join(RESULT)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Counts the answers of all points: a load tells how far it is only now and then.
    pub(super) fn count(&self, view: &mut LabRunView) {
        let operations = || self.points.iter().flat_map(|point| &point.operations);
        let sum = |count: fn(&LabOperation) -> u64| operations().map(count).sum::<u64>();
        let errors = sum(|one| one.errors.values().sum());
        view.refused = sum(|one| one.refused.values().sum());
        view.failed = errors + sum(|one| one.unknown);
        view.answered = sum(|one| one.done) + view.refused + errors;
    }

    /// Says what the load was, and when it ended; nothing where that is no load of this server.
    pub(super) fn describe(&self, view: &mut LabRunView) -> Option<()> {
        let asked = &self.asked;
        let kinds = [LabKind::Run, LabKind::Rush, LabKind::Check];
        let kind = kinds
            .into_iter()
            .find(|kind| kind.code() == &*asked.command)?;
        let point = self.points.first()?;
        let set = |name: &str| asked.settings.get(name)?.parse().ok();
        let took_ms = Duration::try_from_secs_f64(self.took_s).ok()?.as_millis();
        let took_ms = u64::try_from(took_ms).ok()?;
        view.kind = kind;
        view.service.clone_from(&asked.workload);
        (view.clients, view.rate) = match point.load {
            LabPointLoad::Closed { users } | LabPointLoad::Count { users } => (users, None),
            LabPointLoad::Open { rate, connections } => (connections, whole(rate)),
        };
        if kind == LabKind::Rush {
            view.clients = set("clients")?;
            view.rooms = set("rooms");
        } else {
            view.seconds = whole(point.window_s);
        }
        view.elapsed_ms = took_ms;
        view.ended = Some(Timestamp(view.began.0.saturating_add(took_ms)));
        Some(())
    }
}

/// A figure that was asked for as a whole number.
fn whole(figure: f64) -> Option<u64> {
    format!("{figure:.0}").parse().ok()
}
