//! Loads of the lab against this server: one at a time, each a process of its own.

mod kept;
mod process;
mod result;

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use axum::http::HeaderValue;
use tokio::task;
use turnstile_http::{
    Code, FieldError, LabOffer, LabOrder, LabRunList, LabRunView, LabSeconds, LabState, Place,
    Problem, read_lab_order, read_lab_progress, read_lab_run,
};
use turnstile_types::Principal;

use self::{
    kept::{KeptRun, KeptRuns},
    process::LabProcess,
    result::{REPORT, RESULT},
};
use super::{
    Door,
    access::wall_time,
    call::HttpCall,
    documents::{confine, json, unstored},
    operations::Answered,
    reply::RaisedProblem,
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
    /// What it drives, one for each kind of load.
    pub offers: Vec<LabOffer>,
    /// What it is told for every load, once the doors are open: which server, and as whom.
    pub target: Arc<OnceLock<Vec<OsString>>>,
    /// The folder of all results.
    pub results: PathBuf,
}

/// The loads that were started, and the process of the one that is under way.
#[derive(Debug)]
pub(super) struct LabRuns {
    program: Option<LabProgram>,
    kept: Arc<Mutex<KeptRuns>>,
}

impl LabRuns {
    /// With the loads whose results are there.
    pub(super) fn new(program: Option<LabProgram>) -> Self {
        let kept = program
            .as_ref()
            .map(|program| KeptRuns::of_results(&program.results));
        Self {
            program,
            kept: Arc::new(Mutex::new(kept.unwrap_or_default())),
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
        assert_offered(&program.offers, &order)?;
        let mut kept = lock(&self.kept);
        if kept.process.is_some() {
            return Err(Problem::from(Code::LabRunUnderWay));
        }
        let run = KeptRun::begin(
            kept.last + 1,
            order,
            principal,
            wall_time(),
            &program.results,
        );
        let (number, view) = (run.view.run, run.view.clone());
        let mut arguments = (program.arguments)(&order, &run.folder);
        arguments.extend_from_slice(target);
        let (process, output) =
            LabProcess::start(&program.program, &arguments).map_err(|failure| {
                tracing::error!(%failure, "a load of the lab cannot start");
                Problem::with(Code::Unavailable, "the load cannot start: the log says why")
            })?;
        kept.process = Some(process);
        kept.push(run);
        drop(kept);
        let watched = Arc::clone(&self.kept);
        output.follow(move |told| {
            let ended = lock(&watched).note(number, told, wall_time());
            if let Some(process) = ended {
                process.reap();
            }
        });
        Ok(view)
    }

    /// What is shown of a load.
    fn find<T>(&self, run: u64, shown: impl FnOnce(&KeptRun) -> T) -> Result<T, Problem> {
        self.program()?;
        let mut kept = lock(&self.kept);
        let found = kept.find(run).map(|found| shown(found));
        found.ok_or_else(|| Problem::from(Code::UnknownLabRun))
    }

    fn stop(&self, run: u64) -> Result<LabRunView, Problem> {
        self.program()?;
        let mut kept = lock(&self.kept);
        let view = &mut kept.find(run).ok_or(Code::UnknownLabRun)?.view;
        let is_running = view.state == LabState::Running;
        if is_running {
            view.state = LabState::Stopped;
        }
        let view = view.clone();
        // Only the newest runs, and it has the process until its end was noted.
        if is_running && let Some(process) = &mut kept.process {
            process.kill();
        }
        Ok(view)
    }
}

fn lock(kept: &Mutex<KeptRuns>) -> MutexGuard<'_, KeptRuns> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a load.
pub(super) fn start(door: &Door, call: &HttpCall) -> Answered {
    let order = read_lab_order(&call.given()?)?;
    let principal = call.visitor.caller.principal;
    let started = door.lab.start(order, principal)?;
    tracing::info!(%principal, ?order, "a load of the lab is started");
    Ok(json(&started))
}

fn assert_offered(offers: &[LabOffer], order: &LabOrder) -> Result<(), Problem> {
    let offered = offers.iter().filter(|offer| offer.kind == order.kind);
    let offered: Vec<&str> = offered
        .flat_map(|offer| &offer.services)
        .map(AsRef::as_ref)
        .collect();
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
pub(super) fn list(door: &Door, call: &HttpCall) -> Answered {
    call.given()?.read_with(|_nothing| Some(()))?;
    let (program, _target) = door.lab.program()?;
    let runs = lock(&door.lab.kept).views();
    let offers = program.offers.clone();
    Ok(json(&LabRunList { runs, offers }))
}

/// Shows one load.
pub(super) fn show(door: &Door, call: &HttpCall) -> Answered {
    let run = read_lab_run(&call.given()?)?;
    Ok(json(&door.lab.find(run, |found| found.view.clone())?))
}

/// Shows how one load goes, second by second.
pub(super) fn progress(door: &Door, call: &HttpCall) -> Answered {
    let (run, after) = read_lab_progress(&call.given()?)?;
    let progress = door.lab.find(run, |found| LabSeconds {
        run,
        state: found.view.state,
        seconds: found.seconds_after(after),
    })?;
    Ok(json(&progress))
}

/// Stops one load.
pub(super) fn stop(door: &Door, call: &HttpCall) -> Answered {
    let run = read_lab_run(&call.given()?)?;
    Ok(json(&door.lab.stop(run)?))
}

/// Gives the result of a load.
pub(super) async fn result(door: Arc<Door>, call: HttpCall) -> Answered {
    let bytes = file(&door, &call, RESULT).await?;
    Ok(unstored(bytes, "application/json"))
}

/// Gives the report of a load.
pub(super) async fn report(door: Arc<Door>, call: HttpCall) -> Answered {
    let bytes = file(&door, &call, REPORT).await?;
    let mut page = unstored(bytes, "text/html; charset=utf-8");
    confine(&mut page, POLICY);
    Ok(page)
}

/// A file of a load that has come to its end.
async fn file(door: &Door, call: &HttpCall, name: &'static str) -> Result<Vec<u8>, RaisedProblem> {
    let run = read_lab_run(&call.given()?)?;
    let none = || Problem::with(Code::UnknownLabRun, "this load has no result");
    let folder = door.lab.find(run, |found| {
        found.view.verdict.is_some().then(|| found.folder.clone())
    })?;
    let path = folder.ok_or_else(none)?.join(name);
    let read = task::spawn_blocking(move || fs::read(path)).await;
    let read = read.map_err(|_panic| Code::Unavailable)?;
    Ok(read.map_err(|_gone| none())?)
}
