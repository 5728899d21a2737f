//! What a server does about snapshots in the store of its log: when it makes one, what it says of it,
//! which entries may go, and which snapshot it joins from.

use turnstile_sequencer::{OrderedSnapshot, SharedPlace, SnapshotStep};
use turnstile_types::{Name, Timestamp};

use crate::proposer::ServerRun;

/// Of the entries of a log, at most this part is kept below the older snapshot.
const MARGIN_PART: u64 = 16;

/// How often snapshots are made, and what is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotPace {
    /// Entries from one snapshot to the next.
    pub every: u64,
    /// Entries that are kept below the older snapshot.
    pub margin: u64,
    /// For how long a server that says nothing is waited for with the purge of what it lacks, in
    /// milliseconds of logged time.
    pub live_ms: u64,
    /// After how long a server says something again that the order does not have, in milliseconds.
    pub repeat_ms: u64,
    /// How long a server leaves snapshots to others when it has failed with one, in milliseconds.
    pub rest_ms: u64,
}

impl SnapshotPace {
    /// A snapshot after so many entries, and the rest as servers have it.
    #[must_use]
    pub const fn usual(every: u64) -> Self {
        Self {
            every,
            margin: 1_024,
            live_ms: 10 * 60_000,
            repeat_ms: 5_000,
            rest_ms: 30_000,
        }
    }
}

/// How much the log holds and may hold, as far as known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamRoom {
    /// Its first entry.
    pub first: u64,
    /// Its last entry.
    pub last: u64,
    pub bytes: u64,
    pub bytes_max: u64,
}

/// Least and most bytes of a log that are not for commands.
const RESERVE_MIN: u64 = 2 << 20;
const RESERVE_MAX: u64 = 1 << 30;

impl StreamRoom {
    /// Bytes that are not for commands: snapshots are claimed and told of in them, and entries that are
    /// on their way find room there.
    const fn reserve(&self) -> u64 {
        let part = self.bytes_max / 8;
        if part < RESERVE_MIN {
            RESERVE_MIN
        } else if part > RESERVE_MAX {
            RESERVE_MAX
        } else {
            part
        }
    }

    /// Whether the log takes commands. When it does not, it takes queries a while longer.
    #[must_use]
    pub const fn takes_commands(&self) -> bool {
        self.bytes.saturating_add(self.reserve()) <= self.bytes_max
    }

    /// Whether the log takes what queries wait for.
    #[must_use]
    pub const fn takes_queries(&self) -> bool {
        self.bytes.saturating_add(self.reserve() / 2) <= self.bytes_max
    }

    const fn is_half_full(&self) -> bool {
        self.bytes >= self.bytes_max / 2
    }

    const fn entries(&self) -> u64 {
        (self.last + 1).saturating_sub(self.first)
    }
}

/// What a server does about snapshots, step by step, as the order and its own work go on.
#[derive(Debug)]
pub struct SnapshotDuty {
    node: Name,
    incarnation: u64,
    pace: SnapshotPace,
    /// The entry behind which it makes a snapshot.
    making: Option<u64>,
    /// What it says until the order has it.
    telling: Option<SnapshotStep>,
    /// It says nothing before this.
    quiet_until: Timestamp,
    purged_below: u64,
}

impl SnapshotDuty {
    #[must_use]
    pub const fn new(run: &ServerRun, pace: SnapshotPace) -> Self {
        Self {
            node: run.node,
            incarnation: run.incarnation,
            pace,
            making: None,
            telling: None,
            quiet_until: Timestamp(0),
            purged_below: 0,
        }
    }

    /// Whether this server is to make a snapshot of its state as it is now. To be asked behind each
    /// entry.
    pub fn entered(&mut self, place: &SharedPlace) -> bool {
        let is_ours = place.snapshots.claim().is_some_and(|claim| {
            claim.sequence == place.sequence
                && claim.node == self.node
                && claim.incarnation == self.incarnation
        });
        if is_ours {
            self.making = Some(place.sequence);
        }
        is_ours
    }

