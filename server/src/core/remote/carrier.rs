//! The thread that asks a database.

use std::{
    io,
    sync::{Arc, Mutex},
    thread::{Builder, JoinHandle},
    time::Duration,
};

use futures_util::future::join_all;
use tokio::{
    runtime::Runtime,
    sync::{Semaphore, oneshot},
    time::{self, MissedTickBehavior},
};
use turnstile_contract::{Backend, Failure, Future, Request};
use turnstile_types::{Position, Principal, Timestamp};

use super::{
    Commander, Housed, Job, Known, Landing, Questioner, Remote, ReturnPath, ScopedQuery, lock,
    queue::{Receiver, Sender, queue},
};
use crate::core::clock::{self, DecisionClock};

/// Commands that go to the database as one batch, beside those of the last caller: enough to make
/// the round trip cheap, few enough to be decided within milliseconds.
pub(crate) const BATCH_COMMANDS: usize = 256;

/// How often it does what is due, and asks for totals.
const TICK: Duration = Duration::from_secs(1);

/// A back end that is being opened, on the thread that will ask it; with what else the opening finds.
pub(crate) type Opening<M, K> = Future<'static, Result<(Arc<dyn Backend<M>>, K), String>>;

/// A back end that was opened. Its thread waits to be told where its answers go.
pub(crate) struct OpenedBackend<M: Housed, K> {
    jobs: Sender<Job<M>>,
    backend: Arc<dyn Backend<M>>,
    known: Arc<Mutex<Known<M>>>,
    pub(crate) found: K,
    way: oneshot::Sender<ReturnPath>,
    thread: JoinHandle<()>,
}

impl<M: Housed, K> OpenedBackend<M, K> {
    /// Has its answers go this way from now on.
    pub(crate) fn begin(self, way: ReturnPath, threads: &mut Vec<JoinHandle<()>>) -> Remote<M> {
        if self.way.send(way.clone()).is_err() {
            tracing::error!(service = M::NAME, "the thread of a back end ended early");
        }
        threads.push(self.thread);
        Remote {
            jobs: self.jobs,
            way,
            landed: M::landed,
            backend: self.backend,
            known: self.known,
            seen: Position(0),
        }
    }
}

/// Opens a back end for so many callers, and begins the thread that asks it, until the [`Remote`] is dropped and all
/// callers have their answers.
///
/// # Errors
/// The system gives no thread, or the back end cannot be opened.
pub(crate) fn open<M: Housed, K: Send + 'static>(
    opening: impl FnOnce() -> Opening<M, K> + Send + 'static,
    callers: usize,
) -> io::Result<Result<OpenedBackend<M, K>, String>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (jobs, coming) = queue(callers);
    let (way, told) = oneshot::channel();
    let (opened, result) = oneshot::channel();
    let thread = Builder::new()
        .name(format!("backend-{}", M::NAME))
        .spawn(move || run(&runtime, opening(), opened, told, coming))?;
    let result = result.blocking_recv();
    let result = result.map_err(|_gone| io::Error::other("the thread of a back end panicked"))?;
    Ok(result.map(
        |Begun {
             backend,
             found,
             known,
         }| OpenedBackend {
            jobs,
            backend,
            known,
            found,
            way,
            thread,
        },
    ))
}

/// What an opened back end is, for the one who had it opened.
struct Begun<M: Housed, K> {
    backend: Arc<dyn Backend<M>>,
    found: K,
    known: Arc<Mutex<Known<M>>>,
}

fn run<M: Housed, K>(
    runtime: &Runtime,
    opening: Opening<M, K>,
    opened: oneshot::Sender<Result<Begun<M, K>, String>>,
    told: oneshot::Receiver<ReturnPath>,
    coming: Receiver<Job<M>>,
) {
    let begun = runtime.block_on(async {
        let (backend, found) = opening.await?;
        let facts = backend.facts().await;
        let facts = facts.map_err(|failure| failure.to_string())?;
        let known = Arc::new(Mutex::new(Known {
            facts,
            totals: None,
            trouble: None,
        }));
        Ok::<_, String>((backend, found, known))
    });
    let (backend, known) = match begun {
        Ok((backend, found, known)) => {
            let begun = Begun {
                backend: Arc::clone(&backend),
                found,
                known: Arc::clone(&known),
            };
            if opened.send(Ok(begun)).is_err() {
                return;
            }
            (backend, known)
        }
        Err(failure) => return drop(opened.send(Err(failure))),
    };
    runtime.block_on(async {
        // Without a way there is no server: another part of it could not start.
        if let Ok(way) = told.await {
            let ticking = tokio::spawn(tick(Arc::clone(&backend), known));
            carry(backend, way, coming).await;
            ticking.abort();
        }
    });
}

