//! The three games, and where their stones lie.

use std::{fmt, sync::OnceLock};

use crate::compact::{Compact, compact};

/// What is played. All are won by so many stones in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameKind {
    TicTacToe,
    ConnectFour,
    Gomoku,
}

/// Stones of who moves first, of the other, and none.
const LETTERS: [u8; 3] = *b"xo.";

/// A set of cells: no board has more than 225. They are numbered row by row from the top left, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct BoardCells([u64; 4]);

/// Where the stones of a game lie.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct WitnessBoard {
    game: GameKind,
    /// Of who moves first, and of the other.
    stones: [BoardCells; 2],
}

compact!(enum GameKind { 0 = TicTacToe, 1 = ConnectFour, 2 = Gomoku });
compact!(struct WitnessBoard { game, stones });

impl Compact for BoardCells {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn take(bytes: &mut &[u8]) -> Option<Self> {
        Compact::take(bytes).map(Self)
    }
}

impl GameKind {
    pub const ALL: [Self; 3] = [Self::TicTacToe, Self::ConnectFour, Self::Gomoku];

    /// Columns, rows, and how many stones in a row win.
    const fn measures(self) -> (u8, u8, u8) {
        match self {
            Self::TicTacToe => (3, 3, 3),
            Self::ConnectFour => (7, 6, 4),
            Self::Gomoku => (15, 15, 5),
        }
    }

    #[must_use]
    pub const fn columns(self) -> u8 {
        self.measures().0
    }

    #[must_use]
    pub const fn cells(self) -> u8 {
        self.measures().0 * self.measures().1
    }

    /// A move names a number from 1 to this: of a cell or, in connect four, of a column, in which the
    /// stone falls down.
    #[must_use]
    pub const fn choices(self) -> u8 {
        match self {
            Self::ConnectFour => self.columns(),
            Self::TicTacToe | Self::Gomoku => self.cells(),
        }
    }

    /// For each cell, every row of cells through it that wins.
    fn lines(self) -> &'static [Vec<BoardCells>] {
        static LINES: [OnceLock<Vec<Vec<BoardCells>>>; 3] = [const { OnceLock::new() }; 3];
        let [three, four, five] = &LINES;
        let lines = match self {
            Self::TicTacToe => three,
            Self::ConnectFour => four,
            Self::Gomoku => five,
        };
        lines.get_or_init(|| self.find_lines())
    }

    fn find_lines(self) -> Vec<Vec<BoardCells>> {
        let mut through = vec![Vec::new(); usize::from(self.cells())];
        for first in 0..self.cells() {
            for direction in [(1, 0), (0, 1), (1, 1), (-1, 1)] {
                let Some(cells) = self.line(first, direction) else {
                    continue;
                };
                let mut line = BoardCells::default();
                cells.iter().for_each(|&cell| line.add(cell));
                for cell in cells {
                    through[usize::from(cell)].push(line);
                }
            }
        }
        through
    }

    /// The cells of a winning row that begins at one and goes on in a direction, if the board reaches so
    /// far.
    fn line(self, first: u8, (right, down): (i16, i16)) -> Option<Vec<u8>> {
        let (columns, rows, length) = self.measures();
        let (column, row) = (i16::from(first % columns), i16::from(first / columns));
        let cells = (0..i16::from(length)).map(|step| {
            let column = u8::try_from(column + step * right).ok()?;
            let row = u8::try_from(row + step * down).ok()?;
            (column < columns && row < rows).then(|| row * columns + column)
        });
        cells.collect()
    }
}

impl BoardCells {
    fn place(cell: u8) -> (usize, u64) {
        (usize::from(cell / 64), 1 << (cell % 64))
    }

    fn has(&self, cell: u8) -> bool {
        let (word, bit) = Self::place(cell);
        self.0[word] & bit != 0
    }

    fn add(&mut self, cell: u8) {
        let (word, bit) = Self::place(cell);
        self.0[word] |= bit;
    }

    fn count(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    fn has_all(&self, line: &Self) -> bool {
        let mut words = self.0.iter().zip(line.0);
        words.all(|(here, wanted)| here & wanted == wanted)
    }
}

impl WitnessBoard {
    #[must_use]
    pub fn empty(game: GameKind) -> Self {
        Self {
            game,
            stones: [BoardCells::default(); 2],
        }
    }

    /// A letter for each cell: `x` for who moves first, `o` for the other, `.` where nothing lies. None:
    /// this is no such board.
    #[must_use]
    pub fn parse(game: GameKind, letters: &[u8]) -> Option<Self> {
        let mut board = Self::empty(game);
        if letters.len() != usize::from(game.cells()) {
            return None;
        }
        for (cell, letter) in (0..).zip(letters) {
            match LETTERS.iter().position(|known| known == letter)? {
                2 => {}
                seat => board.stones[seat].add(cell),
            }
        }
        Some(board)
    }

    #[must_use]
    pub const fn game(&self) -> GameKind {
        self.game
    }

    /// The cell, from 0, where the stone of a move comes to lie. None: there is no such choice, or no
    /// free cell.
    #[must_use]
    pub fn target(&self, choice: u8) -> Option<u8> {
        let choice = choice.checked_sub(1)?;
        if choice >= self.game.choices() {
            return None;
        }
        let free = |cell: &u8| !self.stones.iter().any(|stones| stones.has(*cell));
        match self.game {
            GameKind::TicTacToe | GameKind::Gomoku => Some(choice).filter(free),
            GameKind::ConnectFour => {
                let column = (choice..self.game.cells()).step_by(self.game.columns().into());
                column.filter(free).max()
            }
        }
    }

    /// Puts a stone of the first (0) or the second there.
    pub(super) fn put(&mut self, seat: usize, cell: u8) {
        self.stones[seat].add(cell);
    }

    /// Whether a stone of the first (0) or the second is one of a row that wins.
    pub(super) fn has_line(&self, seat: usize, cell: u8) -> bool {
        let stones = &self.stones[seat];
        let mut lines = self.game.lines()[usize::from(cell)].iter();
        lines.any(|line| stones.has_all(line))
    }

    /// Whether no move can be made.
    pub(super) fn is_full(&self) -> bool {
        let [first, second] = self.stones.map(|stones| stones.count());
        first + second == u32::from(self.game.cells())
    }
}

impl fmt::Debug for WitnessBoard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = |cell: u8| {
            let seat = self.stones.iter().position(|stones| stones.has(cell));
            char::from(LETTERS[seat.unwrap_or(2)])
        };
        let columns = self.game.columns();
        for cell in 0..self.game.cells() {
            if cell > 0 && cell % columns == 0 && self.game != GameKind::TicTacToe {
                f.write_str("/")?;
            }
            write!(f, "{}", letter(cell))?;
        }
        Ok(())
    }
}
