//! Games in HTTP: its routes, and what its operations answer.
//!
//! A match is shown in the same words wherever it is: in answers, in problems, in streams and on
//! sockets.

mod event;
pub mod play;

use turnstile_games::{Absent, Answer, Refusal};

use crate::{
    code::Code,
    operation::{OperationRoute, get, post},
    served::serve,
};

pub use event::{
    StreamForm, concerned, concerns, is_about, put_event, put_lagged, put_reset, put_state,
    put_stopping, watching,
};

const MATCH: &str = "/matches/{match}";
const PLAYER: &str = "/players/{player}";

/// What its declaration cannot say.
pub(crate) const ROUTES: &[OperationRoute] = &[
    post("challenge", "/challenges").makes(&[MATCH]),
    post("seek", "/seeks").makes(&[MATCH, PLAYER]),
    get("list_tickets", "/tickets"),
    post("begin", "/matches").makes(&[MATCH]),
    get("list_matches", "/matches"),
    get("get_match", MATCH).versioned(),
    post("move", "/matches/{match}/moves"),
    post("resign", "/matches/{match}/resign"),
    post("abort", "/matches/{match}/abort"),
    post("offer_draw", "/matches/{match}/draw/offer"),
    post("accept_draw", "/matches/{match}/draw/accept"),
    post("decline_draw", "/matches/{match}/draw/decline"),
    post("claim_win", "/matches/{match}/claim"),
    get("get_player", PLAYER),
    post("withdraw", "/players/{player}/withdraw"),
    post("connect", "/players/{player}/connect"),
    post("disconnect", "/players/{player}/disconnect"),
    get("get_standing", "/players/{player}/stats").versioned(),
    get("list_opponents", "/players/{player}/opponents"),
    get("get_tally", "/players/{player}/opponents/{opponent}").versioned(),
    get("list_leaders", "/leaderboards/{measure}"),
    get("list_around", "/leaderboards/{measure}/around/{player}"),
    post("report", "/results"),
    get("get_totals", "/totals"),
];

