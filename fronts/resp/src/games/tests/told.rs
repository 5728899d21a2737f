//! Events as messages of a channel.

use turnstile_games::{
    Change, Ending, Event, EventKind, Game, MatchId, MatchResult, MatchView, Parcel, Seat, Source,
    Standing, Tally, Verdict,
};
use turnstile_types::{Position, Timestamp};

use super::{played, player};

const EPOCH: &str = "1970-01-01T00:00:00.000Z";

#[track_caller]
fn check(kind: EventKind, rest: &str) {
    assert!(EventKind::WORDS.contains(&kind.code()), "{}", kind.code());
    let event = Event {
        position: Position(12),
        ordinal: 1,
        at: Timestamp(0),
        kind,
    };
    let json = turnstile_json::object(&event);
    let head = format!(r#"{{"position":12,"ordinal":1,"at":"{EPOCH}","kind":"#);
    assert_eq!(json, format!("{head}{rest}}}"));
}

#[test]
fn who_waits_is_told_with_what_applies() {
    let [player, opponent] = ["ada", "bob"].map(player);
    let game = Game::TicTacToe;
    let challenged = EventKind::Challenged {
        player,
        opponent,
        game,
    };
    check(
        challenged,
        r#""challenged","player":"ada","opponent":"bob","game":"tic-tac-toe""#,
    );
    let seeking = EventKind::Seeking { player, game };
    check(seeking, r#""seeking","player":"ada","game":"tic-tac-toe""#);
    check(
        EventKind::Withdrawn { player },
        r#""withdrawn","player":"ada""#,
    );
}

#[test]
fn a_match_is_told_as_it_is() {
    let seat = Seat::First;
    let state = played(Game::TicTacToe, &[5]);
    let over = MatchView {
        ending: Some(Ending::Left { winner: seat }),
        ..state
    };
    let board = r#""match":7,"game":"tic-tac-toe","first":"ada","second":"bob","board":"....x....","ply":1,"seq":1,"last":5"#;
    let moved_at = format!(r#""moved_at":"{EPOCH}""#);
    let on = format!(r#""state":{{{board},"to_move":"bob",{moved_at}}}"#);
    for (change, word) in [
        (Change::Begun, "begun"),
        (Change::Moved { seat }, "moved"),
        (Change::DrawOffered { seat }, "draw_offered"),
        (Change::DrawDeclined { seat }, "draw_declined"),
        (Change::Left { seat }, "left"),
        (Change::Returned { seat }, "returned"),
    ] {
        let kind = EventKind::Match { change, state };
        check(kind, &format!(r#""{word}",{on}"#));
    }
    let ended = EventKind::Match {
        change: Change::Ended,
        state: over,
    };
    let rest = format!(r#""ended","state":{{{board},{moved_at},"ending":"left","winner":"ada"}}"#);
    check(ended, &rest);
}

#[test]
fn a_result_is_told_with_how_both_stand() {
    let match_id = MatchId(7);
    let standing = |won, lost| Standing {
        tally: Tally {
            won,
            lost,
            drawn: 0,
        },
        ratings: None,
    };
    let standings = [standing(1, 0), standing(0, 1)];
    let (players, verdict) = (["ada", "bob"].map(player), Verdict::FirstWon);
    let result = MatchResult {
        match_id,
        game: Game::TicTacToe,
        players,
        verdict,
    };
    let reported = EventKind::Reported(Parcel {
        arena: 3,
        number: 4,
        result,
    });
    let both = r#""first":"ada","second":"bob""#;
    let how = format!(r#"{both},"verdict":"first_won""#);
    let told = r#""standings":[{"played":1,"won":1,"lost":0,"drawn":0},{"played":1,"won":0,"lost":1,"drawn":0}]"#;
    check(
        reported,
        &format!(
            r#""reported","arena":"0000000000000003","number":4,"match":7,"game":"tic-tac-toe",{how}"#
        ),
    );
    let counted = |source| EventKind::Counted {
        source,
        players,
        verdict,
        standings,
    };
    let distant = counted(Source::Arena {
        arena: 255,
        match_id,
    });
    let arena = r#""arena":"00000000000000ff","match":7"#;
    check(distant, &format!(r#""counted",{arena},{how},{told}"#));
    check(
        counted(Source::Here { match_id }),
        &format!(r#""counted","match":7,{how},{told}"#),
    );
    check(
        counted(Source::Foreign),
        &format!(r#""counted",{how},{told}"#),
    );
    let scored = EventKind::Scored {
        match_id,
        players,
        standings,
    };
    check(scored, &format!(r#""scored","match":7,{both},{told}"#));
}
