//! What a line asks for, or the error it gets.

use turnstile_games::{
    Claim, Command, Deed, Game, MatchId, Measure, Opponent, Query, Rung, Verdict,
};
use turnstile_types::Key;

use super::player;
use crate::{
    games::{Request, parse},
    tests::typed_lines,
};

typed_lines!(Games, |call, arguments| parse(call, arguments));

fn commands<const N: usize>(rows: [(&str, Command, Option<&str>); N]) {
    for (line, command, key) in rows {
        let key = key.map(|key| Key::parse(key.as_bytes()).unwrap());
        asked(line, |found| {
            assert_eq!(found, Ok(Request::Command { command, key }), "{line}");
        });
    }
}

#[test]
fn a_line_becomes_its_command() {
    let (ada, bob) = (player("ada"), player("bob"));
    let game = Game::TicTacToe;
    let players = [ada, bob];
    let challenge = Command::Challenge {
        player: ada,
        opponent: bob,
        game: Game::ConnectFour,
    };
    let seek = |game| Command::Seek { player: ada, game };
    let report = |verdict| Command::Report { players, verdict };
    commands([
        ("GAMES.CHALLENGE ada bob Connect-Four", challenge, None),
        ("GAMES.SEEK ada gomoku", seek(Game::Gomoku), None),
        ("games.seek ada tic-tac-toe key s", seek(game), Some("s")),
        (
            "GAMES.WITHDRAW ada KEY w",
            Command::Withdraw { player: ada },
            Some("w"),
        ),
        (
            "GAMES.BEGIN ada bob tic-tac-toe KEY b",
            Command::Begin { game, players },
            Some("b"),
        ),
        ("GAMES.CONNECT ada", Command::Connect { player: ada }, None),
        (
            "GAMES.DISCONNECT ada KEY d",
            Command::Disconnect { player: ada },
            Some("d"),
        ),
        (
            "GAMES.REPORT ada bob FIRST_WON",
            report(Verdict::FirstWon),
            None,
        ),
        (
            "GAMES.REPORT ada bob second_won",
            report(Verdict::SecondWon),
            None,
        ),
        (
            "GAMES.REPORT ada bob drawn KEY r",
            report(Verdict::Drawn),
            Some("r"),
        ),
    ]);
}

#[test]
fn a_line_becomes_its_deed_in_a_match() {
    let act = |match_id, deed| Command::Act {
        match_id: MatchId(match_id),
        player: player("ada"),
        deed,
    };
    let moved = |ply, choice, claim| Deed::Move { ply, choice, claim };
    commands([
        ("GAMES.MOVE 7 ada 0 5", act(7, moved(0, 5, None)), None),
        (
            "GAMES.MOVE 18446744073709551615 ada 65535 255 KEY m",
            act(u64::MAX, moved(u16::MAX, u8::MAX, None)),
            Some("m"),
        ),
        (
            "GAMES.MOVE 7 ada 4 3 CLAIM WINS KEY m",
            act(7, moved(4, 3, Some(Claim::Wins))),
            Some("m"),
        ),
        (
            "games.move 7 ada 8 9 key m claim fills",
            act(7, moved(8, 9, Some(Claim::Fills))),
            Some("m"),
        ),
        (
            "GAMES.MOVE 7 ada 0 1 CLAIM ordinary",
            act(7, moved(0, 1, Some(Claim::Ordinary))),
            None,
        ),
        ("GAMES.RESIGN 7 ada", act(7, Deed::Resign), None),
        ("GAMES.ABORT 7 ada KEY a", act(7, Deed::Abort), Some("a")),
        ("GAMES.OFFER-DRAW 7 ada", act(7, Deed::OfferDraw), None),
        (
            "games.accept-draw 7 ada KEY d",
            act(7, Deed::AcceptDraw),
            Some("d"),
        ),
        ("GAMES.DECLINE-DRAW 7 ada", act(7, Deed::DeclineDraw), None),
        ("GAMES.CLAIM-WIN 7 ada", act(7, Deed::ClaimWin), None),
    ]);
}

