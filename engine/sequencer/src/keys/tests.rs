//! What the memory of keys keeps and drops, and whom it admits.

use std::collections::{BTreeMap, VecDeque};

use turnstile_seed::Random;
use turnstile_types::{Malformed, Name, Reader, put_bytes, put_u64};

use super::*;
use crate::remembered::{RememberedField, SERVICE_UNKNOWN};

fn first(position: u64, outcome: &[u8]) -> First<'_> {
    First {
        position: Position(position),
        content: position * 7,
        service: 3,
        outcome,
    }
}

fn key(text: &str) -> Key<'_> {
    Key::parse(text.as_bytes()).unwrap()
}

fn principal(text: &str) -> Principal {
    Principal(Name::parse(text.as_bytes()).unwrap())
}

/// Outcomes of these tests begin with what they came to.
fn effect_of(_service: u8, outcome: &[u8]) -> Result<Effect, Malformed> {
    Ok(match outcome {
        [b'd', ..] => Effect::Done,
        [b'r', ..] => Effect::Refused,
        [b'p', ..] => Effect::Pending,
        _ => return Err(Malformed { field: "outcome" }),
    })
}

fn insert_of(keys: &mut Keys, time: u64, who: &Principal, text: &str, first: First<'_>) {
    let entry = Remembered {
        time: Timestamp(time),
        principal: *who,
        key: key(text),
        first,
        is_late: false,
    };
    keys.insert(&entry, effect_of(3, first.outcome).unwrap());
}

fn insert(keys: &mut Keys, time: u64, text: &str, first: First<'_>) {
    insert_of(keys, time, &Principal::local(), text, first);
}

/// The position of the answer under a key of `local`.
fn find(keys: &Keys, now: u64, text: &str) -> Option<u64> {
    let found = keys.find(Timestamp(now), &Principal::local(), key(text));
    found.map(|first| first.position.0)
}

fn bytes_of(keys: &Keys) -> Vec<u8> {
    let mut bytes = Vec::new();
    keys.snapshot(&mut bytes);
    bytes
}

fn restored(bytes: &[u8], refused_bytes_max: u64) -> Result<Keys, Malformed> {
    let mut reader = Reader::new(bytes);
    Keys::restore(
        &mut reader,
        refused_bytes_max,
        RememberedField::Noted,
        effect_of,
    )
}

#[test]
fn a_key_is_remembered_for_its_principal_and_its_day() {
    for (one, two) in [(b"d1", b"d2"), (b"r1", b"r2")] {
        let mut keys = Keys::new(u64::MAX);
        insert(&mut keys, 5, "k", first(1, one));
        let found = keys.find(Timestamp(6), &Principal::local(), key("k"));
        assert_eq!(found, Some(first(1, one)));
        assert_eq!(keys.find(Timestamp(6), &principal("bob"), key("k")), None);
        assert_eq!(find(&keys, 6, "K"), None);
        assert_eq!(find(&keys, 4 + KEY_MS, "k"), Some(1));
        assert_eq!(find(&keys, 5 + KEY_MS, "k"), None);
        insert(&mut keys, 5 + KEY_MS, "k", first(2, two));
        assert_eq!(find(&keys, 6 + KEY_MS, "k"), Some(2));
        let figures = keys.figures();
        assert_eq!(
            (figures.kept, figures.oldest),
            (1, Some(Timestamp(5 + KEY_MS)))
        );
    }
}

/// Keys of commands that were done were forgotten when four million others had come, those of
/// refusals among them, and a retry sold the thing again.
#[test]
fn refusals_push_out_the_oldest_refusals_and_nothing_that_was_done() {
    const REFUSED_MAX: u64 = 20_000;
    let mut random = Random::new(5);
    let mut keys = Keys::new(REFUSED_MAX);
    let mut naive = BTreeMap::new();
    let mut refused: VecDeque<(String, u64)> = VecDeque::new();
    for number in 1..4_000_u64 {
        let text = format!("key-{number}");
        let kind = if random.one_in(10) { b'd' } else { b'r' };
        insert(&mut keys, number, &text, first(number, &[kind; 50]));
        while refused.iter().map(|(_, size)| size).sum::<u64>() > REFUSED_MAX {
            let (gone, _) = refused.pop_front().unwrap();
            naive.remove(&gone);
        }
        if kind == b'r' {
            let size = size_of(&Principal::local(), key(&text), 50) as u64;
            refused.push_back((text.clone(), size));
        }
        naive.insert(text, number);
    }
    for number in 1..4_000 {
        let text = format!("key-{number}");
        assert_eq!(
            find(&keys, 5_000, &text),
            naive.get(&text).copied(),
            "{text}"
        );
    }
    assert_eq!(keys.figures().kept, naive.len());
    let oldest = naive.values().min().copied().map(Timestamp);
    assert_eq!(keys.figures().oldest, oldest);
}

