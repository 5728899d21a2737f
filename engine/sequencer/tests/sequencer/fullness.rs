//! Whatever is asked on a disk that is full now and then: nothing is left waiting for a group that
//! is not there.

use proptest::prelude::*;
use turnstile_journal::{Chores, Durability, FaultyDisk, Journal, Log, Options};
use turnstile_sequencer::{ExecuteError, Sequencer, State};
use turnstile_types::{Author, Position, Principal, Timestamp};

use crate::seats::{Seats, Take};

/// A page for the header, and one for some 150 records of this test.
const SEGMENT_BYTES: u32 = 8 * 1024;

const OPTIONS: Options = Options {
    segment_bytes: SEGMENT_BYTES,
    durability: Durability::Sync,
    chores: Chores::Inline,
    accept_loss: None,
};

type OnDisk = Sequencer<Seats, Journal<FaultyDisk>>;

fn open(disk: &FaultyDisk) -> OnDisk {
    let (journal, _report) = Journal::open(disk.clone(), OPTIONS).expect("a sound disk");
    let mut state = State::empty();
    journal
        .replay(Position(0), |group| state.replay(group))
        .expect("a sound journal");
    Sequencer::new(state, journal)
}

#[derive(Clone, Copy, Debug)]
enum Move {
    Execute(u64),
    /// Room for so many records in one group.
    Reserve(usize),
    Submit,
    Settle,
    Commit,
    /// The disk has room for so many segments.
    Room(u64),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        4 => (1..200_u64).prop_map(Move::Execute),
        1 => (1..100_usize).prop_map(Move::Reserve),
        3 => Just(Move::Submit),
        3 => Just(Move::Settle),
        1 => Just(Move::Commit),
        2 => (1..12_u64).prop_map(Move::Room),
    ];
    prop::collection::vec(one, 1..60)
}

/// The sequencer, and up to where its caller has heard that everything is durable.
struct Caller {
    sequencer: OnDisk,
    heard: Position,
    seat: u64,
}

impl Caller {
    fn position(&self) -> Position {
        self.sequencer.state().position()
    }

    /// Whether somebody waits for a group that is open or under way.
    fn waits(&self) -> bool {
        self.sequencer.is_open() || self.sequencer.is_under_way()
    }

    fn execute(&mut self, commands: u64) {
        for _ in 0..commands {
            self.seat += 1;
            let take = Take {
                seat: self.seat,
                ms: 0,
                ..Take::default()
            };
            let before = self.position();
            let executed = self.sequencer.execute::<Seats>(
                Timestamp(1),
                Author::unknown(&Principal::local()),
                None,
                &take,
                None,
            );
            let taken = u64::from(executed.is_ok());
            assert!(matches!(executed, Ok(_) | Err(ExecuteError::ReadOnly)));
            assert_eq!(self.position(), Position(before.0 + taken));
        }
    }

    fn submit(&mut self) {
        if self.sequencer.is_under_way() {
            return;
        }
        let is_open = self.sequencer.is_open();
        self.sequencer.submit().expect("a sound disk");
        assert_eq!(self.sequencer.is_under_way(), is_open);
    }

    fn settle(&mut self) {
        let is_under_way = self.sequencer.is_under_way();
        let settled = self.sequencer.settle().expect("a sound disk");
        assert_eq!(settled.is_some(), is_under_way, "it is synced when asked");
        if let Some(settled) = settled {
            assert!(settled.position > self.heard);
            self.heard = settled.position;
        }
    }

    fn make(&mut self, one: Move, disk: &FaultyDisk) {
        match one {
            Move::Execute(commands) => self.execute(commands),
            Move::Reserve(records) => {
                let reserved = self.sequencer.reserve(records * 26);
                assert!(matches!(reserved, Ok(()) | Err(ExecuteError::ReadOnly)));
            }
            Move::Submit => self.submit(),
            Move::Settle => self.settle(),
            Move::Commit => {
                self.heard = self.sequencer.commit().expect("a sound disk");
                assert_eq!(self.heard, self.position());
                assert!(!self.waits());
            }
            Move::Room(segments) => disk.limit(Some(segments * u64::from(SEGMENT_BYTES))),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Who waits for no group has everything, also when the power goes now.
    #[test]
    fn without_a_group_open_or_under_way_all_is_durable(moves in moves(), seed in any::<u64>()) {
        let mut disk = FaultyDisk::new(seed);
        let mut caller = Caller {
            sequencer: open(&disk),
            heard: Position(0),
            seat: 0,
        };
        for one in moves {
            caller.make(one, &disk);
        }
        let last = caller.position();
        let least = if caller.waits() { caller.heard } else { last };
        drop(caller);
        disk.crash();
        disk.limit(None);
        let recovered = open(&disk).state().position();
        prop_assert!(least <= recovered && recovered <= last, "{least} {recovered} {last}");
    }
}