    /// The snapshot behind this entry is in the store and was read back, or there is none.
    pub fn made(&mut self, now: Timestamp, sequence: u64, made: Option<OrderedSnapshot>) {
        if self.making == Some(sequence) {
            self.making = None;
            self.quiet_until = now;
            let step = made.map_or(SnapshotStep::GivenUp { sequence }, SnapshotStep::Done);
            self.telling = Some(step);
        }
    }

    /// What is to be said in the next entry, behind this place.
    pub fn tell(
        &mut self,
        now: Timestamp,
        place: &SharedPlace,
        room: StreamRoom,
    ) -> Option<SnapshotStep> {
        if self.telling.is_some_and(|step| is_known(place, &step)) {
            if let Some(SnapshotStep::GivenUp { .. }) = self.telling {
                self.quiet_until = Timestamp(now.0 + self.pace.rest_ms);
            }
            self.telling = None;
        }
        if now < self.quiet_until {
            return None;
        }
        let step = match self.telling {
            Some(step) => step,
            None => self.claim(now, place, room)?,
        };
        self.quiet_until = Timestamp(now.0 + self.pace.repeat_ms);
        Some(step)
    }

    fn claim(&self, now: Timestamp, place: &SharedPlace, room: StreamRoom) -> Option<SnapshotStep> {
        let is_free = || {
            let snapshots = &place.snapshots;
            snapshots.may_claim(&self.node, self.incarnation, now)
        };
        let wants = self.making.is_none() && self.is_due(place, room) && is_free();
        wants.then(|| SnapshotStep::Claimed {
            node: self.node,
            incarnation: self.incarnation,
            newest: place.snapshots.newest_sequence(),
        })
    }

    /// Whether a snapshot behind this place is worth its cost.
    fn is_due(&self, place: &SharedPlace, room: StreamRoom) -> bool {
        let since = place
            .sequence
            .saturating_sub(place.snapshots.newest_sequence());
        if since >= self.pace.every {
            return true;
        }
        // Of a log that fills, two snapshots a quarter apart let most go.
        let frees = since > 0 && since * 4 >= room.entries();
        let older = place.snapshots.older();
        let frees_little = older
            .is_none_or(|older| older.sequence.saturating_sub(room.first) * 8 < room.entries());
        room.is_half_full() && frees || !room.takes_commands() && since > 0 && frees_little
    }

    /// When it may have something to say again, though nothing comes.
    #[must_use]
    pub fn deadline(&self) -> Option<Timestamp> {
        self.telling.map(|_step| self.quiet_until)
    }

    /// Entries below this one are of no more use to anybody: they are in two snapshots, and each
    /// server that was heard of late has them. Nothing where that is known already.
    pub fn purge_below(
        &mut self,
        place: &SharedPlace,
        now: Timestamp,
        room: StreamRoom,
    ) -> Option<u64> {
        let older = place.snapshots.older()?.sequence;
        let margin = self.pace.margin.min(room.entries() / MARGIN_PART);
        let since = Timestamp(now.0.saturating_sub(self.pace.live_ms));
        let least = place.least_applied(since).unwrap_or(older);
        // The entry of the snapshot itself stays, and so does the last one that a server has.
        let below = older.saturating_sub(margin).min(least);
        if below <= self.purged_below.max(room.first) {
            return None;
        }
        self.purged_below = below;
        Some(below)
    }
}

/// Whether the order has what is said, or has passed it.
fn is_known(place: &SharedPlace, step: &SnapshotStep) -> bool {
    let snapshots = &place.snapshots;
    match step {
        SnapshotStep::Claimed { .. } => true,
        SnapshotStep::Done(done) => {
            snapshots.newest_sequence() >= done.sequence || place.has_lost_turn(done.sequence)
        }
        SnapshotStep::GivenUp { sequence } => snapshots
            .claim()
            .is_none_or(|claim| claim.sequence != *sequence),
    }
}

