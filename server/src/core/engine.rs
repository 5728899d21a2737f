//! The back end as one turn of the loop uses it: one instant for all, and at the end the group is
//! committed or sent on its way.

mod admission;
mod away;
mod due;
mod fullness;
mod lines;
mod loading;
mod noting;
mod partitioned;
mod sharing;
mod spending;
mod status;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use turnstile_embedded::{CommitError, Embedded, ExecuteError, LogThread, Reply, Services};
use turnstile_resp::{catalogue::Catalogue, rooms::Door};
use turnstile_rooms::IdKey;
use turnstile_types::{Hosts, Key, Position, Timestamp};

use crate::{
    core::{
        caller::Caller,
        clock::{self, DecisionClock},
        cluster::{Cluster, other_nodes::OtherNodes},
        fault_points::FaultPoints,
        gate::Undecided,
        loading::Loading,
        news::News,
        pace::{GroupJourney, OverlapPolicy},
        partitions::Partitions,
        post::Switchboard,
        quotas::QuotaMeters,
        remote::Remotes,
        request_log::RequestNotes,
        security_log::SecurityLog,
        slow_log::SlowLog,
        time_slice::TimeSlice,
        transport::{CertificateExpiries, DoorTransport},
        waiting_room::WaitingRoom,
    },
    counters::{Counters, ErrorCode, Stopwatch},
    limits::{Limits, SLICE, SOFT_AGE},
    registry::{Registered, SomeServices},
};

use self::fullness::Fullness;

pub(crate) use self::{admission::LoginRefused, loading::RecoveredEngine};

/// What to do with the open group at the end of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Make it durable and wait for that.
    Commit,
    /// Have it carried to the disk.
    Submit,
    /// Let more requests join it.
    Grow,
    /// It promises nothing: send what it owes, and let more requests join it.
    Release,
}

macro_rules! gather_news {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        /// Adds what has happened since the last call to what is to be told, as far as somebody follows
        /// it. Events of games are noted further only when somebody does, since [somebody
        /// did](Self::heed_games).
        pub(crate) fn gather_news(&mut self, news: &mut News, followed: SomeServices) {
            $(
                let wanted = followed.has::<turnstile_services::$name::$machine>();
                let happened = &mut news.$name;
                let (backend, events) = (&mut self.backend, &mut happened.events);
                let dropped = turnstile_services::$name::$machine::take_events(backend, wanted, events);
                happened.dropped = dropped.or(happened.dropped);
            )+
        }
    };
}

/// The back end, the clock of the turn, and what is counted.
pub(crate) struct Engine {
    backend: Embedded,
    pub(crate) counters: Arc<Counters>,
    pub(crate) stopwatch: Stopwatch,
    pub(crate) catalogue: Catalogue,
    /// Who asks at the moment; the server itself, unless a client is served.
    pub(crate) caller: Caller,
    pub(crate) resp_port: u16,
    pub(crate) transport: DoorTransport,
    pub(crate) expiries: Arc<CertificateExpiries>,
    /// Who is on the lines to other processes of travel.
    pub(crate) switchboard: Switchboard,
    pub(crate) fault_points: FaultPoints,
    pub(crate) security: Arc<SecurityLog>,
    pub(crate) meters: Arc<QuotaMeters>,
    /// The services that databases decide.
    pub(crate) remotes: Remotes,
    /// The log that it shares with other servers, where it does.
    pub(crate) cluster: Option<Cluster>,
    /// The other partitions of its cluster, where there are any and this is the first.
    pub(crate) partitions: Option<Partitions>,
    /// The other nodes of its cluster, where it is one of a cluster.
    pub(crate) nodes: Option<OtherNodes>,
    pub(crate) id_key: IdKey,
    pub(crate) slow_log: SlowLog,
    /// What is to be said about requests, where anybody wants to hear of them.
    pub(crate) notes: RequestNotes,
    /// Nothing where bookings need not wait for their turns.
    pub(crate) waiting_room: Option<WaitingRoom>,
    pub(crate) time_slice: TimeSlice,
    verhoeff: bool,
    clock: DecisionClock,
    now: Timestamp,
    began: Timestamp,
    /// The position at the end of the last group that was handed over.
    handed_over: u64,
    /// Groups that the sequencer had sent ahead by then.
    sent_ahead: u64,
    journey: GroupJourney,
    /// Nothing where no thread carries groups.
    pace: Option<OverlapPolicy>,
    /// When the open group's first answers left without it.
    soft_since: Option<Instant>,
    /// When this turn began to work on the open group.
    since: Instant,
    /// How long earlier turns worked on it.
    work: Duration,
    /// What is due is not tried again before this; nothing but on a full disk.
    rest: Duration,
    fullness: Fullness,
    stopped: bool,
    /// While the journal is recovered; the back end is an empty one then, and MUST NOT be asked.
    loading: Option<Arc<Loading>>,
}

