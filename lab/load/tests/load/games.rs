//! The games workload and its proofs.

use std::{
    io::Read as _,
    net::{TcpListener, TcpStream},
    num::NonZeroU64,
    time::Duration,
};

use rustix::net::{SendFlags, send};
use turnstile_load::{
    Verdict,
    games::{self, Config, Door, Report},
    pace::{Law, Pace, Profile, Rhythm, Think},
};

use crate::{
    arena::{Arena, Fault},
    parlour::{self, Parlour},
};

fn config(arena: &Arena) -> Config {
    Config {
        door: Door::Wire,
        pace: Pace {
            threads: 2,
            patience: Some(Duration::from_secs(60)),
            ..Pace::closed(arena.address, Duration::ZERO, Duration::from_millis(300))
        },
        players: vec![6],
        first_player: 100,
        iterations: NonZeroU64::new(5),
    }
}

fn run(config: &Config) -> Report {
    games::run(config, &mut |_progress| {}).unwrap()
}

#[test]
fn every_game_of_an_honest_arena_is_counted_once() {
    let arena = Arena::open(Fault::None);
    let mut config = config(&arena);
    config.players = vec![2, 10, 40];
    // The second time the statistics go on from what they were, and Nagle's algorithm takes 40 ms
    // of each game.
    for (no_delay, iterations) in [(true, 30), (false, 4)] {
        config.pace.no_delay = no_delay;
        config.iterations = NonZeroU64::new(iterations);
        let report = run(&config);
        assert_eq!(report.verdict(), Verdict::Fine, "{report}");
        for (level, players) in report.levels.iter().zip([2, 10, 40]) {
            let proof = &level.load.proof;
            assert_eq!(proof.violations, Vec::<String>::new());
            assert_eq!(level.players, players);
            let games = iterations * u64::try_from(players / 2).unwrap();
            assert_eq!(level.times.count, games);
            let counted = [proof.played, proof.won, proof.lost, proof.drawn];
            assert_eq!(
                (proof.games, counted),
                (games, [2 * games, games, games, 0])
            );
            assert_eq!((proof.met, proof.unfinished), (0, 0));
        }
        let shown = report.to_string();
        let row = shown.lines().find(|line| line.starts_with("       10"));
        assert!(row.unwrap().contains("     130    79.5ms"), "{shown}");
    }
}

#[test]
fn games_begin_at_a_rate_or_after_a_thought_and_end_when_the_window_is_over() {
    let arena = Arena::open(Fault::None);
    let rate = Rhythm::Open {
        law: Law::Fixed,
        rate: Profile::constant(200.0),
    };
    let thought = Rhythm::Closed {
        think: Think::Fixed(Duration::from_millis(10)),
        stages: None,
    };
    // 60 games are due in 300 ms; a pair thinks 10 ms before each of its own.
    for (rhythm, most) in [(rate, 60), (thought, 90)] {
        let mut config = config(&arena);
        config.pace.rhythm = rhythm;
        config.iterations = None;
        let report = run(&config);
        let [level] = &report.levels[..] else {
            panic!("{report}");
        };
        assert_eq!(level.load.proof.violations, Vec::<String>::new());
        assert_eq!((level.load.proof.met, level.load.proof.unfinished), (0, 0));
        assert!((1..=most).contains(&level.load.proof.games), "{report}");
        let [game] = &level.load.point.wholes[..] else {
            panic!("a game is a whole");
        };
        // A game that ended after the window was counted, and not measured.
        assert_eq!(game.done, level.load.proof.games);
        assert!(
            level.load.point.times.response.count <= game.done,
            "{report}"
        );
        // Whoever begins is measured, at each of its four messages, and the game as one.
        assert!(level.load.point.times.lag.count > 0, "{report}");
    }
}

