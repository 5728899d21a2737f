//! The rules of all games, as functions of a board and a move.
//!
//! Every game here is won by a line of stones, so that a game is four numbers, and there is one
//! function that plays them all.

use turnstile_chassis::{Bytes, Fields, Words};

use crate::{Game, Seat, Verdict};

/// What a game is played on, and what wins it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub width: u8,
    pub height: u8,
    /// Stones in a row that win: so many or more.
    pub line: u8,
    /// A move names a column, and its stone falls to the lowest free cell. Otherwise a move names
    /// a cell.
    pub drops: bool,
}

impl Game {
    #[must_use]
    pub const fn shape(self) -> Shape {
        let (width, height, line, drops) = match self {
            Self::TicTacToe => (3, 3, 3, false),
            Self::ConnectFour => (7, 6, 4, true),
            Self::Gomoku => (15, 15, 5, false),
        };
        Shape {
            width,
            height,
            line,
            drops,
        }
    }
}

impl Shape {
    /// How many cells a board has.
    #[must_use]
    pub const fn cells(self) -> u8 {
        self.width * self.height
    }

    /// The highest number that a move may name; the lowest is 1.
    #[must_use]
    pub const fn choices(self) -> u8 {
        if self.drops { self.width } else { self.cells() }
    }

    /// The column and row at these steps from others, if the board reaches so far.
    fn step(self, (column, row): (u8, u8), (right, down): (i8, i8)) -> Option<(u8, u8)> {
        let column = column.checked_add_signed(right)?;
        let row = row.checked_add_signed(down)?;
        (column < self.width && row < self.height).then_some((column, row))
    }
}

/// Where the stones lie. Cells are numbered from 0, row by row from the top left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Bytes)]
pub struct Board {
    pub(crate) stones: [CellSet; 2],
}

/// A set of cells, a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Bytes)]
pub(crate) struct CellSet(pub(crate) [u64; 4]);

impl CellSet {
    pub(crate) fn has(self, cell: u8) -> bool {
        let word = self.0.get(usize::from(cell >> 6));
        word.is_some_and(|word| word >> (cell & 63) & 1 == 1)
    }

    fn add(&mut self, cell: u8) {
        if let Some(word) = self.0.get_mut(usize::from(cell >> 6)) {
            *word |= 1 << (cell & 63);
        }
    }

    pub(crate) fn count(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether there are so many: where these are few, that is known before all are counted.
    fn are_at_least(self, wanted: u8) -> bool {
        let mut left = wanted;
        for mut word in self.0 {
            while word != 0 && left > 0 {
                word &= word - 1;
                left -= 1;
            }
        }
        left == 0
    }
}

/// Why a move is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields, Words)]
pub enum Illegal {
    /// The board has no such cell or column.
    #[byte(0x01)]
    #[refusal(invalid, "The board has no such cell or column")]
    NoSuchCell,
    /// There is a stone, or the column is full.
    #[byte(0x02)]
    #[refusal(conflict, "There is a stone, or the column is full")]
    Taken,
}

/// What a move did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Played {
    pub board: Board,
    /// Where the stone lies, from 0.
    pub cell: u8,
    /// None: the match goes on.
    pub verdict: Option<Verdict>,
}

impl Board {
    /// Whose stone lies there, if any.
    #[must_use]
    pub fn at(&self, cell: u8) -> Option<Seat> {
        let has = |seat: &Seat| seat.of(&self.stones).has(cell);
        Seat::BOTH.into_iter().find(has)
    }

    /// Whether a stone lies in each of so many cells.
    fn is_full(&self, cells: u8) -> bool {
        let [first, second] = self.stones;
        let mut left = u32::from(cells);
        first.0.into_iter().zip(second.0).all(|(one, other)| {
            let here = left.min(u64::BITS);
            left -= here;
            (one | other).trailing_ones() >= here
        })
    }
}

/// Plays one move: `choice` is a cell or a column, from 1.
///
/// # Errors
/// The move is against the rules.
pub fn play(game: Game, board: &Board, seat: Seat, choice: u8) -> Result<Played, Illegal> {
    let shape = game.shape();
    let choice = choice.checked_sub(1).ok_or(Illegal::NoSuchCell)?;
    if choice >= shape.choices() {
        return Err(Illegal::NoSuchCell);
    }
    let free = |cell: &u8| board.at(*cell).is_none();
    let cell = if shape.drops {
        let column = (0..shape.height)
            .rev()
            .map(|row| row * shape.width + choice);
        column.into_iter().find(free)
    } else {
        Some(choice).filter(free)
    };
    let cell = cell.ok_or(Illegal::Taken)?;
    let mut board = *board;
    let stones = seat.of_mut(&mut board.stones);
    stones.add(cell);
    let verdict = if has_line(shape, *stones, cell) {
        Some(Verdict::won_by(seat))
    } else {
        board.is_full(shape.cells()).then_some(Verdict::Drawn)
    };
    Ok(Played {
        board,
        cell,
        verdict,
    })
}

/// Whether a line goes through the cell.
fn has_line(shape: Shape, stones: CellSet, cell: u8) -> bool {
    const DIRECTIONS: [(i8, i8); 4] = [(1, 0), (0, 1), (1, 1), (1, -1)];
    if !stones.are_at_least(shape.line) {
        return false;
    }
    let place = (cell % shape.width, cell / shape.width);
    DIRECTIONS.into_iter().any(|(right, down)| {
        let there = run(shape, stones, place, (right, down));
        let back = run(shape, stones, place, (-right, -down));
        1 + there + back >= shape.line
    })
}

/// How many stones follow each other from a column and row on, without the one there.
fn run(shape: Shape, stones: CellSet, place: (u8, u8), direction: (i8, i8)) -> u8 {
    let mut length = 0;
    let mut at = place;
    while let Some(next) = shape.step(at, direction)
        && stones.has(next.1 * shape.width + next.0)
    {
        at = next;
        length += 1;
    }
    length
}