serve! {
    turnstile_games::Games, |_door| (),
    {
        Answer::Absent(Absent::NoSuchMatch) => Code::from(Refusal::NoSuchMatch),
        Answer::Absent(Absent::NoSuchPlayer) => Code::NoSuchPlayer,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use turnstile_games::{
        Done, Ending, Game, Games, Illegal, MatchId, MatchView, Outcome, PlayerId, Query, Rung,
        Seat, TicketView, WaitReason, play,
    };
    use turnstile_types::{Position, Timestamp};

    use super::*;
    use crate::{Served as _, served::answer_of};

    pub(crate) fn player(name: &str) -> PlayerId {
        PlayerId::parse(name.as_bytes()).unwrap()
    }

    /// A match of `ada` and `bob` after some moves; `ada` moved first.
    fn after(game: Game, choices: &[u8]) -> MatchView {
        let players = ["ada", "bob"].map(player);
        let mut view = MatchView::begun(MatchId(17), game, players, Timestamp(0));
        for &choice in choices {
            let played = play(game, &view.board, Seat::to_move(view.ply), choice).unwrap();
            view = MatchView {
                board: played.board,
                ply: view.ply + 1,
                seq: view.seq + 1,
                last: Some(played.cell),
                ..view
            };
        }
        view
    }

    fn told(path: &str, outcome: &Outcome, replayed: bool) -> (u16, Option<String>, String) {
        let path = format!("/v1/games{path}");
        answer_of::<Games>(&path, (), replayed, outcome).unwrap()
    }

    fn answered(answer: &Answer) -> (String, Option<String>) {
        let told = Games::tell_answer(&Query::Totals, answer).unwrap();
        let json = String::from_utf8(told.json).unwrap();
        (json, told.next)
    }

    #[test]
    fn a_match_is_made_once_and_told_again_when_replayed() {
        let begun = Outcome::Done(Done::Begun(after(Game::TicTacToe, &[])));
        let state = r#""state":{"match":17,"game":"tic-tac-toe","first":"ada","second":"bob","board":".........","ply":0,"seq":0,"to_move":"ada","moved_at":"1970-01-01T00:00:00.000Z"}"#;
        let path = Some("/v1/games/matches/17".to_owned());
        let first = format!(r#"{{{state},"activity":"playing","position":9}}"#);
        assert_eq!(told("/matches", &begun, false), (201, path.clone(), first));
        let again = format!(r#"{{{state},"activity":"playing","position":9,"replayed":true}}"#);
        assert_eq!(told("/matches", &begun, true), (200, path, again));
        let acted = Outcome::Done(Done::Acted(after(Game::TicTacToe, &[])));
        let after = format!(r#"{{{state},"position":9}}"#);
        assert_eq!(
            told("/matches/17/resign", &acted, false),
            (200, None, after)
        );
    }

    #[test]
    fn whoever_waits_is_told_why() {
        let challenged = r#"{"activity":"challenging","position":9}"#.to_owned();
        assert_eq!(
            told("/challenges", &Outcome::Done(Done::Challenged), false),
            (201, None, challenged)
        );
        let ticket = TicketView {
            player: player("ada"),
            game: Game::Gomoku,
            rating: 1_500,
            since: Timestamp(0),
            window: 100,
            widens_at: None,
            reason: WaitReason::TooFarApart {
                difference: 300,
                matched_at: Timestamp(5_000),
            },
        };
        let seeking = r#"{"ticket":{"player":"ada","game":"gomoku","rating":1500,"since":"1970-01-01T00:00:00.000Z","window":100,"reason":"too_far_apart","difference":300,"matched_at":"1970-01-01T00:00:05.000Z"},"activity":"seeking","position":9}"#;
        assert_eq!(
            told("/seeks", &Outcome::Done(Done::Seeking(ticket)), false),
            (
                201,
                Some("/v1/games/players/ada".to_owned()),
                seeking.to_owned()
            )
        );
    }

    #[test]
    fn a_match_shows_its_board_and_who_is_to_move() {
        let open = MatchView {
            offer: Some(Seat::First),
            away: [None, Some(Timestamp(1_000))],
            ..after(Game::ConnectFour, &[4, 4])
        };
        let board = format!("{}...o......x...", ".".repeat(28));
        let json = format!(
            r#"{{"match":17,"game":"connect-four","first":"ada","second":"bob","board":"{board}","ply":2,"seq":2,"last":32,"to_move":"ada","offer":"ada","second_away":"1970-01-01T00:00:01.000Z","moved_at":"1970-01-01T00:00:00.000Z"}}"#
        );
        assert_eq!(answered(&Answer::Match(open)), (json, None));
        let winner = Seat::Second;
        let over = MatchView {
            ending: Some(Ending::Resigned { winner }),
            ..after(Game::TicTacToe, &[])
        };
        let json = r#"{"match":17,"game":"tic-tac-toe","first":"ada","second":"bob","board":".........","ply":0,"seq":0,"moved_at":"1970-01-01T00:00:00.000Z","ending":"resigned","winner":"bob"}"#;
        assert_eq!(answered(&Answer::Match(over)), (json.to_owned(), None));
    }

    #[test]
    fn a_page_says_where_the_next_begins() {
        let page = Vec::new();
        let next = Some(Rung {
            score: 1_516_000,
            number: 3,
        });
        let cursor = "r00000000001721e000000003".to_owned();
        let json = format!(r#"{{"leaders":[],"next":"{cursor}"}}"#);
        let leaders = Answer::Leaders { page, next };
        assert_eq!(answered(&leaders), (json, Some(cursor)));
        let matches = Vec::new();
        let next = Some(MatchId(17));
        let cursor = "c0000000000000011".to_owned();
        let json = format!(r#"{{"matches":[],"next":"{cursor}"}}"#);
        let matches = Answer::Matches { matches, next };
        assert_eq!(answered(&matches), (json, Some(cursor)));
    }

    #[test]
    fn what_is_not_there_is_a_problem() {
        for (absent, code) in [
            (Absent::NoSuchMatch, Code::from(Refusal::NoSuchMatch)),
            (Absent::NoSuchPlayer, Code::NoSuchPlayer),
        ] {
            let problem = Games::tell_answer(&Query::Totals, &Answer::Absent(absent)).unwrap_err();
            assert_eq!(problem.code, code);
        }
    }

    /// The status of a refusal, whether it may be tried anew, and the members that it adds.
    fn refused(refusal: Refusal) -> (u16, bool, String) {
        let word = refusal.code();
        let problem =
            Games::tell_outcome((), Position(9), true, &Outcome::Refused(refusal)).unwrap_err();
        let json = String::from_utf8(problem.json("/v1/games/x", "r-1")).unwrap();
        let again = problem.code.retryable();
        let mark = format!(r#""code":"{word}","retryable":{again},"request_id":"r-1""#);
        let (_, data) = json.split_once(&mark).expect(word);
        let data = data.strip_suffix(r#","position":9,"replayed":true}"#);
        (problem.code.status(), again, data.expect(word).to_owned())
    }

    #[test]
    fn a_refusal_has_its_status_and_tells_its_data() {
        let state = Box::new(after(Game::TicTacToe, &[5]));
        let shown = r#","state":{"match":17,"game":"tic-tac-toe","first":"ada","second":"bob","board":"....x....","ply":1,"seq":1,"last":5,"to_move":"bob","moved_at":"1970-01-01T00:00:00.000Z"}"#;
        let playing = Refusal::Playing {
            player: player("ada"),
            match_id: MatchId(7),
        };
        let early = Refusal::TooEarly {
            until: Timestamp(1_000),
        };
        let until = r#","until":"1970-01-01T00:00:01.000Z""#;
        let rows = [
            (Refusal::NotHere, 421, false, ""),
            (Refusal::SamePlayer, 400, false, ""),
            (Refusal::Full { limit: 9 }, 409, false, r#","limit":9"#),
            (Refusal::ScoresAway, 409, true, ""),
            (playing, 409, false, r#","player":"ada","match":7"#),
            (Refusal::NoSuchMatch, 404, false, ""),
            (Refusal::NotSeated, 403, false, ""),
            (Refusal::Over(state.clone()), 410, false, shown),
            (Refusal::Stale(state.clone()), 409, false, shown),
            (Refusal::NotYourTurn(state), 409, false, shown),
            (Refusal::IllegalMove(Illegal::NoSuchCell), 400, false, ""),
            (Refusal::IllegalMove(Illegal::Taken), 409, false, ""),
            (early, 409, true, until),
        ];
        for (refusal, status, again, data) in rows {
            let expected = (status, again, data.to_owned());
            assert_eq!(refused(refusal.clone()), expected, "{refusal:?}");
        }
    }
}
