//! The machines on a journal in a directory.

use turnstile_games::Games;
use turnstile_journal::{CommitError, Durability, Log, LogThread, MemoryLog, Trouble};
use turnstile_rooms::IdKey;
use turnstile_sequencer::{ExecuteError, KEY_BYTES_MAX, KeyFigures, Sequencer, Settled, State};
use turnstile_types::{Author, Hosts, Key, Machine, Machines, Position, Principal, Timestamp};

use crate::{
    BackendOpenError, Hosted, Recovery, Services, id_key,
    server_log::ServerLog,
    services::Recents,
    slowed::Slowed,
    snapshots::Snapshots,
    start::{Start, UnsoundSettings},
};

/// How a back end is kept.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub durability: Durability,
    /// The length of a journal segment in bytes; see [its options](turnstile_journal::Options).
    pub segment_bytes: u32,
    /// A snapshot is made after each so many records; 0 for never.
    pub snapshot_records: u64,
    /// Opens a directory that has lost acknowledged records after exactly this position, and gives
    /// them up; `None` refuses every loss.
    pub accept_loss: Option<Position>,
    /// Bytes that idempotency keys may take; refusals are not counted, which take
    /// [`REFUSED_BYTES_MAX`](turnstile_sequencer::REFUSED_BYTES_MAX) at most. While a snapshot is made,
    /// they are in memory twice.
    pub key_bytes: u64,
    /// For measurements: [`Slowed::NOT`] anywhere else.
    pub slowed: Slowed,
    /// For checks: who orders what goes wrong with the disk; `None` anywhere else. Heeded with
    /// [`Durability::Sync`].
    pub trouble: Option<&'static Trouble>,
}

impl Options {
    /// What a server uses when nothing else is said: segments of 64 MiB, and a snapshot after each
    /// four million records, so that a restart replays some seconds' worth of them at the most.
    #[must_use]
    pub const fn with(durability: Durability) -> Self {
        Self {
            durability,
            segment_bytes: 64 << 20,
            snapshot_records: 4_000_000,
            accept_loss: None,
            key_bytes: KEY_BYTES_MAX,
            slowed: Slowed::NOT,
            trouble: None,
        }
    }
}

/// What became of a command of a machine.
pub type Reply<M> = turnstile_sequencer::Reply<<M as Machine>::Outcome>;

/// Figures about a back end that runs.
#[derive(Clone, Copy, Debug)]
pub struct Status {
    pub durability: Durability,
    /// The last position assigned.
    pub position: Position,
    /// The last position that no crash gives to another record, once this is told; see
    /// [`firm_position`](turnstile_sequencer::Sequencer::firm_position).
    pub firm: Position,
    /// The logged time of the last group.
    pub time: Timestamp,
    /// Groups committed since the start.
    pub groups: u64,
    /// What is kept under idempotency keys.
    pub keys: KeyFigures,
    /// Bytes that they may take.
    pub key_bytes_max: u64,
    /// The position of the newest snapshot; zero when there is none.
    pub snapshot: Position,
    /// Who makes submitted groups durable.
    pub log_thread: LogThread,
}

/// The machines, their sequencer, and the journal that makes them durable.
///
/// It belongs to one thread, the loop, and is used in turns: `tick`, any number of `execute` and
/// `query`, one `commit`. No answer may leave before the commit that follows it; or, after `submit`
/// instead of `commit`, before `settle` has said that its group is durable; or, with neither, while
/// something `has_promised`.
#[derive(Debug)]
pub struct Embedded {
    pub(crate) sequencer: Sequencer<Services, ServerLog>,
    pub(crate) snapshots: Option<Snapshots>,
    pub(crate) id_key: IdKey,
    pub(crate) recents: Recents,
    pub(crate) start: Start,
    /// Groups committed or settled; those sent ahead are not among them.
    pub(crate) groups: u64,
    pub(crate) slowed: Slowed,
}

impl Embedded {
    pub(crate) fn nowhere(options: Options) -> Result<(Self, Recovery), BackendOpenError> {
        let mut sequencer = Sequencer::new(State::empty(), ServerLog::Nowhere(MemoryLog::new()));
        sequencer.limit_keys(options.key_bytes);
        let embedded = Self {
            sequencer,
            snapshots: None,
            id_key: id_key::passing().map_err(BackendOpenError::IdKey)?,
            recents: Recents::after(Position(0)),
            start: Start::default(),
            groups: 0,
            slowed: options.slowed,
        };
        Ok((embedded, Recovery::default()))
    }

    /// Has travel played by these settings from the next [`tick`](Self::tick) on; what it was
    /// configured to be before is over. To be called before that, or not at all.
    ///
    /// # Errors
    /// Travel would refuse them; nothing has changed.
    pub fn configure_travel(
        &mut self,
        settings: turnstile_travel::Settings,
    ) -> Result<(), UnsoundSettings> {
        let travel = self.sequencer.state().machines().travel();
        self.start.configure_travel(travel, settings)
    }

