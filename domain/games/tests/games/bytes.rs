//! The bytes of commands and outcomes: each kind as it is written in journals, and nothing else
//! read.

use proptest::prelude::*;
use turnstile_games::{
    Board, Claim, Command, Deed, Done, Ending, Game, Games, Glicko, Illegal, MatchId, MatchResult,
    MatchView, Outcome, Parcel, Ratings, Refusal, Roles, Seat, Settings, Standing, Tally,
    TicketView, Verdict, WaitReason, play,
};
use turnstile_trial::{check_canonical, check_command, check_only_whole, check_outcome, unhex};
use turnstile_types::{Machine, Malformed, Timestamp};

use crate::scenery::{act, begin, claiming, id, move_to};

const STANDING: Standing = Standing {
    tally: Tally {
        won: 1,
        lost: 2,
        drawn: 3,
    },
    ratings: None,
};

const STANDING_BYTES: &str = "0100000000000000 0200000000000000 0300000000000000 00";

/// Every kind of command, with its bytes.
fn commands() -> Vec<(Command, String)> {
    let rows = [players(), matches(), results()].concat().into_iter();
    let rows = rows.map(|(command, bytes)| (command, bytes.to_owned()));
    let acknowledge = Command::Acknowledge {
        number: 2,
        standings: [STANDING, rated()],
    };
    let rated = "0000000000000000 0000000000000000 0000000000000000 01 60e3160000000000 0000000000000000 1f6fc70302000000 f6285c0f00000000";
    let bytes = format!("21 0200000000000000 {STANDING_BYTES} {rated}");
    rows.chain([(acknowledge, bytes)]).collect()
}

fn players() -> Vec<(Command, &'static str)> {
    let [player, opponent] = ["a", "17"].map(id);
    let game = Game::TicTacToe;
    vec![
        (
            Command::Challenge {
                player,
                opponent,
                game,
            },
            "01 0161 023137 01",
        ),
        (
            Command::Seek {
                player,
                game: Game::ConnectFour,
            },
            "02 0161 02",
        ),
        (Command::Withdraw { player }, "03 0161"),
        (Command::Connect { player }, "10 0161"),
        (Command::Disconnect { player }, "11 0161"),
        (Command::Restarted, "12"),
    ]
}

fn matches() -> Vec<(Command, &'static str)> {
    vec![
        (begin(Game::Gomoku, "a", "17"), "04 03 0161 023137"),
        (
            act(258, "a", move_to(3, 9)),
            "05 0201000000000000 0161 01 0300 09 00",
        ),
        (
            act(1, "a", claiming(0, 225, Claim::Fills)),
            "05 0100000000000000 0161 01 0000 e1 01 03",
        ),
        (act(1, "a", Deed::Resign), "05 0100000000000000 0161 02"),
        (act(1, "a", Deed::Abort), "05 0100000000000000 0161 03"),
        (act(1, "a", Deed::OfferDraw), "05 0100000000000000 0161 04"),
        (act(1, "a", Deed::AcceptDraw), "05 0100000000000000 0161 05"),
        (
            act(1, "a", Deed::DeclineDraw),
            "05 0100000000000000 0161 06",
        ),
        (act(1, "a", Deed::ClaimWin), "05 0100000000000000 0161 07"),
    ]
}

fn results() -> Vec<(Command, &'static str)> {
    let players = ["a", "17"].map(id);
    vec![
        (
            Command::Configure(Settings {
                roles: Roles {
                    arena: true,
                    scores: false,
                },
                arena: 7,
                move_ms: 1,
                grace_ms: 2,
                claim_ms: 3,
            }),
            "20 01 00 0700000000000000 0100000000000000 0200000000000000 0300000000000000",
        ),
        (
            Command::Deliver(Parcel {
                arena: 7,
                number: 2,
                result: MatchResult {
                    match_id: MatchId(5),
                    game: Game::TicTacToe,
                    players,
                    verdict: Verdict::SecondWon,
                },
            }),
            "22 0700000000000000 0200000000000000 0500000000000000 01 0161 023137 02",
        ),
        (
            Command::Report {
                players,
                verdict: Verdict::Drawn,
            },
            "23 0161 023137 03",
        ),
    ]
}

const fn rated() -> Standing {
    Standing {
        tally: Tally::NONE,
        ratings: Some(Ratings {
            elo_milli: 1_500_000,
            glicko: Glicko::START,
        }),
    }
}

fn state() -> MatchView {
    let played = play(Game::TicTacToe, &Board::default(), Seat::First, 5).unwrap();
    MatchView {
        id: MatchId(5),
        game: Game::TicTacToe,
        players: ["a", "b"].map(id),
        board: played.board,
        ply: 1,
        seq: 3,
        last: Some(4),
        offer: Some(Seat::First),
        away: [None, Some(Timestamp(2))],
        moved_at: Timestamp(1),
        ending: Some(Ending::Left {
            winner: Seat::First,
        }),
    }
}