#[test]
fn a_line_becomes_its_query() {
    let (ada, bob) = (player("ada"), player("bob"));
    let match_id = MatchId(7);
    let matches = |after, limit| Query::Matches { after, limit };
    let opponents = |cursor, limit| Query::Opponents {
        player: ada,
        cursor,
        limit,
    };
    let leaders = |measure, cursor, limit| Query::Leaders {
        measure,
        cursor,
        limit,
    };
    let around = |measure, each_side| Query::Around {
        measure,
        player: ada,
        each_side,
    };
    let rung = |score, number| Some(Rung { score, number });
    let against = Query::Against {
        player: ada,
        opponent: bob,
    };
    let game = Game::Gomoku;
    for (line, expected) in [
        ("GAMES.GET-MATCH 7", Query::Match { match_id }),
        ("GAMES.LIST-MATCHES", matches(None, 100)),
        (
            "GAMES.LIST-MATCHES LIMIT 1 CURSOR 7",
            matches(Some(match_id), 1),
        ),
        ("GAMES.GET-PLAYER ada", Query::Player { player: ada }),
        ("GAMES.LIST-TICKETS gomoku", Query::Tickets { game }),
        ("GAMES.GET-STANDING ada", Query::Standing { player: ada }),
        ("GAMES.GET-TALLY ada bob", against),
        ("GAMES.LIST-OPPONENTS ada", opponents(None, 100)),
        (
            "GAMES.LIST-OPPONENTS ada CURSOR 9 LIMIT 1000",
            opponents(Some(Opponent(9)), 1_000),
        ),
        ("GAMES.LIST-LEADERS", leaders(Measure::Elo, None, 100)),
        (
            "GAMES.LIST-LEADERS MEASURE Glicko CURSOR rfffffffffffffff400000003 LIMIT 10",
            leaders(Measure::Glicko, rung(-12, 3), 10),
        ),
        (
            "games.list-leaders cursor r000000000016e36000000000 measure won",
            leaders(Measure::Won, rung(1_500_000, 0), 100),
        ),
        ("GAMES.LIST-AROUND ada", around(Measure::Elo, 5)),
        (
            "GAMES.LIST-AROUND ada EACH_SIDE 0 MEASURE won",
            around(Measure::Won, 0),
        ),
        ("GAMES.GET-TOTALS", Query::Totals),
    ] {
        asked(line, |found| {
            assert_eq!(found, Ok(Request::Query(expected)), "{line}");
        });
    }
}

const PLAYER: &str = "a player is 1 to 31 characters of A-Z a-z 0-9 . _ : -";
const CURSOR: &str = "a cursor is what the page before says of the next";

/// A line, the argument that is wrong in it, and why.
const ERRORS: [(&str, &str, &str); 16] = [
    ("GAMES.SEEK a/b gomoku", "SEEK player", PLAYER),
    ("GAMES.BEGIN ada '' gomoku", "BEGIN second", PLAYER),
    (
        "GAMES.SEEK ada chess",
        "SEEK game",
        "one of tic-tac-toe, connect-four, gomoku",
    ),
    (
        "GAMES.MOVE 7 ada 65536 1",
        "MOVE ply",
        "a whole number from 0 to 65535",
    ),
    (
        "GAMES.MOVE 7 ada 0 256",
        "MOVE choice",
        "a whole number from 0 to 255",
    ),
    (
        "GAMES.MOVE +7 ada 0 1",
        "MOVE match",
        "a whole number from 0 to 18446744073709551615",
    ),
    (
        "GAMES.MOVE 7 ada 0 1 CLAIM loses",
        "MOVE claim",
        "one of ordinary, wins, fills",
    ),
    (
        "GAMES.MOVE 7 ada 0 1 CLAIM wins CLAIM wins",
        "MOVE claim",
        "given twice",
    ),
    (
        "GAMES.MOVE 7 ada 0 1 KEY k 9",
        "MOVE option",
        "argument 7 is no option of this command",
    ),
    (
        "GAMES.OFFER-DRAW 7 ada KEY",
        "OFFER-DRAW key",
        "the value is missing",
    ),
    (
        "GAMES.REPORT ada bob both",
        "REPORT verdict",
        "one of first_won, second_won, drawn",
    ),
    (
        "GAMES.LIST-MATCHES LIMIT 0",
        "LIST-MATCHES limit",
        "a whole number from 1 to 1000",
    ),
    (
        "GAMES.LIST-AROUND ada EACH_SIDE 501",
        "LIST-AROUND each_side",
        "a whole number from 0 to 500",
    ),
    (
        "GAMES.LIST-LEADERS MEASURE luck",
        "LIST-LEADERS measure",
        "one of elo, glicko, won",
    ),
    ("GAMES.LIST-LEADERS CURSOR 7", "LIST-LEADERS cursor", CURSOR),
    (
        "GAMES.LIST-LEADERS CURSOR -12:3",
        "LIST-LEADERS cursor",
        CURSOR,
    ),
];

#[test]
fn an_error_says_which_argument_is_wrong_and_why() {
    let long = format!("GAMES.SEEK {} gomoku", "x".repeat(32));
    let too_long = (long.as_str(), "SEEK player", PLAYER);
    for (line, argument, reason) in ERRORS.into_iter().chain([too_long]) {
        let error = format!("GAMES.{argument}: {reason}");
        asked(line, |found| assert_eq!(found, Err(error), "{line}"));
    }
    asked("GAMES.GET-MATCH 7 KEY k", |found| {
        assert_eq!(found, Err("Err(Arity(\"games.get-match\"))".to_owned()));
    });
}
