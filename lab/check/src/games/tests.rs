//! What the club takes for true.

mod boards;

use super::{
    Activity, Answer, Ask, Board, Claim, Club, Deed, Ending, Game, Operation, Refusal, STRANGER,
    State, Tally, Totals,
};
use crate::Model as _;

const ADA: u16 = 0;
const BOB: u16 = 1;
const EVE: u16 = 2;
const DAN: u16 = 3;

const NUMBER: u64 = 8;

const GAME: Game = Game::TicTacToe;

fn club() -> Club {
    Club::new(4, NUMBER - 1)
}

fn act(player: u16, deed: Deed) -> Ask {
    Ask::Act {
        number: NUMBER,
        player,
        deed,
    }
}

fn step(player: u16, ply: u16, choice: u8) -> Ask {
    let claim = None;
    act(player, Deed::Move { ply, choice, claim })
}

const fn seek(player: u16) -> Ask {
    Ask::Seek { game: GAME, player }
}

/// What the club itself answers to one after the other.
fn played(club: &mut Club, asks: &[Ask]) -> Vec<Answer> {
    let asks = asks.iter();
    asks.map(|ask| club.answer(ask)).collect()
}

fn tally(won: u64, lost: u64, drawn: u64) -> Answer {
    let played = won + lost + drawn;
    Answer::Standing(Some(Tally {
        played,
        won,
        lost,
        drawn,
    }))
}

/// The match as these moves leave it.
fn state(cells: &[u8]) -> State {
    let mut state = State::new(NUMBER, GAME, [ADA, BOB]);
    for &cell in cells {
        state.play(cell);
    }
    state
}

#[test]
fn a_match_begins_when_both_have_named_each_other_or_both_seek() {
    let mut club = club();
    let challenge = |player, opponent| Ask::Challenge {
        game: GAME,
        player,
        opponent,
    };
    let playing = |player| Refusal::Playing {
        player,
        number: NUMBER,
    };
    let begin = Ask::Begin {
        game: GAME,
        players: [EVE, ADA],
    };
    let waiting = Answer::Refused(Refusal::Waiting { player: ADA });
    let rows = [
        (Ask::Player { player: BOB }, Answer::Player(None)),
        (challenge(ADA, BOB), Answer::Challenged),
        (
            Ask::Player { player: BOB },
            Answer::Player(Some(Activity::Idle)),
        ),
        (challenge(ADA, BOB), Answer::Challenged),
        (challenge(ADA, EVE), waiting),
        (begin, waiting),
        (
            challenge(BOB, ADA),
            Answer::Begun(State::new(NUMBER, GAME, [ADA, BOB])),
        ),
        (challenge(ADA, BOB), Answer::Refused(playing(ADA))),
        (seek(BOB), Answer::Refused(playing(BOB))),
        (
            Ask::Withdraw { player: BOB },
            Answer::Refused(Refusal::NotWaiting),
        ),
        (challenge(EVE, EVE), Answer::Refused(Refusal::SamePlayer)),
        (seek(EVE), Answer::Seeking(GAME)),
        (seek(EVE), Answer::Seeking(GAME)),
        (Ask::Withdraw { player: EVE }, Answer::Withdrawn),
        (seek(DAN), Answer::Seeking(GAME)),
        (
            seek(EVE),
            Answer::Begun(State::new(NUMBER + 1, GAME, [DAN, EVE])),
        ),
    ];
    for (ask, answer) in rows {
        assert_eq!(club.answer(&ask), answer, "{ask:?}");
    }
    let totals = Totals {
        begun: 2,
        moves: 0,
        results: 0,
        open: 2,
        seeking: 0,
    };
    assert_eq!(club.totals(), totals);
}

