//! Events as messages.

use turnstile_games::{
    Change, Ending, Event, EventKind, Game, Glicko, MatchId, MatchResult, MatchView, Parcel,
    Ratings, Seat, Source, Standing, Tally, Verdict,
};
use turnstile_types::{Position, Timestamp};

use super::{played, player};
use crate::games::event_json;

fn told(kind: EventKind, rest: &str) {
    let json = event_json(&Event {
        position: Position(12),
        ordinal: 1,
        at: Timestamp(0),
        kind,
    });
    let head = r#"{"position":12,"ordinal":1,"at":"1970-01-01T00:00:00.000Z","event":"#;
    assert_eq!(json, format!("{head}{rest}}}"));
    serde_json::from_str::<serde_json::Value>(&json).unwrap();
}

#[test]
fn whoever_looks_for_a_game_is_told() {
    let (ada, opponent) = (player("ada"), player("bob"));
    let game = Game::Gomoku;
    told(
        EventKind::Challenged {
            player: ada,
            opponent,
            game,
        },
        r#""challenged","player":"ada","opponent":"bob","game":"gomoku""#,
    );
    told(
        EventKind::Seeking { player: ada, game },
        r#""seeking","player":"ada","game":"gomoku""#,
    );
    told(
        EventKind::Withdrawn { player: ada },
        r#""withdrawn","player":"ada""#,
    );
}

#[test]
fn a_change_of_a_match_is_told_with_the_whole_state() {
    let names = r#""match":7,"game":"tic-tac-toe","first":"ada","second":"bob""#;
    let epoch = "1970-01-01T00:00:00.000Z";
    let begun = played(Game::TicTacToe, &[]);
    told(
        EventKind::Match {
            change: Change::Begun,
            state: begun,
        },
        &format!(
            r#""begun",{names},"board":".........","ply":0,"seq":0,"to_move":"ada","moved_at":"{epoch}""#
        ),
    );
    let moved = MatchView {
        offer: Some(Seat::Second),
        away: [None, Some(Timestamp(0))],
        ..played(Game::TicTacToe, &[5, 1])
    };
    let seat = Seat::Second;
    told(
        EventKind::Match {
            change: Change::Moved { seat },
            state: moved,
        },
        &format!(
            r#""moved","player":"bob",{names},"board":"o...x....","ply":2,"seq":2,"last":1,"to_move":"ada","offer":"bob","second_away":"{epoch}","moved_at":"{epoch}""#
        ),
    );
    let ended = MatchView {
        ending: Some(Ending::Resigned { winner: seat }),
        ..played(Game::TicTacToe, &[5])
    };
    told(
        EventKind::Match {
            change: Change::Ended,
            state: ended,
        },
        &format!(
            r#""ended",{names},"board":"....x....","ply":1,"seq":1,"last":5,"moved_at":"{epoch}","ending":"resigned","winner":"bob""#
        ),
    );
}

#[test]
fn a_result_is_told_on_its_way_and_when_it_is_counted() {
    let players = ["ada", "bob"].map(player);
    let match_id = MatchId(7);
    let result = MatchResult {
        match_id,
        game: Game::Gomoku,
        players,
        verdict: Verdict::Drawn,
    };
    told(
        EventKind::Reported(Parcel {
            arena: 5,
            number: 3,
            result,
        }),
        r#""reported","number":3,"match":7,"game":"gomoku","first":"ada","second":"bob","verdict":"drawn""#,
    );
    let standing = |ratings| Standing {
        tally: Tally {
            won: 1,
            lost: 2,
            drawn: 3,
        },
        ratings,
    };
    let rated = Some(Ratings {
        elo_milli: 1_500_016,
        glicko: Glicko::START,
    });
    let standings = [standing(rated), standing(None)];
    let shown = concat!(
        r#""standings":[{"won":1,"lost":2,"drawn":3,"elo_milli":1500016,"glicko_milli":1500000},"#,
        r#"{"won":1,"lost":2,"drawn":3}]"#
    );
    let rows = [
        (Source::Here { match_id }, r#""match":7,"#),
        (
            Source::Arena { arena: 5, match_id },
            r#""arena":5,"match":7,"#,
        ),
        (Source::Foreign, ""),
    ];
    for (source, of) in rows {
        told(
            EventKind::Counted {
                source,
                players,
                verdict: Verdict::FirstWon,
                standings,
            },
            &format!(r#""counted",{of}"first":"ada","second":"bob","verdict":"first",{shown}"#),
        );
    }
    told(
        EventKind::Scored {
            match_id,
            players,
            standings,
        },
        &format!(r#""scored","match":7,"first":"ada","second":"bob",{shown}"#),
    );
}
