//! What the club takes for true.

mod boards;

use super::{
    Club, ClubAnswer, ClubOperation, ClubRefusal, ClubRequest, ClubTotals, GameKind, MatchDeed,
    MatchEnding, MatchState, MoveClaim, PlayerActivity, STRANGER, ScoreTally, WitnessBoard,
};
use crate::Model as _;

const ADA: u16 = 0;
const BOB: u16 = 1;
const EVE: u16 = 2;
const DAN: u16 = 3;

const NUMBER: u64 = 8;

const GAME: GameKind = GameKind::TicTacToe;

fn club() -> Club {
    Club::new(4, NUMBER - 1)
}

fn act(player: u16, deed: MatchDeed) -> ClubRequest {
    ClubRequest::Act {
        number: NUMBER,
        player,
        deed,
    }
}

fn step(player: u16, ply: u16, choice: u8) -> ClubRequest {
    let claim = None;
    act(player, MatchDeed::Move { ply, choice, claim })
}

const fn seek(player: u16) -> ClubRequest {
    ClubRequest::Seek { game: GAME, player }
}

/// What the club itself answers to one after the other.
fn played(club: &mut Club, asks: &[ClubRequest]) -> Vec<ClubAnswer> {
    let asks = asks.iter();
    asks.map(|ask| club.answer(ask)).collect()
}

fn tally(won: u64, lost: u64, drawn: u64) -> ClubAnswer {
    let played = won + lost + drawn;
    ClubAnswer::Standing(Some(ScoreTally {
        played,
        won,
        lost,
        drawn,
    }))
}

/// The match as these moves leave it.
fn state(cells: &[u8]) -> MatchState {
    let mut state = MatchState::new(NUMBER, GAME, [ADA, BOB]);
    for &cell in cells {
        state.play(cell);
    }
    state
}

#[test]
fn a_match_begins_when_both_have_named_each_other_or_both_seek() {
    let mut club = club();
    let challenge = |player, opponent| ClubRequest::Challenge {
        game: GAME,
        player,
        opponent,
    };
    let playing = |player| ClubRefusal::Playing {
        player,
        number: NUMBER,
    };
    let begin = ClubRequest::Begin {
        game: GAME,
        players: [EVE, ADA],
    };
    let waiting = ClubAnswer::Refused(ClubRefusal::Waiting { player: ADA });
    let rows = [
        (
            ClubRequest::Player { player: BOB },
            ClubAnswer::Player(None),
        ),
        (challenge(ADA, BOB), ClubAnswer::Challenged),
        (
            ClubRequest::Player { player: BOB },
            ClubAnswer::Player(Some(PlayerActivity::Idle)),
        ),
        (challenge(ADA, BOB), ClubAnswer::Challenged),
        (challenge(ADA, EVE), waiting),
        (begin, waiting),
        (
            challenge(BOB, ADA),
            ClubAnswer::Begun(MatchState::new(NUMBER, GAME, [ADA, BOB])),
        ),
        (challenge(ADA, BOB), ClubAnswer::Refused(playing(ADA))),
        (seek(BOB), ClubAnswer::Refused(playing(BOB))),
        (
            ClubRequest::Withdraw { player: BOB },
            ClubAnswer::Refused(ClubRefusal::NotWaiting),
        ),
        (
            challenge(EVE, EVE),
            ClubAnswer::Refused(ClubRefusal::SamePlayer),
        ),
        (seek(EVE), ClubAnswer::Seeking(GAME)),
        (seek(EVE), ClubAnswer::Seeking(GAME)),
        (ClubRequest::Withdraw { player: EVE }, ClubAnswer::Withdrawn),
        (seek(DAN), ClubAnswer::Seeking(GAME)),
        (
            seek(EVE),
            ClubAnswer::Begun(MatchState::new(NUMBER + 1, GAME, [DAN, EVE])),
        ),
    ];
    for (ask, answer) in rows {
        assert_eq!(club.answer(&ask), answer, "{ask:?}");
    }
    let totals = ClubTotals {
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
        (&[1, 4, 2, 5, 3][..], Some(MatchEnding::Line), Some(ADA)),
        (&[1, 3, 2, 5, 9, 7], Some(MatchEnding::Line), Some(BOB)),
        (&[1, 2, 4, 5, 9, 8], Some(MatchEnding::Line), Some(BOB)),
        (&[1, 2, 5, 3, 9], Some(MatchEnding::Line), Some(ADA)),
        (&[1, 2, 3, 5, 4, 6, 8, 7, 9], Some(MatchEnding::Full), None),
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
        [MoveClaim::Wins, MoveClaim::Ordinary]
    );
    let full = state(&[1, 2, 3, 5, 4, 6, 8, 7]);
    assert_eq!(full.claim_of(9), MoveClaim::Fills);
    assert_eq!(Some(full.board), WitnessBoard::parse(GAME, b"xoxxooox."));
}

