//! One history: some lives of a server on one simulated disk, from one seed.

use turnstile_embedded::Services;
use turnstile_journal::{
    Chores, CommitError, Durability, FaultyDisk, Journal, Log, OpenError, Options, ReplayError,
    SEGMENT_BYTES_MIN, Sabotage, retire,
    snapshot::{self, Draft},
};
use turnstile_record::{Group, SERVICE_ENGINE};
use turnstile_seed::Random;
use turnstile_sequencer::{ExecuteError, Sequencer, State};
use turnstile_travel::{Command, Travel};
use turnstile_types::{Key, Machine, Position, Reader, Timestamp, hash_of};

use crate::{
    bug::Bug,
    judge::{Judge, TakenRecord},
    patience,
    services::{Happenings, SimulatedRequest, Traffic},
    summary::HistorySummary,
    violation::Violation,
};

/// Segments so small that a history crosses from one to the next.
const OPTIONS: Options = Options {
    segment_bytes: SEGMENT_BYTES_MIN,
    durability: Durability::Sync,
    chores: Chores::Inline,
    accept_loss: None,
};

/// More than any record of the traffic takes.
const RECORD_BYTES_MAX: usize = 300;

/// Room for so few keys that some histories fill it.
const KEY_BYTES_MAX: u64 = 2_000;

/// 2026-06-01, in milliseconds since 1970.
const EPOCH_MS: u64 = 1_780_272_000_000;

type SimServer = Sequencer<Services, Journal<FaultyDisk>>;

/// One history that is being made.
#[derive(Debug)]
pub struct History {
    pub(crate) random: Random,
    pub(crate) disk: FaultyDisk,
    clock: Timestamp,
    traffic: Traffic,
    judge: Judge,
    bug: Bug,
    /// What has happened and is not durable.
    news: Happenings,
    next_key: u64,
    /// Something that no single disk can survive has happened: only safety is judged, and the
    /// history ends with the next recovery.
    pub(crate) is_damaged: bool,
    summary: HistorySummary,
}

/// How a life of the server ended.
enum LifeEnd {
    Clean,
    /// The process dies, and the machine with it.
    PowerCut,
    /// The process dies, the machine stays up.
    Kill,
}

impl History {
    /// Runs the history of `seed`, with a planted bug or none.
    ///
    /// # Errors
    /// A promise was broken.
    pub fn run(seed: u64, bug: Bug) -> Result<HistorySummary, Violation> {
        let mut random = Random::new(seed);
        let mut history = Self {
            disk: FaultyDisk::new(random.draw()),
            random,
            clock: Timestamp(EPOCH_MS),
            traffic: Traffic::default(),
            judge: Judge::default(),
            bug,
            news: Happenings::default(),
            next_key: 0,
            is_damaged: false,
            summary: HistorySummary::default(),
        };
        for _ in 0..2 + history.random.below(4) {
            if !history.live()? {
                return Ok(history.summary);
            }
        }
        history.last_life()?;
        Ok(history.summary)
    }

    /// One life: start, traffic, end. Says whether another may follow.
    fn live(&mut self) -> Result<bool, Violation> {
        if self.random.one_in(4) {
            self.inject_during_recovery();
        }
        let Some(mut server) = self.start()? else {
            return Ok(false);
        };
        if self.is_damaged {
            return Ok(false);
        }
        if self.random.one_in(2) {
            self.inject_during_life();
        }
        let end = self.serve(&mut server)?;
        let is_closed = matches!(end, LifeEnd::Clean) && !server.is_open() && {
            let closed = server.into_log().close();
            closed.is_ok()
        };
        match end {
            LifeEnd::Kill => self.disk.kill(),
            LifeEnd::Clean if is_closed => self.disk.kill(),
            LifeEnd::Clean | LifeEnd::PowerCut => self.disk.crash(),
        }
        self.summary.crashes += 1;
        // One damage at a time: two together may take two groups, and nobody could tell.
        if self.random.one_in(12) && !self.is_damaged {
            self.rot();
        }
        Ok(true)
    }

    /// A start without faults, judged to the end, twice.
    fn last_life(&mut self) -> Result<(), Violation> {
        let Some(server) = self.start()? else {
            return Ok(());
        };
        let hash = hash_of(server.state().machines());
        self.summary.trades = server.state().machines().exchange().totals().trades;
        self.summary.results = server.state().machines().games().totals().results;
        if !self.is_damaged {
            drop(server);
            self.disk.crash();
            let Some(again) = self.start()? else {
                return Ok(());
            };
            if hash_of(again.state().machines()) != hash {
                return Err(Violation("two recoveries built two states".to_owned()));
            }
        }
        Ok(())
    }