impl Engine {
    pub(crate) fn new(
        backend: Embedded,
        counters: Arc<Counters>,
        verhoeff: bool,
        resp_port: u16,
    ) -> Self {
        let mut clock = DecisionClock::start(backend.status().time, clock::system);
        let now = clock.read();
        Self {
            id_key: backend.id_key().clone(),
            handed_over: backend.sequencer().state().position().0,
            sent_ahead: 0,
            journey: GroupJourney::default(),
            pace: (backend.status().log_thread != LogThread::None).then(OverlapPolicy::default),
            soft_since: None,
            since: Instant::now(),
            work: Duration::ZERO,
            backend,
            counters,
            stopwatch: Stopwatch::new(),
            catalogue: Catalogue::new(),
            caller: Caller::server(),
            resp_port,
            transport: DoorTransport::default(),
            expiries: Arc::default(),
            switchboard: Switchboard::default(),
            fault_points: FaultPoints::new(false, None),
            security: Arc::new(SecurityLog::new()),
            meters: Arc::default(),
            remotes: Remotes::default(),
            cluster: None,
            partitions: None,
            nodes: None,
            slow_log: SlowLog::new(Limits::STANDARD.slow_command),
            notes: RequestNotes::new(),
            waiting_room: None,
            time_slice: TimeSlice::of(SLICE),
            verhoeff,
            clock,
            now,
            began: now,
            rest: Duration::ZERO,
            fullness: Fullness::default(),
            stopped: false,
            loading: None,
        }
    }

    /// Takes the limits over that hold until the end.
    pub(crate) fn begin_within(&mut self, limits: &Limits) {
        self.slow_log = SlowLog::new(limits.slow_command);
        self.waiting_room = WaitingRoom::within(limits);
        self.heed_limits(limits);
    }

    /// Takes those over that may change.
    pub(crate) fn heed_limits(&mut self, limits: &Limits) {
        let connections = u64::try_from(limits.connections).unwrap_or(u64::MAX);
        self.counters.connections_max.set(connections);
        self.slow_log.set_threshold(limits.slow_command);
    }

    pub(crate) const fn now(&self) -> Timestamp {
        self.now
    }