    /// The same for games. An arena without scores needs a number that no other arena has: it keeps
    /// the one that its directory knows, or that is in `settings`; if that is zero it draws one by lot.
    ///
    /// # Errors
    /// As [`configure_travel`](Self::configure_travel).
    pub fn configure_games(
        &mut self,
        settings: turnstile_games::Settings,
    ) -> Result<(), UnsoundSettings> {
        let games = self.sequencer.state().machines().games();
        let arena = match (settings.roles.scores, games.settings().arena) {
            (true, _) => 0,
            (false, 0) if settings.arena == 0 => lot(),
            (false, 0) => settings.arena,
            (false, known) => known,
        };
        let settings = turnstile_games::Settings { arena, ..settings };
        self.start.configure_games(games, settings)
    }

    /// Decides one command in the open group; if its `bytes` are known, as the machine encodes it, the
    /// record holds these. Its answer MUST NOT leave before
    /// [`commit`](Self::commit) has returned `Ok`, or while something
    /// [is promised](Sequencer::has_promised).
    ///
    /// A command for travel or games is not taken before that service knows that it has started
    /// anew, by a [`tick`](Self::tick): until then the disk is full.
    ///
    /// # Errors
    /// The command was not taken; nothing of it happened.
    pub fn execute<M: Machine>(
        &mut self,
        now: Timestamp,
        author: Author<'_>,
        key: Option<Key<'_>>,
        command: &M::Command<'_>,
        bytes: Option<&[u8]>,
    ) -> Result<Reply<M>, ExecuteError>
    where
        Services: Hosts<M>,
    {
        if !self.start.is_over_for(M::SERVICE) {
            return Err(ExecuteError::ReadOnly);
        }
        self.slowed.decide();
        let sequencer = &mut self.sequencer;
        let executed = sequencer.execute::<M>(now, author, key, command, bytes);
        executed.inspect_err(|refused| self.relieve(*refused))
    }

    /// Makes sure that the next `bytes` of records become durable together or not at all.
    ///
    /// # Errors
    /// There is no room for them, or the group before them could not be committed.
    pub fn reserve(&mut self, bytes: usize) -> Result<(), ExecuteError> {
        let reserved = self.sequencer.reserve(bytes);
        reserved.inspect_err(|refused| self.relieve(*refused))
    }

    /// Answers from the state as it is, the open group included: this answer, too, MUST NOT leave
    /// before [`commit`](Self::commit) has returned `Ok`, or while something
    /// [is promised](Sequencer::has_promised).
    #[must_use]
    pub fn query<M: Machine>(
        &self,
        now: Timestamp,
        principal: &Principal,
        query: &M::Query,
    ) -> M::Answer
    where
        Services: Hosts<M>,
    {
        let state = self.sequencer.state();
        let machine: &M = state.machines().machine();
        machine.query(now.max(state.time()), principal, query)
    }

    /// Who orders the commands: what it says of the open group and of the one under way.
    #[must_use]
    pub const fn sequencer(&self) -> &Sequencer<Services, ServerLog> {
        &self.sequencer
    }

    /// A service as it is, the open group included.
    #[must_use]
    pub fn machine<M: Hosted>(&self) -> &M {
        M::of(self.sequencer.state().machines())
    }

    /// Whether travel and games have been told of this start, by a [`tick`](Self::tick): before, what
    /// they have for other processes is of the past.
    #[must_use]
    pub fn has_started(&self) -> bool {
        self.start.is_over()
    }

    /// Starts to load what a command that waits will touch.
    pub fn prefetch<M: Machine>(&self, command: &M::Command<'_>)
    where
        Services: Hosts<M>,
    {
        let machine: &M = self.sequencer.state().machines().machine();
        machine.prefetch(command);
    }

    /// Lets what is due happen, in a logged tick; after a start, travel and games are first told of
    /// it. To be called at the start of every turn.
    ///
    /// # Errors
    /// The tick was not taken: what is due stays due.
    pub fn tick(&mut self, now: Timestamp) -> Result<(), ExecuteError> {
        let told = self.start.tell(&mut self.sequencer, now);
        let ticked = told.and_then(|()| self.sequencer.tick(now));
        ticked.inspect_err(|refused| self.relieve(*refused))
    }

    /// When [`tick`](Self::tick) will have something to do.
    #[must_use]
    pub fn deadline(&self) -> Option<Timestamp> {
        let state = self.sequencer.state();
        let untold = (!self.start.is_over()).then(|| state.time());
        untold.or_else(|| state.machines().next_deadline())
    }

    /// Makes the open group durable: one write and one sync, or nothing when it is empty.
    ///
    /// # Errors
    /// Final: send nothing of this turn, and stop the process.
    pub fn commit(&mut self) -> Result<Position, CommitError> {
        let has_group = self.sequencer.is_open() || self.sequencer.is_under_way();
        let position = self.sequencer.commit()?;
        self.note_durable(u64::from(has_group), position);
        Ok(position)
    }

    /// Sends the open group on its way to the disk, in place of [`commit`](Self::commit).
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    ///
    /// # Panics
    /// When a group is under way.
    pub fn submit(&mut self) -> Result<(), CommitError> {
        self.sequencer.submit()
    }

    /// The group that was under way, once it is durable: its answers may leave. Never waits.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub fn settle(&mut self) -> Result<Option<Settled>, CommitError> {
        let settled = self.sequencer.settle()?;
        if let Some(settled) = settled {
            self.note_durable(1, settled.position);
        }
        Ok(settled)
    }