#[test]
fn a_game_that_is_not_counted_once_is_a_violation() {
    let rows = [
        (
            Fault::CountsTwice,
            "game 3: 4:3:1: was told after 2:1:1: and a game won",
        ),
        (
            Fault::CountsNone,
            "game 3: 2:1:1: was told after 2:1:1: and a game won",
        ),
        (
            Fault::CountsOther,
            "game 3: 3:1:2: was told after 2:1:1: and a game won",
        ),
    ];
    for (fault, expected) in rows {
        let arena = Arena::open(fault);
        let mut config = config(&arena);
        config.players = vec![2];
        let report = run(&config);
        assert_eq!(report.verdict(), Verdict::Violated, "{fault:?} {report}");
        let told = report.levels[0].load.proof.violations.join("\n");
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn a_cell_that_was_not_played_is_a_violation() {
    let report = run(&config(&Arena::open(Fault::OtherCell)));
    assert_eq!(report.verdict(), Verdict::Violated, "{report}");
    let told = report.levels[0].load.proof.violations.join("\n");
    let expected = "game 2: cell 4 was told and 3 played";
    assert!(told.contains(expected), "{told}");
}

#[test]
fn messages_that_could_be_read_together_are_a_violation() {
    let report = run(&config(&Arena::open(Fault::Meets)));
    assert_eq!(report.verdict(), Verdict::Violated, "{report}");
    let proof = &report.levels[0].load.proof;
    assert_eq!((proof.met, proof.games, proof.played), (3, 15, 30));
    let expected = ["3 messages could be read with the one before"];
    assert_eq!(proof.violations, expected);
}

#[test]
fn players_who_are_left_make_a_run_invalid() {
    for fault in [Fault::Leaves, Fault::Silent] {
        let arena = Arena::open(fault);
        let mut config = config(&arena);
        if fault == Fault::Silent {
            config.pace.patience = Some(Duration::from_millis(100));
        }
        let report = run(&config);
        assert_eq!(report.verdict(), Verdict::Invalid, "{report}");
        let proof = &report.levels[0].load.proof;
        let games = if fault == Fault::Leaves { 6 } else { 0 };
        assert_eq!((proof.unfinished, proof.games), (6, games));
        assert_eq!(proof.played, 2 * games);
        assert!(report.to_string().contains("INVALID"), "{report}");
    }
}

fn at_tables(parlour: &Parlour) -> Config {
    Config {
        door: Door::Resp,
        pace: Pace {
            threads: 2,
            ..Pace::closed(parlour.address, Duration::ZERO, Duration::from_millis(300))
        },
        players: vec![2, 10],
        first_player: 100,
        iterations: NonZeroU64::new(20),
    }
}

#[test]
fn over_resp_both_players_of_a_pair_move_on_one_connection() {
    let parlour = Parlour::open(parlour::Fault::None);
    let mut config = at_tables(&parlour);
    // The second time the standings go on from what they were.
    for iterations in [NonZeroU64::new(20), None] {
        config.iterations = iterations;
        let report = run(&config);
        assert_eq!(report.verdict(), Verdict::Fine, "{report}");
        for (level, players) in report.levels.iter().zip([2, 10]) {
            let (proof, point) = (&level.load.proof, &level.load.point);
            let games = point.wholes[0].done;
            if let Some(iterations) = iterations {
                assert_eq!(games, iterations.get() * players / 2);
            }
            let counted = [proof.played, proof.won, proof.lost, proof.drawn];
            assert_eq!(
                (proof.games, counted),
                (games, [2 * games, games, games, 0]),
                "{report}"
            );
            let [begin, moves] = &point.operations[..] else {
                panic!("two operations");
            };
            assert_eq!((begin.done, moves.done), (games, 7 * games));
        }
        assert!(report.to_string().contains("games over RESP"), "{report}");
    }
}

#[test]
fn over_resp_what_is_not_counted_once_is_a_violation_and_what_is_refused_proves_nothing() {
    let rows = [
        (
            parlour::Fault::CountsTwice,
            Verdict::Violated,
            "player 100 has won 10 and lost 10, and 21 = 11 won",
        ),
        (
            parlour::Fault::CountsNone,
            Verdict::Violated,
            "player 100 has won 10 and lost 10, and 19 = 9 won",
        ),
        (
            parlour::Fault::OnlyAgainst,
            Verdict::Violated,
            "player 100 against 101 has won 10",
        ),
        (
            parlour::Fault::OtherPly,
            Verdict::Violated,
            "player 100, game",
        ),
        (
            parlour::Fault::Refuses,
            Verdict::Invalid,
            "refused: waiting",
        ),
        (
            parlour::Fault::Closes,
            Verdict::Invalid,
            "players were left",
        ),
        (
            parlour::Fault::Recovers,
            Verdict::Invalid,
            "players were left",
        ),
        // The last move of a game, which the parlour counts.
        (
            parlour::Fault::Unknown,
            Verdict::Invalid,
            "refused: UNKNOWN",
        ),
        (
            parlour::Fault::Silent,
            Verdict::Invalid,
            "players were left",
        ),
    ];
    for (fault, verdict, words) in rows {
        let parlour = Parlour::open(fault);
        let mut config = at_tables(&parlour);
        config.players = vec![2];
        if fault == parlour::Fault::Silent {
            config.pace.patience = Some(Duration::from_millis(100));
        }
        let report = run(&config);
        assert_eq!(report.verdict(), verdict, "{fault:?} {report}");
        assert!(report.to_string().contains(words), "{fault:?} {report}");
    }
}

/// What the boundary of `turnstile_duel` rests on: a read ends before an urgent byte, and the next
/// one skips it.
#[test]
fn a_mark_keeps_two_messages_apart_on_real_sockets() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (arena, _) = listener.accept().unwrap();
    arena.set_nodelay(true).unwrap();
    let mut buffer = [0; 64];
    for _game in 0..3 {
        send(&arena, b"12:7:5:\0", SendFlags::OOB).unwrap();
        send(&arena, b"\x05", SendFlags::empty()).unwrap();
        let first = client.read(&mut buffer).unwrap();
        assert_eq!(&buffer[..first], b"12:7:5:");
        let second = client.read(&mut buffer).unwrap();
        assert_eq!(&buffer[..second], b"\x05");
    }
    send(&arena, b"12:7:5:\0", SendFlags::OOB).unwrap();
    drop(arena);
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"12:7:5:");
}
