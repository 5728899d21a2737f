//! What can be wrong with what a peer sent.

use std::fmt;

/// Why the peer cannot be followed any further. The wire has no word for it: its connection is
/// closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A connection begins with the byte 1.
    NoGreeting { byte: u8 },
    /// A digit, or the colon behind the digits, was to come.
    NoDigit { byte: u8 },
    /// A number other than 0 begins with another digit.
    LeadingZero,
    /// The number is larger than it may be.
    TooLarge,
    /// A player cannot play against themselves.
    OwnOpponent,
    /// Nothing was to come from this peer now.
    OutOfTurn { byte: u8 },
    /// A move begins with what it is said to do: 4, 8 or 16.
    NoClaim { byte: u8 },
    /// Cells are 1 to 9.
    NoCell { byte: u8 },
    /// The game is over: `d` was to come.
    NotDone { byte: u8 },
    /// The start byte was to come, 1 or 2.
    NoStart { byte: u8 },
    /// A result begins with `1`, `2` or `3`.
    NoVerdict { byte: u8 },
    /// More games were won and lost than played.
    Impossible,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoGreeting { byte } => write!(f, "a greeting begins with 0x01, not {byte:#04x}"),
            Self::NoDigit { byte } => {
                write!(f, "a number is digits and then a colon, not {byte:#04x}")
            }
            Self::LeadingZero => f.write_str("a number has no leading zero"),
            Self::TooLarge => f.write_str("the number is too large"),
            Self::OwnOpponent => f.write_str("a player cannot play against themselves"),
            Self::OutOfTurn { byte } => write!(f, "{byte:#04x} came out of turn"),
            Self::NoClaim { byte } => write!(f, "a move begins with 4, 8 or 16, not {byte}"),
            Self::NoCell { byte } => write!(f, "a cell is 1 to 9, not {byte}"),
            Self::NotDone { byte } => write!(f, "the game is over: d was due, not {byte:#04x}"),
            Self::NoStart { byte } => write!(f, "the start byte is 1 or 2, not {byte:#04x}"),
            Self::NoVerdict { byte } => {
                write!(f, "a result begins with 1, 2 or 3, not {byte:#04x}")
            }
            Self::Impossible => f.write_str("more games were won and lost than played"),
        }
    }
}

impl std::error::Error for Refusal {}
