//! The loop turned by hand on a disk that becomes full: whatever is asked is answered.

mod clients;
mod growing;
mod late;
mod securing;
mod slices;
mod soft;

use std::{fs, io, path::PathBuf, time::Duration};

use proptest::prelude::*;
use tempfile::TempDir;
use tokio::sync::oneshot;
use turnstile_embedded::{Durability, Embedded, ExecuteError, Options, Slowed};
use turnstile_http::EventId;
use turnstile_rooms::{Command, Rooms, Wish};
use turnstile_types::{Machine as _, Name, Night, Position, Stay, Timestamp};

use super::*;
use crate::{
    core::{
        clock::tests::{set, told},
        feed::{Feed, FeedStart, Feeds, Reading},
        gate::{Ask, Executed, Gate, Request, Undecided},
        loading::Loading,
        pace::OverlapPolicy,
    },
    counters::Counters,
    doors::fast::FastDoors,
};

/// Room for some 150 records of this test.
const SEGMENT_BYTES: u32 = 8 * 1_024;

/// Segments that a journal makes when it is opened: the first, and the one after it.
const FIRST_SEGMENTS: u32 = 2;

/// More segments than a history of this test fills.
const SEGMENTS: u32 = 32;

/// More requests than [`FIRST_SEGMENTS`] hold, and no more than a turn takes.
const MANY: usize = 1_000;

const OPTIONS: Options = Options {
    segment_bytes: SEGMENT_BYTES,
    snapshot_records: 0,
    key_bytes: 1 << 20,
    durability: Durability::Sync,
    accept_loss: None,
    slowed: Slowed::NOT,
    trouble: None,
};

type Answer = Executed<Rooms>;

/// A loop without doors. The disk has room for [`FIRST_SEGMENTS`] and for those that are granted.
struct Workbench {
    fast_loop: FastLoop<FastDoors>,
    gate: Gate,
    feed: Arc<Feed<Rooms>>,
    signals: Arc<Signals>,
    directory: TempDir,
    answers: Vec<oneshot::Receiver<Answer>>,
    granted: u32,
    /// What groups seem to cost, if the test says so and not the clock: on a busy machine a turn may
    /// take longer than a sync.
    pace: Option<OverlapPolicy>,
}