    pub(crate) const fn door(&self) -> Door<'_> {
        Door {
            id_key: &self.id_key,
            verhoeff: self.verhoeff,
        }
    }

    /// Has a command of the caller decided, whose bytes may be known, and counts what it came to.
    ///
    /// # Errors
    /// The caller may not ask for it, or the journal did not take it.
    #[inline]
    pub(crate) fn execute<M: Registered>(
        &mut self,
        key: Option<Key<'_>>,
        command: &M::Command<'_>,
        bytes: Option<&[u8]>,
    ) -> Result<Reply<M>, Undecided>
    where
        Services: Hosts<M>,
    {
        assert!(
            self.loading.is_none(),
            "nothing is decided before the recovery"
        );
        self.admit_execution::<M>(key, command)?;
        let (backend, caller) = (&mut self.backend, &self.caller);
        let executed =
            caller.as_author(|author| backend.execute::<M>(self.now, author, key, command, bytes));
        self.count::<M>(command, executed)
            .map_err(Undecided::Journal)
    }

    /// Counts what a command came to.
    #[inline]
    fn count<M: Registered>(
        &mut self,
        command: &M::Command<'_>,
        executed: Result<Reply<M>, ExecuteError>,
    ) -> Result<Reply<M>, ExecuteError> {
        match &executed {
            Ok(reply) => {
                self.counters.command::<M>(command, reply);
                let operation = M::command_place(command);
                if self.notes.is_on {
                    let outcome = (M::outcome_place(&reply.outcome), reply.position);
                    self.note_decided::<M>(operation, Some(outcome));
                }
                match M::late_ticket(&reply.outcome).filter(|_| !reply.replayed) {
                    None => self.stopwatch.count::<M>(operation),
                    Some(ticket) => self.stopwatch.postpone::<M>(operation, ticket),
                }
                self.fullness.end();
                if M::commits(&reply.outcome) && self.lines().is_empty() {
                    self.fault_points.committed_here();
                }
            }
            Err(refused) => self.note(Some(*refused)),
        }
        executed
    }

    /// Answers a query of the caller.
    ///
    /// # Errors
    /// The caller may not ask it.
    pub(crate) fn query<M: Registered>(&mut self, query: &M::Query) -> Result<M::Answer, Undecided>
    where
        Services: Hosts<M>,
    {
        assert!(
            self.loading.is_none(),
            "nothing is known before the recovery"
        );
        self.admit_query::<M>(query)?;
        self.count_query::<M>(query);
        let (now, principal) = (self.now, &self.caller.principal);
        Ok(self.backend.query::<M>(now, principal, query))
    }

    /// Counts a query that its door answers from the state.
    pub(crate) fn count_query<M: Registered>(&mut self, query: &M::Query) {
        self.counters.query::<M>(query);
        self.time_slice.note_query();
        let operation = M::query_place(query);
        if self.notes.is_on {
            self.note_decided::<M>(operation, None);
        }
        self.stopwatch.count::<M>(operation);
    }

    /// The late answer under this ticket leaves now.
    pub(crate) fn end_late(&mut self, ticket: Position) {
        self.stopwatch.end_late(ticket, &self.counters.durations);
    }

    /// The services and their journal, to be read.
    pub(crate) const fn backend(&self) -> &Embedded {
        &self.backend
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
                self.fullness
                    .begin(self.backend.sequencer().log().shortage());
                self.counters.error(ErrorCode::ReadOnly);
            }
            Some(ExecuteError::KeysFull { .. }) => self.counters.error(ErrorCode::Busy),
            Some(ExecuteError::KeyReused { .. }) => self.counters.error(ErrorCode::KeyReused),
            Some(ExecuteError::TooLarge) => self.counters.error(ErrorCode::Invalid),
        }
    }

    /// Whether a write or sync has failed: nothing may be sent any more.
    pub(crate) const fn has_stopped(&self) -> bool {
        self.stopped
    }

    pub(crate) fn end_turn(&mut self) {
        self.work += self.since.elapsed();
    }

    /// Makes the open group durable. Nothing of it may be sent before, but what was released.
    pub(crate) fn commit(&mut self) -> Result<(), CommitError> {
        let has_group = self.is_open();
        let records = self.close_group();
        if !has_group {
            self.counters.records.add(records);
            self.work = Duration::ZERO;
            return self.backend.commit().map(drop);
        }
        let (begun, work) = self.take_work();
        self.backend.commit()?;
        self.since = Instant::now();
        let took = self.since.duration_since(begun);
        self.note_durable(records, work, took);
        self.counters.groups_inline.add(1);
        Ok(())
    }

    /// Has the open group carried to the disk. Nothing of it may be sent before it has landed.
    ///
    /// # Panics
    /// When there is none: nothing would ever land.
    pub(crate) fn submit(&mut self) -> Result<(), CommitError> {
        assert!(self.is_open(), "only an open group is carried");
        self.journey.records = self.close_group();
        self.backend.submit()?;
        (self.since, self.journey.work) = self.take_work();
        self.counters.groups_overlapped.add(1);
        Ok(())
    }

    /// As [`has_landed`](Self::has_landed), for the caller who will now send its answers.
    pub(crate) fn take_landed(&mut self) -> Result<bool, CommitError> {
        let has_landed = self.has_landed()?;
        self.journey.has_landed = false;
        Ok(has_landed)
    }

    /// Waits until the group under way has landed, or failed.
    pub(crate) fn await_landing(&mut self) {
        self.backend.await_settled();
    }

    pub(crate) const fn is_under_way(&self) -> bool {
        self.backend.sequencer().is_under_way()
    }

    /// Whether the group under way has landed, and its answers are not yet sent.
    pub(crate) fn has_landed(&mut self) -> Result<bool, CommitError> {
        if let Some(settled) = self.backend.settle()? {
            self.note_durable(self.journey.records, self.journey.work, settled.took);
            self.journey.has_landed = true;
        }
        Ok(self.journey.has_landed)
    }

    /// What becomes of the open group; `is_calm` says that nobody is about to join it, `is_crowded`
    /// that nobody may, and `grows` that another look is worth its price.
    pub(crate) fn step(&self, is_calm: bool, is_crowded: bool, grows: bool) -> Step {
        let overlaps = self.pace.as_ref().is_some_and(OverlapPolicy::overlaps)
            && !self.fault_points.is_armed();
        // Where nothing is synced, no thread carries groups, and a larger one spares nothing.
        let syncs = self.pace.is_some();
        let is_aged = self.rest_of_group() == Some(Duration::ZERO);
        if !self.is_open() {
            Step::Commit
        } else if !self.backend.sequencer().has_promised() && !is_aged && !is_crowded {
            Step::Release
        } else if !overlaps && syncs && grows && !is_crowded {
            Step::Grow
        } else if !overlaps {
            Step::Commit
        } else if is_calm || is_crowded {
            Step::Submit
        } else {
            Step::Grow
        }
    }

    /// What the open group owes is being sent without it: the loop's work on that is over.
    pub(crate) fn release(&mut self) {
        self.soft_since.get_or_insert(self.since);
        self.work = Duration::ZERO;
        self.since = Instant::now();
    }

    /// How long the open group may stay open; nothing when there is none.
    pub(crate) fn until_commit(&self) -> Option<Duration> {
        let rests = !self.backend.sequencer().has_promised();
        let rest = || self.rest_of_group().filter(|_| rests);
        self.is_open().then(|| rest().unwrap_or_default())
    }

    /// How much is left of the time of a group whose first answers have left.
    fn rest_of_group(&self) -> Option<Duration> {
        let since = self.soft_since?;
        Some(SOFT_AGE.saturating_sub(since.elapsed()))
    }

    /// Has a test decide what time it is, from the next turn on.
    #[cfg(test)]
    pub(crate) fn set_clock(&mut self, source: fn() -> clock::Reading) {
        self.clock = DecisionClock::start(self.backend.status().time, source);
    }

    /// Decides for a test whether groups are carried beside the loop.
    #[cfg(test)]
    pub(crate) fn set_pace(&mut self, pace: OverlapPolicy) {
        self.pace = Some(pace);
    }

    /// Whether the open group has records. The log is asked, not the position: a group that was full
    /// has gone ahead, and a full disk may have refused whatever came after it.
    pub(crate) const fn is_open(&self) -> bool {
        self.backend.sequencer().is_open()
    }

    /// How many records the open group has, with those that went ahead of it; the next group counts
    /// from here.
    fn close_group(&mut self) -> u64 {
        let sent_ahead = self.backend.sequencer().sent_ahead();
        let new = sent_ahead - std::mem::replace(&mut self.sent_ahead, sent_ahead);
        self.counters.groups.add(new);
        self.counters.groups_inline.add(new);
        self.soft_since = None;
        let assigned = self.backend.sequencer().state().position().0;
        assigned - std::mem::replace(&mut self.handed_over, assigned)
    }

    /// The time, and how long the loop has worked on the open group until now.
    fn take_work(&mut self) -> (Instant, Duration) {
        let now = Instant::now();
        (
            now,
            std::mem::take(&mut self.work) + now.duration_since(self.since),
        )
    }

    fn note_durable(&mut self, records: u64, work: Duration, took: Duration) {
        if let Some(pace) = &mut self.pace {
            pace.note(work, took);
        }
        let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.counters.commit(records, ns);
    }

    /// From now on somebody wants to know what happens in games. It MUST be called before anything is
    /// decided that they are to hear of: what nobody wants is not even noted.
    pub(crate) fn heed_games(&mut self) {
        self.backend.want_games_events(true);
    }

    turnstile_services::services!(gather_news);

    /// Commits, seals and closes.
    pub(crate) fn close(self) -> Result<(), CommitError> {
        self.backend.close()
    }
}
