//! Writers: each has a connection and takes all waiting commands as its next batch.

mod batch;

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{Mutex, mpsc, oneshot},
    time::{Instant, sleep, timeout},
};
use turnstile_contract::{Failure, Request, Tally};
use turnstile_rooms::Outcome;
use turnstile_types::Timestamp;

use self::batch::Cut;
use crate::{
    address::Address, fault::Fault, plan::is_layout, presence, session::Session, tables::WriterRow,
};

/// Commands in one transaction: so many that its end is cheap for each, so few that the last one
/// does not wait long and its statements stay far below the smallest packet that databases take.
pub(crate) const BATCH_MAX: usize = 256;

/// Batches of callers that wait; more are told so.
pub(crate) const WAITING_MAX: usize = 4_096;

/// How often a transaction is tried before its commands are given up.
const TRIES_MAX: u32 = 5;

/// The pause before the second try; each one after it is twice as long.
const PAUSE: Duration = Duration::from_millis(20);

/// How long a batch is looked for that was cut off when it was about to be committed: longer than a
/// database takes to come back, and than it keeps a dead connection's lock.
const DOUBT: Duration = Duration::from_secs(30);

/// How often an idle connection says something, so that the database keeps it.
const KEEP: Duration = Duration::from_secs(8);

type Result<T, E = Failure> = std::result::Result<T, E>;
type Reply = turnstile_sequencer::Reply<Outcome>;

/// Commands of one caller, in their order.
#[derive(Debug)]
pub(crate) struct WriteJob {
    pub(crate) now: Timestamp,
    pub(crate) requests: Vec<Request>,
    pub(crate) answer: oneshot::Sender<Vec<Result<Reply>>>,
}

/// Jobs that wait, for whichever writer comes first.
pub(crate) type JobQueue = Arc<Mutex<mpsc::Receiver<WriteJob>>>;

/// One who writes.
#[derive(Debug)]
pub(crate) struct Writer {
    address: Arc<Address>,
    tally: Arc<Tally>,
    waiting: JobQueue,
    session: Option<Session>,
    was_connected: bool,
    /// Which of its server's writers it is.
    number: usize,
    /// Its name in the table of writers, and its row there.
    name: u64,
    row: Option<WriterRow>,
    batch: u64,
    /// Whether the sale of something was stopped when last looked.
    stops: bool,
}

impl Writer {
    pub(crate) fn new(
        address: Arc<Address>,
        tally: Arc<Tally>,
        waiting: JobQueue,
        (number, name): (usize, u64),
        session: Option<Session>,
    ) -> Self {
        Self {
            address,
            tally,
            waiting,
            was_connected: session.is_some(),
            session,
            number,
            name,
            row: None,
            batch: 0,
            stops: false,
        }
    }

    /// Writes until nobody can send any more.
    pub(crate) async fn run(mut self) {
        let waiting = Arc::clone(&self.waiting);
        loop {
            let gathered = timeout(KEEP, gather(&waiting)).await;
            match gathered {
                Ok(jobs) if jobs.is_empty() => return,
                Ok(jobs) => self.serve(jobs).await,
                Err(_elapsed) => self.keep().await,
            }
        }
    }

    /// Decides what some callers ask, as if all had asked at the time of the latest.
    async fn serve(&mut self, jobs: Vec<WriteJob>) {
        let now = jobs.iter().map(|job| job.now).max();
        let now = now.expect("at least one job was gathered");
        let all: Vec<&Request> = jobs.iter().flat_map(|job| &job.requests).collect();
        let mut replies = Vec::with_capacity(all.len());
        for requests in all.chunk_by(|left, right| is_layout(left) == is_layout(right)) {
            for requests in requests.chunks(BATCH_MAX) {
                replies.extend(self.decide(now, requests).await);
            }
        }
        let mut replies = replies.into_iter();
        for job in jobs {
            let answer = replies.by_ref().take(job.requests.len()).collect();
            // A caller that does not wait any more has dropped its end.
            drop(job.answer.send(answer));
        }
    }

