//! Why a connection of games is not served any more. The wires have no word for it.

use std::fmt;

use turnstile_duel::Player;
use turnstile_embedded::ExecuteError;
use turnstile_games::Refusal;
use turnstile_parcels::Broken;

#[derive(Debug)]
pub(crate) enum Refused {
    /// What it says cannot be said, or not now.
    Wire(turnstile_duel::Refusal),
    /// Somebody else is connected under this number.
    Connected(Player),
    /// The opponent has named this player, but not at this door.
    Elsewhere(Player),
    /// The machine has refused what was asked.
    Machine(Refusal),
    /// What it says makes no sense between an arena and its scores.
    Broken(Broken),
    /// It says what goes the other way only.
    OtherWay,
    /// It was not taken.
    Execute(ExecuteError),
}

impl From<turnstile_duel::Refusal> for Refused {
    fn from(refusal: turnstile_duel::Refusal) -> Self {
        Self::Wire(refusal)
    }
}

impl From<Broken> for Refused {
    fn from(broken: Broken) -> Self {
        Self::Broken(broken)
    }
}

impl From<ExecuteError> for Refused {
    fn from(error: ExecuteError) -> Self {
        Self::Execute(error)
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wire(refusal) => refusal.fmt(f),
            Self::Connected(player) => write!(f, "player {} is connected already", player.0),
            Self::Elsewhere(player) => write!(f, "player {} plays at another door", player.0),
            Self::Machine(refusal) => write!(f, "the machine refuses: {}", refusal.code()),
            Self::Broken(broken) => broken.fmt(f),
            Self::OtherWay => f.write_str("such a command goes the other way"),
            Self::Execute(error) => error.fmt(f),
        }
    }
}