#[test]
fn refusals_are_dropped_when_they_take_more_than_their_bound() {
    let size = size_of(&Principal::local(), key("k-1"), 1) as u64;
    let mut keys = Keys::new(2 * size);
    for (number, oldest) in [(1, 1), (2, 1), (3, 1), (4, 2), (5, 3)] {
        insert(
            &mut keys,
            number,
            &format!("k-{number}"),
            first(number, b"r"),
        );
        assert_eq!(keys.figures().oldest, Some(Timestamp(oldest)), "{number}");
    }
}

#[test]
fn a_day_that_is_over_is_dropped_in_steps_and_takes_its_bytes_along() {
    let mut keys = Keys::new(u64::MAX);
    for number in 0..100 {
        let kind = if number % 2 == 0 { b"d" } else { b"r" };
        insert(
            &mut keys,
            number,
            &format!("key-{number}"),
            first(number, kind),
        );
    }
    let full = keys.figures();
    for (later, kept) in [
        (1, 100 - 32 + 1),
        (2, 100 - 64 + 2),
        (3, 100 - 96 + 3),
        (4, 4),
    ] {
        insert(
            &mut keys,
            KEY_MS + 100,
            &format!("later-{later}"),
            first(later, b"d"),
        );
        assert_eq!(keys.figures().kept, kept);
    }
    let entry = size_of(&Principal::local(), key("later-1"), 1) as u64;
    assert_eq!(keys.figures().bytes, 4 * (entry + PLACE_BYTES));
    assert!(full.bytes > keys.figures().bytes);
    assert_eq!(keys.held_by(&Principal::local()), keys.figures().bytes);
}

#[test]
fn what_is_remembered_is_told_once_and_the_oldest_first() {
    let step = KEY_MS / 1_500;
    let mut keys = Keys::new(u64::MAX);
    for number in 0..5_000_u64 {
        let text = format!("key-{}", number % 1_700);
        let mut outcome = [b'd'; 900];
        if number % 3 == 0 {
            outcome[0] = b'r';
        }
        insert(&mut keys, number * step, &text, first(number, &outcome));
    }
    let now = Timestamp(4_999 * step);
    let told = |keys: &Keys| -> Vec<u64> {
        let told = keys.remembered(now).map(|entry| {
            assert_eq!(
                find(keys, now.0, entry.key.as_str()),
                Some(entry.first.position.0)
            );
            entry.first.position.0
        });
        told.collect()
    };
    // That of number 3,499 is a day old to the millisecond.
    assert_eq!(now.ms_since(Timestamp(3_499 * step)), KEY_MS);
    assert!(told(&keys).into_iter().eq(3_500..5_000));
    // Those that have become too old since the last key came are still there, and not told.
    let later = keys.remembered(Timestamp(5_009 * step));
    assert!(later.map(|entry| entry.first.position.0).eq(3_510..5_000));
    // A key that is given again, as after the clock went back, is told as it was given last.
    insert(&mut keys, now.0, "key-101", first(5_000, b"d again"));
    let expected = (3_500..5_001).filter(|number| number % 1_700 != 101 || *number == 5_000);
    assert!(told(&keys).into_iter().eq(expected));
}

