//! The words of the wire.

/// A player's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Player(pub u32);

/// The first words of a client of the arena: who it is, and against whom it wants to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Greeting {
    pub own: Player,
    pub opponent: Player,
}

/// Which of a pair: the first moves first in their first game. Its number is the start byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuelSeat {
    First,
    Second,
}

/// A cell of the board, 1 to 9, row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BoardCell(u8);

/// What a mover says of its move. The arena decides whether it is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    Ordinary,
    Wins,
    /// The move that fills the board without a winner.
    Fills,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    pub claim: Claim,
    pub cell: BoardCell,
}

/// How a game ended, for the pair in the order in which its result names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    FirstWon,
    SecondWon,
    Drawn,
}

/// The result of one game, as an arena tells it to the scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    pub verdict: Verdict,
    pub first: Player,
    pub second: Player,
}

/// A player's statistics over all opponents. Never more won and lost than played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triple {
    played: u64,
    won: u64,
    lost: u64,
}

impl DuelSeat {
    /// Both, in order.
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];

    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// 0 or 1, to keep something for each seat.
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::First => 0,
            Self::Second => 1,
        }
    }

    pub(crate) const fn byte(self) -> u8 {
        match self {
            Self::First => 1,
            Self::Second => 2,
        }
    }
}

impl BoardCell {
    /// The cell of this number; none but 1 to 9.
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        match number {
            1..=9 => Some(Self(number)),
            _ => None,
        }
    }

    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }
}

impl Claim {
    pub(crate) const fn of(byte: u8) -> Option<Self> {
        match byte {
            4 => Some(Self::Ordinary),
            8 => Some(Self::Wins),
            16 => Some(Self::Fills),
            _ => None,
        }
    }

    pub(crate) const fn byte(self) -> u8 {
        match self {
            Self::Ordinary => 4,
            Self::Wins => 8,
            Self::Fills => 16,
        }
    }
}

impl Verdict {
    pub(crate) const fn of(byte: u8) -> Option<Self> {
        match byte {
            b'1' => Some(Self::FirstWon),
            b'2' => Some(Self::SecondWon),
            b'3' => Some(Self::Drawn),
            _ => None,
        }
    }

    pub(crate) const fn byte(self) -> u8 {
        match self {
            Self::FirstWon => b'1',
            Self::SecondWon => b'2',
            Self::Drawn => b'3',
        }
    }
}

impl Triple {
    /// None when more games would be won and lost than played.
    #[must_use]
    pub const fn new(played: u64, won: u64, lost: u64) -> Option<Self> {
        match won.checked_add(lost) {
            Some(decided) if decided <= played => Some(Self { played, won, lost }),
            _ => None,
        }
    }

    #[must_use]
    pub const fn played(self) -> u64 {
        self.played
    }

    #[must_use]
    pub const fn won(self) -> u64 {
        self.won
    }

    #[must_use]
    pub const fn lost(self) -> u64 {
        self.lost
    }

    /// The games without a winner.
    #[must_use]
    pub const fn drawn(self) -> u64 {
        self.played - self.won - self.lost
    }
}
