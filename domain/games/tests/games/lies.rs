//! Faults of a machine, planted in what it announces: the twin contradicts each.

use turnstile_games::{Command, Event, EventKind, Game, Games, MatchId, Verdict};
use turnstile_trial::context;
use turnstile_types::{Machine, Principal};

use crate::{
    scenery::{act, begin, move_to},
    twin::Twin,
};

/// A command with all that it caused.
type Told = (Command, Vec<Event>);

/// A game of tic-tac-toe that who begins wins, and the beginning of another.
fn honest() -> Vec<Told> {
    let moves = (0..7_u16).map(|ply| {
        let player = if ply % 2 == 0 { "a" } else { "b" };
        act(1, player, move_to(ply, u8::try_from(ply + 1).unwrap()))
    });
    let first = begin(Game::TicTacToe, "a", "b");
    let second = begin(Game::TicTacToe, "b", "a");
    let commands = [first].into_iter().chain(moves).chain([second]);
    let mut games = Games::empty();
    let local = Principal::local();
    let told = (1..).zip(commands).map(|(position, command)| {
        games.apply(&context(position, 1_000_000, &local), &command);
        let mut events = Vec::new();
        games.drain_events(&mut |event| events.push(event));
        (command, events)
    });
    told.collect()
}

/// Says something else than what has happened.
type Lie = fn(&mut Vec<Told>);

/// Whether the twin announces all of it.
fn is_believed(told: &[Told]) -> bool {
    let mut twin = Twin::new();
    let local = Principal::local();
    (1..).zip(told).all(|(position, (command, events))| {
        twin.apply(&context(position, 1_000_000, &local), command);
        *events == std::mem::take(&mut twin.events)
    })
}

#[test]
fn the_twin_believes_what_the_machine_says_and_no_lie() {
    assert!(is_believed(&honest()));
    let lies: [(&str, Lie); 5] = [
        ("a result is not counted", |told| told[7].1.truncate(1)),
        ("a result is counted twice", |told| {
            let counted = told[7].1[1];
            told[7].1.push(counted);
        }),
        ("the other one has won", |told| {
            for event in &mut told[7].1 {
                if let EventKind::Counted { verdict, .. } = &mut event.kind {
                    *verdict = Verdict::SecondWon;
                }
            }
        }),
        ("a match has the number of another", |told| {
            if let EventKind::Match { state, .. } = &mut told[8].1[0].kind {
                state.id = MatchId(1);
            }
        }),
        ("three in a line do not end a match", |told| {
            if let EventKind::Match { state, .. } = &mut told[7].1[0].kind {
                state.ending = None;
            }
        }),
    ];
    for (lie, tell) in lies {
        let mut told = honest();
        tell(&mut told);
        assert!(!is_believed(&told), "{lie}");
    }
}
