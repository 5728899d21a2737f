//! The games workload and its proofs.

use std::{
    io::Read as _,
    net::{TcpListener, TcpStream},
    time::Duration,
};

use rustix::net::{SendFlags, send};
use turnstile_load::{
    Verdict,
    games::{self, Config, Report},
};

use crate::arena::{Arena, Fault};

fn config(arena: &Arena) -> Config {
    Config {
        address: arena.address,
        players: vec![6],
        first_player: 100,
        iterations: 5,
        threads: 2,
        no_delay: true,
        patience: Duration::from_secs(60),
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
        (config.no_delay, config.iterations) = (no_delay, iterations);
        let report = run(&config);
        assert_eq!(report.verdict(), Verdict::Fine, "{report}");
        for (level, players) in report.levels.iter().zip([2, 10, 40]) {
            let proof = &level.proof;
            assert_eq!(proof.violations, Vec::<String>::new());
            assert_eq!(level.players, players);
            let games = iterations * u64::try_from(players / 2).unwrap();
            assert_eq!(level.times.count, 2 * games);
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
        let told = report.levels[0].proof.violations.join("\n");
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn a_cell_that_was_not_played_is_a_violation() {
    let report = run(&config(&Arena::open(Fault::OtherCell)));
    assert_eq!(report.verdict(), Verdict::Violated, "{report}");
    let told = report.levels[0].proof.violations.join("\n");
    let expected = "game 2: cell 4 was told and 3 played";
    assert!(told.contains(expected), "{told}");
}

#[test]
fn messages_that_could_be_read_together_are_a_violation() {
    let report = run(&config(&Arena::open(Fault::Meets)));
    assert_eq!(report.verdict(), Verdict::Violated, "{report}");
    let proof = &report.levels[0].proof;
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
            config.patience = Duration::from_millis(100);
        }
        let report = run(&config);
        assert_eq!(report.verdict(), Verdict::Invalid, "{report}");
        let proof = &report.levels[0].proof;
        let games = if fault == Fault::Leaves { 6 } else { 0 };
        assert_eq!((proof.unfinished, proof.games), (6, games));
        assert_eq!(proof.played, 2 * games);
        assert!(report.to_string().contains("INVALID"), "{report}");
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
