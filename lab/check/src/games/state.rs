//! A match of tic-tac-toe, and its rules.

use std::fmt;

/// Cells of the board, by their numbers from 0, row by row from the top left.
pub const CELLS: usize = 9;

/// Every three cells that are a line.
const LINES: [[usize; 3]; 8] = [
    [0, 1, 2],
    [3, 4, 5],
    [6, 7, 8],
    [0, 3, 6],
    [1, 4, 7],
    [2, 5, 8],
    [0, 4, 8],
    [2, 4, 6],
];

/// The stones of who moves first, and of the other.
const STONES: [u8; 2] = *b"xo";

const FREE: u8 = b'.';

/// A letter for each cell: `x` for who moves first, `o` for the other, `.` where nothing lies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Board(pub [u8; CELLS]);

/// A match as it is. Players are numbers within the run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct State {
    pub number: u64,
    /// The first moves first.
    pub players: [u16; 2],
    pub board: Board,
    /// Moves made.
    pub ply: u16,
    /// Changes so far.
    pub changes: u32,
    /// The cell of the last move, from 1.
    pub last: Option<u8>,
    pub to_move: Option<u16>,
    /// Who offers a draw.
    pub offer: Option<u16>,
    pub ending: Option<Ending>,
    pub winner: Option<u16>,
}

/// What is told of a match to whoever has changed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub number: u64,
    pub ply: u16,
    pub changes: u32,
    pub last: Option<u8>,
    pub to_move: Option<u16>,
    pub ending: Option<Ending>,
    pub winner: Option<u16>,
}

/// How a match ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Line,
    Resigned,
    Full,
    Agreed,
    Aborted,
    /// Somebody was late, or away for too long. Only the server knows when.
    Clock,
}

/// What a player says that a move does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The match goes on.
    Ordinary,
    Wins,
    /// It fills the board, and nobody has won.
    Fills,
}

impl Board {
    pub const EMPTY: Self = Self([FREE; CELLS]);

    /// Whether the board has such a cell, by its number from 1, and nothing lies there.
    #[must_use]
    pub fn is_free(&self, cell: u8) -> bool {
        self.index(cell).is_some_and(|index| self.0[index] == FREE)
    }

    fn index(&self, cell: u8) -> Option<usize> {
        let index = usize::from(cell).checked_sub(1)?;
        (index < self.0.len()).then_some(index)
    }

    fn has_line(&self, stone: u8) -> bool {
        let is_line = |line: &[usize; 3]| line.iter().all(|&cell| self.0[cell] == stone);
        LINES.iter().any(is_line)
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.players;
        let (number, board, ply, changes) = (self.number, self.board, self.ply, self.changes);
        write!(
            f,
            "match {number} of {first} and {second}, {board:?}, ply {ply}, change {changes}"
        )?;
        if let Some(cell) = self.last {
            write!(f, ", last {cell}")?;
        }
        if let Some(player) = self.to_move {
            write!(f, ", {player} to move")?;
        }
        if let Some(player) = self.offer {
            write!(f, ", {player} offers a draw")?;
        }
        if let Some(ending) = self.ending {
            write!(f, ", over: {ending:?}")?;
        }
        if let Some(player) = self.winner {
            write!(f, ", won by {player}")?;
        }
        Ok(())
    }
}

impl State {
    /// A match that begins.
    #[must_use]
    pub const fn new(number: u64, players: [u16; 2]) -> Self {
        Self {
            number,
            players,
            board: Board::EMPTY,
            ply: 0,
            changes: 0,
            last: None,
            to_move: Some(players[0]),
            offer: None,
            ending: None,
            winner: None,
        }
    }

    #[must_use]
    pub fn has(&self, player: u16) -> bool {
        self.players.contains(&player)
    }

    /// The opponent of one of its players.
    #[must_use]
    pub const fn other(&self, player: u16) -> u16 {
        let [first, second] = self.players;
        if player == first { second } else { first }
    }

    /// What is true of a move to a free cell, by who is to move.
    #[must_use]
    pub fn claim_of(&self, cell: u8) -> Claim {
        let mut next = *self;
        next.play(cell);
        match next.ending {
            None => Claim::Ordinary,
            Some(Ending::Full) => Claim::Fills,
            Some(_) => Claim::Wins,
        }
    }

    /// Who is to move takes a free cell.
    pub fn play(&mut self, cell: u8) {
        let Some((index, player)) = self.board.index(cell).zip(self.to_move) else {
            return;
        };
        let other = self.other(player);
        let stone = STONES[usize::from(self.ply % 2)];
        self.board.0[index] = stone;
        self.ply += 1;
        self.changes += 1;
        self.last = Some(cell);
        self.to_move = Some(other);
        // Whoever moves has not taken the other's offer.
        self.offer = self.offer.filter(|&by| by == player);
        if self.board.has_line(stone) {
            self.over(Ending::Line, Some(player));
        } else if !self.board.0.contains(&FREE) {
            self.over(Ending::Full, None);
        }
    }

    /// Ends otherwise than by a move.
    pub const fn end(&mut self, ending: Ending, winner: Option<u16>) {
        self.changes += 1;
        self.over(ending, winner);
    }

    const fn over(&mut self, ending: Ending, winner: Option<u16>) {
        self.ending = Some(ending);
        self.winner = winner;
        self.to_move = None;
        self.offer = None;
    }

    /// Offers a draw, or takes back the offer that stands.
    pub const fn offer(&mut self, by: Option<u16>) {
        self.changes += 1;
        self.offer = by;
    }

    #[must_use]
    pub const fn change(&self) -> Change {
        Change {
            number: self.number,
            ply: self.ply,
            changes: self.changes,
            last: self.last,
            to_move: self.to_move,
            ending: self.ending,
            winner: self.winner,
        }
    }
}