/// Every kind of outcome, with its bytes.
fn outcomes() -> Vec<(Outcome, String)> {
    let zeros = |count: usize| "00".repeat(count);
    let state_bytes = format!(
        "0500000000000000 01 0161 0162 10{} 0100 03000000 01 04 01 01 00 01 0200000000000000 0100000000000000 01 05 01",
        zeros(63)
    );
    let done = |done| Outcome::Done(done);
    let ticket = TicketView {
        player: id("a"),
        game: Game::Gomoku,
        rating: 1_500,
        since: Timestamp(1),
        window: 100,
        widens_at: Some(Timestamp(2)),
        reason: WaitReason::TooFarApart {
            difference: 300,
            matched_at: Timestamp(3),
        },
    };
    let ticket_bytes = "0161 03 dc050000 0100000000000000 64000000 01 0200000000000000 02 2c010000 0300000000000000";
    let mut rows = vec![
        (done(Done::Challenged), "01".to_owned()),
        (done(Done::Seeking(ticket)), format!("02 {ticket_bytes}")),
        (done(Done::Withdrawn), "03".to_owned()),
        (done(Done::Begun(state())), format!("04 {state_bytes}")),
        (done(Done::Acted(state())), format!("05 {state_bytes}")),
        (done(Done::Connected(None)), "10 00".to_owned()),
        (done(Done::Disconnected), "11".to_owned()),
        (done(Done::Restarted), "12".to_owned()),
        (done(Done::Configured), "20".to_owned()),
        (done(Done::Acknowledged), "21".to_owned()),
        (
            done(Done::Counted([STANDING; 2])),
            format!("22 {STANDING_BYTES} {STANDING_BYTES}"),
        ),
    ];
    let stated = [
        (Refusal::Over(Box::new(state())), "a2"),
        (Refusal::Stale(Box::new(state())), "a3"),
        (Refusal::NotYourTurn(Box::new(state())), "a4"),
    ];
    for (refusal, kind) in stated {
        rows.push((Outcome::Refused(refusal), format!("{kind} {state_bytes}")));
    }
    for (refusal, bytes) in refusals() {
        rows.push((Outcome::Refused(refusal), bytes.to_owned()));
    }
    rows
}

fn refusals() -> Vec<(Refusal, &'static str)> {
    let player = id("a");
    let match_id = MatchId(5);
    vec![
        (Refusal::NotHere, "80"),
        (Refusal::UnsoundSettings, "81"),
        (Refusal::Full { limit: 9 }, "82 09000000"),
        (Refusal::ScoresAway, "83"),
        (Refusal::SamePlayer, "90"),
        (
            Refusal::Playing { player, match_id },
            "91 0161 0500000000000000",
        ),
        (Refusal::Waiting { player }, "92 0161"),
        (Refusal::NotWaiting, "93"),
        (Refusal::NoSuchMatch, "a0"),
        (Refusal::NotSeated, "a1"),
        (Refusal::IllegalMove(Illegal::NoSuchCell), "a5 01"),
        (Refusal::IllegalMove(Illegal::Taken), "a5 02"),
        (Refusal::FalseClaim, "a6"),
        (Refusal::NoOffer, "a7"),
        (Refusal::OfferStands, "a8"),
        (Refusal::TooLate, "a9"),
        (Refusal::NothingToClaim, "aa"),
        (
            Refusal::TooEarly {
                until: Timestamp(2),
            },
            "ab 0200000000000000",
        ),
        (Refusal::OutOfOrder { expected: 3 }, "b0 0300000000000000"),
    ]
}

#[test]
fn commands_have_stable_bytes_and_are_read_whole_only() {
    for (command, bytes) in commands() {
        let bytes = unhex(&bytes);
        check_command::<Games>(&command, &bytes);
        check_only_whole(&bytes, "command", Games::decode_command);
    }
}

#[test]
fn outcomes_have_stable_bytes_and_are_read_whole_only() {
    for (outcome, bytes) in outcomes() {
        let bytes = unhex(&bytes);
        check_outcome::<Games>(&outcome, &bytes);
        check_only_whole(&bytes, "outcome", Games::decode_outcome);
    }
}

#[test]
fn what_is_no_command_is_told_by_its_field() {
    let rows = [
        ("", "command"),
        ("00", "command"),
        ("06", "command"),
        ("03 00", "player"),
        ("03 0120", "player"),
        (
            "03 20 6161616161616161616161616161616161616161616161616161616161616161",
            "player",
        ),
        ("02 0161 00", "game"),
        ("05 0100000000000000 0161 08", "deed"),
        ("05 0100000000000000 0161 01 0000 01 02", "claim"),
        ("05 0100000000000000 0161 01 0000 01 01 04", "claim"),
        ("23 0161 0162 04", "verdict"),
    ];
    for (text, field) in rows {
        let bytes = unhex(text);
        let read = Games::decode_command(&bytes);
        assert_eq!(read, Err(Malformed { field }), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 10_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_is_read_has_one_form(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        check_canonical::<Games>(&bytes);
    }

    #[test]
    fn a_changed_command_or_outcome_has_one_form(
        which in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let commands = commands().into_iter().map(|(_, bytes)| bytes);
        let outcomes = outcomes().into_iter().map(|(_, bytes)| bytes);
        let all: Vec<String> = commands.chain(outcomes).collect();
        let mut bytes = unhex(&all[which.index(all.len())]);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        check_canonical::<Games>(&bytes);
    }
}
