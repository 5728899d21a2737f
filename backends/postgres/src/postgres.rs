//! A database with a service in it.

use std::marker::PhantomData;

use turnstile_contract::{
    Answered, Backend, Facts, Failure, Future, NotOpened, Reply, Request, Tally, Unready,
};
use turnstile_rooms::{IdKey, Rooms};
use turnstile_types::{Principal, Timestamp};

use crate::{
    connection::Connection,
    kept::DatabaseMachine,
    migrations::{migrate, newest},
    place::Place,
    pool::ConnectionPool,
    settling::{RepeatableTask, run, settle},
    trouble::StatementFailure,
};

/// Commands in one transaction at most: by then the sync weighs nothing beside them, and their
/// locks fit the database's table of locks several times over.
const COMMANDS_PER_TRANSACTION_MAX: usize = 128;

/// How often one tick does what is due, a page at a time: the rest waits for the next.
const PAGES_PER_TICK_MAX: u32 = 20;

/// A service whose state lies in a PostgreSQL database. Any number of servers may share it.
#[derive(Debug)]
pub struct Postgres<M> {
    pool: ConnectionPool,
    tally: Tally,
    secret: Secret,
    service: PhantomData<fn() -> M>,
}

struct Secret([u8; 16]);

#[expect(private_bounds, reason = "the services are those of this crate")]
impl<M: DatabaseMachine> Postgres<M> {
    /// Opens a database, `postgres://user:password@host:port/database`, and makes or renews the
    /// tables of the service there.
    ///
    /// # Errors
    /// The address is none, the database cannot be reached, or its tables are not for us.
    pub async fn open(url: &str) -> Result<Self, NotOpened> {
        let place = Place::parse(url).map_err(|invalid| Unready::from(invalid).at(""))?;
        let pool = ConnectionPool::new(place, M::SCHEMA);
        let tally = Tally::default();
        let secret = prepare::<M>(&pool, &tally).await;
        let secret = secret.map_err(|unready| unready.at(&pool.place().to_string()))?;
        Ok(Self {
            pool,
            tally,
            secret,
            service: PhantomData,
        })
    }
}

impl Postgres<Rooms> {
    /// The secret under which all servers on this database seal id numbers.
    #[must_use]
    pub const fn id_key(&self) -> IdKey {
        IdKey::new(self.secret.0)
    }
}

async fn prepare<M: DatabaseMachine>(
    pool: &ConnectionPool,
    tally: &Tally,
) -> Result<Secret, Unready> {
    let mut lease = pool.lease(tally).await?;
    migrate(&mut lease, M::SCHEMA, M::MIGRATIONS).await?;
    let row = lease
        .first_row("SELECT id_key FROM turnstile.secret", &[])
        .await?;
    let secret: &[u8] = row.try_get(0).map_err(StatementFailure::from)?;
    let secret = <[u8; 16]>::try_from(secret);
    let secret =
        secret.map_err(|_length| StatementFailure::Broken("the secret has no 16 bytes".to_owned()));
    Ok(Secret(secret?))
}

impl<M: DatabaseMachine> Backend<M> for Postgres<M> {
    fn execute<'a>(
        &'a self,
        now: Timestamp,
        requests: &'a [Request],
    ) -> Future<'a, Vec<Result<Reply<M>, Failure>>> {
        Box::pin(async move {
            let mut decided = Vec::with_capacity(requests.len());
            for some in requests.chunks(COMMANDS_PER_TRANSACTION_MAX) {
                let some: Vec<&Request> = some.iter().collect();
                decided.extend(settle::<M>((&self.pool, &self.tally), now, &some).await);
            }
            decided
        })
    }

    fn query<'a>(
        &'a self,
        now: Timestamp,
        principal: &'a Principal,
        query: &'a M::Query,
    ) -> Future<'a, Answered<M>> {
        Box::pin(async move {
            let question = QueryErrand::<M> {
                now,
                principal,
                query,
            };
            run((&self.pool, &self.tally), &question).await
        })
    }

    fn tick(&self, now: Timestamp) -> Future<'_, Result<(), Failure>> {
        Box::pin(async move {
            for _ in 0..PAGES_PER_TICK_MAX {
                let chore = Chore::<M> {
                    now,
                    service: PhantomData,
                };
                if !run((&self.pool, &self.tally), &chore).await? {
                    break;
                }
            }
            Ok(())
        })
    }

    fn facts(&self) -> Future<'_, Result<Facts, Failure>> {
        Box::pin(async move {
            let place = self.pool.place().to_string();
            let schema = M::SCHEMA;
            run((&self.pool, &self.tally), &Portrait { place, schema }).await
        })
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }
}

/// A query on its way.
struct QueryErrand<'a, M: DatabaseMachine> {
    now: Timestamp,
    principal: &'a Principal,
    query: &'a M::Query,
}

impl<M: DatabaseMachine> RepeatableTask for QueryErrand<'_, M> {
    type Outcome = M::Answer;

    fn run<'a>(
        &'a self,
        connection: &'a mut Connection,
    ) -> Future<'a, Result<M::Answer, StatementFailure>> {
        M::answer(connection, self.now, self.principal, self.query)
    }
}

/// Some of what is due.
struct Chore<M> {
    now: Timestamp,
    service: PhantomData<fn() -> M>,
}

impl<M: DatabaseMachine> RepeatableTask for Chore<M> {
    type Outcome = bool;

    fn run<'a>(
        &'a self,
        connection: &'a mut Connection,
    ) -> Future<'a, Result<bool, StatementFailure>> {
        M::tidy(connection, self.now)
    }
}

/// What the database says of itself.
struct Portrait {
    place: String,
    schema: &'static str,
}

/// The settings on which it depends that a commit survives.
const DURABILITY: &str = "
    SELECT name, setting FROM pg_settings
    WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes', 'wal_sync_method',
                   'data_checksums', 'commit_delay')
    ORDER BY name";

impl RepeatableTask for Portrait {
    type Outcome = Facts;

    fn run<'a>(
        &'a self,
        connection: &'a mut Connection,
    ) -> Future<'a, Result<Facts, StatementFailure>> {
        Box::pin(async move {
            let version = connection
                .row("SHOW server_version", &[])
                .await?
                .try_get(0)?;
            let settings = connection.rows(DURABILITY, &[]).await?;
            let schema = newest(connection, self.schema).await?;
            Ok(Facts {
                product: "PostgreSQL".to_owned(),
                version,
                place: self.place.clone(),
                durability: settings
                    .iter()
                    .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
                    .collect::<Result<_, StatementFailure>>()?,
                schema,
            })
        })
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}