impl Workbench {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let backend = Embedded::open(Some(directory.path()), OPTIONS).unwrap().0;
        let poll = Poll::new().unwrap();
        let waker = mio::Waker::new(poll.registry(), GATE).unwrap();
        let loading = Arc::new(Loading::over(backend.id_key().clone()));
        let (gate, inbox) = Gate::new(waker, loading, false);
        let engine = Engine::new(backend, Arc::default(), false, 0);
        let feed = Arc::new(Feed::new(Position(0)));
        let signals = Arc::<Signals>::default();
        let feeds = Feeds {
            rooms: Arc::clone(&feed),
            ..Feeds::new(1)
        };
        let shared = (feeds, Arc::clone(&signals));
        let told = (Limits::STANDARD, FastDoors::default());
        let workbench = Self {
            fast_loop: FastLoop::new(poll, Vec::new(), engine, inbox, shared, told),
            gate,
            feed,
            signals,
            directory,
            answers: Vec::new(),
            granted: FIRST_SEGMENTS,
            pace: None,
        };
        for number in FIRST_SEGMENTS + 1..=SEGMENTS {
            fs::create_dir(workbench.obstacle(number)).unwrap();
        }
        workbench
    }

    /// What stands where this segment would be made.
    fn obstacle(&self, number: u32) -> PathBuf {
        self.directory
            .path()
            .join(format!("segment-{number:08}.new"))
    }

    /// The disk has room for one more segment.
    fn grant(&mut self) {
        self.granted += 1;
        fs::remove_dir(self.obstacle(self.granted)).unwrap();
    }

    /// Whether groups are to be carried beside the loop from now on.
    fn overlap(&mut self, overlaps: bool) {
        let (much, little) = (Duration::from_secs(1), Duration::from_nanos(1));
        let mut pace = OverlapPolicy::default();
        pace.note(if overlaps { much } else { little }, little);
        self.pace = Some(pace);
    }

    /// Asks for so many properties, `p0` and so on.
    fn ask(&mut self, count: usize) {
        for _ in 0..count {
            let name = format!("p{}", self.answers.len());
            self.command(&Command::AddProperty {
                property: Name::parse(name.as_bytes()).unwrap(),
                open: true,
            });
        }
    }

    /// Asks for a room of the first property, for so long.
    fn hold(&mut self, ttl_ms: u32) {
        let night = |day| Night::parse(day).unwrap();
        self.command(&Command::Hold {
            property: Name::parse(b"p0").unwrap(),
            wish: Wish::Room(Name::parse(ttl_ms.to_string().as_bytes()).unwrap()),
            stay: Stay::new(night(b"2027-01-01"), night(b"2027-01-02")).unwrap(),
            ttl_ms,
        });
    }

    fn command(&mut self, command: &Command<'_>) {
        let (reply, answer) = oneshot::channel();
        let mut bytes = Vec::new();
        Rooms::encode_command(command, &mut bytes);
        let asked = self.gate.ask(Ask::Rooms(Request::Command {
            caller: Caller::server(),
            key: None,
            command: bytes,
            reply,
        }));
        asked.unwrap();
        self.answers.push(answer);
    }

    /// One turn, which takes everything that was asked.
    fn turn(&mut self) {
        self.fast_loop.asks_wait = true;
        if let Some(pace) = self.pace {
            self.fast_loop.engine.set_pace(pace);
        }
        self.fast_loop.turn().unwrap();
    }

    /// One turn; answers whether something was due in it and found no room on the disk.
    fn turn_in_vain(&mut self) -> bool {
        self.turn();
        self.fast_loop.engine.rests()
    }

    /// Turns once more when the group under way has landed.
    fn land(&mut self) {
        self.fast_loop.engine.await_landing();
        self.turn();
    }

    /// Stops the loop; answers what was answered.
    fn stop(self) -> Record {
        let counters = Arc::clone(&self.fast_loop.engine.counters);
        self.signals.end();
        self.signals.note_others_ended();
        self.gate.wake();
        self.fast_loop.turn_to_the_end().unwrap();
        let answers = self.answers.into_iter();
        Record {
            answers: answers.map(|mut answer| answer.try_recv().ok()).collect(),
            told: positions(&self.feed),
            counters,
            directory: self.directory,
        }
    }
}

/// The positions of all that the feed was told.
fn positions(feed: &Feed<Rooms>) -> Vec<u64> {
    let begin = EventId {
        position: Position(0),
        ordinal: 0,
    };
    let FeedStart::At(mut place) = feed.after(begin) else {
        panic!("the feed keeps everything");
    };
    let mut positions = Vec::new();
    while let Reading::Events(events, next) = feed.read(place, |_| true) {
        positions.extend(events.iter().map(|event| event.position.0));
        place = next;
    }
    positions
}

/// What a loop has left behind.
struct Record {
    answers: Vec<Option<Answer>>,
    told: Vec<u64>,
    counters: Arc<Counters>,
    directory: TempDir,
}

impl Record {
    /// Everybody was answered; what was done was told, counted and kept, and nothing else.
    /// Answers how much was done, and how much refused.
    fn check(&self) -> (usize, usize) {
        let mut done = Vec::new();
        let mut refused = 0;
        for answer in &self.answers {
            match answer {
                Some(Ok(reply)) => done.push(reply.position.0),
                Some(Err(Undecided::Journal(ExecuteError::ReadOnly))) => refused += 1,
                other => panic!("{other:?} is no answer"),
            }
        }
        let last = done.len() as u64;
        assert_eq!(done, (1..=last).collect::<Vec<_>>());
        assert_eq!(self.told, done);
        self.compare_counters(last);
        self.make_room().unwrap();
        let (_backend, recovery) = Embedded::open(Some(self.directory.path()), OPTIONS).unwrap();
        assert_eq!(recovery.position, Position(last));
        assert_eq!(recovery.journal.unwrap().groups, self.counters.groups.get());
        (done.len(), refused)
    }

    fn compare_counters(&self, records: u64) {
        let all = &self.counters;
        assert_eq!(all.records.get(), records);
        let ways = all.groups_inline.get() + all.groups_overlapped.get();
        assert_eq!(all.groups.get(), ways);
    }

