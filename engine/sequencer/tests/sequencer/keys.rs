//! How many keys a server takes, and what happens to those that it has no room for.

use turnstile_journal::{FaultyDisk, Log};
use turnstile_sequencer::{
    ExecuteError, First, KEY_MS, Remembered, Reply, SERVICE_UNKNOWN, Sequencer, content_of,
};
use turnstile_types::{Effect, Key, Machine as _, Position, Principal, Timestamp};

use crate::{
    rules::{bytes_of, in_memory, on_disk, reply, take},
    seats::{Outcome, Seats, Take},
};

/// Room for some hundred keys of these tests.
const BYTES_MAX: u64 = 10_000;

/// Takes seats under keys until there is no room for another; answers how many were taken.
fn fill<L: Log>(sequencer: &mut Sequencer<Seats, L>, now: u64) -> u64 {
    sequencer.limit_keys(BYTES_MAX);
    let mut seat = 0;
    while take(sequencer, now, seat, Some(&format!("key-{seat}"))).is_ok() {
        seat += 1;
    }
    seat
}

/// Takes a seat in a group of its own.
fn later<L: Log>(
    sequencer: &mut Sequencer<Seats, L>,
    now: u64,
    seat: u64,
    key: Option<&str>,
) -> Result<Reply<Outcome>, ExecuteError> {
    sequencer.commit().expect("a sound log");
    take(sequencer, now, seat, key)
}

/// Keys were forgotten by their number: after enough others, a retry took a second seat.
#[test]
fn a_retry_is_answered_as_at_first_however_many_keys_came_meanwhile() {
    let mut sequencer = in_memory();
    sequencer.limit_keys(BYTES_MAX);
    let first = take(&mut sequencer, 5, 7, Some("first"));
    assert_eq!(first, reply(1, false, Outcome::Taken));
    // Refused ones first, and then as many that are done as there is room for.
    for number in 0..1_000 {
        let key = format!("refused-{number}");
        take(&mut sequencer, 6, 7, Some(&key)).unwrap();
    }
    let mut seat = 1_000;
    while take(&mut sequencer, 6, seat, Some(&format!("done-{seat}"))).is_ok() {
        seat += 1;
    }
    assert!(seat > 1_050, "{seat}");
    let again = reply(1, true, Outcome::Taken);
    assert_eq!(later(&mut sequencer, 4 + KEY_MS, 7, Some("first")), again);
}

#[test]
fn without_room_for_a_key_nothing_is_done_and_everything_else_goes_on() {
    let mut sequencer = in_memory();
    let filled = fill(&mut sequencer, 5_000);
    let position = sequencer.state().position();
    let full = |retry_after_s| Err(ExecuteError::KeysFull { retry_after_s });
    assert_eq!(
        later(&mut sequencer, 5_000, 900, Some("more")),
        full(86_400)
    );
    assert_eq!(
        later(&mut sequencer, 3_605_001, 900, Some("more")),
        full(82_800)
    );
    assert_eq!(sequencer.state().position(), position, "no record");
    assert_eq!(
        later(&mut sequencer, 4_999 + KEY_MS, 900, Some("more")),
        full(1)
    );
    let next = position.0 + 1;
    assert_eq!(
        later(&mut sequencer, 5_001, 900, None),
        reply(next, false, Outcome::Taken),
        "the seat was free, and a command without a key is decided"
    );
    assert_eq!(
        later(&mut sequencer, 5_002, 0, Some("key-0")),
        reply(1, true, Outcome::Taken),
        "what is remembered is answered"
    );
    let reused = ExecuteError::KeyReused {
        first: Position(filled),
    };
    let last = format!("key-{}", filled - 1);
    assert_eq!(later(&mut sequencer, 5_003, 901, Some(&last)), Err(reused));
    assert_eq!(
        later(&mut sequencer, 5_000 + KEY_MS, 901, Some("more")),
        reply(next + 1, false, Outcome::Taken),
        "the day of the oldest is over"
    );
}

/// Two services hash their commands with different seeds, and whoever may command both can look for two commands of
/// the same hash: the outcome of the first is none of the second service.
#[test]
fn a_key_of_one_service_is_not_answered_by_another_whose_command_has_the_same_hash() {
    let mut payload = Vec::new();
    let command = Take {
        seat: 7,
        ms: 0,
        ..Take::default()
    };
    Seats::encode_command(&command, &mut payload);
    for service in [Seats::SERVICE + 1, SERVICE_UNKNOWN] {
        let mut sequencer = in_memory();
        let first = First {
            position: Position(1),
            content: content_of(Seats::SERVICE, &payload),
            service,
            outcome: b"",
        };
        let known = Remembered {
            time: Timestamp(5),
            principal: Principal::local(),
            key: Key::parse(b"key").unwrap(),
            first,
            is_late: false,
        };
        sequencer.state_mut().remember(&known, Effect::Done);
        let reused = ExecuteError::KeyReused {
            first: first.position,
        };
        assert_eq!(take(&mut sequencer, 6, 7, Some("key")), Err(reused));
    }
}

#[test]
fn a_refusal_says_when_to_retry_and_which_setting_it_is() {
    let full = ExecuteError::KeysFull { retry_after_s: 60 };
    assert_eq!(
        full.to_string(),
        "the memory for idempotency keys is full: nothing was done, retry after 60 s or raise \
         limits.key_bytes"
    );
}

#[test]
fn a_replay_takes_all_keys_whatever_room_there_is_now() {
    let disk = FaultyDisk::new(9);
    let mut sequencer = on_disk(&disk);
    let filled = fill(&mut sequencer, 5);
    sequencer.commit().unwrap();
    let before = bytes_of(sequencer.state());
    sequencer.into_log().close().unwrap();
    let mut again = on_disk(&disk);
    assert_eq!(bytes_of(again.state()), before);
    again.limit_keys(BYTES_MAX / 2);
    for seat in 0..filled {
        let key = format!("key-{seat}");
        let expected = reply(seat + 1, true, Outcome::Taken);
        assert_eq!(take(&mut again, 6, seat, Some(&key)), expected);
    }
    let more = take(&mut again, 6, 900, Some("more"));
    assert!(
        matches!(more, Err(ExecuteError::KeysFull { .. })),
        "{more:?}"
    );
    again.limit_keys(2 * BYTES_MAX);
    assert!(take(&mut again, 6, 900, Some("more")).is_ok());
}
