//! The sequencer's rules: order, time, keys, groups, and what happens when the disk fails.

use turnstile_journal::{
    Chores, CommitError, Durability, Fault, FaultyDisk, Journal, Log, MemoryLog, Options,
};
use turnstile_sequencer::{ExecuteError, KEY_MS, Replay, Reply, Sequencer, State};
use turnstile_types::{Author, Key, Position, Principal, Reader, Timestamp};

use crate::seats::{Outcome, Seats, Take};

pub(crate) type InMemory = Sequencer<Seats, MemoryLog>;

pub(crate) fn in_memory() -> InMemory {
    Sequencer::new(State::empty(), MemoryLog::new())
}

pub(crate) fn take<L: Log>(
    sequencer: &mut Sequencer<Seats, L>,
    now: u64,
    seat: u64,
    key: Option<&str>,
) -> Result<Reply<Outcome>, ExecuteError> {
    let key = key.map(|key| Key::parse(key.as_bytes()).expect("a key of the test"));
    let command = Take {
        seat,
        ms: 0,
        ..Take::default()
    };
    sequencer.execute::<Seats>(
        Timestamp(now),
        Author::unknown(&Principal::local()),
        key,
        &command,
        None,
    )
}

pub(crate) fn reply(
    position: u64,
    replayed: bool,
    outcome: Outcome,
) -> Result<Reply<Outcome>, ExecuteError> {
    Ok(Reply {
        position: Position(position),
        replayed,
        outcome,
    })
}

#[test]
fn positions_count_every_command_also_the_refused() {
    let mut sequencer = in_memory();
    assert_eq!(
        take(&mut sequencer, 1, 7, None),
        reply(1, false, Outcome::Taken)
    );
    assert_eq!(
        take(&mut sequencer, 1, 7, None),
        reply(2, false, Outcome::Refused(Position(1)))
    );
    assert_eq!(sequencer.commit().unwrap(), Position(2));
    assert_eq!(
        take(&mut sequencer, 1, 8, None),
        reply(3, false, Outcome::Taken)
    );
}

#[test]
fn a_key_gives_the_first_answer_again_also_within_one_group() {
    let mut sequencer = in_memory();
    assert_eq!(
        take(&mut sequencer, 1, 7, Some("a")),
        reply(1, false, Outcome::Taken)
    );
    assert_eq!(
        take(&mut sequencer, 1, 7, Some("a")),
        reply(1, true, Outcome::Taken)
    );
    sequencer.commit().unwrap();
    assert_eq!(
        take(&mut sequencer, 2, 7, Some("a")),
        reply(1, true, Outcome::Taken)
    );
    let refused = Outcome::Refused(Position(1));
    assert_eq!(
        take(&mut sequencer, 2, 7, Some("b")),
        reply(2, false, refused),
        "a refusal too"
    );
    assert_eq!(
        take(&mut sequencer, 2, 7, Some("b")),
        reply(2, true, refused)
    );
}

#[test]
fn a_key_is_not_reused_for_another_command_until_its_day_is_over() {
    let mut sequencer = in_memory();
    take(&mut sequencer, 5, 7, Some("a")).unwrap();
    sequencer.commit().unwrap();
    let reused = Err(ExecuteError::KeyReused { first: Position(1) });
    assert_eq!(take(&mut sequencer, 4 + KEY_MS, 8, Some("a")), reused);
    assert_eq!(
        take(&mut sequencer, 5 + KEY_MS, 8, Some("a")),
        reply(2, false, Outcome::Taken)
    );
}

#[test]
fn the_longest_command_is_taken_and_a_longer_one_changes_nothing() {
    let mut sequencer = in_memory();
    let fixed = 16;
    let mut send = |seat, padding| {
        let command = Take {
            seat,
            ms: 0,
            padding,
        };
        sequencer.execute::<Seats>(
            Timestamp(1),
            Author::unknown(&Principal::local()),
            None,
            &command,
            None,
        )
    };
    let longest = turnstile_record::PAYLOAD_BYTES_MAX - fixed;
    assert_eq!(send(1, longest + 1), Err(ExecuteError::TooLarge));
    assert_eq!(send(1, longest), reply(1, false, Outcome::Taken));
}

#[test]
fn logged_time_never_goes_back() {
    let mut sequencer = in_memory();
    take(&mut sequencer, 1_000, 1, None).unwrap();
    sequencer.commit().unwrap();
    take(&mut sequencer, 10, 2, None).unwrap();
    assert_eq!(sequencer.state().time(), Timestamp(1_000));
}