#[test]
fn a_final_answer_takes_the_place_of_the_wait_and_is_kept_for_its_own_day() {
    for outcome in [b"d done", b"r over"] {
        let mut keys = Keys::new(u64::MAX);
        insert(&mut keys, 5, "k", first(1, b"p"));
        insert(&mut keys, 6, "other", first(2, b"d"));
        assert!(keys.has_pending());
        // For a while nobody knows how it ended.
        assert!(keys.settle(Timestamp(8), Position(1), Effect::Pending, b"p doubt"));
        let doubt = keys.find(Timestamp(8), &Principal::local(), key("k"));
        assert_eq!(doubt, Some(first(1, b"p doubt")));
        let effect = effect_of(3, outcome).unwrap();
        assert!(!keys.settle(Timestamp(9), Position(2), effect, outcome));
        assert!(keys.settle(Timestamp(9), Position(1), effect, outcome));
        assert!(!keys.has_pending());
        assert!(
            !keys.settle(Timestamp(9), Position(1), effect, outcome),
            "once"
        );
        let local = Principal::local();
        for now in [9, 8 + KEY_MS] {
            let found = keys.find(Timestamp(now), &local, key("k"));
            assert_eq!(found, Some(first(1, outcome)));
        }
        assert_eq!(find(&keys, 9 + KEY_MS, "k"), None);
        // The wait is dropped later, and the answer stays.
        insert(&mut keys, 7 + KEY_MS, "later", first(3, b"d"));
        assert_eq!(find(&keys, 8 + KEY_MS, "k"), Some(1));
        assert_eq!(keys.figures().kept, 2);
    }
}

#[test]
fn who_waits_for_more_than_a_day_is_forgotten() {
    let mut keys = Keys::new(u64::MAX);
    insert(&mut keys, 5, "k", first(1, b"p"));
    insert(&mut keys, 5 + KEY_MS, "later", first(2, b"d"));
    assert!(!keys.has_pending());
    assert!(!keys.settle(Timestamp(5 + KEY_MS), Position(1), Effect::Done, b"d"));
}

#[test]
fn an_answer_that_is_too_long_is_not_remembered() {
    let long = [b'd'; OUTCOME_BYTES_MAX + 1];
    let mut keys = Keys::new(u64::MAX);
    insert(&mut keys, 5, "long", first(1, &long));
    insert(&mut keys, 5, "waits", first(2, b"p"));
    insert(&mut keys, 5, "longest", first(3, &long[1..]));
    keys.settle(Timestamp(6), Position(2), Effect::Done, &long);
    let found = ["long", "waits", "longest"].map(|text| find(&keys, 7, text));
    assert_eq!(found, [None, None, Some(3)]);
    assert!(!keys.has_pending());
    // A snapshot remembered the wait again, and a retry was told to go on waiting.
    let again = restored(&bytes_of(&keys), u64::MAX).unwrap();
    let found = ["long", "waits", "longest"].map(|text| find(&again, 7, text));
    assert_eq!(found, [None, None, Some(3)]);
    assert!(!again.has_pending());
    assert_eq!(again.figures().kept, 1);
}

#[test]
fn all_answers_of_a_wait_are_forgotten_and_its_key_begins_anew() {
    let long = [b'd'; OUTCOME_BYTES_MAX + 1];
    let mut keys = Keys::new(u64::MAX);
    insert(&mut keys, 5, "k", first(1, b"p"));
    keys.settle(Timestamp(6), Position(1), Effect::Pending, b"p doubt");
    keys.settle(Timestamp(7), Position(1), Effect::Done, &long);
    let empty = bytes_of(&Keys::new(u64::MAX));
    assert!(bytes_of(&keys) == empty);
    insert(&mut keys, 8, "k", first(2, b"p"));
    keys.settle(Timestamp(9), Position(2), Effect::Done, b"d");
    let again = restored(&bytes_of(&keys), u64::MAX).unwrap();
    assert_eq!([&keys, &again].map(|keys| find(keys, 9, "k")), [Some(2); 2]);
    // What is dropped after its day leaves no trace.
    for number in 10..40 {
        insert(
            &mut keys,
            9 + KEY_MS,
            &format!("{number}"),
            first(number, b"d"),
        );
    }
    assert!(keys.forgotten.is_empty());
}