    /// Starts the server, again and again while injected faults stop it, and judges what it
    /// recovered. Nothing, when it rightly refuses to open a damaged disk.
    fn start(&mut self) -> Result<Option<SimServer>, Violation> {
        loop {
            match self.open() {
                Ok((server, events)) => {
                    self.judge_recovery(&server, events)?;
                    return Ok(Some(server));
                }
                Err(StartFailure::Disk(_)) if self.disk.has_struck() => {
                    // The fault has struck; after a crash the disk works again.
                    self.summary.crashes += 1;
                    self.summary.crashes_in_recovery += 1;
                    self.disk.crash();
                }
                Err(_) if self.is_damaged => {
                    self.summary.damage_refused += 1;
                    return Ok(None);
                }
                Err(StartFailure::Disk(why) | StartFailure::Refused(why)) => {
                    return Err(Violation(format!("the server does not start: {why}")));
                }
            }
        }
    }

    /// The server as it comes back, and what it announces again.
    fn open(&self) -> Result<(SimServer, Happenings), StartFailure> {
        let sabotage = match self.bug {
            Bug::Journal(sabotage) => sabotage,
            Bug::None | Bug::IgnoreKeys | Bug::IgnorePromises | Bug::ForgetEvents => Sabotage::None,
        };
        let (journal, _report) = Journal::open_sabotaged(self.disk.clone(), OPTIONS, sabotage)
            .map_err(|error| match error {
                OpenError::Io(cause) => StartFailure::Disk(cause.to_string()),
                other => StartFailure::Refused(other.to_string()),
            })?;
        let found = snapshot::newest(&self.disk, journal.id())
            .map_err(|cause| StartFailure::Disk(cause.to_string()))?;
        let mut state = match &found.snapshot {
            None => State::empty(),
            Some(found) => State::restore(Reader::new(&found.state))
                .map_err(|malformed| StartFailure::Refused(malformed.to_string()))?,
        };
        let after = state.position();
        let mut events = Happenings::default();
        let each = |group: &Group<'_>| -> Result<(), turnstile_sequencer::RecordReplayError> {
            state.replay(group)?;
            let replayed = Happenings::of(state.machines_mut());
            if self.bug != Bug::ForgetEvents {
                events.extend(replayed);
            }
            Ok(())
        };
        journal.replay(after, each).map_err(|error| match error {
            ReplayError::Io(cause) => StartFailure::Disk(cause.to_string()),
            other => StartFailure::Refused(other.to_string()),
        })?;
        let mut server = Sequencer::new(state, journal);
        server.limit_keys(KEY_BYTES_MAX);
        match self.bug {
            Bug::IgnoreKeys => server.ignore_keys(),
            Bug::IgnorePromises => server.ignore_promises(),
            Bug::None | Bug::Journal(_) | Bug::ForgetEvents => {}
        }
        Ok((server, events))
    }

    fn judge_recovery(&mut self, server: &SimServer, events: Happenings) -> Result<(), Violation> {
        let last = server.state().position();
        self.summary.taken_back += self.judge.recovered(last, self.is_damaged)?;
        let base = self.oldest_position(server);
        let each = |group: &Group<'_>| {
            group
                .records()
                .try_for_each(|record| self.judge.record(&record))
        };
        match server.log().replay(base, each) {
            Ok(()) => {}
            Err(ReplayError::Caller(violation)) => return Err(violation),
            // An injected read fault; the life that follows will meet it elsewhere.
            Err(ReplayError::Io(_)) if self.disk.has_struck() => {}
            Err(other) => return Err(Violation(format!("the journal is not readable: {other}"))),
        }
        self.news = Happenings::default();
        self.judge.announced_again(events)?;
        self.judge.machines(server.state().machines())
    }

    /// The position from which the journal is surely kept: that of the older of two snapshots.
    fn oldest_position(&self, server: &SimServer) -> Position {
        let found = snapshot::newest(&self.disk, server.log().id());
        found
            .ok()
            .and_then(|found| found.snapshot)
            .map_or(Position(0), |found| found.title.position)
    }

    /// Serves traffic until the life ends.
    fn serve(&mut self, server: &mut SimServer) -> Result<LifeEnd, Violation> {
        if server.state().position() == Position(0) {
            for request in Traffic::opening() {
                if !self.ask(server, None, &request)? {
                    return Ok(LifeEnd::PowerCut);
                }
            }
        } else if !self.ask(server, None, &SimulatedRequest::Travel(Command::Recover))? {
            return Ok(LifeEnd::PowerCut);
        }
        // Most lives are short; some are long enough to fill segments and a small disk.
        let turns = if self.random.one_in(8) { 150 } else { 20 };
        for _ in 0..self.random.below(turns) {
            if !self.turn(server)? {
                return Ok(if self.random.one_in(2) {
                    LifeEnd::Kill
                } else {
                    LifeEnd::PowerCut
                });
            }
            let is_between_groups = !server.is_open() && !server.is_under_way();
            if is_between_groups && self.random.one_in(9) && !self.snapshot(server) {
                return Ok(LifeEnd::PowerCut);
            }
        }
        Ok(match self.random.below(3) {
            0 => LifeEnd::Clean,
            1 => LifeEnd::Kill,
            _ => LifeEnd::PowerCut,
        })
    }

    /// One turn of the loop: tick, commands, commit. Says whether the server still serves.
    fn turn(&mut self, server: &mut SimServer) -> Result<bool, Violation> {
        self.pass_time();
        self.change_disk_space();
        if !self.tick(server)? {
            return Ok(false);
        }
        let commands = self.random.below(9);
        let room = RECORD_BYTES_MAX * usize::try_from(commands).expect("a few commands");
        let is_batch = self.random.one_in(3) && server.reserve(room).is_ok();
        let from = self.judge.len();
        // Turns of nothing but travel often promise nothing.
        let service = self.random.one_in(3).then_some(Travel::SERVICE);
        for _ in 0..commands {
            if !self.client(server, service)? {
                return Ok(false);
            }
        }
        if is_batch {
            self.judge.batch(from);
        }
        if self.random.one_in(20) {
            // The power goes before the group is written.
            return Ok(false);
        }
        if server.is_open() && !server.has_promised() && !self.random.one_in(4) {
            return self.tell(server).map(|()| true);
        }
        if self.random.one_in(3) {
            return self.overlap(server);
        }
        let committed = server.commit();
        self.acknowledge(server, &committed.map(Some))
    }

    /// Ends a turn that promises nothing: its answers leave, and the group stays open.
    fn tell(&mut self, server: &mut SimServer) -> Result<(), Violation> {
        self.summary.soft_turns += 1;
        let events = Happenings::of(server.state_mut().machines_mut());
        self.news.extend(events);
        self.judge.tell(server.state().position(), &self.news)
    }

    /// Ends a turn as the loop does under much load: answers the group under way when it has
    /// landed, and sends the open one after it. Says whether the server still serves.
    fn overlap(&mut self, server: &mut SimServer) -> Result<bool, Violation> {
        if server.is_under_way() {
            // Sometimes the sync takes longer than a turn.
            if self.random.one_in(4) {
                return Ok(true);
            }
            let settled = server.settle();
            let position = settled.map(|settled| settled.map(|settled| settled.position));
            if !self.acknowledge(server, &position)? {
                return Ok(false);
            }
        }
        if !server.is_open() {
            // What was full went ahead, and a full disk has refused whatever came after it.
            let committed = server.commit();
            return self.acknowledge(server, &committed.map(Some));
        }
        self.summary.overlaps += 1;
        Ok(server.submit().is_ok())
    }

    /// What is durable is answered and announced. Says whether the server still serves.
    fn acknowledge(
        &mut self,
        server: &mut SimServer,
        durable: &Result<Option<Position>, CommitError>,
    ) -> Result<bool, Violation> {
        match durable {
            Ok(Some(position)) => {
                self.summary.commits += 1;
                let events = Happenings::of(server.state_mut().machines_mut());
                self.news.extend(events);
                let told = self.news.take_up_to(*position);
                self.judge.acknowledge(*position, &told)?;
                self.summary.late_answers += patience::late_answers(&told.travel);
                self.judge.announced(told)?;
            }
            Ok(None) => {}
            Err(_) => self.summary.failed_commits += 1,
        }
        Ok(durable.is_ok())
    }

    fn tick(&mut self, server: &mut SimServer) -> Result<bool, Violation> {
        let before = server.state().position();
        match server.tick(self.clock) {
            Ok(()) if server.state().position() == before => {}
            Ok(()) => {
                let time = server.state().time();
                self.judge.take(TakenRecord {
                    time,
                    key: None,
                    service: SERVICE_ENGINE,
                    payload: Vec::new(),
                    outcome: Vec::new(),
                });
            }
            Err(ExecuteError::ReadOnly) => self.summary.refused_by_full_disk += 1,
            Err(ExecuteError::Stopped) => return Ok(false),
            Err(other) => return Err(Violation(format!("a tick was refused: {other}"))),
        }
        Ok(true)
    }

    /// One client asks: something new, or something again under its key.
    fn client(&mut self, server: &mut SimServer, service: Option<u8>) -> Result<bool, Violation> {
        let choice = self.random.draw();
        if self.random.one_in(4)
            && let Some((key, first)) = self.judge.keyed(choice)
        {
            let (key, first) = (key.to_owned(), first.clone());
            let again = SimulatedRequest::decode(first.service, &first.payload);
            let other = self.traffic.next(&mut self.random, self.clock, service);
            let request = if self.random.one_in(5) { other } else { again };
            return self.ask(server, Some(key), &request);
        }
        let request = self.traffic.next(&mut self.random, self.clock, service);
        let key = self.random.one_in(3).then(|| {
            self.next_key += 1;
            format!("key-{}", self.next_key)
        });
        self.ask(server, key, &request)
    }

    /// Says whether the server still serves.
    fn ask(
        &mut self,
        server: &mut SimServer,
        key: Option<String>,
        request: &SimulatedRequest<'_>,
    ) -> Result<bool, Violation> {
        let (service, payload) = request.encode();
        let parsed = key
            .as_deref()
            .map(|key| Key::parse(key.as_bytes()).expect("a plain key"));
        let time = if server.is_open() {
            server.state().time()
        } else {
            self.clock.max(server.state().time())
        };
        let answer = request.execute(server, self.clock, parsed);
        match answer {
            Err(ExecuteError::ReadOnly) => {
                self.summary.refused_by_full_disk += 1;
                return Ok(true);
            }
            Err(ExecuteError::Stopped) => return Ok(false),
            Ok(_) | Err(_) => {}
        }
        let travel = server.state().machines().travel();
        let asked = (service, &payload[..]);
        let judged = key.as_deref().map_or(Ok(true), |key| {
            self.judge.keyed_answer(time, key, asked, &answer, travel)
        });
        let is_new = judged?;
        match answer {
            Ok(reply) if is_new && !reply.replayed => {
                self.traffic.note(service, &reply.outcome);
                self.summary.note(service, &reply.outcome);
                self.judge.take(TakenRecord {
                    time: server.state().time(),
                    key,
                    service,
                    payload,
                    outcome: reply.outcome,
                });
                self.summary.records += 1;
            }
            Ok(_replayed) => self.summary.replayed_keys += 1,
            Err(ExecuteError::KeyReused { .. }) => {}
            Err(ExecuteError::KeysFull { .. }) if is_new => self.summary.refused_keys += 1,
            Err(other) => return Err(Violation(format!("{request:?} was not taken: {other}"))),
        }
        Ok(true)
    }

    /// Makes a snapshot between two groups. Says whether the server still serves.
    fn snapshot(&mut self, server: &mut SimServer) -> bool {
        let (state, id) = (server.state(), server.log().id());
        let mut draft = Draft::begin(self.disk.clone(), id, state.position(), state.time());
        state.snapshot(&mut draft);
        let made = draft.finish(hash_of(state.machines())).is_ok();
        self.summary.snapshots += u64::from(made);
        let retired = made && retire(&self.disk, id).is_ok();
        retired || !self.disk.has_struck()
    }

    /// Time goes on: mostly a little, sometimes for more than a day, sometimes back.
    fn pass_time(&mut self) {
        let now = self.clock.0;
        self.clock = Timestamp(match self.random.below(20) {
            0 => now + 25 * 3_600_000,
            1 => now - 3_600_000,
            _ => now + self.random.below(20_000),
        });
    }
}

/// Why the server did not start.
#[derive(Debug)]
enum StartFailure {
    /// The disk failed.
    Disk(String),
    /// What is on the disk was refused.
    Refused(String),
}
