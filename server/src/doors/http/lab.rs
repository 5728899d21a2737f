//! Loads of the lab against this server: one at a time, each a process of its own.

mod process;

use std::{
    collections::{BTreeMap, VecDeque},
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use axum::http::HeaderValue;
use serde::Deserialize;
use tokio::task;
use turnstile_http::{
    Code, FieldError, LabKind, LabOrder, LabRunList, LabRunView, LabState, Place, Problem,
    read_lab_order, read_lab_run,
};
use turnstile_types::{Principal, Timestamp};

use self::process::{LabProcess, Told};
use super::{
    Door,
    access::wall_time,
    call::Call,
    documents::{confine, json, unstored},
    limits::LAB_RUNS,
    operations::Answered,
    reply::Trouble,
};

/// A report is a page with its style and no script that runs; it may ask nobody for anything.
const POLICY: HeaderValue = HeaderValue::from_static(
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'",
);

/// The program that puts load on this server, and where the results go.
#[derive(Clone, Debug)]
pub struct LabProgram {
    pub program: PathBuf,
    /// What it is told for a load whose results go to this folder.
    pub arguments: fn(&LabOrder, &Path) -> Vec<OsString>,
    /// What it is told for every load, once the doors are open: which server, and as whom.
    pub target: Arc<OnceLock<Vec<OsString>>>,
    /// The folder of all results.
    pub results: PathBuf,
}

/// The loads that were started since the server started.
#[derive(Debug)]
pub(super) struct LabRuns {
    program: Option<LabProgram>,
    kept: Arc<Mutex<KeptRuns>>,
}

#[derive(Debug, Default)]
struct KeptRuns {
    /// The newest first.
    runs: VecDeque<KeptRun>,
    /// The number of the newest.
    last: u64,
    /// The process of the load that is under way, which is the newest.
    process: Option<LabProcess>,
}

#[derive(Clone, Debug)]
struct KeptRun {
    view: LabRunView,
    folder: PathBuf,
}

impl LabRuns {
    pub(super) fn new(program: Option<LabProgram>) -> Self {
        Self {
            program,
            kept: Arc::default(),
        }
    }

    /// Ends the load that is under way: its server goes.
    pub(super) fn end(&self) {
        if let Some(process) = &mut lock(&self.kept).process {
            process.kill();
        }
    }

    fn program(&self) -> Result<(&LabProgram, &[OsString]), Problem> {
        let off = "this server starts no loads: lab.results names a folder for their results";
        let program = self.program.as_ref();
        let program = program.ok_or_else(|| Problem::with(Code::Unsupported, off))?;
        let closed = "a load asks at the RESP door, and that is closed";
        let target = program.target.get();
        let target = target.ok_or_else(|| Problem::with(Code::Unsupported, closed))?;
        Ok((program, target))
    }

    fn start(&self, order: LabOrder, principal: Principal) -> Result<LabRunView, Problem> {
        let (program, target) = self.program()?;
        let mut kept = lock(&self.kept);
        if kept.process.is_some() {
            return Err(Problem::from(Code::LabRunUnderWay));
        }
        let (run, began) = (kept.last + 1, wall_time());
        let folder = program.results.join(format!("{}-{run}", began.0));
        let mut arguments = (program.arguments)(&order, &folder);
        arguments.extend_from_slice(target);
        let (process, output) =
            LabProcess::start(&program.program, &arguments).map_err(|failure| {
                tracing::error!(%failure, "a load of the lab cannot start");
                Problem::with(Code::Unavailable, "the load cannot start: the log says why")
            })?;
        let view = view_of(run, order, principal, began);
        kept.last = run;
        kept.process = Some(process);
        kept.runs.push_front(KeptRun {
            view: view.clone(),
            folder,
        });
        kept.runs.truncate(LAB_RUNS);
        drop(kept);
        let watched = Arc::clone(&self.kept);
        output.follow(move |told| note(&watched, run, told));
        Ok(view)
    }

    fn find(&self, run: u64) -> Result<KeptRun, Problem> {
        self.program()?;
        let kept = lock(&self.kept);
        let found = kept.runs.iter().find(|one| one.view.run == run).cloned();
        found.ok_or_else(|| Problem::from(Code::UnknownLabRun))
    }

    fn stop(&self, run: u64) -> Result<LabRunView, Problem> {
        self.program()?;
        let mut kept = lock(&self.kept);
        let KeptRuns { runs, process, .. } = &mut *kept;
        let found = runs.iter_mut().find(|one| one.view.run == run);
        let view = &mut found.ok_or(Code::UnknownLabRun)?.view;
        // Only the newest runs, and it has the process until its end was noted.
        if view.state == LabState::Running {
            view.state = LabState::Stopped;
            if let Some(process) = process {
                process.kill();
            }
        }
        Ok(view.clone())
    }
}

fn view_of(run: u64, order: LabOrder, principal: Principal, began: Timestamp) -> LabRunView {
    let is_rush = order.kind == LabKind::Rush;
    LabRunView {
        run,
        kind: order.kind,
        service: order.service.into(),
        clients: order.clients,
        seconds: (!is_rush).then_some(order.seconds),
        rate: order.rate.filter(|_| !is_rush),
        rooms: is_rush.then_some(order.rooms),
        principal,
        state: LabState::Running,
        began,
        ended: None,
        elapsed_ms: 0,
        answered: 0,
        refused: 0,
        failed: 0,
        per_second: 0,
        verdict: None,
        message: None,
        has_report: false,
    }
}

/// Notes what a load has told about itself.
fn note(kept: &Mutex<KeptRuns>, run: u64, told: Told) {
    let mut kept = lock(kept);
    let process = match told {
        Told::Ended => kept.process.take(),
        Told::Progress(_) | Told::Message(_) => None,
    };
    let Some(found) = kept.runs.iter_mut().find(|one| one.view.run == run) else {
        return;
    };
    let view = &mut found.view;
    match told {
        Told::Progress(progress) => {
            view.elapsed_ms = progress.elapsed_ms;
            view.answered = progress.answered;
            view.refused = progress.refused;
            view.failed = progress.failed;
            view.per_second = progress.per_second;
        }
        Told::Message(line) => view.message = Some(line.into()),
        Told::Ended => {
            view.ended = Some(wall_time());
            let result = LabResult::read(&found.folder);
            if let Some(result) = &result {
                result.count(view);
            }
            view.verdict = result.map(|result| result.verdict);
            view.has_report = view.verdict.is_some() && found.folder.join(REPORT).is_file();
            if view.state == LabState::Running {
                let has_result = view.verdict.is_some();
                view.state = if has_result {
                    LabState::Ended
                } else {
                    LabState::Failed
                };
            }
        }
    }
    drop(kept);
    if let Some(process) = process {
        process.reap();
    }
}

const RESULT: &str = "run.json";
const REPORT: &str = "report.html";

/// What is shown of a result.
#[derive(Debug, Deserialize)]
struct LabResult {
    verdict: Box<str>,
    points: Vec<LabPoint>,
}

#[derive(Debug, Deserialize)]
struct LabPoint {
    operations: Vec<LabOperation>,
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
    fn read(folder: &Path) -> Option<Self> {
        let text = fs::read(folder.join(RESULT)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Counts the answers of all points: a load tells how far it is only now and then.
    fn count(&self, view: &mut LabRunView) {
        let operations = || self.points.iter().flat_map(|point| &point.operations);
        let sum = |count: fn(&LabOperation) -> u64| operations().map(count).sum::<u64>();
        let errors = sum(|one| one.errors.values().sum());
        view.refused = sum(|one| one.refused.values().sum());
        view.failed = errors + sum(|one| one.unknown);
        view.answered = sum(|one| one.done) + view.refused + errors;
    }
}

fn lock(kept: &Mutex<KeptRuns>) -> MutexGuard<'_, KeptRuns> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a load.
pub(super) fn start(door: &Door, call: &Call) -> Answered {
    let order = read_lab_order(&call.given()?)?;
    assert_offered(&order)?;
    let principal = call.visitor.caller.principal;
    let started = door.lab.start(order, principal)?;
    tracing::info!(%principal, ?order, "a load of the lab is started");
    Ok(json(&started))
}

/// What the lab does over RESP alone.
fn assert_offered(order: &LabOrder) -> Result<(), Problem> {
    let offered: &[&str] = match order.kind {
        LabKind::Rush => &["rooms"],
        LabKind::Run => &["rooms", "seats", "exchange"],
        LabKind::Check => return Ok(()),
    };
    if offered.contains(&order.service) {
        return Ok(());
    }
    let kind = order.kind.code();
    Err(Problem::invalid(vec![FieldError {
        place: Place::Body,
        field: "service".to_owned(),
        message: format!("a {kind} is for one of {}", offered.join(", ")),
    }]))
}

/// Lists the loads.
pub(super) fn list(door: &Door, call: &Call) -> Answered {
    call.given()?.read_with(|_nothing| Some(()))?;
    door.lab.program()?;
    let runs = lock(&door.lab.kept)
        .runs
        .iter()
        .map(|one| one.view.clone())
        .collect();
    Ok(json(&LabRunList { runs }))
}

/// Shows one load.
pub(super) fn show(door: &Door, call: &Call) -> Answered {
    let run = read_lab_run(&call.given()?)?;
    Ok(json(&door.lab.find(run)?.view))
}

/// Stops one load.
pub(super) fn stop(door: &Door, call: &Call) -> Answered {
    let run = read_lab_run(&call.given()?)?;
    Ok(json(&door.lab.stop(run)?))
}

/// Gives the result of a load.
pub(super) async fn result(door: Arc<Door>, call: Call) -> Answered {
    let bytes = file(&door, &call, RESULT).await?;
    Ok(unstored(bytes, "application/json"))
}

/// Gives the report of a load.
pub(super) async fn report(door: Arc<Door>, call: Call) -> Answered {
    let bytes = file(&door, &call, REPORT).await?;
    let mut page = unstored(bytes, "text/html; charset=utf-8");
    confine(&mut page, POLICY);
    Ok(page)
}

/// A file of a load that has come to its end.
async fn file(door: &Door, call: &Call, name: &'static str) -> Result<Vec<u8>, Trouble> {
    let found = door.lab.find(read_lab_run(&call.given()?)?)?;
    let none = || Problem::with(Code::UnknownLabRun, "this load has no result");
    if found.view.verdict.is_none() {
        return Err(none().into());
    }
    let path = found.folder.join(name);
    let read = task::spawn_blocking(move || fs::read(path)).await;
    let read = read.map_err(|_panic| Code::Unavailable)?;
    Ok(read.map_err(|_gone| none())?)
}