/// Has all work done that comes. While every lane is taken, what comes waits, and goes together in
/// the next: so batches are as large as the load asks for.
async fn carry<M: Housed>(backend: Arc<dyn Backend<M>>, way: ReturnPath, coming: Receiver<Job<M>>) {
    let lanes = backend.lanes().max(1);
    let free = Arc::new(Semaphore::new(lanes));
    let mut clock = clock();
    loop {
        let lane = Arc::clone(&free).acquire_owned().await;
        let lane = lane.expect("the lanes are never closed");
        let Some(first) = coming.wait().await else {
            break;
        };
        let jobs = gather(first, &coming);
        let (backend, way, now) = (Arc::clone(&backend), way.clone(), clock.read());
        tokio::spawn(async move {
            work(&*backend, now, jobs, &way).await;
            drop(lane);
        });
    }
    let all = u32::try_from(lanes).expect("lanes are few");
    let all = free.acquire_many(all).await;
    drop(all.expect("the lanes are never closed"));
}

/// A clock that takes no jumps, as that of the loop does not: two of them tell the same time.
fn clock() -> DecisionClock {
    DecisionClock::start(Timestamp(0), clock::system)
}

/// The jobs that are there, up to a full batch.
fn gather<M: Housed>(first: Job<M>, coming: &Receiver<Job<M>>) -> Vec<Job<M>> {
    let mut commands = first.commands().len();
    let mut jobs = vec![first];
    while commands < BATCH_COMMANDS {
        let Some(job) = coming.next() else { break };
        commands += job.commands().len();
        jobs.push(job);
    }
    jobs
}

async fn work<M: Housed>(
    backend: &dyn Backend<M>,
    now: Timestamp,
    jobs: Vec<Job<M>>,
    way: &ReturnPath,
) {
    let mut requests = Vec::new();
    let (mut callers, mut queries) = (Vec::new(), Vec::new());
    for job in jobs {
        match job {
            Job::Commands(commands, caller) => {
                callers.push((caller, commands.len()));
                requests.extend(commands);
            }
            Job::Queries(principal, asked, caller) => queries.push((caller, principal, asked)),
        }
    }
    let executing = async {
        if !callers.is_empty() {
            execute(backend, now, requests, callers, way).await;
        }
    };
    let asking = join_all(
        queries
            .into_iter()
            .map(|(caller, principal, asked)| ask(backend, (principal, now), asked, caller, way)),
    );
    futures_util::future::join(executing, asking).await;
}

async fn execute<M: Housed>(
    backend: &dyn Backend<M>,
    now: Timestamp,
    requests: Vec<Request>,
    callers: Vec<(Commander<M>, usize)>,
    way: &ReturnPath,
) {
    let results = backend.execute(now, &requests).await;
    assert_eq!(results.len(), requests.len(), "one answer for each command");
    let mut decided = requests.into_iter().zip(results);
    for (caller, count) in callers {
        let decided = decided.by_ref().take(count).collect();
        way.tell(M::landed(Landing::Commands(decided, caller)));
    }
    way.ring();
}

async fn ask<M: Housed>(
    backend: &dyn Backend<M>,
    (principal, now): (Principal, Timestamp),
    queries: Vec<ScopedQuery<M>>,
    caller: Questioner<M>,
    way: &ReturnPath,
) {
    let mut answers = Vec::with_capacity(queries.len());
    for (query, scope) in &queries {
        let answer = backend.query_within(now, &principal, (query, scope));
        answers.push(answer.await);
    }
    way.tell(M::landed(Landing::Queries(answers, caller)));
    way.ring();
}

/// Once a second does what is due, and learns how the back end is.
async fn tick<M: Housed>(backend: Arc<dyn Backend<M>>, known: Arc<Mutex<Known<M>>>) {
    let mut clock = clock();
    let mut ticks = time::interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let heard = listen(&*backend, clock.read()).await;
        let mut known = lock(&known);
        match heard {
            Ok(totals) => {
                if let Some(trouble) = known.trouble.take() {
                    tracing::info!(service = M::NAME, trouble, "the database answers again");
                }
                known.totals = totals;
            }
            Err(failure) => {
                let trouble = failure.to_string();
                if known.trouble.is_none() {
                    tracing::warn!(service = M::NAME, trouble, "the database does not answer");
                }
                known.trouble = Some(trouble);
            }
        }
    }
}

async fn listen<M: Housed>(
    backend: &dyn Backend<M>,
    now: Timestamp,
) -> Result<Option<M::Answer>, Failure> {
    backend.tick(now).await?;
    match backend.query(now, &Principal::local(), &M::TOTALS).await {
        Ok(totals) => Ok(Some(totals)),
        Err(Failure::Unsupported { .. }) => Ok(None),
        Err(failure) => Err(failure),
    }
}
