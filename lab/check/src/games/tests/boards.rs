//! The large boards, and games beside each other.

use super::{
    ADA, BOB, ClubAnswer, ClubRefusal, ClubRequest, DAN, EVE, GameKind, MatchDeed, MatchEnding,
    MatchState, MoveClaim, NUMBER, WitnessBoard, act, club, played,
};
use crate::games::Versus;

/// The state of any game after these moves, by turns.
fn after(game: GameKind, choices: &[u8]) -> MatchState {
    let mut state = MatchState::new(NUMBER, game, [ADA, BOB]);
    for &choice in choices {
        assert!(state.board.target(choice).is_some(), "{choice}: {state:?}");
        state.play(choice);
    }
    state
}

#[test]
fn a_stone_of_connect_four_falls_and_four_in_any_direction_win() {
    let four = GameKind::ConnectFour;
    let fallen = after(four, &[4, 4, 3]);
    let rows = [
        ".......", ".......", ".......", ".......", "...o...", "..xx...",
    ];
    let expected = WitnessBoard::parse(four, rows.concat().as_bytes());
    assert_eq!((Some(fallen.board), fallen.last), (expected, Some(38)));
    assert!(fallen.board.target(8).is_none() && fallen.board.target(0).is_none());
    let full = after(four, &[1, 1, 1, 1, 1, 1]);
    assert!(full.board.target(1).is_none() && full.ending.is_none());
    for (choices, winner) in [
        (&[4, 1, 4, 1, 4, 1, 4][..], Some(ADA)),
        (&[1, 1, 2, 2, 3, 3, 4], Some(ADA)),
        (&[7, 1, 1, 2, 2, 3, 3, 4], Some(BOB)),
        (&[1, 2, 2, 3, 3, 4, 3, 4, 4, 7, 4], Some(ADA)),
        (&[7, 6, 6, 5, 5, 4, 5, 4, 4, 1, 4], Some(ADA)),
        // Three, and what goes on in the next row, is no line.
        (&[5, 1, 6, 1, 7, 2, 1], None),
    ] {
        let state = after(four, choices);
        let ending = winner.map(|_winner| MatchEnding::Line);
        assert_eq!((state.ending, state.winner), (ending, winner), "{state:?}");
    }
}

#[test]
fn five_or_more_in_any_direction_win_at_gomoku() {
    let cell = |column: u8, row: u8| row * 15 + column + 1;
    // Whoever moves second plays far away, where nothing comes together.
    let far = [0, 2, 4, 6, 8].map(|column| cell(column, 14));
    for (right, down) in [(1, 0), (0, 1), (1, 1), (-1, 1)] {
        for start in [(4, 0), (6, 5)] {
            let line: Vec<u8> = (0..5)
                .map(|step| {
                    let column = u8::try_from(start.0 + step * right).unwrap();
                    cell(column, u8::try_from(start.1 + step * down).unwrap())
                })
                .collect();
            let moves: Vec<u8> = line
                .iter()
                .zip(far)
                .flat_map(|(one, two)| [*one, two])
                .collect();
            let before = after(GameKind::Gomoku, &moves[..8]);
            assert_eq!(before.claim_of(line[4]), MoveClaim::Wins, "{before:?}");
            let won = after(GameKind::Gomoku, &moves[..9]);
            assert_eq!(
                (won.ending, won.winner),
                (Some(MatchEnding::Line), Some(ADA))
            );
        }
    }
    // A line does not go on at the other end of the board.
    let torn = [(12, 0), (13, 0), (14, 0), (0, 1), (1, 1)].map(|(column, row)| cell(column, row));
    let moves: Vec<u8> = torn
        .iter()
        .zip(far)
        .flat_map(|(one, two)| [*one, two])
        .collect();
    assert_eq!(after(GameKind::Gomoku, &moves).ending, None);
    let board = WitnessBoard::parse(GameKind::Gomoku, &[b'.'; 225]);
    assert_eq!(board, Some(WitnessBoard::empty(GameKind::Gomoku)));
    for letters in [&[b'.'; 224][..], &[b'?'; 225]] {
        assert_eq!(WitnessBoard::parse(GameKind::Gomoku, letters), None);
    }
}

#[test]
fn who_waits_in_one_game_is_not_met_in_another_and_pairs_are_counted_from_either_side() {
    let mut club = club();
    let challenge = |game, player, opponent| ClubRequest::Challenge {
        game,
        player,
        opponent,
    };
    let (four, five) = (GameKind::ConnectFour, GameKind::Gomoku);
    let seek = |game, player| ClubRequest::Seek { game, player };
    let answers = played(
        &mut club,
        &[
            challenge(four, ADA, BOB),
            challenge(five, BOB, ADA),
            challenge(four, BOB, ADA),
            ClubRequest::Withdraw { player: BOB },
            challenge(four, BOB, ADA),
            act(BOB, MatchDeed::Resign),
            seek(five, EVE),
            seek(four, DAN),
        ],
    );
    let waiting = ClubAnswer::Refused(ClubRefusal::Waiting { player: BOB });
    let mut over = MatchState::new(NUMBER, four, [ADA, BOB]);
    let begun = ClubAnswer::Begun(over);
    over.end(MatchEnding::Resigned, Some(ADA));
    assert_eq!(
        answers,
        [
            ClubAnswer::Challenged,
            ClubAnswer::Challenged,
            waiting,
            ClubAnswer::Withdrawn,
            begun,
            ClubAnswer::Acted(over.change()),
            ClubAnswer::Seeking(five),
            ClubAnswer::Seeking(four),
        ]
    );
    let against = |player, opponent| club.look(&ClubRequest::Against { player, opponent });
    let versus = |won, lost| {
        let drawn = 0;
        ClubAnswer::Against(Versus { won, lost, drawn })
    };
    assert_eq!(against(ADA, BOB), versus(1, 0));
    assert_eq!(against(BOB, ADA), versus(0, 1));
    assert_eq!(against(ADA, EVE), versus(0, 0));
}
