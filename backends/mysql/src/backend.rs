//! The back end itself.

use std::sync::Arc;

use tokio::sync::{Mutex, mpsc, oneshot};
use turnstile_contract::{
    Answered, Backend, Facts, Failure, Future, NotOpened, Request, Tally, Unready,
};
use turnstile_rooms::{Answer, IdKey, Query, Rooms};
use turnstile_sequencer::KEY_MS;
use turnstile_types::{Night, Principal, Timestamp};

use crate::{
    address::{Address, StorageEngine},
    decide::clean_up,
    fault::Fault,
    fields::ColumnReader,
    presence::{self, WRITERS},
    queries,
    reader::{Readers, SessionTask},
    schema::{self, SCHEMA},
    session::{Session, TurnKind, Uncommitted},
    sql::{At, put},
    wants::{DUE_MAX, Wants},
    writer::{WAITING_MAX, WriteJob, Writer},
};

/// Idempotency keys that are forgotten in one turn: those who decide wait for its end.
const FORGOTTEN_PER_TURN: usize = 1_000;

/// Turns in which one tick forgets; the next does the rest.
const FORGETTING_TURNS_MAX: usize = 10;

type Reply = turnstile_contract::Reply<Rooms>;

/// Rooms in a database.
///
/// Commands of all callers wait in one queue; two tasks take from it, as many as wait, and decide them
/// in one transaction of two round trips. Dropping it ends the tasks.
#[derive(Debug)]
pub struct Mysql {
    address: Arc<Address>,
    id_key: IdKey,
    tally: Arc<Tally>,
    readers: Readers,
    jobs: mpsc::Sender<WriteJob>,
}

impl Mysql {
    /// Connects, and brings the tables up to date. It takes a running tokio runtime.
    ///
    /// # Errors
    /// The database cannot be reached, is being copied, or its tables are not for this version or this
    /// engine.
    pub async fn open(address: &Address) -> Result<Self, NotOpened> {
        let opened = Self::try_open(address).await;
        opened.map_err(|unready| unready.at(&address.place()))
    }

    async fn try_open(address: &Address) -> Result<Self, Unready> {
        let tally = Arc::new(Tally::default());
        let mut session = Session::open(address).await?.counting(&tally);
        if let Some(others) = presence::serve(&mut session, 0).await? {
            return Err(others.into());
        }
        let id_key = schema::prepare(&mut session, address).await?;
        if schema::is_unfinished(&mut session).await? {
            return Err(Unready::Unfinished);
        }
        let address = Arc::new(address.clone());
        let (jobs, waiting) = mpsc::channel(WAITING_MAX);
        let waiting = Arc::new(Mutex::new(waiting));
        let mut session = Some(session);
        for number in 0..WRITERS {
            let name = schema::random()?;
            let name = u64::from_le_bytes(name);
            let writer = Writer::new(
                Arc::clone(&address),
                Arc::clone(&tally),
                Arc::clone(&waiting),
                (number, name),
                session.take(),
            );
            drop(tokio::spawn(writer.run()));
        }
        Ok(Self {
            readers: Readers::new(Arc::clone(&address), Arc::clone(&tally)),
            address,
            id_key,
            tally,
            jobs,
        })
    }

    /// The secret under which all servers on this database seal id numbers.
    #[must_use]
    pub const fn id_key(&self) -> &IdKey {
        &self.id_key
    }

    async fn decide(
        &self,
        now: Timestamp,
        requests: &[Request],
    ) -> Result<Vec<Result<Reply, Failure>>, Failure> {
        refuse_clock(now)?;
        let (answer, answered) = oneshot::channel();
        let job = WriteJob {
            now,
            requests: requests.to_vec(),
            answer,
        };
        let sent = self.jobs.try_send(job);
        sent.map_err(|_full| Failure::Unavailable {
            reason: "too many commands wait for the database".into(),
        })?;
        let answers = answered.await;
        answers.map_err(|_gone| Failure::Unknown {
            reason: "the thread of the database has ended".into(),
        })
    }
}

impl Backend<Rooms> for Mysql {
    fn execute<'a>(
        &'a self,
        now: Timestamp,
        requests: &'a [Request],
    ) -> Future<'a, Vec<Result<Reply, Failure>>> {
        Box::pin(async move {
            let decided = self.decide(now, requests).await;
            decided.unwrap_or_else(|failure| vec![Err(failure); requests.len()])
        })
    }

    fn query<'a>(
        &'a self,
        now: Timestamp,
        principal: &'a Principal,
        query: &'a Query,
    ) -> Future<'a, Answered<Rooms>> {
        Box::pin(async move {
            refuse_clock(now)?;
            let asking = QueryTask {
                now,
                principal,
                query,
            };
            let answer = self.readers.run(&asking).await;
            answer.map_err(|fault| fault.undone())
        })
    }

    fn tick(&self, now: Timestamp) -> Future<'_, Result<(), Failure>> {
        Box::pin(async move {
            refuse_clock(now)?;
            let cleaned_up = self.readers.run(&CleaningUp { now }).await;
            cleaned_up.map_err(|fault| fault.undone())
        })
    }

    fn facts(&self) -> Future<'_, Result<Facts, Failure>> {
        Box::pin(async move {
            let facts = self.readers.run(&LookingAround(&self.address)).await;
            facts.map_err(|fault| fault.undone())
        })
    }

    /// More would only wait in the writers' queue: what comes meanwhile makes the next batch larger
    /// instead, which costs the database less for each command.
    fn lanes(&self) -> usize {
        WRITERS
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }
}