#[test]
fn a_restored_memory_answers_like_the_live_one_whatever_was_forgotten() {
    for seed in 0..8 {
        let mut random = Random::new(seed);
        let mut keys = Keys::new(20_000);
        let mut waiting: Vec<u64> = Vec::new();
        let mut time = 7;
        for number in 1..600_u64 {
            time += random.below(KEY_MS / 200);
            let text = format!("key-{}", random.below(60));
            if find(&keys, time, &text).is_none() {
                let outcome = [random.pick(b"drpp"); 90];
                insert(&mut keys, time, &text, first(number, &outcome));
                if outcome[0] == b'p' {
                    waiting.push(number);
                }
            }
            if random.one_in(3) && !waiting.is_empty() {
                let place = usize::try_from(random.below(waiting.len() as u64)).unwrap();
                let answer = random.pick(&[&b"d"[..], b"r", b"p", &[b'd'; OUTCOME_BYTES_MAX + 1]]);
                let effect = effect_of(3, answer).unwrap();
                keys.settle(Timestamp(time), Position(waiting[place]), effect, answer);
                if effect != Effect::Pending {
                    waiting.swap_remove(place);
                }
            }
            let bytes = bytes_of(&keys);
            let again = restored(&bytes, 20_000).unwrap();
            assert!(bytes_of(&again) == bytes, "{seed} {number}");
            let positions = |keys: &Keys| keys.pending.keys().copied().collect::<Vec<_>>();
            assert_eq!(positions(&again), positions(&keys), "{seed} {number}");
            for text in (0..60).map(|number| format!("key-{number}")) {
                let local = Principal::local();
                let [live, read] =
                    [&keys, &again].map(|keys| keys.find(Timestamp(time), &local, key(&text)));
                assert_eq!(read, live, "{seed} {number} {text}");
            }
        }
    }
}

/// Inserts keys of a principal as long as there is room, and answers how many and what the refusal said.
fn fill(keys: &mut Keys, time: u64, who: &Principal, bytes_max: u64) -> (u64, u64) {
    for number in 0.. {
        let text = format!("key-{time}-{number:04}");
        match keys.admits(Timestamp(time), who, key(&text), bytes_max) {
            Ok(()) => insert_of(keys, time, who, &text, first(number, b"d")),
            Err(ms) => return (number, ms),
        }
    }
    unreachable!("there are numbers enough");
}

#[test]
fn young_keys_that_were_done_fill_the_capacity_until_the_oldest_is_forgotten() {
    let local = Principal::local();
    let mut keys = Keys::new(u64::MAX);
    let (filled, ms) = fill(&mut keys, 7, &local, 90_000);
    assert_eq!(ms, KEY_MS, "the oldest came just now");
    let used = keys.figures().bytes;
    let each = used / filled;
    // One principal alone has at most 8/9.
    assert!((80_000 - 2 * each..=80_000).contains(&used), "{used} bytes");
    // Refusals take nothing of it.
    insert(&mut keys, 8, "refused", first(9_999, b"r"));
    assert_eq!(keys.figures().bytes, used);
    let ask = |keys: &Keys, now, bytes_max| {
        keys.admits(Timestamp(now), &local, key("key-0000000"), bytes_max)
    };
    assert_eq!(ask(&keys, 6 + KEY_MS, 90_000), Err(1));
    assert_eq!(
        ask(&keys, 6 + KEY_MS, 100_000),
        Ok(()),
        "there is more room"
    );
    assert_eq!(ask(&keys, 7 + KEY_MS, 90_000), Ok(()));
    // Without any room, somebody who holds nothing gets none either.
    let stranger = principal("stranger");
    let none = keys.admits(Timestamp(8), &stranger, key("k"), used + 10);
    assert_eq!(none, Err(KEY_MS - 1));
    // What is over makes room for others, even where the capacity is smaller now.
    assert_eq!(ask(&keys, 7 + KEY_MS, 100), Ok(()));
    let (_, ms) = fill(&mut keys, 7 + KEY_MS, &local, 90_000);
    let used = keys.figures().bytes;
    assert!((80_000 - 2 * each..=80_000).contains(&used), "{used} bytes");
    assert_eq!(ms, KEY_MS);
}