#[test]
fn what_is_due_happens_in_a_record_of_its_own() {
    let mut sequencer = in_memory();
    let held = Take {
        seat: 1,
        ms: 50,
        ..Take::default()
    };
    sequencer
        .execute::<Seats>(
            Timestamp(100),
            Author::unknown(&Principal::local()),
            None,
            &held,
            None,
        )
        .unwrap();
    sequencer.commit().unwrap();
    sequencer.tick(Timestamp(149)).unwrap();
    assert_eq!(
        sequencer.state().position(),
        Position(1),
        "nothing is due yet"
    );
    sequencer.tick(Timestamp(150)).unwrap();
    assert_eq!(sequencer.state().position(), Position(2));
    assert_eq!(
        take(&mut sequencer, 150, 1, None),
        reply(3, false, Outcome::Taken)
    );
}

const OPTIONS: Options = Options {
    segment_bytes: 128 * 1024,
    durability: Durability::Sync,
    chores: Chores::Inline,
    accept_loss: None,
};

pub(crate) fn on_disk(disk: &FaultyDisk) -> Sequencer<Seats, Journal<FaultyDisk>> {
    let (journal, _report) = Journal::open(disk.clone(), OPTIONS).expect("a sound disk");
    let mut state = State::empty();
    journal
        .replay(Position(0), |group| state.replay(group))
        .expect("a sound journal");
    Sequencer::new(state, journal)
}

pub(crate) fn bytes_of(state: &State<Seats>) -> Vec<u8> {
    let mut bytes = Vec::new();
    state.snapshot(&mut bytes);
    bytes
}

/// The state after a journal, with keys replayed on a thread of their own.
fn replayed_by_two(journal: &Journal<FaultyDisk>, state: State<Seats>) -> State<Seats> {
    let after = state.position();
    let mut replay = Replay::begin(state).expect("a thread");
    journal
        .replay(after, |group| replay.replay(group))
        .expect("a sound journal");
    replay.finish()
}

#[test]
fn a_replay_by_two_threads_goes_on_after_a_snapshot() {
    let disk = FaultyDisk::new(2);
    let mut sequencer = on_disk(&disk);
    let mut snapshot = Vec::new();
    for number in 0..3_000_u64 {
        if number % 50 == 0 {
            sequencer.commit().unwrap();
        }
        if number == 700 {
            snapshot = bytes_of(sequencer.state());
        }
        let key = format!("key-{}", number % 2_900);
        take(&mut sequencer, number, number % 2_900, Some(&key)).unwrap();
    }
    sequencer.commit().unwrap();
    let restored = State::restore(Reader::new(&snapshot)).unwrap();
    let replayed = replayed_by_two(sequencer.log(), restored);
    assert_eq!(bytes_of(&replayed), bytes_of(sequencer.state()));
}

#[test]
fn a_replay_prefetches_each_record_once_before_it_is_applied() {
    let disk = FaultyDisk::new(3);
    let mut sequencer = on_disk(&disk);
    for seat in 0..100 {
        take(&mut sequencer, seat, seat, None).unwrap();
        // Groups of one record, and of many.
        if seat < 10 || seat % 30 == 0 {
            sequencer.commit().unwrap();
        }
    }
    sequencer.commit().unwrap();
    let replayed = replayed_by_two(sequencer.log(), State::empty());
    let prefetched = replayed.machines().prefetched.borrow();
    assert!(prefetched.iter().map(|&(seat, _)| seat).eq(0..100));
    for &(seat, taken) in &*prefetched {
        assert!(
            taken as u64 <= seat,
            "seat {seat} was prefetched after {taken} were taken"
        );
    }
    assert!(prefetched.contains(&(50, 47)), "{prefetched:?}");
}

