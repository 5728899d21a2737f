//! Where states of rooms may lie: real servers, and directories.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::{Mutex, PoisonError};

use turnstile_contract::{
    Answered, Backend, Facts, Failure, Future, Reply, Request, Tally, conformance::Stand,
    copy::Target,
};
use turnstile_embedded::{Durability, Embedded, ExecuteError, Options};
use turnstile_mysql::{Address, Mysql};
use turnstile_postgres::Postgres;
use turnstile_redis::Redis;
use turnstile_rooms::{Answer, Command, Query, Rooms};
use turnstile_server::CopyPlace;
use turnstile_trial::{MariaServer, PostgresServer, RedisServer};
use turnstile_types::{Author, Key, Principal, Timestamp};

/// A kind of back end, and where its last state lies.
pub(super) struct Place {
    kind: Kind,
    last: Mutex<String>,
}

enum Kind {
    Directory(tempfile::TempDir),
    Postgres(PostgresServer),
    Maria(MariaServer, &'static str),
    Redis(RedisServer),
}

impl Place {
    fn of(kind: Kind) -> Self {
        let place = Self {
            kind,
            last: Mutex::default(),
        };
        place.make_anew();
        place
    }

    pub(super) fn directory() -> Self {
        Self::of(Kind::Directory(tempfile::tempdir().unwrap()))
    }

    pub(super) fn postgres() -> Self {
        Self::of(Kind::Postgres(PostgresServer::start().without_syncs()))
    }

    /// With tables of this engine.
    pub(super) fn maria(engine: &'static str) -> Self {
        Self::of(Kind::Maria(MariaServer::start().without_syncs(), engine))
    }

    pub(super) fn redis() -> Self {
        Self::of(Kind::Redis(RedisServer::start().without_syncs()))
    }

    /// Where the state lies, as a user of `rooms copy` writes it.
    pub(super) fn url(&self) -> String {
        let last = self.last.lock();
        last.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Begins with nothing.
    pub(super) fn make_anew(&self) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = match &self.kind {
            Kind::Directory(folder) => {
                if let Some(before) = last.strip_prefix("embedded:") {
                    std::fs::remove_dir_all(before).unwrap();
                }
                let folder = tempfile::tempdir_in(folder.path()).unwrap().keep();
                format!("embedded:{}", folder.display())
            }
            Kind::Postgres(server) => server.database(),
            Kind::Maria(server, engine) => format!("{}?engine={engine}", server.database()),
            Kind::Redis(server) => {
                server.cli(&["FLUSHALL"]);
                server.url()
            }
        };
    }

    /// Takes a directory in which no server was yet: the journal of one would not be empty.
    pub(super) fn forget_journal(&self) {
        if matches!(self.kind, Kind::Directory(_)) {
            self.make_anew();
        }
    }

    /// Has SQL run in the database as its owner, or a command of Redis.
    pub(super) fn meddle(&self, words: &str) {
        let url = self.url();
        let database = url.rsplit('/').next().unwrap_or_default();
        let database = database.split('?').next().unwrap_or_default();
        match &self.kind {
            Kind::Directory(_) => panic!("nobody changes a directory by hand"),
            Kind::Postgres(server) => server.sql(database, words),
            Kind::Maria(server, _) => server.sql(&format!("USE {database}; {words}")),
            Kind::Redis(server) => server.cli(&words.split(' ').collect::<Vec<_>>()),
        };
    }
}

/// One of each kind, each with a server of its own.
pub(super) fn every_place() -> [Place; 5] {
    [
        Place::directory(),
        Place::postgres(),
        Place::maria("innodb"),
        Place::maria("memory"),
        Place::redis(),
    ]
}

/// A side of a copy.
pub(super) async fn opened(url: &str) -> Box<dyn Target> {
    let place: CopyPlace = url.parse().unwrap();
    place.open().await.unwrap()
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.url())
    }
}

/// A back end of any kind.
#[derive(Debug)]
pub(super) struct Any(Box<dyn Backend<Rooms>>);