#[test]
fn a_newcomer_finds_room_whatever_the_others_hold() {
    let (ada, bob) = (principal("ada"), principal("bob"));
    let mut keys = Keys::new(u64::MAX);
    let (of_ada, _) = fill(&mut keys, 7, &ada, 90_000);
    let (of_bob, _) = fill(&mut keys, 7, &bob, 90_000);
    assert!(of_bob > of_ada / 12, "{of_bob} beside {of_ada}");
    assert_eq!(fill(&mut keys, 8, &ada, 90_000).0, 0);
    let held = keys.held_by(&ada) + keys.held_by(&bob);
    assert_eq!(held, keys.figures().bytes);
    // When all are forgotten, both get the same.
    let mut random = Random::new(1);
    let (mut of_ada, mut of_bob) = (0, 0);
    for number in 0..20_000 {
        let (who, count) = if random.one_in(2) {
            (&ada, &mut of_ada)
        } else {
            (&bob, &mut of_bob)
        };
        let text = format!("new-{number:05}");
        let time = 8 + KEY_MS;
        if keys
            .admits(Timestamp(time), who, key(&text), 90_000)
            .is_ok()
        {
            insert_of(&mut keys, time, who, &text, first(number, b"d"));
            *count += 1;
        }
    }
    assert!(of_ada > 100, "{of_ada}");
    let apart = u64::abs_diff(of_ada, of_bob);
    assert!(apart < of_ada / 10, "{of_ada} and {of_bob}");
}

#[test]
fn a_snapshot_that_notes_no_services_is_restored_without_them() {
    let mut bytes = Vec::new();
    put_u64(&mut bytes, 1);
    put_u64(&mut bytes, 5);
    put_u64(&mut bytes, 9);
    put_u64(&mut bytes, 63);
    for field in [&b"local"[..], b"k", b"done"] {
        put_bytes(&mut bytes, field);
    }
    let mut reader = Reader::new(&bytes);
    let restored = Keys::restore(&mut reader, 10, RememberedField::NotNoted, effect_of).unwrap();
    let expected = First {
        service: SERVICE_UNKNOWN,
        ..first(9, b"done")
    };
    let found = restored.find(Timestamp(6), &Principal::local(), key("k"));
    assert_eq!(found, Some(expected));
}

#[test]
fn a_snapshot_restores_the_same_memory() {
    let mut random = Random::new(3);
    let mut keys = Keys::new(300_000);
    let mut waiting = Vec::new();
    for number in 0..5_000_u64 {
        let text = format!("key-{}", number % 1_700);
        let mut outcome = [random.pick(b"drp"); 600];
        outcome[1] = random.byte();
        let time = number / 3;
        if find(&keys, time, &text).is_some() {
            continue;
        }
        insert(&mut keys, time, &text, first(number, &outcome));
        if outcome[0] == b'p' {
            waiting.push(number);
        }
        if random.one_in(4) && !waiting.is_empty() {
            let position = random.pick(&waiting);
            waiting.retain(|other| *other != position);
            let position = Position(position);
            let answer = [random.pick(b"dr"); 20];
            let effect = effect_of(3, &answer).unwrap();
            keys.settle(Timestamp(time), position, effect, &answer);
        }
    }
    let bytes = bytes_of(&keys);
    let mut again = restored(&bytes, 300_000).unwrap();
    assert!(bytes_of(&again) == bytes);
    assert_eq!(again.figures(), keys.figures());
    assert_eq!(again.pending.len(), keys.pending.len());
    for number in 0..1_700 {
        let text = format!("key-{number}");
        let local = Principal::local();
        let [one, other] =
            [&keys, &again].map(|keys| keys.find(Timestamp(2_000), &local, key(&text)));
        assert_eq!(one, other, "{text}");
    }
    // Both go on alike.
    for memory in [&mut keys, &mut again] {
        for number in 5_000..5_400 {
            insert(
                memory,
                KEY_MS + 900,
                &format!("new-{number}"),
                first(number, b"r"),
            );
        }
    }
    assert!(bytes_of(&again) == bytes_of(&keys));
    for cut in 1..200 {
        assert!(restored(&bytes[..bytes.len() - cut], 300_000).is_err());
    }
}

