//! Connections for queries and for the tick.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;
use turnstile_contract::Tally;

use crate::{address::Address, fault::Fault, session::Session};

/// Connections at once for queries: a database has few cores, and each connection costs it memory.
const SESSIONS_MAX: usize = 8;

/// Tries of a query: a connection that was idle may have been lost unnoticed, then another is made.
const TRIES_MAX: u32 = 3;

/// Something that is done with a connection, and may be done again when that is lost.
pub(crate) trait SessionTask: Sync {
    type Done: Send;

    fn run(&self, session: &mut Session) -> impl Future<Output = Result<Self::Done, Fault>> + Send;
}

/// A bounded number of connections, those that are idle kept.
#[derive(Debug)]
pub(crate) struct Readers {
    address: Arc<Address>,
    tally: Arc<Tally>,
    permits: Semaphore,
    idle: Mutex<Vec<Session>>,
}

impl Readers {
    pub(crate) fn new(address: Arc<Address>, tally: Arc<Tally>) -> Self {
        Self {
            address,
            tally,
            permits: Semaphore::new(SESSIONS_MAX),
            idle: Mutex::default(),
        }
    }

    /// Does an errand, and again with a new connection when the first was lost.
    pub(crate) async fn run<E: SessionTask>(&self, errand: &E) -> Result<E::Done, Fault> {
        let permit = self.permits.acquire().await;
        let _permit = permit.expect("the permits are never closed");
        let mut attempt = 1;
        loop {
            let answered = self.run_once(errand).await;
            match answered {
                Err(Fault::Lost(_)) if attempt < TRIES_MAX => {
                    self.idle().clear();
                    self.tally.reconnects.add(1);
                }
                Err(Fault::Deadlock(_)) if attempt < TRIES_MAX => {
                    self.tally.deadlock_retries.add(1)
                }
                Err(Fault::Contended(_)) if attempt < TRIES_MAX => {
                    self.tally.serialization_retries.add(1);
                }
                answered => return answered,
            }
            attempt += 1;
        }
    }

    async fn run_once<E: SessionTask>(&self, errand: &E) -> Result<E::Done, Fault> {
        let idle = self.idle().pop();
        let mut session = match idle {
            Some(session) => session,
            None => {
                let session = Session::open(&self.address).await?;
                session.counting(&self.tally)
            }
        };
        self.tally.round_trips.add(1);
        let done = errand.run(&mut session).await?;
        self.idle().push(session);
        Ok(done)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Session>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