/// Refuses instants that the tables cannot keep, and from which nothing useful follows.
fn refuse_clock(now: Timestamp) -> Result<(), Failure> {
    let last = Night::from_days(u16::MAX - 7);
    if now.0 < u64::from(last.days()) * 24 * 60 * 60 * 1_000 {
        return Ok(());
    }
    Err(Failure::Unavailable {
        reason: format!("the clock of this server shows a time after {last}"),
    })
}

struct QueryTask<'a> {
    now: Timestamp,
    principal: &'a Principal,
    query: &'a Query,
}

impl SessionTask for QueryTask<'_> {
    type Done = Answer;

    async fn run(&self, session: &mut Session) -> Result<Answer, Fault> {
        queries::answer(session, self.now, self.principal, self.query).await
    }
}

struct CleaningUp {
    now: Timestamp,
}

impl SessionTask for CleaningUp {
    type Done = ();

    async fn run(&self, session: &mut Session) -> Result<(), Fault> {
        while note_due(session, self.now).await? >= DUE_MAX {}
        forget(session, self.now).await
    }
}

struct LookingAround<'a>(&'a Address);

impl SessionTask for LookingAround<'_> {
    type Done = Facts;

    async fn run(&self, session: &mut Session) -> Result<Facts, Fault> {
        facts(session, self.0).await
    }
}

/// Notes some holds that are over, and says how many.
async fn note_due(session: &mut Session, now: Timestamp) -> Result<usize, Fault> {
    let wants = Wants {
        due: true,
        ..Wants::default()
    };
    let mut known = session.begin(TurnKind::Decide, now, wants).await?;
    let position = known.counters().position.next();
    let due = clean_up(&mut known, position);
    if due == 0 {
        session.leave().await?;
    } else {
        known.count(|counters| counters.position = position);
        let committed = session.commit(&known).await;
        committed.map_err(Uncommitted::into_fault)?;
    }
    Ok(due)
}

/// Forgets keys that are a day old, and writers that have not written for a day.
///
/// In turns, though it takes some only when there is something to forget: whoever decides writes rows of
/// the same tables, and the two would lock them in different orders.
async fn forget(session: &mut Session, now: Timestamp) -> Result<(), Fault> {
    let day_ago = At(Timestamp(now.0.saturating_sub(KEY_MS)));
    let (mut look, mut delete) = (String::new(), String::new());
    for table in ["idempotency_keys", "writers"] {
        let old = format!("FROM {table} WHERE since<={day_ago}");
        put!(look, "SELECT 1 {old} LIMIT 1;\n");
        put!(delete, "DELETE {old} LIMIT {FORGOTTEN_PER_TURN};\n");
    }
    for _ in 0..FORGETTING_TURNS_MAX {
        let found = session.ask(&look).await?;
        if found.iter().all(Vec::is_empty) {
            break;
        }
        session
            .begin(TurnKind::Decide, now, Wants::default())
            .await?;
        session.finish(&delete).await?;
    }
    Ok(())
}

async fn facts(session: &mut Session, address: &Address) -> Result<Facts, Fault> {
    let sql = "SELECT @@version, @@innodb_flush_log_at_trx_commit, @@sync_binlog, @@log_bin, \
               @@innodb_doublewrite;\n";
    let row = session.row(sql, "no settings").await?;
    let mut fields = ColumnReader::of(&row);
    let version = fields.text("version")?.to_owned();
    let engine = address.engine();
    let mut durability = vec![("engine".to_owned(), engine.word().to_owned())];
    for setting in [
        "innodb_flush_log_at_trx_commit",
        "sync_binlog",
        "log_bin",
        "innodb_doublewrite",
    ] {
        let value = fields.text(setting)?.to_owned();
        if engine == StorageEngine::InnoDb {
            durability.push((setting.to_owned(), value));
        }
    }
    let is_mariadb = version.contains("MariaDB");
    Ok(Facts {
        product: if is_mariadb { "MariaDB" } else { "MySQL" }.to_owned(),
        version,
        place: address.place(),
        durability,
        schema: SCHEMA,
    })
}
