//! What a move costs in memory: nothing.

use turnstile_games::{Command, Deed, Done, Game};
use turnstile_trial::{Counting, Tally};
use turnstile_types::Machine;

use crate::scenery::{Hall, act, begin, id, move_to};

#[global_allocator]
static COUNTING: Counting = Counting;

/// A round of moves of all matches of gomoku, of which none ends; events are taken.
fn round(hall: &mut Hall, moves: &[Vec<Command>]) {
    for commands in moves {
        for command in commands {
            hall.done(command);
            hall.games.drain_events(&mut drop);
        }
        hall.now += 1_000;
    }
}

#[test]
fn moving_allocates_nothing() {
    const MATCHES: u64 = 500;
    let mut hall = Hall::new();
    let names = |number| [format!("a{number}"), format!("b{number}")];
    for number in 1..=MATCHES {
        let [first, second] = names(number);
        hall.done(&begin(Game::Gomoku, &first, &second));
    }
    hall.games.drain_events(&mut drop);
    let moves: Vec<Vec<Command>> = (0..40)
        .map(|ply| {
            // Rows in which stones of both alternate, and between which one is left free.
            let choice = u8::try_from(ply / 15 * 30 + ply % 15 + 1).unwrap();
            (1..=MATCHES)
                .map(|number| {
                    let names = names(number);
                    let player = &names[usize::from(ply % 2)];
                    act(number, player, move_to(ply, choice))
                })
                .collect()
        })
        .collect();
    round(&mut hall, &moves[..2]);
    let before = Tally::now();
    round(&mut hall, &moves[2..]);
    let calls = Tally::now().calls_since(before);
    assert_eq!((calls, hall.games.totals().moves), (0, 40 * MATCHES));
    drop(Box::new(1));
    assert_eq!(Tally::now().calls_since(before), 1, "they are counted");
}

#[test]
fn ten_thousand_players_in_a_match_and_with_a_standing_weigh_few_mebibytes() {
    let mut hall = Hall::new();
    let before = Tally::now();
    for number in 0..5_000 {
        let [first, second] = [format!("a{number}"), format!("b{number}")];
        for player in [&first, &second] {
            hall.done(&Command::Connect { player: id(player) });
        }
        let Done::Begun(state) = hall.done(&begin(Game::Gomoku, &first, &second)) else {
            panic!("no match has begun");
        };
        hall.done(&act(state.id.0, &second, Deed::Resign));
        hall.done(&begin(Game::Gomoku, &first, &second));
        hall.games.drain_events(&mut drop);
    }
    let bytes = Tally::now().bytes_since(before);
    assert_eq!(hall.games.totals().open, 5_000);
    assert!((1 << 20..8 << 20).contains(&bytes), "{bytes} bytes");
}
