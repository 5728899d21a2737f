//! Boards beside rules that are as simple as can be: grids of characters, and every line looked at.

use proptest::{collection::vec, prelude::*, sample::select};
use turnstile_games::{Board, Game, Illegal, Played, Seat, Verdict, play};

struct Grid {
    game: Game,
    rows: Vec<Vec<char>>,
}

impl Grid {
    fn new(game: Game) -> Self {
        let (width, height) = match game {
            Game::TicTacToe => (3, 3),
            Game::ConnectFour => (7, 6),
            Game::Gomoku => (15, 15),
        };
        let rows = vec![vec!['.'; width]; height];
        Self { game, rows }
    }

    const fn line(&self) -> usize {
        match self.game {
            Game::TicTacToe => 3,
            Game::ConnectFour => 4,
            Game::Gomoku => 5,
        }
    }

    /// The row and the column of a move.
    fn place(&self, choice: usize) -> Result<(usize, usize), Illegal> {
        let (height, width) = (self.rows.len(), self.rows[0].len());
        if self.game == Game::ConnectFour {
            if choice == 0 || choice > width {
                return Err(Illegal::NoSuchCell);
            }
            let rows = (0..height).rev();
            let row = rows
                .into_iter()
                .find(|&row| self.rows[row][choice - 1] == '.');
            return row.map(|row| (row, choice - 1)).ok_or(Illegal::Taken);
        }
        if choice == 0 || choice > width * height {
            return Err(Illegal::NoSuchCell);
        }
        let (row, column) = ((choice - 1) / width, (choice - 1) % width);
        if self.rows[row][column] != '.' {
            return Err(Illegal::Taken);
        }
        Ok((row, column))
    }

    fn has_line(&self, stone: char) -> bool {
        let reach = isize::try_from(self.line()).unwrap();
        let at = |row: isize, column: isize| {
            let row = self.rows.get(usize::try_from(row).ok()?)?;
            row.get(usize::try_from(column).ok()?).copied()
        };
        (0..15).any(|row| {
            (0..15).any(|column| {
                [(0, 1), (1, 0), (1, 1), (1, -1)]
                    .iter()
                    .any(|(down, right)| {
                        (0..reach).all(|k| at(row + down * k, column + right * k) == Some(stone))
                    })
            })
        })
    }

    fn play(&mut self, seat: Seat, choice: u8) -> Result<(usize, Option<Verdict>), Illegal> {
        let (row, column) = self.place(usize::from(choice))?;
        let stone = if seat == Seat::First { 'x' } else { 'o' };
        self.rows[row][column] = stone;
        let full = !self.rows.iter().flatten().any(|&cell| cell == '.');
        let verdict = match (self.has_line('x'), self.has_line('o'), full) {
            (true, ..) => Some(Verdict::FirstWon),
            (_, true, _) => Some(Verdict::SecondWon),
            (_, _, true) => Some(Verdict::Drawn),
            _ => None,
        };
        Ok((row * self.rows[0].len() + column, verdict))
    }
}

fn check(game: Game, choices: impl IntoIterator<Item = u8>) -> Option<Verdict> {
    let (mut grid, mut board) = (Grid::new(game), Board::default());
    let mut ply = 0;
    for choice in choices {
        let seat = Seat::to_move(ply);
        let before = board;
        let played = play(game, &board, seat, choice);
        let expected = grid.play(seat, choice);
        let found = played.map(|played| (usize::from(played.cell), played.verdict));
        assert_eq!(found, expected, "{game:?}, ply {ply}: {choice}");
        let Ok(Played {
            board: after,
            verdict,
            ..
        }) = played
        else {
            assert_eq!(board, before);
            continue;
        };
        board = after;
        ply += 1;
        for (cell, &stone) in (0..).zip(grid.rows.iter().flatten()) {
            let owner = match stone {
                'x' => Some(Seat::First),
                'o' => Some(Seat::Second),
                _ => None,
            };
            assert_eq!(board.at(cell), owner, "{game:?}, cell {cell}");
        }
        if verdict.is_some() {
            return verdict;
        }
    }
    None
}

#[test]
fn known_games_end_as_they_should() {
    let rows: [(Game, &[u8], Option<Verdict>); 8] = [
        (
            Game::TicTacToe,
            &[1, 2, 3, 4, 5, 6, 7],
            Some(Verdict::FirstWon),
        ),
        (Game::TicTacToe, &[1, 2, 5, 3, 8, 4, 6], None),
        (
            Game::TicTacToe,
            &[4, 1, 5, 2, 9, 3],
            Some(Verdict::SecondWon),
        ),
        (
            Game::TicTacToe,
            &[1, 2, 3, 5, 4, 6, 8, 7, 9],
            Some(Verdict::Drawn),
        ),
        // A win with the stone that fills the board is a win.
        (
            Game::TicTacToe,
            &[1, 2, 3, 4, 5, 6, 8, 7, 9],
            Some(Verdict::FirstWon),
        ),
        (
            Game::ConnectFour,
            &[1, 2, 1, 2, 1, 2, 1],
            Some(Verdict::FirstWon),
        ),
        (
            Game::ConnectFour,
            &[1, 2, 2, 3, 3, 4, 3, 4, 4, 6, 4],
            Some(Verdict::FirstWon),
        ),
        // Lines do not go around the edge: 14, 15 of a row and 1, 2, 3 of the next.
        (
            Game::Gomoku,
            &[14, 100, 15, 102, 16, 104, 17, 106, 18],
            None,
        ),
    ];
    for (game, choices, verdict) in rows {
        assert_eq!(check(game, choices.iter().copied()), verdict, "{choices:?}");
    }
}

#[test]
fn six_in_a_row_win_as_five_do() {
    let choices = [1, 100, 2, 102, 3, 104, 5, 106, 6, 108, 4];
    assert_eq!(check(Game::Gomoku, choices), Some(Verdict::FirstWon));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_game_is_played_as_by_naive_rules(
        game in select(vec![Game::TicTacToe, Game::ConnectFour]),
        choices in vec(0..12_u8, 0..80),
    ) {
        check(game, choices);
    }

    /// All 225 cells in some order: either somebody wins or the board is full.
    #[test]
    fn gomoku_is_played_as_by_naive_rules(
        choices in Just((1..=225_u8).collect::<Vec<u8>>()).prop_shuffle(),
    ) {
        prop_assert!(check(Game::Gomoku, choices).is_some());
    }

    #[test]
    fn gomoku_in_a_corner_is_played_as_by_naive_rules(
        choices in vec((0..6_u8, 0..6_u8), 0..60),
    ) {
        check(Game::Gomoku, choices.into_iter().map(|(row, column)| row * 15 + column));
    }
}
