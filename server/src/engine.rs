//! The back end as one turn of the loop uses it: one instant for all, one commit at the end.

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use turnstile_embedded::{CommitError, Embedded, ExecuteError, Reply, Services};
use turnstile_exchange::Exchange;
use turnstile_resp::{catalogue::Catalogue, rooms::Door};
use turnstile_rooms::{Answer, Event, IdKey, Query, Rooms, Totals};
use turnstile_types::{Hosts, Key, Machine, Position, Principal, Timestamp};

use crate::{
    counters::{Counted, Counters, ErrorCode},
    gate::ServerStatus,
};

/// The back end, the clock of the turn, and what is counted.
pub(crate) struct Engine {
    backend: Embedded,
    pub(crate) counters: Arc<Counters>,
    pub(crate) catalogue: Catalogue,
    /// Everybody, until callers have keys.
    pub(crate) principal: Principal,
    pub(crate) resp_port: u16,
    id_key: IdKey,
    verhoeff: bool,
    now: Timestamp,
    began: Timestamp,
    /// The position before the open group.
    committed: u64,
    read_only: bool,
    stopped: bool,
}

impl Engine {
    pub(crate) fn new(
        backend: Embedded,
        counters: Arc<Counters>,
        verhoeff: bool,
        resp_port: u16,
    ) -> Self {
        let now = wall_clock();
        Self {
            id_key: backend.id_key().clone(),
            committed: backend.position().0,
            backend,
            counters,
            catalogue: Catalogue::new(),
            principal: Principal::local(),
            resp_port,
            verhoeff,
            now,
            began: now,
            read_only: false,
            stopped: false,
        }
    }

    /// Reads the clock for this turn and lets happen what is due.
    pub(crate) fn begin_turn(&mut self) {
        self.now = wall_clock();
        let ticked = self.backend.tick(self.now);
        self.note(ticked.err());
    }

    pub(crate) const fn now(&self) -> Timestamp {
        self.now
    }

    /// How long the loop may sleep before something is due.
    pub(crate) fn until_due(&self) -> Option<Duration> {
        let due = self.backend.deadline()?;
        Some(Duration::from_millis(due.ms_since(wall_clock())))
    }

    pub(crate) const fn door(&self) -> Door<'_> {
        Door {
            id_key: &self.id_key,
            verhoeff: self.verhoeff,
        }
    }

    #[inline]
    pub(crate) fn execute<M: Counted>(
        &mut self,
        principal: &Principal,
        key: Option<Key<'_>>,
        command: &M::Command<'_>,
    ) -> Result<Reply<M>, ExecuteError>
    where
        Services: Hosts<M>,
    {
        let executed = self.backend.execute::<M>(self.now, principal, key, command);
        match &executed {
            Ok(reply) => {
                self.counters.command::<M>(command, reply);
                self.read_only = false;
            }
            Err(refused) => self.note(Some(*refused)),
        }
        executed
    }

    pub(crate) fn query<M: Counted>(&self, principal: &Principal, query: &M::Query) -> M::Answer
    where
        Services: Hosts<M>,
    {
        self.counters.query::<M>(query);
        self.backend.query::<M>(self.now, principal, query)
    }

    pub(crate) fn prefetch<M: Machine>(&self, command: &M::Command<'_>)
    where
        Services: Hosts<M>,
    {
        self.backend.prefetch::<M>(command);
    }

    /// Makes the next `bytes` of records one group.
    pub(crate) fn reserve(&mut self, bytes: usize) -> Result<(), ExecuteError> {
        let reserved = self.backend.reserve(bytes);
        self.note(reserved.err());
        reserved
    }

    fn note(&mut self, refused: Option<ExecuteError>) {
        match refused {
            None => {}
            Some(ExecuteError::Stopped) => self.stopped = true,
            Some(ExecuteError::ReadOnly) => {
                self.read_only = true;
                self.counters.error(ErrorCode::ReadOnly);
            }
            Some(ExecuteError::KeyReused { .. }) => self.counters.error(ErrorCode::KeyReused),
            Some(ExecuteError::TooLarge) => self.counters.error(ErrorCode::Invalid),
        }
    }

    /// Whether a write or sync has failed: nothing may be sent any more.
    pub(crate) const fn has_stopped(&self) -> bool {
        self.stopped
    }

    /// Makes the turn durable. Nothing may be sent before.
    pub(crate) fn commit(&mut self) -> Result<(), CommitError> {
        let assigned = self.backend.position().0;
        if assigned == self.committed {
            return self.backend.commit().map(drop);
        }
        let begun = Instant::now();
        self.backend.commit()?;
        let ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.counters.commit(assigned - self.committed, ns);
        self.committed = assigned;
        Ok(())
    }

    pub(crate) fn drain_rooms_events(&mut self, take: &mut dyn FnMut(Event)) {
        self.backend.drain_rooms_events(take);
    }

    pub(crate) fn drain_exchange_events(
        &mut self,
        take: &mut dyn FnMut(turnstile_exchange::Event),
    ) {
        self.backend.drain_exchange_events(take);
    }

    pub(crate) const fn position(&self) -> Position {
        self.backend.position()
    }

    pub(crate) fn totals(&self) -> Totals {
        match self
            .backend
            .query::<Rooms>(self.now, &self.principal, &Query::Totals)
        {
            Answer::Totals(totals) => totals,
            other => unreachable!("totals were asked for, not {other:?}"),
        }
    }

    pub(crate) fn exchange_totals(&self) -> turnstile_exchange::Totals {
        let query = turnstile_exchange::Query::Totals;
        match self
            .backend
            .query::<Exchange>(self.now, &self.principal, &query)
        {
            turnstile_exchange::Answer::Totals(totals) => totals,
            other => unreachable!("totals were asked for, not {other:?}"),
        }
    }

    pub(crate) fn status(&self) -> ServerStatus {
        ServerStatus {
            backend: self.backend.status(),
            totals: self.totals(),
            exchange: self.exchange_totals(),
            uptime: Duration::from_secs(self.now.ms_since(self.began) / 1_000),
            read_only: self.read_only,
        }
    }

    /// Commits, seals and closes.
    pub(crate) fn close(self) -> Result<(), CommitError> {
        self.backend.close()
    }
}

/// The time of day. Logged time never goes back: the sequencer sees to that.
fn wall_clock() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