#[test]
fn deeds_are_refused_in_the_order_of_the_rules() {
    let mut club = club();
    played(
        &mut club,
        &[
            ClubRequest::Begin {
                game: GAME,
                players: [ADA, BOB],
            },
            step(ADA, 0, 1),
        ],
    );
    let now = state(&[1]);
    let claims = |choice, claim| {
        let (ply, claim) = (1, Some(claim));
        act(BOB, MatchDeed::Move { ply, choice, claim })
    };
    for (ask, refusal) in [
        (step(BOB, 0, 1), ClubRefusal::Stale(now)),
        (step(ADA, 1, 1), ClubRefusal::NotYourTurn(now)),
        (step(BOB, 1, 10), ClubRefusal::NoSuchCell),
        (step(BOB, 1, 0), ClubRefusal::NoSuchCell),
        (step(BOB, 1, 1), ClubRefusal::Taken),
        (claims(2, MoveClaim::Wins), ClubRefusal::FalseClaim),
        (step(EVE, 1, 2), ClubRefusal::NotSeated),
        (act(BOB, MatchDeed::Accept), ClubRefusal::NoOffer),
        (act(BOB, MatchDeed::Decline), ClubRefusal::NoOffer),
    ] {
        assert_eq!(club.answer(&ask), ClubAnswer::Refused(refusal), "{ask:?}");
    }
    let mut next = now;
    next.play(2);
    assert_eq!(
        club.answer(&claims(2, MoveClaim::Ordinary)),
        ClubAnswer::Acted(next.change())
    );
}

#[test]
fn an_offer_stands_until_the_other_moves_and_each_result_counts_once() {
    let mut club = club();
    let begin = ClubRequest::Begin {
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
                act(ADA, MatchDeed::Abort),
                act(BOB, MatchDeed::Offer),
                act(BOB, MatchDeed::Offer),
            ]
        ),
        [
            ClubAnswer::Refused(ClubRefusal::TooLate),
            ClubAnswer::Acted(now.change()),
            ClubAnswer::Refused(ClubRefusal::OfferStands),
        ]
    );
    // Whoever moves has not taken the offer.
    now.play(3);
    assert_eq!(now.offer, None);
    assert_eq!(
        club.answer(&step(ADA, 2, 3)),
        ClubAnswer::Acted(now.change())
    );
    now.end(MatchEnding::Resigned, Some(BOB));
    let answers = played(
        &mut club,
        &[
            act(ADA, MatchDeed::Resign),
            act(ADA, MatchDeed::Resign),
            ClubRequest::Standing { player: ADA },
            ClubRequest::Standing { player: BOB },
            ClubRequest::Standing { player: EVE },
            ClubRequest::Match { number: NUMBER },
            ClubRequest::Match { number: NUMBER - 1 },
        ],
    );
    let expected = [
        ClubAnswer::Acted(now.change()),
        ClubAnswer::Refused(ClubRefusal::Over(now)),
        tally(0, 1, 0),
        tally(1, 0, 0),
        ClubAnswer::Standing(None),
        ClubAnswer::Match(Some(now)),
        ClubAnswer::Match(None),
    ];
    assert_eq!(answers, expected);
}

