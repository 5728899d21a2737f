//! What a visitor says and understands, without a socket and a witness.

use std::{collections::BTreeSet, time::Duration};

use turnstile_client::resp::{ReplyLimits, decode};

use super::{Brief, RoomVisitor};
use crate::{
    pace::{Answer, Garbled, Pace, ParsedAnswer, User},
    rooms::{Apart, Config, Mix, What, plan::APART_NIGHTS, visitors},
};

fn config(seed: u64) -> Config {
    Config {
        pace: Pace {
            seed,
            ..Pace::closed(
                std::net::SocketAddr::from(([127, 0, 0, 1], 8479)),
                Duration::ZERO,
                Duration::ZERO,
            )
        },
        users: 50,
        mix: Mix::new(70, 30).unwrap(),
    }
}

fn visitor(seed: u64, user: usize, position: u64) -> RoomVisitor<Apart> {
    visitors(&config(seed), position).swap_remove(user)
}

/// Everything that a visitor sends when each request is acknowledged.
fn stream(seed: u64, user: usize, requests: u64) -> Vec<u8> {
    let mut guest = visitor(seed, user, 12);
    let mut sent = Vec::new();
    for number in 0..requests {
        let ask = guest.ask(&mut sent).unwrap();
        let answer = if ask.what.gives_reference() {
            format!("*4\r\n:1\r\n$6\r\nR{number:05}\r\n$1\r\nx\r\n:1\r\n")
        } else {
            "*2\r\n:1\r\n:1\r\n".to_owned()
        };
        let heard = guest.hear(&ask, answer.as_bytes()).unwrap().unwrap();
        assert_eq!(heard.answer, Answer::Done);
        assert_eq!(heard.length, answer.len());
    }
    sent
}

/// The words of each request.
fn requests(mut sent: &[u8]) -> Vec<Vec<String>> {
    let mut requests = Vec::new();
    while let Some((command, used)) = decode(sent, &ReplyLimits::REPLY).unwrap() {
        sent = &sent[used..];
        let words = command.as_array().unwrap().iter();
        requests.push(
            words
                .map(|word| word.as_str().unwrap().to_owned())
                .collect(),
        );
    }
    requests
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let sent = stream(1, 3, 500);
    assert_eq!(sent, stream(1, 3, 500));
    assert_ne!(sent, stream(2, 3, 500));
    assert_ne!(sent, stream(1, 4, 500));
    let first = &requests(&sent)[0];
    let golden = [
        "ROOMS.BOOK",
        "bench",
        "lab12-u3-0",
        "2027-01-01",
        "2027-01-02",
        GUEST_OF_SEED_1,
        ID_OF_SEED_1,
    ];
    assert_eq!(first, &golden);
}

/// What the dice of seed 1 say for user 3: a change would change every recorded stream.
const GUEST_OF_SEED_1: &str = "margaret";
const ID_OF_SEED_1: &str = "725449456700";

#[test]
fn no_room_and_night_is_asked_for_twice() {
    let year = 16 * u64::from(APART_NIGHTS);
    let mut seen = BTreeSet::new();
    for user in [0, 1] {
        let mut books = 0;
        for words in requests(&stream(1, user, 3 * year)) {
            if words[0] == "ROOMS.BOOK" {
                books += 1;
                assert!(words[3] < words[4], "{words:?}");
                assert!(
                    seen.insert((words[2].clone(), words[3].clone())),
                    "{words:?}"
                );
            }
        }
        assert!(books > year, "the rooms of the first year are used up");
    }
    assert!(seen.contains(&("lab12-u1-16".to_owned(), "2027-01-01".to_owned())));
    assert!(seen.contains(&("lab12-u1-15".to_owned(), "2027-12-31".to_owned())));
}

#[test]
fn the_oldest_booking_is_cancelled_with_the_id_that_booked_it() {
    let mut standing = Vec::new();
    let mut cancels = 0;
    for (number, words) in requests(&stream(1, 0, 2_000)).into_iter().enumerate() {
        if words[0] == "ROOMS.BOOK" {
            standing.push((format!("R{number:05}"), words[6].clone()));
        } else {
            cancels += 1;
            let (reference, id) = standing.remove(0);
            assert_eq!(words, ["ROOMS.CANCEL".to_owned(), reference, id]);
        }
    }
    // 30 % were wanted; only a guest who holds nothing books instead.
    assert!((550..=650).contains(&cancels), "{cancels}");
}

#[test]
fn a_visitor_who_holds_nothing_books() {
    let mut guest = visitor(1, 0, 0);
    for _ in 0..100 {
        let ask = guest.ask(&mut Vec::new()).unwrap();
        assert!(matches!(ask.what, What::Book { .. }));
        let sold_out = b"*3\r\n:0\r\n$8\r\nsold_out\r\n$10\r\n2027-01-01\r\n";
        let heard = guest.hear(&ask, sold_out).unwrap();
        let refused = ParsedAnswer {
            length: sold_out.len(),
            answer: Answer::Refused(b"sold_out"),
        };
        assert_eq!(heard, Some(refused));
    }
    assert_eq!(guest.plan().held().len(), 0);
    assert_eq!(guest.plan().references(), (&[][..], 0));
}

#[test]
fn answers_are_read_whole_or_not_at_all() {
    let rows: [(&[u8], Brief<'_>); 7] = [
        (b"-BUSY later\r\n", Brief::Error(b"BUSY")),
        (
            b"*2\r\n:0\r\n$9\r\nnot_found\r\n",
            Brief::Refused(b"not_found"),
        ),
        (
            b"*4\r\n:1\r\n$3\r\nR01\r\n$3\r\n101\r\n:9\r\n",
            Brief::Done(Some(b"R01")),
        ),
        (b"*2\r\n:1\r\n:9\r\n", Brief::Done(None)),
        (b"*1\r\n:1\r\n", Brief::Done(None)),
        (
            b"*3\r\n:0\r\n+sold_out\r\n+x\r\n",
            Brief::Refused(b"sold_out"),
        ),
        (
            b"*4\r\n:2\r\n:7\r\n:12\r\n:6\r\n",
            Brief::Refused(b"in_line"),
        ),
    ];
    for (bytes, reply) in rows {
        assert_eq!(Brief::read(bytes), Ok(Some((reply, bytes.len()))));
        for cut in 0..bytes.len() {
            assert_eq!(Brief::read(&bytes[..cut]), Ok(None), "{cut}");
        }
    }
    for garbled in [
        &b"+OK\r\n"[..],
        b"*0\r\n",
        b":1\r\n",
        b"*2\r\n:2\r\n+x\r\n",
        b"?",
    ] {
        assert_eq!(Brief::read(garbled), Err(Garbled));
    }
}