    /// Waits until [`settle`](Self::settle) has news of the group under way.
    pub fn await_settled(&mut self) {
        self.sequencer.await_settled();
    }

    pub(crate) fn note_durable(&mut self, groups: u64, position: Position) {
        self.groups += groups;
        if let Some(snapshots) = &mut self.snapshots {
            let is_short = self.sequencer.log().shortage().is_some();
            snapshots.note(position, is_short);
        }
    }

    /// After a refusal: has snapshots free space if the disk has none, once all is durable.
    fn relieve(&mut self, refused: ExecuteError) {
        let is_durable = !self.sequencer.is_open() && !self.sequencer.is_under_way();
        let is_short = self.sequencer.log().shortage().is_some();
        if let Some(snapshots) = &mut self.snapshots
            && refused == ExecuteError::ReadOnly
            && is_short
            && is_durable
        {
            snapshots.relieve(self.sequencer.state().position());
        }
    }

    /// Hands over what happened to a service in the groups committed since the last call, oldest
    /// first; after a start, first the latest of what was replayed. They come behind what stands in
    /// `events`.
    pub fn move_events<M: Hosted>(&mut self, events: &mut Vec<M::Event>) {
        M::recent(&mut self.recents).drain(&mut |event| events.push(event));
        self.machine_mut::<M>().move_events(events);
    }

    /// Hands over the same one by one.
    pub fn drain_events<M: Hosted>(&mut self, take: &mut dyn FnMut(M::Event)) {
        M::recent(&mut self.recents).drain(&mut *take);
        self.machine_mut::<M>().drain_events(take);
    }

    /// Hands over what happened in games, as far as it [was wanted](Self::want_games_events), and the
    /// last position of what was not.
    pub fn drain_games_events(
        &mut self,
        take: &mut dyn FnMut(turnstile_games::Event),
    ) -> Option<Position> {
        self.drain_events::<Games>(take);
        self.machine_mut::<Games>().take_dropped_events()
    }

    /// Whether anybody wants to know what happens in games from now on; at first somebody does.
    pub fn want_games_events(&mut self, wanted: bool) {
        self.machine_mut::<Games>().want_events(wanted);
    }

    fn machine_mut<M: Hosted>(&mut self) -> &mut M {
        M::of_mut(self.sequencer.state_mut().machines_mut())
    }

    /// The key that seals id numbers at the doors.
    #[must_use]
    pub const fn id_key(&self) -> &IdKey {
        &self.id_key
    }

    /// Figures for whoever watches.
    #[must_use]
    pub fn status(&self) -> Status {
        let state = self.sequencer.state();
        Status {
            durability: self.sequencer.log().durability(),
            position: state.position(),
            firm: self.sequencer.firm_position(),
            time: state.time(),
            groups: self.groups + self.sequencer.sent_ahead(),
            keys: state.key_figures(),
            key_bytes_max: self.sequencer.key_bytes_max(),
            snapshot: self
                .snapshots
                .as_ref()
                .map_or(Position(0), Snapshots::newest),
            log_thread: self.sequencer.log().log_thread(),
        }
    }

    /// Waits until no snapshot is being made.
    pub fn await_snapshot(&mut self) {
        if let Some(snapshots) = &mut self.snapshots {
            snapshots.wait();
        }
    }

    /// Whether a command with this key would be told the answer that is kept under it.
    #[must_use]
    pub fn knows(&self, now: Timestamp, principal: &Principal, key: Key<'_>) -> bool {
        let state = self.sequencer.state();
        state.knows(now.max(state.time()), principal, key)
    }

    /// Whether a principal that may have so many keys may have another. If not: how long it takes, at
    /// least, until one of its own is forgotten, in milliseconds.
    ///
    /// # Errors
    /// It has as many.
    pub fn admits_key_within(
        &self,
        now: Timestamp,
        principal: &Principal,
        most: u32,
    ) -> Result<(), u64> {
        let state = self.sequencer.state();
        state.admits_within(now.max(state.time()), principal, most)
    }

    /// Commits what is open and ends cleanly, so that the next start can tell. A snapshot that is being
    /// made is given up.
    ///
    /// # Errors
    /// The last group, or the mark of the clean end, is not durable.
    pub fn close(mut self) -> Result<(), CommitError> {
        self.commit()?;
        if let Some(snapshots) = self.snapshots {
            snapshots.end();
        }
        self.sequencer.into_log().close()
    }
}

/// A number that nobody else has drawn, and not zero.
fn lot() -> u64 {
    let drawn = id_key::random().expect("the kernel has given a key already");
    u64::from_le_bytes(drawn).max(1)
}
