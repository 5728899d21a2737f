//! Snapshots: the same state from the same bytes, and nothing from others.

use turnstile_games::{Command, Deed, Game, Games, Roles, Settings, Verdict};
use turnstile_trial::{check_changed, check_cut_or_continued, check_restored, check_watched};
use turnstile_types::hash_of;

use crate::scenery::{Hall, act, begin, id, move_to};

/// A small state with something of everything that one process can have.
fn lived_in() -> Games {
    let mut hall = Hall::new();
    hall.play("a", "b");
    hall.done(&begin(Game::ConnectFour, "a", "b"));
    hall.done(&act(2, "a", move_to(0, 4)));
    hall.done(&act(2, "b", Deed::OfferDraw));
    hall.now += 10;
    hall.done(&Command::Connect { player: id("c") });
    hall.done(&begin(Game::Gomoku, "c", "d"));
    hall.done(&Command::Disconnect { player: id("c") });
    hall.done(&Command::Challenge {
        player: id("e"),
        opponent: id("a"),
        game: Game::TicTacToe,
    });
    let strong = |player| Command::Report {
        players: [id(player), id("b")],
        verdict: Verdict::FirstWon,
    };
    hall.done(&strong("f"));
    for player in ["f", "g"] {
        let (player, game) = (id(player), Game::Gomoku);
        hall.apply(&Command::Seek { player, game });
    }
    hall.done(&Command::Connect { player: id("h") });
    hall.games
}

/// An arena of its own, with results on their way.
fn arena() -> Games {
    let mut hall = Hall::new();
    hall.done(&Command::Configure(Settings {
        roles: Roles {
            arena: true,
            scores: false,
        },
        arena: 7,
        ..Settings::FIRST
    }));
    hall.play("a", "b");
    hall.play("b", "a");
    hall.games
}

#[test]
fn a_restored_machine_has_the_same_hash_and_is_sound() {
    let games = lived_in();
    let totals = games.totals();
    assert_eq!((totals.open, totals.begun, totals.away), (3, 4, 1));
    assert_eq!((totals.rated, totals.results), (3, 2));
    assert_eq!(check_restored(&games).totals(), totals);
    assert_eq!(check_restored(&arena()).totals().unreported, 2);
    assert!(check_restored(&Hall::new().games).is_new());
    assert!(!games.is_new());
}

#[test]
fn the_form_of_a_snapshot_does_not_change_in_silence() {
    let hashes = [lived_in(), arena()].map(|games| format!("{:032x}", hash_of(&games)));
    assert_eq!(
        hashes,
        [
            "e2ada969f391f0e845c2b27228785540",
            "82d25c0735ce4ad510a959a922f3822d"
        ],
        "old snapshots must be read for ever: give a new form a new version"
    );
}

#[test]
fn a_cut_or_continued_snapshot_is_refused() {
    check_cut_or_continued(&lived_in());
    check_cut_or_continued(&arena());
}

#[test]
fn the_reading_of_a_snapshot_can_be_watched_and_stopped() {
    check_watched(&lived_in());
}

#[test]
fn a_changed_snapshot_is_refused_or_sound() {
    for games in [lived_in(), arena()] {
        let (refused, bytes) = check_changed(&games);
        assert!(refused > bytes * 3, "{refused} bits of {bytes} bytes");
    }
}