    /// Decides a batch; when something is wrong with it as a whole, then command by command.
    async fn decide(&mut self, now: Timestamp, requests: &[&Request]) -> Vec<Result<Reply>> {
        match self.insist(now, requests).await {
            Ok(replies) => replies,
            Err(Failure::Broken { .. }) if requests.len() > 1 => {
                let mut replies = Vec::new();
                for request in requests {
                    let one = self.insist(now, &[request]).await;
                    replies.extend(one.unwrap_or_else(|failure| vec![Err(failure)]));
                }
                replies
            }
            Err(failure) => {
                let count = requests.len();
                self.tally.given_up.add(count as u64);
                vec![Err(failure); count]
            }
        }
    }

    /// Tries a batch until it is committed, or is known not to be and should not be tried again.
    async fn insist(
        &mut self,
        now: Timestamp,
        requests: &[&Request],
    ) -> Result<Vec<Result<Reply>>> {
        let mut pause = PAUSE;
        let mut attempt = 1;
        loop {
            let fault = match self.attempt(now, requests).await {
                Ok(replies) => return Ok(replies),
                Err(Cut::Before(fault)) => fault,
                Err(Cut::InDoubt(fault, replies)) => {
                    if self.find_out(now, &fault).await? {
                        self.committed(requests.len());
                        self.tally.resolved.add(requests.len() as u64);
                        return Ok(replies);
                    }
                    fault
                }
            };
            tracing::debug!(?fault, attempt, "a batch was not committed");
            match fault {
                Fault::Deadlock(_) => self.tally.deadlock_retries.add(1),
                Fault::Contended(_) => self.tally.serialization_retries.add(1),
                Fault::Lost(_) => {}
                Fault::Refused(_) | Fault::Broken(_) => return Err(fault.undone()),
            }
            if attempt == TRIES_MAX {
                return Err(fault.undone());
            }
            sleep(pause).await;
            pause *= 2;
            attempt += 1;
        }
    }

    /// Whether a batch that was cut off was committed after all.
    async fn find_out(&mut self, now: Timestamp, cut: &Fault) -> Result<bool> {
        let deadline = Instant::now() + DOUBT;
        let mut pause = PAUSE;
        loop {
            match self.last_batch(now).await {
                Ok(last) => return Ok(last == Some(self.batch)),
                Err(fault) if Instant::now() > deadline => {
                    let reason = format!("{}, and then {}", cut.reason(), fault.reason());
                    return Err(Failure::Unknown { reason });
                }
                Err(_fault) => {
                    self.session = None;
                    sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_secs(1));
                }
            }
        }
    }

    /// A connection, made anew when there is none.
    async fn session(&mut self) -> Result<&mut Session, Fault> {
        if self.session.is_none() {
            let session = Session::open(&self.address).await?;
            let mut session = session.counting(&self.tally);
            if let Some(others) = presence::serve(&mut session, self.number).await? {
                return Err(Fault::Refused(others.to_string()));
            }
            self.session = Some(session);
            if self.was_connected {
                self.tally.reconnects.add(1);
            }
            self.was_connected = true;
        }
        Ok(self.session.as_mut().expect("it was made just now"))
    }

    /// Says something, so that the database keeps the connection, and whoever copies sees that we serve: one
    /// that was lost is made anew.
    async fn keep(&mut self) {
        if let Some(session) = &mut self.session
            && session.ask("DO 0;").await.is_err()
        {
            self.session = None;
        }
        if self.was_connected
            && let Err(fault) = self.session().await
        {
            tracing::debug!(?fault, "a reconnect failed");
        }
    }

    fn committed(&self, commands: usize) {
        self.tally.batches.add(1);
        self.tally.commands.add(commands as u64);
    }
}

/// Waits for a job, and takes those that wait behind it; none when nobody can send any more.
async fn gather(waiting: &JobQueue) -> Vec<WriteJob> {
    let mut waiting = waiting.lock().await;
    let mut jobs: Vec<WriteJob> = waiting.recv().await.into_iter().collect();
    let mut count: usize = jobs.iter().map(|job| job.requests.len()).sum();
    while count < BATCH_MAX
        && !jobs.is_empty()
        && let Ok(job) = waiting.try_recv()
    {
        count += job.requests.len();
        jobs.push(job);
    }
    jobs
}