/// What a store says of a snapshot before it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTitle<I> {
    /// The last entry that it has; zero for the state with which its log begins.
    pub sequence: u64,
    /// Which log it is of.
    pub log: I,
    /// A number that tells the secret of its installation from others.
    pub secret: u64,
}

/// What a server wants that joins from a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinWish<I> {
    /// The last entry that the server has; nothing if it has no state at all.
    pub own: Option<u64>,
    /// Which log it joins.
    pub log: I,
    /// A number that tells its secret from others.
    pub secret: u64,
    /// The entries that the log holds.
    pub first: u64,
    pub last: u64,
}

/// Why a snapshot is not joined from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnfitSnapshot {
    /// It is of another log, that had the same name.
    OtherLog,
    /// It is of an installation with another secret.
    OtherSecret,
    /// The server has as much itself.
    NotNewer,
    /// The log has lost entries that come after it.
    Behind,
    /// The log does not have all that it has.
    Ahead,
}

impl<I: PartialEq> JoinWish<I> {
    /// Whether a snapshot serves.
    ///
    /// # Errors
    /// Why it does not.
    pub fn judge(&self, title: &StoredTitle<I>) -> Result<(), UnfitSnapshot> {
        if title.log != self.log {
            return Err(UnfitSnapshot::OtherLog);
        }
        if title.secret != self.secret {
            return Err(UnfitSnapshot::OtherSecret);
        }
        if self.own.is_some_and(|own| title.sequence <= own) {
            return Err(UnfitSnapshot::NotNewer);
        }
        if title.sequence + 1 < self.first {
            return Err(UnfitSnapshot::Behind);
        }
        if title.sequence > self.last {
            return Err(UnfitSnapshot::Ahead);
        }
        Ok(())
    }
}