    /// Nothing stands in the way any more.
    fn make_room(&self) -> io::Result<()> {
        for entry in fs::read_dir(self.directory.path())? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                fs::remove_dir(entry.path())?;
            }
        }
        Ok(())
    }
}

/// This has killed the loop: a segment that is full sends the group ahead in mid-turn, the disk has
/// no other, and at the end of the turn there is no group to be carried.
#[test]
fn a_disk_that_becomes_full_in_mid_turn_leaves_nothing_owed_when_groups_overlap() {
    let mut workbench = Workbench::new();
    workbench.overlap(true);
    workbench.ask(MANY);
    workbench.turn();
    workbench.ask(1);
    workbench.land();
    let (done, refused) = workbench.stop().check();
    assert!(done > 0 && refused > 0, "{done} done, {refused} refused");
}

/// The same while the group before is under way.
#[test]
fn a_disk_that_becomes_full_beside_a_group_under_way_leaves_nothing_owed() {
    let mut workbench = Workbench::new();
    workbench.overlap(true);
    workbench.ask(10);
    workbench.turn();
    workbench.ask(MANY);
    workbench.turn();
    workbench.ask(1);
    let (done, refused) = workbench.stop().check();
    assert!(done > 10 && refused > 0, "{done} done, {refused} refused");
}

/// This has kept a core busy: what is due cannot happen, so it is due at once again and again.
#[test]
fn what_is_due_on_a_full_disk_happens_when_there_is_space_and_is_waited_for() {
    let mut workbench = Workbench::new();
    workbench.ask(1);
    // The end of two or three of them may still fit where a property does not.
    for doubled in 0..10 {
        workbench.hold(50 << doubled);
    }
    workbench.ask(MANY);
    workbench.turn();
    while !workbench.turn_in_vain() {
        // A segment that was still being made when the disk seemed full is filled, too.
        workbench.ask(1);
    }
    let patience = workbench.fast_loop.patience();
    assert!(patience > Some(Duration::ZERO), "it does not rest");
    let full = workbench.fast_loop.engine.status().backend.position;
    workbench.grant();
    let is_stuck =
        |engine: &Engine| engine.status().backend.position == full || engine.status().read_only;
    while is_stuck(&workbench.fast_loop.engine) {
        workbench.turn();
    }
    workbench.stop();
}

/// A clock that somebody set to the next year and back left the hold as it was until then.
#[test]
fn a_hold_ends_in_its_time_whatever_the_wall_clock_does() {
    let begin = Timestamp(1_780_272_000_000);
    let year_ms = 365 * 24 * 3_600_000;
    let mut workbench = Workbench::new();
    set(begin, 0);
    workbench.fast_loop.engine.set_clock(told);
    workbench.ask(1);
    workbench.turn();
    set(begin.plus_ms(year_ms), 0);
    workbench.hold(3_000);
    workbench.turn();
    let holds = |workbench: &Workbench| workbench.fast_loop.engine.totals::<Rooms>().holds;
    assert_eq!(holds(&workbench), 1);
    set(begin.plus_ms(year_ms + 1_000), 1_000);
    workbench.turn();
    assert_eq!(holds(&workbench), 1, "a jump ends no hold");
    set(begin.plus_ms(3_000), 3_000);
    workbench.turn();
    assert_eq!(holds(&workbench), 0, "its time is over");
    workbench.stop();
}

#[derive(Clone, Copy, Debug)]
enum Move {
    Ask(usize),
    Turn,
    Land,
    Grant,
    Overlap(bool),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        3 => (1..20_usize).prop_map(Move::Ask),
        2 => (100..200_usize).prop_map(Move::Ask),
        6 => Just(Move::Turn),
        2 => Just(Move::Land),
        1 => Just(Move::Grant),
        2 => any::<bool>().prop_map(Move::Overlap),
    ];
    prop::collection::vec(one, 1..30)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_happens_nothing_is_left_owed(moves in moves()) {
        let mut workbench = Workbench::new();
        for one in moves {
            match one {
                Move::Ask(count) => workbench.ask(count),
                Move::Turn => workbench.turn(),
                Move::Land => workbench.land(),
                Move::Grant => workbench.grant(),
                Move::Overlap(overlaps) => workbench.overlap(overlaps),
            }
        }
        workbench.stop().check();
    }
}
