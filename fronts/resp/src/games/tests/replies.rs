//! Outcomes and answers, byte by byte.

use turnstile_games::{
    Absent, ActivityView, Answer, Done, Ending, Game, HeadToHead, Illegal, Leader, MatchId,
    MatchView, Opponent, Outcome, PlayerView, Ratings, Refusal, Rung, Seat, Standing, Tally,
    TicketView, Totals, WaitReason,
};
use turnstile_types::{Position, Timestamp};

use super::{played, player};
use crate::{
    Encoder, Protocol,
    games::{put_answer, put_outcome},
};

/// What is written, in both protocols.
fn both(put: impl Fn(&mut Encoder<'_>)) -> [String; 2] {
    [Protocol::Resp2, Protocol::Resp3].map(|protocol| {
        let mut out = Vec::new();
        put(&mut Encoder::new(&mut out, protocol));
        String::from_utf8(out).unwrap()
    })
}

/// What a test writes in short, as the bytes of a protocol: `%3` and `*2` are heads of maps and arrays,
/// `:7` an integer, `nil`, `yes` and `no` what they say, anything else a bulk string.
fn spelt(protocol: Protocol, words: &str) -> String {
    let is_new = protocol == Protocol::Resp3;
    let lines = words.split_whitespace().map(|word| {
        let (head, rest) = word.split_at(1);
        match (head, rest.parse::<usize>()) {
            ("%", Ok(length)) if !is_new => format!("*{}\r\n", length * 2),
            ("%" | "*" | ":", Ok(_)) => format!("{word}\r\n"),
            _ => match (word, is_new) {
                ("nil", false) => "$-1\r\n".to_owned(),
                ("nil", true) => "_\r\n".to_owned(),
                ("yes", false) => ":1\r\n".to_owned(),
                ("yes", true) => "#t\r\n".to_owned(),
                ("no", false) => ":0\r\n".to_owned(),
                ("no", true) => "#f\r\n".to_owned(),
                _ => format!("${}\r\n{word}\r\n", word.len()),
            },
        }
    });
    lines.collect()
}

fn outcome(outcome: impl Into<Outcome>, replayed: bool, (two, three): (&str, &str)) {
    let outcome = outcome.into();
    let found = both(|reply| put_outcome(reply, &outcome, Position(9), replayed));
    let expected = [spelt(Protocol::Resp2, two), spelt(Protocol::Resp3, three)];
    assert_eq!(found, expected, "{outcome:?}");
}

/// What was done: the number of its fields, and they without and with their names.
fn done(done: Done, fields: usize, (values, named): (&str, &str)) {
    let length = fields + 2;
    let two = format!("*{length} :1 {values} :9");
    let three = format!("%{length} outcome done {named} position :9");
    outcome(Outcome::Done(done), false, (&two, &three));
}

const EPOCH: &str = "1970-01-01T00:00:00.000Z";

/// ada, who began, has moved twice, bob once, and offers a draw; ada is away.
fn state() -> MatchView {
    MatchView {
        offer: Some(Seat::Second),
        away: [Some(Timestamp(0)), None],
        seq: 5,
        ..played(Game::TicTacToe, &[5, 1, 9])
    }
}

fn shown_state() -> String {
    format!(
        "%15 match :7 game tic-tac-toe first ada second bob board o...x...x ply :3 seq :5 last :9 \
         to_move bob offer bob first_away {EPOCH} second_away nil moved_at {EPOCH} ending nil \
         winner nil"
    )
}

fn ticket(reason: WaitReason) -> TicketView {
    TicketView {
        player: player("ada"),
        game: Game::Gomoku,
        rating: 1_500,
        since: Timestamp(0),
        window: 300,
        widens_at: Some(Timestamp(0)),
        reason,
    }
}

fn shown_ticket(reason: &str) -> String {
    format!(
        "player ada game gomoku rating :1500 since {EPOCH} window :300 widens_at {EPOCH} \
         reason {reason}"
    )
}

fn standing(ratings: bool) -> Standing {
    let glicko = turnstile_games::Glicko::START;
    let tally = Tally {
        won: 3,
        lost: 2,
        drawn: 1,
    };
    Standing {
        tally,
        ratings: ratings.then_some(Ratings {
            elo_milli: -1_045,
            glicko,
        }),
    }
}

const RATED: &str = "played :6 won :3 lost :2 drawn :1 elo -1.045 glicko 1500.000 \
                     deviation 350.000 volatility 0.060000";
const UNRATED: &str = "played :6 won :3 lost :2 drawn :1 elo nil glicko nil deviation nil \
                       volatility nil";

#[test]
fn what_a_player_did_is_answered_with_what_is_new() {
    let acted = |view| Done::Acted(view);
    done(
        acted(state()),
        7,
        (
            ":7 :3 :5 :9 bob nil nil",
            "match :7 ply :3 seq :5 last :9 to_move bob ending nil winner nil",
        ),
    );
    let ended = |ending| MatchView {
        ending: Some(ending),
        ..state()
    };
    let winner = Seat::First;
    for (ending, word, name) in [
        (Ending::Line { winner }, "line", "ada"),
        (Ending::Resigned { winner }, "resigned", "ada"),
        (Ending::Agreed, "agreed", "nil"),
        (Ending::Aborted, "aborted", "nil"),
    ] {
        let values = format!(":7 :3 :5 :9 nil {word} {name}");
        let named =
            format!("match :7 ply :3 seq :5 last :9 to_move nil ending {word} winner {name}");
        done(acted(ended(ending)), 7, (&values, &named));
    }
}

#[test]
fn a_match_that_began_is_told_whole() {
    let state = shown_state();
    let named = format!("state {state}");
    let begun = self::state();
    let values = format!("{state} nil playing");
    let paired = format!("{named} ticket nil activity playing");
    done(Done::Begun(begun), 3, (&values, &paired));
    done(Done::Connected(Some(begun)), 1, (&state, &named));
    done(Done::Connected(None), 1, ("nil", "state nil"));
    let named = "state nil ticket nil activity challenging";
    done(Done::Challenged, 3, ("nil nil challenging", named));
    for plain in [Done::Withdrawn, Done::Disconnected] {
        done(plain, 0, ("", ""));
    }
    let both = format!("*2 %8 {RATED} %8 {UNRATED}");
    let named = format!("standings {both}");
    let standings = [standing(true), standing(false)];
    done(Done::Counted(standings), 1, (&both, &named));
}

#[test]
fn a_ticket_says_why_its_player_still_waits() {
    let far = WaitReason::TooFarApart {
        difference: 250,
        matched_at: Timestamp(0),
    };
    let far_shown = format!("too_far_apart difference :250 matched_at {EPOCH}");
    for (reason, fields, shown) in [(WaitReason::Alone, 7, "alone"), (far, 9, &far_shown)] {
        let shown = format!("%{fields} {}", shown_ticket(shown));
        let values = format!("nil {shown} seeking");
        let named = format!("state nil ticket {shown} activity seeking");
        done(Done::Seeking(ticket(reason)), 3, (&values, &named));
    }
}

#[test]
fn a_repeated_answer_says_so() {
    outcome(
        Outcome::Done(Done::Withdrawn),
        true,
        (
            "*3 :1 :9 replayed",
            "%3 outcome done position :9 replayed yes",
        ),
    );
    outcome(
        Outcome::Refused(Refusal::NotWaiting),
        true,
        (
            "*3 :0 not_waiting replayed",
            "%4 outcome refused reason not_waiting position :9 replayed yes",
        ),
    );
}

#[test]
fn a_refusal_comes_with_what_there_is_to_know() {
    let state = shown_state();
    let boxed = || Box::new(self::state());
    let named_state = format!("state {state}");
    let until = format!("until {EPOCH}");
    let ada = player("ada");
    let match_id = MatchId(7);
    for (refusal, fields, values, named) in [
        (Refusal::Stale(boxed()), 1, &*state, &*named_state),
        (Refusal::NotYourTurn(boxed()), 1, &state, &named_state),
        (Refusal::Over(boxed()), 1, &state, &named_state),
        (
            Refusal::Playing {
                player: ada,
                match_id,
            },
            2,
            "ada :7",
            "player ada match :7",
        ),
        (Refusal::Waiting { player: ada }, 1, "ada", "player ada"),
        (
            Refusal::TooEarly {
                until: Timestamp(0),
            },
            1,
            EPOCH,
            &until,
        ),
        (Refusal::Full { limit: 8 }, 1, ":8", "limit :8"),
        (Refusal::OutOfOrder { expected: 4 }, 1, ":4", "expected :4"),
        (Refusal::IllegalMove(Illegal::Taken), 0, "", ""),
        (Refusal::IllegalMove(Illegal::NoSuchCell), 0, "", ""),
        (Refusal::NoOffer, 0, "", ""),
        (Refusal::NotHere, 0, "", ""),
    ] {
        let code = refusal.code();
        let two = format!("*{} :0 {code} {values}", fields + 2);
        let length = fields + 3;
        let three = format!("%{length} outcome refused reason {code} {named} position :9");
        outcome(Outcome::Refused(refusal), false, (&two, &three));
    }
}

fn answers(answer: &Answer, expected: &str) {
    let found = both(|reply| put_answer(reply, answer));
    let expected = [Protocol::Resp2, Protocol::Resp3].map(|protocol| spelt(protocol, expected));
    assert_eq!(found, expected, "{answer:?}");
}

#[test]
fn a_match_shows_all_there_is_to_go_on() {
    let shown = shown_state();
    answers(&Answer::Match(state()), &shown);
    for (next, shown_next) in [(None, "nil"), (Some(MatchId(7)), "7")] {
        let matches = vec![state(), state()];
        answers(
            &Answer::Matches { matches, next },
            &format!("%2 matches *2 {shown} {shown} next {shown_next}"),
        );
    }
    let over = MatchView {
        ending: Some(Ending::Left {
            winner: Seat::Second,
        }),
        ..played(Game::ConnectFour, &[4, 4, 1])
    };
    let board = format!("{}...o...x..x...", ".".repeat(28));
    answers(
        &Answer::Match(over),
        &format!(
            "%15 match :7 game connect-four first ada second bob board {board} ply :3 seq :3 \
             last :36 to_move nil offer nil first_away nil second_away nil moved_at {EPOCH} \
             ending left winner bob"
        ),
    );
    let begun = played(Game::Gomoku, &[]);
    let empty = ".".repeat(225);
    answers(
        &Answer::Match(begun),
        &format!(
            "%15 match :7 game gomoku first ada second bob board {empty} ply :0 seq :0 last nil \
             to_move ada offer nil first_away nil second_away nil moved_at {EPOCH} ending nil \
             winner nil"
        ),
    );
}

#[test]
fn a_player_is_shown_with_what_it_does() {
    let shown = shown_state();
    let ticket = ticket(WaitReason::Alone);
    let shown_ticket = format!("%7 {}", shown_ticket("alone"));
    let challenging = ActivityView::Challenging {
        opponent: player("bob"),
        game: Game::Gomoku,
    };
    for (connected, activity, expected) in [
        (
            true,
            ActivityView::Idle,
            "%3 player ada connected yes activity idle".to_owned(),
        ),
        (
            false,
            challenging,
            "%5 player ada connected no activity challenging opponent bob game gomoku".to_owned(),
        ),
        (
            true,
            ActivityView::Seeking(ticket),
            format!("%4 player ada connected yes activity seeking ticket {shown_ticket}"),
        ),
        (
            true,
            ActivityView::Playing(state()),
            format!("%4 player ada connected yes activity playing state {shown}"),
        ),
    ] {
        let view = PlayerView {
            player: player("ada"),
            connected,
            activity,
        };
        answers(&Answer::Player(view), &expected);
    }
    answers(
        &Answer::Tickets(vec![ticket]),
        &format!("%1 tickets *1 {shown_ticket}"),
    );
}

#[test]
fn the_scores_say_what_was_won_and_where_the_next_page_begins() {
    answers(&Answer::Standing(standing(true)), &format!("%8 {RATED}"));
    let tally = standing(false).tally;
    answers(
        &Answer::Against(tally),
        "%4 played :6 won :3 lost :2 drawn :1",
    );
    answers(
        &Answer::Against(Tally::NONE),
        "%4 played :0 won :0 lost :0 drawn :0",
    );
    let opponents = |next| Answer::Opponents {
        page: vec![HeadToHead {
            opponent: player("bob"),
            tally,
        }],
        next,
    };
    let shown = "%2 opponents *1 %5 opponent bob played :6 won :3 lost :2 drawn :1 next";
    answers(&opponents(Some(Opponent(12))), &format!("{shown} 12"));
    answers(&opponents(None), &format!("{shown} nil"));
    let leader = Leader {
        place: 1,
        player: player("ada"),
        standing: standing(true),
    };
    let leaders = |next| Answer::Leaders {
        page: vec![leader],
        next,
    };
    let rung = Rung {
        score: -1_045,
        number: 3,
    };
    let shown = format!("%10 place :1 player ada {RATED}");
    answers(
        &leaders(Some(rung)),
        &format!("%2 leaders *1 {shown} next rfffffffffffffbeb00000003"),
    );
    answers(&leaders(None), &format!("%2 leaders *1 {shown} next nil"));
    answers(
        &Answer::Around(vec![leader]),
        &format!("%1 leaders *1 {shown}"),
    );
}

#[test]
fn what_is_not_there_is_a_refusal_without_a_position() {
    for (absent, code) in [
        (Absent::NoSuchMatch, "no_such_match"),
        (Absent::NoSuchPlayer, "no_such_player"),
    ] {
        let found = both(|reply| put_answer(reply, &Answer::Absent(absent)));
        let two = spelt(Protocol::Resp2, &format!("*2 :0 {code}"));
        let three = spelt(
            Protocol::Resp3,
            &format!("%2 outcome refused reason {code}"),
        );
        assert_eq!(found, [two, three]);
    }
}

#[test]
fn the_totals_have_their_words() {
    let totals = Totals {
        players: 1,
        open: 2,
        begun: 3,
        moves: 4,
        seeking: 5,
        away: 6,
        unreported: 7,
        rated: 8,
        results: 9,
    };
    answers(
        &Answer::Totals(totals),
        "%9 players :1 open_matches :2 seeking :5 away :6 unreported :7 rated_players :8 \
         matches_total :3 moves_total :4 results_total :9",
    );
}
