//! The connection pool of a database; it reconnects lost connections.

use std::{
    ops::{Deref, DerefMut},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{Instant, sleep_until, timeout},
};
use turnstile_contract::{Tally, copy::PresenceRole};

use crate::{connection::Connection, place::Place, presence::attend, trouble::StatementFailure};

/// Connections at most: enough to keep a database busy, whose work is bound by its cores and its
/// disk, and few beside the hundred that it allows by default.
const CONNECTIONS_MAX: usize = 8;

/// How long somebody waits for a connection that others use.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// The pause after the first connection that could not be made; it doubles with each further one.
const PAUSE_MIN: Duration = Duration::from_millis(20);

/// The longest pause: a database that came back is found within a second.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Connections that nobody uses, and how many may be in use.
///
/// While the database cannot be reached, one of those who ask tries again after each pause; the
/// others are told at once, so that nobody waits for what will not come.
#[derive(Debug)]
pub(crate) struct ConnectionPool {
    place: Place,
    /// What is served through it.
    schema: &'static str,
    permits: Semaphore,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    idle: Vec<Connection>,
    /// While the database cannot be reached.
    absence: Option<Absence>,
    /// Whether a connection has been lost that is not made anew yet.
    lost: bool,
}

#[derive(Clone, Debug)]
struct Absence {
    reason: String,
    pause: Duration,
    /// When a connection is tried again.
    until: Instant,
    /// While one of those who ask tries: when it will know at the latest.
    tried_until: Option<Instant>,
}

/// A connection in use. It goes back when it is dropped, unless it is closed.
#[derive(Debug)]
pub(crate) struct Lease<'a> {
    pool: &'a ConnectionPool,
    connection: Option<Connection>,
    _permit: SemaphorePermit<'a>,
}

impl ConnectionPool {
    pub(crate) fn new(place: Place, schema: &'static str) -> Self {
        Self {
            place,
            schema,
            permits: Semaphore::new(CONNECTIONS_MAX),
            state: Mutex::new(State::default()),
        }
    }

    pub(crate) const fn place(&self) -> &Place {
        &self.place
    }

    /// A connection for as long as it is kept.
    pub(crate) async fn lease(&self, tally: &Tally) -> Result<Lease<'_>, StatementFailure> {
        let busy =
            |_timeout| StatementFailure::Unavailable("all connections are in use".to_owned());
        let permit = timeout(WAIT_MAX, self.permits.acquire())
            .await
            .map_err(busy)?;
        let permit = permit.expect("the semaphore is never closed");
        let connection = match self.idle()? {
            Some(connection) => connection,
            None => self.connect(tally).await?,
        };
        Ok(Lease {
            pool: self,
            connection: Some(connection),
            _permit: permit,
        })
    }

    /// Waits until a connection may be tried again.
    pub(crate) async fn wait_for_pause(&self) {
        let until = self.state().absence.as_ref().map(|absence| absence.until);
        // Where another tries already, it is past.
        let soonest = Instant::now() + PAUSE_MIN;
        sleep_until(until.map_or(soonest, |until| until.max(soonest))).await;
    }

    /// A connection that nobody uses; nothing when a new one must be made.
    fn idle(&self) -> Result<Option<Connection>, StatementFailure> {
        let mut state = self.state();
        let before = state.idle.len();
        state.idle.retain(|connection| !connection.is_closed());
        state.lost |= state.idle.len() < before;
        if let Some(connection) = state.idle.pop() {
            return Ok(Some(connection));
        }
        match &mut state.absence {
            Some(absence) if !absence.is_over(Instant::now()) => {
                Err(StatementFailure::Unavailable(absence.reason.clone()))
            }
            Some(absence) => {
                // We try; the others are told what we knew until we know more.
                absence.tried_until = Some(Instant::now() + self.place.opening_max());
                Ok(None)
            }
            None => Ok(None),
        }
    }

    async fn connect(&self, tally: &Tally) -> Result<Connection, StatementFailure> {
        let made = self.serve().await;
        let mut state = self.state();
        match &made {
            Ok(_) => {
                state.absence = None;
                if std::mem::take(&mut state.lost) {
                    tally.reconnects.add(1);
                }
            }
            Err(trouble) => {
                let reason = match trouble {
                    StatementFailure::Unavailable(reason) => reason.clone(),
                    other => format!("{other:?}"),
                };
                let last = state.absence.as_ref().map(|absence| absence.pause);
                let pause = last.map_or(PAUSE_MIN, |pause| PAUSE_MAX.min(pause * 2));
                let until = Instant::now() + pause;
                state.absence = Some(Absence {
                    reason,
                    pause,
                    until,
                    tried_until: None,
                });
            }
        }
        drop(state);
        made
    }

    /// A connection that nobody who copies lives beside.
    async fn serve(&self) -> Result<Connection, StatementFailure> {
        let mut connection = Connection::open(&self.place).await?;
        match attend(&mut connection, self.schema, PresenceRole::Serving).await {
            Ok(None) => Ok(connection),
            Ok(Some(others)) => Err(StatementFailure::Unavailable(others.to_string())),
            // Nothing of anybody was sent on it.
            Err(StatementFailure::Lost(reason)) => Err(StatementFailure::Unavailable(reason)),
            Err(trouble) => Err(trouble),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics half-way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Absence {
    /// Whether a connection may be tried.
    fn is_over(&self, now: Instant) -> bool {
        now >= self.until && self.tried_until.is_none_or(|until| now >= until)
    }
}

impl Lease<'_> {
    /// Ends the connection: what is on its way on it cannot be waited for. Those that nobody uses end too:
    /// whoever took one would wait as long for the same silent database.
    pub(crate) fn abandon(mut self) {
        if let Some(connection) = self.connection.take() {
            connection.abandon();
        }
        let mut state = self.pool.state();
        state.idle.clear();
        state.lost = true;
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else {
            return;
        };
        let mut state = self.pool.state();
        if connection.is_closed() {
            state.lost = true;
        } else {
            state.idle.push(connection);
        }
    }
}

impl Deref for Lease<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect("it is there until the end")
    }
}

impl DerefMut for Lease<'_> {
    fn deref_mut(&mut self) -> &mut Connection {
        self.connection.as_mut().expect("it is there until the end")
    }
}