impl std::fmt::Display for UnfitSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::OtherLog => "it is of another log, which had the same name",
            Self::OtherSecret => {
                "it is of servers with another id.key: give the new node a copy of their file before \
                 its first start"
            }
            Self::NotNewer => "it is not newer than what this node has",
            Self::Behind => "entries after it were purged",
            Self::Ahead => "the log ends before it: the brokers have lost entries",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use turnstile_record::{EntryBuilder, EntryHead, RecordRef, SERVICE_ENGINE, SharedEntry};
    use turnstile_types::{Author, Position, Principal};

    use super::*;

    const PACE: SnapshotPace = SnapshotPace {
        every: 10,
        margin: 2,
        live_ms: 1_000,
        repeat_ms: 100,
        rest_ms: 500,
    };

    const WIDE: StreamRoom = StreamRoom {
        first: 1,
        last: 1_000,
        bytes: 0,
        bytes_max: 1 << 40,
    };

    /// A log that one sequencer applies.
    struct Scene {
        sequencer: turnstile_sequencer::Sequencer<NoMachines, turnstile_journal::MemoryLog>,
        number: u64,
        /// The version of its entries.
        version: u16,
    }

    /// No machine at all.
    #[derive(Debug)]
    struct NoMachines;

    impl turnstile_types::Machines for NoMachines {
        type RecordCommand<'a> = Infallible;

        fn empty() -> Self {
            Self
        }

        fn read_record(
            _service: u8,
            _payload: &[u8],
        ) -> Result<Infallible, turnstile_types::Unapplied> {
            Err(turnstile_types::Unapplied::UnknownService)
        }

        fn apply_record(
            &mut self,
            _context: &turnstile_types::Context<'_>,
            command: &Infallible,
            _outcome: Option<&mut Vec<u8>>,
        ) -> turnstile_types::Effect {
            match *command {}
        }

        fn effect_of_outcome(
            _service: u8,
            _outcome: &[u8],
        ) -> Result<turnstile_types::Effect, turnstile_types::Unapplied> {
            Err(turnstile_types::Unapplied::UnknownService)
        }

        fn each_late_outcome(
            &self,
            _position: Position,
            _take: &mut dyn FnMut(Position, turnstile_types::Effect, &[u8]),
        ) {
        }

        fn next_deadline(&self) -> Option<Timestamp> {
            None
        }

        fn tick(&mut self, _context: &turnstile_types::Context<'_>) {}

        fn forget_events(&mut self) {}

        fn snapshot(&self, _out: &mut dyn turnstile_types::Sink) {}

        fn restore(
            _reader: turnstile_types::Reader<'_>,
        ) -> Result<Self, turnstile_types::Malformed> {
            Ok(Self)
        }

        fn check(&self) -> Result<(), Vec<String>> {
            Ok(())
        }
    }

    fn name(text: &str) -> Name {
        Name::parse(text.as_bytes()).expect("a name")
    }

    impl Scene {
        fn new() -> Self {
            let log = turnstile_journal::MemoryLog::new();
            let state = turnstile_sequencer::State::empty();
            Self {
                sequencer: turnstile_sequencer::Sequencer::new(state, log),
                number: 0,
                version: 1,
            }
        }

        fn place(&self) -> SharedPlace {
            self.sequencer.state().shared().cloned().unwrap_or_default()
        }

        /// An entry of a node at a time, which says something or nothing.
        fn enter(&mut self, node: &str, time: u64, applied: u64, step: Option<SnapshotStep>) {
            self.number += 1;
            let principal = Principal::local();
            let mut builder = EntryBuilder::default();
            if let Some(step) = step {
                builder.push(&RecordRef {
                    service: SERVICE_ENGINE,
                    author: Author::server(&principal),
                    key: None,
                    payload: &step.bytes(),
                });
            }
            let head = EntryHead {
                node: name(node),
                incarnation: 1,
                number: self.number,
                epoch: Position(0),
                installation: 5,
                applied: (applied, 0),
                version: self.version,
                reads: self.version,
            };
            let bytes = builder.finish(&head, Timestamp(time));
            let entry = SharedEntry::parse(&bytes).expect("it was built");
            let sequence = self.place().sequence + 1;
            let applied = self.sequencer.apply_entry(sequence, &entry, None);
            applied.expect("it follows");
        }
    }

    fn duty(node: &str) -> SnapshotDuty {
        let run = ServerRun {
            node: name(node),
            incarnation: 1,
            after: 0,
            installation: 5,
            reads: turnstile_record::ENTRY_VERSION,
        };
        SnapshotDuty::new(&run, PACE)
    }

    fn done(sequence: u64) -> OrderedSnapshot {
        OrderedSnapshot {
            sequence,
            bytes: 1,
            digest: [1; 32],
        }
    }

    #[test]
    fn one_of_two_that_want_to_makes_the_snapshot_and_says_so_until_it_is_known() {
        let mut scene = Scene::new();
        for number in 1..10 {
            scene.enter("n1", 50, number - 1, None);
        }
        let (mut one, mut other) = (duty("n1"), duty("n2"));
        let now = Timestamp(1_000);
        assert_eq!(one.tell(now, &scene.place(), WIDE), None, "9 of 10");
        scene.enter("n1", 50, 9, None);
        let claims = [&mut one, &mut other].map(|duty| duty.tell(now, &scene.place(), WIDE));
        assert!(claims.iter().all(Option::is_some), "{claims:?}");
        assert_eq!(one.tell(now, &scene.place(), WIDE), None, "it has said so");
        scene.enter("n2", 60, 10, claims[1]);
        assert!(!one.entered(&scene.place()));
        assert!(other.entered(&scene.place()));
        scene.enter("n1", 60, 10, claims[0]);
        assert!(!one.entered(&scene.place()), "another was first");
        assert!(!other.entered(&scene.place()), "that was an earlier entry");
        let later = Timestamp(9_000);
        assert_eq!(one.tell(later, &scene.place(), WIDE), None);
        assert_eq!(other.tell(later, &scene.place(), WIDE), None);
        other.made(later, 11, Some(done(11)));
        let step = other.tell(later, &scene.place(), WIDE);
        assert_eq!(step, Some(SnapshotStep::Done(done(11))));
        assert_eq!(other.deadline(), Some(Timestamp(9_100)));
        assert_eq!(other.tell(Timestamp(9_099), &scene.place(), WIDE), None);
        let again = other.tell(Timestamp(9_100), &scene.place(), WIDE);
        assert_eq!(again, step, "the first may be lost");
        scene.enter("n2", 70, 12, again);
        assert_eq!(other.tell(Timestamp(9_300), &scene.place(), WIDE), None);
        assert_eq!(other.deadline(), None);
        assert_eq!(scene.place().snapshots.newest(), Some(&done(11)));
    }

    #[test]
    fn who_has_lost_its_turn_says_nothing_of_its_snapshot_and_may_claim_the_next() {
        let mut scene = Scene::new();
        scene.version = turnstile_record::ENTRY_VERSION;
        for number in 1..=10 {
            scene.enter("n1", 50, number - 1, None);
        }
        let (mut one, mut other) = (duty("n1"), duty("n2"));
        let claims =
            [&mut one, &mut other].map(|duty| duty.tell(Timestamp(50), &scene.place(), WIDE));
        scene.enter("n1", 60, 10, claims[0]);
        assert!(one.entered(&scene.place()));
        let late = 60 + turnstile_sequencer::SNAPSHOT_CLAIM_MS;
        scene.enter("n2", late, 10, claims[1]);
        assert!(other.entered(&scene.place()));
        let now = Timestamp(late);
        one.made(now, 11, Some(done(11)));
        assert_eq!(one.tell(now, &scene.place(), WIDE), None, "it is too late");
        scene.enter("n1", late, 11, Some(SnapshotStep::Done(done(11))));
        assert_eq!(scene.place().snapshots.newest(), None);
        assert!(scene.place().is_leftover(11));
        let again = Timestamp(late + turnstile_sequencer::SNAPSHOT_CLAIM_MS);
        let claim = one.tell(again, &scene.place(), WIDE);
        assert!(matches!(claim, Some(SnapshotStep::Claimed { .. })));
    }

    #[test]
    fn who_fails_says_so_and_rests() {
        let mut scene = Scene::new();
        for number in 1..=10 {
            scene.enter("n1", 50, number - 1, None);
        }
        let mut one = duty("n1");
        let claim = one.tell(Timestamp(0), &scene.place(), WIDE);
        scene.enter("n1", 60, 10, claim);
        assert!(one.entered(&scene.place()));
        one.made(Timestamp(200), 11, None);
        let given_up = one.tell(Timestamp(200), &scene.place(), WIDE);
        assert_eq!(given_up, Some(SnapshotStep::GivenUp { sequence: 11 }));
        scene.enter("n1", 70, 11, given_up);
        assert_eq!(one.tell(Timestamp(300), &scene.place(), WIDE), None);
        assert_eq!(one.tell(Timestamp(799), &scene.place(), WIDE), None);
        let claim = one.tell(Timestamp(800), &scene.place(), WIDE);
        assert!(matches!(
            claim,
            Some(SnapshotStep::Claimed { newest: 0, .. })
        ));
        // Another one does not rest.
        let claim = duty("n2").tell(Timestamp(300), &scene.place(), WIDE);
        assert!(claim.is_some());
    }

    #[test]
    fn a_log_that_fills_is_snapshotted_early() {
        let mut scene = Scene::new();
        for number in 1..=4 {
            scene.enter("n1", 50, number - 1, None);
        }
        let tells = |scene: &Scene, first, bytes| {
            let room = StreamRoom {
                first,
                last: scene.place().sequence,
                bytes,
                bytes_max: 16 << 20,
            };
            let step = duty("n1").tell(Timestamp(0), &scene.place(), room);
            (step.is_some(), room.takes_commands(), room.takes_queries())
        };
        assert_eq!(tells(&scene, 1, 7 << 20), (false, true, true));
        assert_eq!(tells(&scene, 1, 8 << 20), (true, true, true));
        assert_eq!(tells(&scene, 1, (14 << 20) + 1), (true, false, true));
        assert_eq!(tells(&scene, 1, (15 << 20) + 1), (true, false, false));
        scene.enter("n1", 50, 4, Some(SnapshotStep::Done(done(4))));
        // One entry is no quarter of five; but nothing may go before there are two snapshots.
        assert_eq!(tells(&scene, 1, 8 << 20), (false, true, true));
        assert_eq!(tells(&scene, 1, (14 << 20) + 1), (true, false, true));
        scene.enter("n1", 50, 5, Some(SnapshotStep::Done(done(5))));
        // A purge frees most of it as soon as all have it.
        assert_eq!(tells(&scene, 1, (14 << 20) + 1), (false, false, true));
        assert_eq!(tells(&scene, 5, (14 << 20) + 1), (true, false, true));
    }

    #[test]
    fn what_two_snapshots_have_and_nobody_lacks_may_go() {
        let mut scene = Scene::new();
        for number in 1..=40 {
            scene.enter("n1", 50, number - 1, None);
        }
        let mut one = duty("n1");
        let room = StreamRoom { last: 43, ..WIDE };
        scene.enter("n1", 60, 40, Some(SnapshotStep::Done(done(20))));
        let purged = one.purge_below(&scene.place(), Timestamp(60), room);
        assert_eq!(purged, None, "one may rot");
        scene.enter("n1", 60, 41, Some(SnapshotStep::Done(done(40))));
        let place = scene.place();
        assert_eq!(one.purge_below(&place, Timestamp(60), room), Some(18));
        assert_eq!(one.purge_below(&place, Timestamp(60), room), None);
        // Another server joins from the older one, and is slow.
        scene.enter("n2", 60, 7, None);
        let mut other = duty("n2");
        assert_eq!(
            other.purge_below(&scene.place(), Timestamp(60), room),
            Some(7)
        );
        let gone = Timestamp(60 + PACE.live_ms + 1);
        scene.enter("n1", gone.0, 43, None);
        assert_eq!(other.purge_below(&scene.place(), gone, room), Some(18));
    }

    #[test]
    fn a_snapshot_of_another_kind_is_not_joined_from() {
        let wish = JoinWish {
            own: Some(10),
            log: "a",
            secret: 1,
            first: 15,
            last: 30,
        };
        let rows = [
            ((20, "a", 1), Ok(())),
            ((14, "a", 1), Ok(())),
            ((30, "a", 1), Ok(())),
            ((20, "b", 1), Err(UnfitSnapshot::OtherLog)),
            ((20, "a", 2), Err(UnfitSnapshot::OtherSecret)),
            ((10, "a", 1), Err(UnfitSnapshot::NotNewer)),
            ((13, "a", 1), Err(UnfitSnapshot::Behind)),
            ((31, "a", 1), Err(UnfitSnapshot::Ahead)),
        ];
        for ((sequence, log, secret), expected) in rows {
            let title = StoredTitle {
                sequence,
                log,
                secret,
            };
            assert_eq!(wish.judge(&title), expected, "{title:?}");
        }
        let new = JoinWish {
            own: None,
            first: 1,
            ..wish
        };
        let beginning = StoredTitle {
            sequence: 0,
            log: "a",
            secret: 1,
        };
        assert_eq!(new.judge(&beginning), Ok(()));
    }
}