#[test]
fn a_replay_builds_the_same_state_keys_included() {
    let disk = FaultyDisk::new(1);
    let mut sequencer = on_disk(&disk);
    for number in 0..500_u64 {
        let key = format!("key-{}", number % 90);
        take(&mut sequencer, number * 3, number % 90, Some(&key)).unwrap();
        if number % 7 == 0 {
            let held = Take {
                seat: 1_000 + number,
                ms: 40,
                ..Take::default()
            };
            sequencer
                .execute::<Seats>(
                    Timestamp(0),
                    Author::unknown(&Principal::local()),
                    None,
                    &held,
                    None,
                )
                .unwrap();
            sequencer.commit().unwrap();
            sequencer.tick(Timestamp(number * 3)).unwrap();
        }
    }
    sequencer.commit().unwrap();
    let before = bytes_of(sequencer.state());
    sequencer.into_log().close().unwrap();
    let mut again = on_disk(&disk);
    assert_eq!(bytes_of(again.state()), before);
    assert_eq!(
        bytes_of(&replayed_by_two(again.log(), State::empty())),
        before
    );
    let restored = State::<Seats>::restore(Reader::new(&before)).unwrap();
    assert_eq!(bytes_of(&restored), before);
    assert_eq!(
        take(&mut again, 0, 3, Some("key-3")),
        reply(5, true, Outcome::Taken)
    );
}

#[test]
fn after_a_failed_sync_everything_is_refused() {
    let disk = FaultyDisk::new(2);
    let mut sequencer = on_disk(&disk);
    take(&mut sequencer, 1, 1, None).unwrap();
    sequencer.commit().unwrap();
    disk.inject(Fault::SyncError, 0);
    take(&mut sequencer, 2, 2, None).unwrap();
    assert!(sequencer.commit().is_err());
    assert_eq!(take(&mut sequencer, 3, 3, None), Err(ExecuteError::Stopped));
    assert!(matches!(sequencer.commit(), Err(CommitError::Poisoned)));
}

#[test]
fn a_submitted_group_is_settled_once_and_the_next_is_decided_meanwhile() {
    let mut disk = FaultyDisk::new(5);
    let mut sequencer = on_disk(&disk);
    take(&mut sequencer, 1, 1, None).unwrap();
    take(&mut sequencer, 1, 2, None).unwrap();
    sequencer.submit().unwrap();
    assert!(sequencer.is_under_way() && !sequencer.is_open());
    assert_eq!(
        take(&mut sequencer, 2, 1, None),
        reply(3, false, Outcome::Refused(Position(1)))
    );
    let settled = sequencer.settle().unwrap().map(|settled| settled.position);
    assert_eq!(settled, Some(Position(2)), "the open group is not durable");
    assert_eq!(sequencer.settle().unwrap(), None);
    drop(sequencer);
    disk.crash();
    assert_eq!(on_disk(&disk).state().position(), Position(2));
}

#[test]
fn a_submitted_group_that_fails_stops_everything() {
    let disk = FaultyDisk::new(6);
    let mut sequencer = on_disk(&disk);
    disk.inject(Fault::SyncError, 0);
    take(&mut sequencer, 1, 1, None).unwrap();
    sequencer.submit().unwrap();
    take(&mut sequencer, 2, 2, None).unwrap();
    assert!(matches!(sequencer.settle(), Err(CommitError::Sync(_))));
    assert_eq!(take(&mut sequencer, 3, 3, None), Err(ExecuteError::Stopped));
    assert!(matches!(sequencer.commit(), Err(CommitError::Poisoned)));
}

#[test]
fn a_full_group_is_committed_and_the_next_one_begun() {
    let disk = FaultyDisk::new(3);
    let mut sequencer = on_disk(&disk);
    for number in 0..5_000 {
        take(&mut sequencer, 1, number, None).unwrap();
    }
    sequencer.commit().unwrap();
    let before = bytes_of(sequencer.state());
    drop(sequencer);
    assert_eq!(bytes_of(on_disk(&disk).state()), before);
}

/// The simulator found this: when no group was open, nothing was reserved, and a batch at the end
/// of a segment whose successor could not be made was committed in two parts.
#[test]
fn what_was_reserved_is_never_committed_in_parts() {
    let mut disk = FaultyDisk::new(4);
    let mut sequencer = on_disk(&disk);
    let mut seat = 0;
    for reserved in [1_000, 3_000, 9_000, 27_000].into_iter().cycle().take(200) {
        sequencer.reserve(reserved).unwrap();
        let before = sequencer.state().position();
        // A record of a seat has 5 + 5 + 16 bytes.
        for _ in 0..reserved / 26 {
            take(&mut sequencer, 1, seat, None).unwrap();
            seat += 1;
        }
        drop(sequencer);
        disk.kill();
        sequencer = on_disk(&disk);
        assert_eq!(
            sequencer.state().position(),
            before,
            "nothing of a batch was committed"
        );
        for _ in 0..40 {
            take(&mut sequencer, 1, seat, None).unwrap();
            seat += 1;
        }
        sequencer.commit().unwrap();
    }
}
