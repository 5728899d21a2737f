//! What is played, by whom, and how it ends.

use turnstile_chassis::{Bytes, Words};

/// A game that two can play here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Bytes, Words)]
pub enum Game {
    #[byte(0x01)]
    #[word("tic-tac-toe")]
    TicTacToe,
    #[byte(0x02)]
    #[word("connect-four")]
    ConnectFour,
    #[byte(0x03)]
    Gomoku,
}

impl Game {
    pub const ALL: [Self; 3] = [Self::TicTacToe, Self::ConnectFour, Self::Gomoku];

    /// The game of this word.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|game| game.code() == code)
    }
}

/// A place in a match. The first moves first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Bytes)]
pub enum Seat {
    #[byte(0x01)]
    First,
    #[byte(0x02)]
    Second,
}

impl Seat {
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];

    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// Who moves after so many moves.
    #[must_use]
    pub const fn to_move(ply: u16) -> Self {
        if ply.is_multiple_of(2) {
            Self::First
        } else {
            Self::Second
        }
    }

    /// What this seat has of two things.
    #[must_use]
    pub const fn of<T>(self, both: &[T; 2]) -> &T {
        let [first, second] = both;
        match self {
            Self::First => first,
            Self::Second => second,
        }
    }

    /// What this seat has of two things.
    #[must_use]
    pub const fn of_mut<T>(self, both: &mut [T; 2]) -> &mut T {
        let [first, second] = both;
        match self {
            Self::First => first,
            Self::Second => second,
        }
    }
}

/// What a match says of its two players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Words)]
pub enum Verdict {
    #[byte(0x01)]
    FirstWon,
    #[byte(0x02)]
    SecondWon,
    #[byte(0x03)]
    Drawn,
}

impl Verdict {
    #[must_use]
    pub const fn won_by(seat: Seat) -> Self {
        match seat {
            Seat::First => Self::FirstWon,
            Seat::Second => Self::SecondWon,
        }
    }

    #[must_use]
    pub const fn winner(self) -> Option<Seat> {
        match self {
            Self::FirstWon => Some(Seat::First),
            Self::SecondWon => Some(Seat::Second),
            Self::Drawn => None,
        }
    }
}

/// How a match ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Words)]
pub enum Ending {
    /// The winner has a line.
    #[byte(0x01)]
    Line { winner: Seat },
    /// The other gave up.
    #[byte(0x02)]
    Resigned { winner: Seat },
    /// The winner waited long enough, and said so.
    #[byte(0x03)]
    Claimed { winner: Seat },
    /// The other thought for too long about a move.
    #[byte(0x04)]
    TimedOut { winner: Seat },
    /// The other was disconnected for too long.
    #[byte(0x05)]
    Left { winner: Seat },
    /// The board is full.
    #[byte(0x06)]
    Full,
    /// Both wanted a draw.
    #[byte(0x07)]
    Agreed,
    /// It hardly began; it does not count.
    #[byte(0x08)]
    Aborted,
}

impl Ending {
    /// None: the match does not count.
    #[must_use]
    pub const fn verdict(self) -> Option<Verdict> {
        match self {
            Self::Line { winner }
            | Self::Resigned { winner }
            | Self::Claimed { winner }
            | Self::TimedOut { winner }
            | Self::Left { winner } => Some(Verdict::won_by(winner)),
            Self::Full | Self::Agreed => Some(Verdict::Drawn),
            Self::Aborted => None,
        }
    }
}

/// What a player says that a move does; the ancestor's wire says it with each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Words)]
pub enum Claim {
    /// The match goes on.
    #[byte(0x01)]
    Ordinary,
    #[byte(0x02)]
    Wins,
    /// It fills the board, and nobody has won.
    #[byte(0x03)]
    Fills,
}

impl Claim {
    /// What is true of a move that ended the match so, or did not end it.
    #[must_use]
    pub const fn of(verdict: Option<Verdict>) -> Self {
        match verdict {
            None => Self::Ordinary,
            Some(Verdict::Drawn) => Self::Fills,
            Some(Verdict::FirstWon | Verdict::SecondWon) => Self::Wins,
        }
    }
}
