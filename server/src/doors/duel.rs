//! What both doors of games share: names and numbers of players, decisions, and why a connection is not
//! served any more.

use std::fmt;

use turnstile_duel::{Player, Triple};
use turnstile_games::{Command, Done, Games, Outcome, PlayerId, Refusal, Standing};
use turnstile_parcels::Broken;

use crate::core::{engine::Engine, gate::Undecided};

/// Why a connection is not served any more. The wires have no word for it.
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
    Execute(Undecided),
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

impl From<Undecided> for Refused {
    fn from(error: Undecided) -> Self {
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

/// The name of a number: its decimal digits.
pub(crate) fn name(player: Player) -> PlayerId {
    let digits = player.0.to_string();
    PlayerId::parse(digits.as_bytes()).expect("ten digits are a name")
}

/// What the wire says of a standing.
pub(crate) fn triple(standing: Standing) -> Triple {
    let tally = standing.tally;
    Triple::new(tally.played(), tally.won, tally.lost)
        .expect("who has won and lost so often has played as often")
}

/// Has a command decided that ought to be done. Its player is to hear what comes of it.
pub(crate) fn decide(engine: &mut Engine, command: &Command) -> Result<Done, Refused> {
    engine.heed_games();
    match engine.execute::<Games>(None, command, None)?.outcome {
        Outcome::Done(done) => Ok(done),
        Outcome::Refused(refusal) => Err(Refused::Machine(refusal)),
    }
}

/// As [`decide`], with what the answer to this command tells.
///
/// # Panics
/// The machine gives answers of another kind to this command.
pub(crate) fn decide_as<T>(
    engine: &mut Engine,
    command: &Command,
    kind: impl FnOnce(Done) -> Option<T>,
) -> Result<T, Refused> {
    let done = decide(engine, command)?;
    Ok(kind(done).expect("the machine answers a command in its own kind"))
}