#[test]
fn whoever_has_three_in_a_row_wins_and_a_full_board_is_a_draw() {
    for (cells, ending, winner) in [
        (&[1, 4, 2, 5, 3][..], Some(Ending::Line), Some(ADA)),
        (&[1, 3, 2, 5, 9, 7], Some(Ending::Line), Some(BOB)),
        (&[1, 2, 4, 5, 9, 8], Some(Ending::Line), Some(BOB)),
        (&[1, 2, 5, 3, 9], Some(Ending::Line), Some(ADA)),
        (&[1, 2, 3, 5, 4, 6, 8, 7, 9], Some(Ending::Full), None),
        (&[1, 4, 2, 5], None, None),
    ] {
        let state = state(cells);
        assert_eq!(
            (state.ending, state.winner),
            (ending, winner),
            "{cells:?} {state:?}"
        );
    }
    let last = state(&[1, 4, 2, 5]);
    assert_eq!(
        [3, 9].map(|cell| last.claim_of(cell)),
        [Claim::Wins, Claim::Ordinary]
    );
    let full = state(&[1, 2, 3, 5, 4, 6, 8, 7]);
    assert_eq!(full.claim_of(9), Claim::Fills);
    assert_eq!(Some(full.board), Board::parse(GAME, b"xoxxooox."));
}

#[test]
fn deeds_are_refused_in_the_order_of_the_rules() {
    let mut club = club();
    played(
        &mut club,
        &[
            Ask::Begin {
                game: GAME,
                players: [ADA, BOB],
            },
            step(ADA, 0, 1),
        ],
    );
    let now = state(&[1]);
    let claims = |choice, claim| {
        let (ply, claim) = (1, Some(claim));
        act(BOB, Deed::Move { ply, choice, claim })
    };
    for (ask, refusal) in [
        (step(BOB, 0, 1), Refusal::Stale(now)),
        (step(ADA, 1, 1), Refusal::NotYourTurn(now)),
        (step(BOB, 1, 10), Refusal::NoSuchCell),
        (step(BOB, 1, 0), Refusal::NoSuchCell),
        (step(BOB, 1, 1), Refusal::Taken),
        (claims(2, Claim::Wins), Refusal::FalseClaim),
        (step(EVE, 1, 2), Refusal::NotSeated),
        (act(BOB, Deed::Accept), Refusal::NoOffer),
        (act(BOB, Deed::Decline), Refusal::NoOffer),
    ] {
        assert_eq!(club.answer(&ask), Answer::Refused(refusal), "{ask:?}");
    }
    let mut next = now;
    next.play(2);
    assert_eq!(
        club.answer(&claims(2, Claim::Ordinary)),
        Answer::Acted(next.change())
    );
}

#[test]
fn an_offer_stands_until_the_other_moves_and_each_result_counts_once() {
    let mut club = club();
    let begin = Ask::Begin {
        game: GAME,
        players: [ADA, BOB],
    };
    played(&mut club, &[begin, step(ADA, 0, 1), step(BOB, 1, 2)]);
    let mut now = state(&[1, 2]);
    now.offer(Some(BOB));
    assert_eq!(
        played(
            &mut club,
            &[
                act(ADA, Deed::Abort),
                act(BOB, Deed::Offer),
                act(BOB, Deed::Offer),
            ]
        ),
        [
            Answer::Refused(Refusal::TooLate),
            Answer::Acted(now.change()),
            Answer::Refused(Refusal::OfferStands),
        ]
    );
    // Whoever moves has not taken the offer.
    now.play(3);
    assert_eq!(now.offer, None);
    assert_eq!(club.answer(&step(ADA, 2, 3)), Answer::Acted(now.change()));
    now.end(Ending::Resigned, Some(BOB));
    let answers = played(
        &mut club,
        &[
            act(ADA, Deed::Resign),
            act(ADA, Deed::Resign),
            Ask::Standing { player: ADA },
            Ask::Standing { player: BOB },
            Ask::Standing { player: EVE },
            Ask::Match { number: NUMBER },
            Ask::Match { number: NUMBER - 1 },
        ],
    );
    let expected = [
        Answer::Acted(now.change()),
        Answer::Refused(Refusal::Over(now)),
        tally(0, 1, 0),
        tally(1, 0, 0),
        Answer::Standing(None),
        Answer::Match(Some(now)),
        Answer::Match(None),
    ];
    assert_eq!(answers, expected);
}