#[test]
fn draws_are_agreed_by_two_and_what_is_aborted_does_not_count() {
    let mut club = club();
    let begin = ClubRequest::Begin {
        game: GAME,
        players: [ADA, BOB],
    };
    let next = |player, deed| ClubRequest::Act {
        number: NUMBER + 1,
        player,
        deed,
    };
    played(
        &mut club,
        &[
            begin,
            act(BOB, MatchDeed::Abort),
            begin,
            next(BOB, MatchDeed::Offer),
            next(ADA, MatchDeed::Decline),
            next(ADA, MatchDeed::Offer),
            next(BOB, MatchDeed::Offer),
        ],
    );
    let standings = [ADA, BOB].map(|player| club.look(&ClubRequest::Standing { player }));
    assert_eq!(standings, [tally(0, 0, 1); 2]);
    let totals = ClubTotals {
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
    let begin = ClubRequest::Begin {
        game: GAME,
        players: [ADA, BOB],
    };
    for number in NUMBER..NUMBER + 16_385 {
        let deed = MatchDeed::Resign;
        let resign = ClubRequest::Act {
            number,
            player: ADA,
            deed,
        };
        played(&mut club, &[begin, resign]);
    }
    let found =
        [NUMBER, NUMBER + 1].map(|number| club.look(&ClubRequest::Match { number }).state());
    assert_eq!(found.map(|state| state.is_some()), [false, true]);
}

#[test]
fn each_broken_promise_has_a_sentence() {
    let second = ClubAnswer::Begun(MatchState::new(NUMBER, GAME, [BOB, ADA]));
    let stranger = ClubAnswer::Begun(MatchState::new(NUMBER, GAME, [STRANGER, ADA]));
    let begin = ClubRequest::Begin {
        game: GAME,
        players: [ADA, BOB],
    };
    let moved = ClubAnswer::Acted(state(&[1, 2]).change());
    let rows = [
        (begin, second, "a player would do two things at once"),
        (
            step(BOB, 1, 2),
            ClubAnswer::Refused(ClubRefusal::Stale(state(&[]))),
            "is lost",
        ),
        (
            step(ADA, 0, 2),
            ClubAnswer::Acted(state(&[2]).change()),
            "is lost",
        ),
        (step(BOB, 1, 1), moved, "it was not allowed"),
        (step(BOB, 1, 3), moved, "it has done something else"),
        (
            step(BOB, 1, 1),
            ClubAnswer::Refused(ClubRefusal::FalseClaim),
            "the reason is another",
        ),
        (
            step(BOB, 1, 2),
            ClubAnswer::Refused(ClubRefusal::Strange),
            "there is no reason",
        ),
        (seek(EVE), stranger, "a player would"),
        (
            ClubRequest::Standing { player: ADA },
            tally(0, 0, 0),
            "has a position",
        ),
        (step(BOB, 1, 2), ClubAnswer::Unknown, "they differ"),
    ];
    for (ask, answer, sentence) in rows {
        let mut club = club();
        played(&mut club, &[begin, step(ADA, 0, 1)]);
        let found = club.apply(1, &ClubOperation { ask, answer }).unwrap_err();
        assert!(found.contains(sentence), "{found}: {sentence}");
    }
}

#[test]
fn what_may_have_happened_and_what_the_clock_did_cloud_everything_after_it() {
    let nonsense = ClubOperation {
        ask: step(ADA, 7, 7),
        answer: ClubAnswer::Withdrawn,
    };
    let mut late = state(&[1]);
    late.end(MatchEnding::Clock, Some(ADA));
    let ended = ClubOperation {
        ask: step(BOB, 1, 2),
        answer: ClubAnswer::Refused(ClubRefusal::Over(late)),
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
