//! Statistics counted again.

use turnstile_games::{Command, Games, Recount, Verdict};
use turnstile_trial::bytes_of;
use turnstile_types::Machine;

use crate::scenery::{Hall, id};

/// A season of five players.
fn season(hall: &mut Hall, recount: &mut Recount, matches: usize) {
    let names = ["a", "b", "c", "d", "e"];
    for number in 0..matches {
        let first = number % 5;
        let second = (first + 1 + number / 5 % 4) % 5;
        hall.play(names[first], names[second]);
        hall.events().iter().for_each(|event| recount.take(event));
    }
}

#[test]
fn a_count_from_the_beginning_or_from_any_snapshot_says_what_the_state_says() {
    let mut hall = Hall::new();
    let mut recount = Recount::default();
    season(&mut hall, &mut recount, 40);
    let mut later = Recount::of(&hall.games);
    assert_eq!(later, recount);
    let mut both = recount.clone();
    season(&mut hall, &mut both, 23);
    assert_eq!(
        (both.results(), both.differences(&hall.games)),
        (63, vec![])
    );
    let mut again = Hall::new();
    season(&mut again, &mut Recount::default(), 40);
    season(&mut again, &mut later, 23);
    assert_eq!(later.differences(&hall.games), Vec::<String>::new());
}

#[test]
fn a_result_that_is_missing_or_doubled_is_found_with_its_players() {
    let mut hall = Hall::new();
    hall.play("a", "b");
    let mut recount = Recount::default();
    let events = hall.events();
    for _ in 0..2 {
        events.iter().for_each(|event| recount.take(event));
    }
    let differences = recount.differences(&hall.games);
    assert_eq!(differences.len(), 5, "{differences:?}");
    assert!(differences[0].starts_with("2 results, and the state says 1"));
    assert!(differences[1].starts_with("a: "));
    assert!(differences[3].starts_with("a against b: "));
    let nothing = Recount::default().differences(&hall.games);
    assert!(nothing.contains(&"b: known to the state alone".to_owned()));
    let standing = recount.standing(&id("a")).unwrap();
    assert_eq!((standing.tally.won, standing.tally.lost), (2, 0));
    assert_eq!(recount.standing(&id("c")), None);
}

/// A state in which a digit was changed on the disk is refused, or is another one, and then the
/// count finds it.
#[test]
fn a_changed_statistic_is_found() {
    let mut hall = Hall::new();
    let mut recount = Recount::default();
    for (first, second) in [("a", "b"), ("b", "c"), ("c", "a"), ("a", "b"), ("d", "a")] {
        hall.done(&Command::Report {
            players: [id(first), id(second)],
            verdict: Verdict::FirstWon,
        });
    }
    hall.events().iter().for_each(|event| recount.take(event));
    assert_eq!(recount.differences(&hall.games), Vec::<String>::new());
    let bytes = bytes_of(&hall.games);
    let mut read = 0;
    // Magic, settings and an empty arena say nothing of results.
    for at in 98..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        if let Ok(games) = Games::restore(&changed) {
            read += 1;
            let differences = recount.differences(&games);
            assert_ne!(differences, Vec::<String>::new(), "byte {at}");
        }
    }
    assert!(read > 50, "{read} of {} were read", bytes.len());
}