#[test]
fn draws_are_agreed_by_two_and_what_is_aborted_does_not_count() {
    let mut club = club();
    let begin = Ask::Begin {
        game: GAME,
        players: [ADA, BOB],
    };
    let next = |player, deed| Ask::Act {
        number: NUMBER + 1,
        player,
        deed,
    };
    played(
        &mut club,
        &[
            begin,
            act(BOB, Deed::Abort),
            begin,
            next(BOB, Deed::Offer),
            next(ADA, Deed::Decline),
            next(ADA, Deed::Offer),
            next(BOB, Deed::Offer),
        ],
    );
    let standings = [ADA, BOB].map(|player| club.look(&Ask::Standing { player }));
    assert_eq!(standings, [tally(0, 0, 1); 2]);
    let totals = Totals {
        begun: 2,
        moves: 0,
        results: 1,
        open: 0,
        seeking: 0,
    };
    assert_eq!(club.totals(), totals);
}

#[test]
fn the_newest_matches_that_are_over_can_be_looked_at() {
    let mut club = club();
    let begin = Ask::Begin {
        game: GAME,
        players: [ADA, BOB],
    };
    for number in NUMBER..NUMBER + 16_385 {
        let deed = Deed::Resign;
        let resign = Ask::Act {
            number,
            player: ADA,
            deed,
        };
        played(&mut club, &[begin, resign]);
    }
    let found = [NUMBER, NUMBER + 1].map(|number| club.look(&Ask::Match { number }).state());
    assert_eq!(found.map(|state| state.is_some()), [false, true]);
}

#[test]
fn each_broken_promise_has_a_sentence() {
    let second = Answer::Begun(State::new(NUMBER, GAME, [BOB, ADA]));
    let stranger = Answer::Begun(State::new(NUMBER, GAME, [STRANGER, ADA]));
    let begin = Ask::Begin {
        game: GAME,
        players: [ADA, BOB],
    };
    let moved = Answer::Acted(state(&[1, 2]).change());
    let rows = [
        (begin, second, "somebody would do two things at once"),
        (
            step(BOB, 1, 2),
            Answer::Refused(Refusal::Stale(state(&[]))),
            "is lost",
        ),
        (
            step(ADA, 0, 2),
            Answer::Acted(state(&[2]).change()),
            "is lost",
        ),
        (step(BOB, 1, 1), moved, "it was not allowed"),
        (step(BOB, 1, 3), moved, "it has done something else"),
        (
            step(BOB, 1, 1),
            Answer::Refused(Refusal::FalseClaim),
            "the reason is another",
        ),
        (
            step(BOB, 1, 2),
            Answer::Refused(Refusal::Strange),
            "there is no reason",
        ),
        (seek(EVE), stranger, "somebody would"),
        (
            Ask::Standing { player: ADA },
            tally(0, 0, 0),
            "has a position",
        ),
        (step(BOB, 1, 2), Answer::Unknown, "they differ"),
    ];
    for (ask, answer, sentence) in rows {
        let mut club = club();
        played(&mut club, &[begin, step(ADA, 0, 1)]);
        let found = club.apply(1, &Operation { ask, answer }).unwrap_err();
        assert!(found.contains(sentence), "{found}: {sentence}");
    }
}

#[test]
fn what_may_have_happened_and_what_the_clock_did_cloud_everything_after_it() {
    let nonsense = Operation {
        ask: step(ADA, 7, 7),
        answer: Answer::Withdrawn,
    };
    let mut late = state(&[1]);
    late.end(Ending::Clock, Some(ADA));
    let ended = Operation {
        ask: step(BOB, 1, 2),
        answer: Answer::Refused(Refusal::Over(late)),
    };
    let mut one = club();
    one.suspect(&nonsense);
    let mut other = club();
    assert_eq!(other.apply(1, &ended), Ok(()));
    for mut club in [one, other] {
        assert!(club.is_clouded() && club.agrees(&nonsense));
        assert_eq!(club.apply(2, &nonsense), Ok(()));
    }
    assert!(!club().is_clouded() && club().apply(1, &nonsense).is_err());
}