impl Any {
    /// Opens what lies at a place, as a server does.
    pub(super) async fn open(url: &str) -> Result<Self, String> {
        let said = |error: &dyn std::fmt::Display| error.to_string();
        let backend: Box<dyn Backend<Rooms>> = if let Some(folder) = url.strip_prefix("embedded:") {
            let options = Options::with(Durability::Os);
            let opened = Embedded::open(Some(folder.as_ref()), options);
            let (embedded, _recovery) = opened.map_err(|error| said(&error))?;
            Box::new(Directory {
                embedded: Mutex::new(embedded),
                tally: Tally::default(),
            })
        } else if url.starts_with("postgres") {
            let opened = Postgres::<Rooms>::open(url).await;
            Box::new(opened.map_err(|error| said(&error))?)
        } else if url.starts_with("mysql") {
            let opened = Mysql::open(&Address::parse(url).unwrap()).await;
            Box::new(opened.map_err(|error| said(&error))?)
        } else {
            Box::new(Redis::open(url).await.map_err(|error| said(&error))?)
        };
        Ok(Self(backend))
    }
}

impl Stand for Place {
    type Backend = Any;

    async fn fresh(&self) -> Any {
        self.make_anew();
        self.another().await
    }

    async fn another(&self) -> Any {
        Any::open(&self.url()).await.unwrap()
    }
}

impl Backend<Rooms> for Any {
    fn execute<'a>(
        &'a self,
        now: Timestamp,
        requests: &'a [Request],
    ) -> Future<'a, Vec<Result<Reply<Rooms>, Failure>>> {
        self.0.execute(now, requests)
    }

    fn query<'a>(
        &'a self,
        now: Timestamp,
        principal: &'a Principal,
        query: &'a Query,
    ) -> Future<'a, Answered<Rooms>> {
        self.0.query(now, principal, query)
    }

    fn tick(&self, now: Timestamp) -> Future<'_, Result<(), Failure>> {
        self.0.tick(now)
    }

    fn facts(&self) -> Future<'_, Result<Facts, Failure>> {
        self.0.facts()
    }

    fn unsupported(&self) -> &'static [&'static str] {
        self.0.unsupported()
    }

    fn tally(&self) -> &Tally {
        self.0.tally()
    }
}

/// The journal in a directory, asked as databases are.
#[derive(Debug)]
struct Directory {
    embedded: Mutex<Embedded>,
    tally: Tally,
}

impl Directory {
    fn decide(&self, now: Timestamp, requests: &[Request]) -> Vec<Result<Reply<Rooms>, Failure>> {
        let mut embedded = self.embedded.lock().unwrap();
        embedded.tick(now).unwrap();
        let decided = requests.iter().map(|request| {
            let key = request.key().map(|key| Key::parse(key.as_bytes()).unwrap());
            let command = request.command::<Rooms>().unwrap();
            if !key.is_some_and(|key| embedded.knows(now, &request.principal, key)) {
                judge(&embedded, now, request, &command)?;
            }
            let decided = embedded.execute::<Rooms>(
                now,
                Author::unknown(&request.principal),
                key,
                &command,
                None,
            );
            decided.map_err(|error| match error {
                ExecuteError::KeyReused { first } => Failure::KeyReused { first },
                other => panic!("not decided: {other:?}"),
            })
        });
        let decided = decided.collect();
        embedded.commit().unwrap();
        decided
    }
}

/// As a server does: who may name only some things names no other.
fn judge(
    embedded: &Embedded,
    now: Timestamp,
    request: &Request,
    command: &Command<'_>,
) -> Result<(), Failure> {
    let Some(reference) = command.entry() else {
        return Ok(());
    };
    let look_up = Query::LookUp { reference };
    let found = embedded.query::<Rooms>(now, &request.principal, &look_up);
    let named = match &found {
        Answer::Entry(entry) => Some((&entry.property, &entry.principal)),
        _ => None,
    };
    let judged = request.scope().judge(&request.principal, named);
    judged.map_err(|why| request.scope().refusal(why))
}

impl Backend<Rooms> for Directory {
    fn execute<'a>(
        &'a self,
        now: Timestamp,
        requests: &'a [Request],
    ) -> Future<'a, Vec<Result<Reply<Rooms>, Failure>>> {
        Box::pin(async move { self.decide(now, requests) })
    }

    fn query<'a>(
        &'a self,
        now: Timestamp,
        principal: &'a Principal,
        query: &'a Query,
    ) -> Future<'a, Answered<Rooms>> {
        Box::pin(async move {
            let embedded = self.embedded.lock().unwrap();
            Ok(embedded.query::<Rooms>(now, principal, query))
        })
    }

    fn tick(&self, now: Timestamp) -> Future<'_, Result<(), Failure>> {
        Box::pin(async move {
            self.decide(now, &[]);
            Ok(())
        })
    }

    fn facts(&self) -> Future<'_, Result<Facts, Failure>> {
        unreachable!("nobody asks in these tests")
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }
}
