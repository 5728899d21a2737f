//! The words of a script, and how answers are written.

mod answers;

use turnstile_games::{
    Answer, Claim, Command, Deed, Event, Game, Games, MatchId, Measure, Outcome, PlayerId, Query,
    Settings, Verdict,
};
use turnstile_trial::{Stage, Words, ms};
use turnstile_types::{Machine, Timestamp};

use crate::scenery::{id, move_to};

pub(crate) const WORDS: Words<Games> = Words { apply, ask, event };

/// `ttt`, `four`, `gomoku`
fn game(word: &str) -> Game {
    match word {
        "ttt" => Game::TicTacToe,
        "four" => Game::ConnectFour,
        "gomoku" => Game::Gomoku,
        other => panic!("no game: {other}"),
    }
}

fn apply(stage: &mut Stage<Games>, words: &[&str]) -> String {
    let command = match words {
        ["challenge", player, opponent, kind] => Command::Challenge {
            player: id(player),
            opponent: id(opponent),
            game: game(kind),
        },
        ["seek", player, kind] => Command::Seek {
            player: id(player),
            game: game(kind),
        },
        ["withdraw", player] => Command::Withdraw { player: id(player) },
        ["begin", kind, first, second] => Command::Begin {
            game: game(kind),
            players: [id(first), id(second)],
        },
        ["connect", player] => Command::Connect { player: id(player) },
        ["disconnect", player] => Command::Disconnect { player: id(player) },
        ["restarted"] => Command::Restarted,
        ["times", moving, grace, claim] => Command::Configure(Settings {
            move_ms: ms(moving),
            grace_ms: ms(grace),
            claim_ms: ms(claim),
            ..Settings::FIRST
        }),
        ["report", verdict, first, second] => Command::Report {
            players: [id(first), id(second)],
            verdict: match *verdict {
                "1" => Verdict::FirstWon,
                "2" => Verdict::SecondWon,
                _ => Verdict::Drawn,
            },
        },
        ["moves", first, choices @ ..] => return moves(stage, first.parse().unwrap(), choices),
        [player, number, rest @ ..] => Command::Act {
            match_id: MatchId(number.parse().unwrap()),
            player: id(player),
            deed: deed(rest),
        },
        other => panic!("no command: {other:?}"),
    };
    answered(&stage.apply(&command))
}

fn answered(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done(done) => answers::done(done),
        Outcome::Refused(refusal) => answers::refusal(refusal),
    }
}

/// `move PLY CHOICE [plain|wins|fills]`, `resign`, `abort`, `offer`, `accept`, `decline`, `claim`
fn deed(words: &[&str]) -> Deed {
    match words {
        ["move", ply, choice] => move_to(ply.parse().unwrap(), choice.parse().unwrap()),
        ["move", ply, choice, claim] => Deed::Move {
            ply: ply.parse().unwrap(),
            choice: choice.parse().unwrap(),
            claim: Some(match *claim {
                "wins" => Claim::Wins,
                "fills" => Claim::Fills,
                _ => Claim::Ordinary,
            }),
        },
        ["resign"] => Deed::Resign,
        ["abort"] => Deed::Abort,
        ["offer"] => Deed::OfferDraw,
        ["accept"] => Deed::AcceptDraw,
        ["decline"] => Deed::DeclineDraw,
        ["claim"] => Deed::ClaimWin,
        other => panic!("no deed: {other:?}"),
    }
}

/// Both play these in turn; what is answered to the last is told.
fn moves(stage: &mut Stage<Games>, number: u64, choices: &[&str]) -> String {
    let match_id = MatchId(number);
    let mut last = String::new();
    for choice in choices {
        let Answer::Match(state) = stage.query(&Query::Match { match_id }) else {
            panic!("no such match: {number}");
        };
        let mover = state.to_move().expect("the match is open");
        last = answered(&stage.apply(&Command::Act {
            match_id,
            player: *mover.of(&state.players),
            deed: move_to(state.ply, choice.parse().unwrap()),
        }));
    }
    last
}

fn event(event: &Event) -> String {
    format!("{}\n", answers::event(event))
}

/// Any, when it is `-`.
fn optional<T>(text: &str, read: impl FnOnce(&str) -> T) -> Option<T> {
    (text != "-").then(|| read(text))
}

fn measure(word: &str) -> Measure {
    Measure::from_code(word).expect("a measure has a word")
}

fn ask(stage: &Stage<Games>, verb: &str, words: &[&str]) -> String {
    let player = |text: &str| -> PlayerId { id(text) };
    let query = match (verb, words) {
        ("match", [number]) => Query::Match {
            match_id: MatchId(number.parse().unwrap()),
        },
        ("matches", [after, limit]) => Query::Matches {
            after: optional(after, |text| MatchId(text.parse().unwrap())),
            limit: limit.parse().unwrap(),
        },
        ("player", [name]) => Query::Player {
            player: player(name),
        },
        ("tickets", [kind]) => Query::Tickets { game: game(kind) },
        ("standing", [name]) => Query::Standing {
            player: player(name),
        },
        ("against", [name, other]) => Query::Against {
            player: player(name),
            opponent: player(other),
        },
        ("opponents", [name, limit]) => Query::Opponents {
            player: player(name),
            cursor: None,
            limit: limit.parse().unwrap(),
        },
        ("leaders", [word, limit]) => return leaders(stage, measure(word), limit),
        ("around", [word, name, each_side]) => Query::Around {
            measure: measure(word),
            player: player(name),
            each_side: each_side.parse().unwrap(),
        },
        ("totals", []) => Query::Totals,
        other => panic!("no question: {other:?}"),
    };
    let now = Timestamp(stage.now);
    let answer = stage.machine.query(now, &stage.principal, &query);
    answers::answer(&answer)
}

/// All pages.
fn leaders(stage: &Stage<Games>, measure: Measure, limit: &str) -> String {
    let mut told = String::new();
    let mut cursor = None;
    loop {
        let answer = stage.query(&Query::Leaders {
            measure,
            cursor,
            limit: limit.parse().unwrap(),
        });
        told.push_str(&answers::answer(&answer));
        let Answer::Leaders { next, .. } = answer else {
            panic!("leaders were asked for");
        };
        cursor = next;
        if cursor.is_none() {
            return told;
        }
    }
}