#[test]
fn a_snapshot_whose_keys_are_in_no_order_is_none() {
    let mut keys = Keys::new(u64::MAX);
    insert(&mut keys, 8, "one", first(1, b"d"));
    let one = bytes_of(&keys);
    insert(&mut keys, 8, "two", first(2, b"d"));
    assert!(
        restored(&bytes_of(&keys), 9).is_ok(),
        "equal times are in order"
    );
    insert(&mut keys, 7, "three", first(3, b"d"));
    let expected = Malformed {
        field: "order of keys",
    };
    assert_eq!(restored(&bytes_of(&keys), 9).unwrap_err(), expected);
    assert!(restored(&one, 9).is_ok());
}

/// What a principal may have is counted exactly, whatever is dropped, replaced and restored.
#[test]
fn the_keys_of_a_principal_are_counted_however_they_come_and_go() {
    let principals = ["ada", "bob", "carl"].map(principal);
    for seed in 0..4 {
        let mut random = Random::new(seed);
        let mut keys = Keys::new(40_000);
        let mut waiting: Vec<u64> = Vec::new();
        let mut time = 7;
        for number in 0..3_000_u64 {
            time += random.below(KEY_MS / 400);
            let who = random.pick(&principals);
            let text = format!("key-{}", random.below(500));
            if keys.find(Timestamp(time), &who, key(&text)).is_none() {
                let outcome = [random.pick(b"ddrp"); 90];
                insert_of(&mut keys, time, &who, &text, first(number, &outcome));
                if outcome[0] == b'p' {
                    waiting.push(number);
                }
            }
            if random.one_in(5) && !waiting.is_empty() {
                let place = usize::try_from(random.below(waiting.len() as u64)).unwrap();
                let position = Position(waiting.swap_remove(place));
                let answer = random.pick(&[&b"d"[..], b"r", &[b'd'; OUTCOME_BYTES_MAX + 1]]);
                let effect = effect_of(3, answer).unwrap();
                keys.settle(Timestamp(time), position, effect, answer);
            }
            if random.one_in(300) {
                keys = restored(&bytes_of(&keys), 40_000).unwrap();
            }
            let mut counted = [0; 3];
            for (address, entry) in keys.entries() {
                let is_it = |known| known == address;
                if keys.table.find(entry.hash(), is_it).is_some() {
                    let place = principals.iter().position(|one| *one == entry.principal);
                    counted[place.unwrap()] += 1;
                }
            }
            assert_eq!(
                principals.map(|one| keys.kept_by(&one)),
                counted,
                "{number}"
            );
            assert_eq!(counted.iter().sum::<u32>() as usize, keys.figures().kept);
        }
    }
}

#[test]
fn who_has_as_many_keys_as_it_may_is_told_when_the_oldest_is_forgotten() {
    let (ada, bob) = (principal("ada"), principal("bob"));
    let mut keys = Keys::new(u64::MAX);
    let within = |keys: &Keys, now, who| keys.admits_within(Timestamp(now), who, 3);
    insert_of(&mut keys, 1, &bob, "first", first(1, b"d"));
    for (time, text, outcome) in [(10, "a", b"d"), (20, "b", b"r"), (30, "c", b"d")] {
        assert_eq!(within(&keys, time, &ada), Ok(()), "{text}");
        insert_of(&mut keys, time, &ada, text, first(time, outcome));
    }
    assert_eq!(within(&keys, 40, &ada), Err(KEY_MS - 30));
    assert_eq!(within(&keys, 40, &bob), Ok(()), "others have their own");
    assert_eq!(within(&keys, 9 + KEY_MS, &ada), Err(1));
    assert_eq!(within(&keys, 10 + KEY_MS, &ada), Ok(()));
    insert_of(&mut keys, 10 + KEY_MS, &ada, "d", first(99, b"d"));
    assert_eq!(within(&keys, 10 + KEY_MS, &ada), Err(10));
    // Behind many keys of others, the time is the least that it can be.
    let mut keys = Keys::new(u64::MAX);
    for number in 0..200 {
        insert_of(
            &mut keys,
            number,
            &bob,
            &format!("{number}"),
            first(number, b"d"),
        );
    }
    for text in ["a", "b", "c"] {
        insert_of(&mut keys, 200, &ada, text, first(200, b"d"));
    }
    assert_eq!(within(&keys, 200, &ada), Err(KEY_MS - 137));
    // While many are too old, all make room.
    assert_eq!(within(&keys, 100 + KEY_MS, &ada), Ok(()));
}
