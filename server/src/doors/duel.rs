//! What both doors of games share: names and numbers of players, decisions, and why a connection is not
//! served any more.

use std::fmt;

use turnstile_contract::Failure;
use turnstile_duel::{Player, Triple};
use turnstile_games::{Command, Done, Games, Outcome, PlayerId, Refusal, Standing};
use turnstile_parcels::Broken;

use crate::core::{engine::Engine, gate::Undecided, remote::Landing};

/// Why a connection is not served any more. The wires have no word for it.
#[derive(Debug)]
pub(crate) enum DuelRefusal {
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

impl From<turnstile_duel::Refusal> for DuelRefusal {
    fn from(refusal: turnstile_duel::Refusal) -> Self {
        Self::Wire(refusal)
    }
}

impl From<Broken> for DuelRefusal {
    fn from(broken: Broken) -> Self {
        Self::Broken(broken)
    }
}

impl From<Undecided> for DuelRefusal {
    fn from(error: Undecided) -> Self {
        Self::Execute(error)
    }
}

impl fmt::Display for DuelRefusal {
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

/// The number of a name, if it is one.
pub(crate) fn number_of(player: &PlayerId) -> Option<Player> {
    let number = player.as_str().parse().ok().map(Player);
    number.filter(|&number| name(number) == *player)
}

/// Has the order of a shared log decide a command of this connection, whose player is to hear what comes of
/// it.
pub(crate) fn order(
    engine: &mut Engine,
    connection: (usize, u64),
    command: &Command,
) -> Result<(), DuelRefusal> {
    engine.heed_games();
    let scope = engine.admit_away::<Games>(None, command);
    let scope = scope.map_err(|denied| DuelRefusal::Execute(denied.into()))?;
    engine.send_command::<Games>(connection, command, scope);
    Ok(())
}

/// What the order has decided of one command.
pub(crate) fn decided(landing: Landing<Games>) -> Result<Done, DuelRefusal> {
    let result = match landing {
        Landing::Commands(decided, _) => decided.into_iter().next().map(|(_, result)| result),
        Landing::Queries(..) => None,
    };
    let nothing = || Failure::Broken {
        reason: "the answer is not one to a command".to_owned(),
    };
    let result = result.unwrap_or_else(|| Err(nothing()));
    let reply = result.map_err(|failure| DuelRefusal::Execute(Undecided::Backend(failure)))?;
    match reply.outcome {
        Outcome::Done(done) => Ok(done),
        Outcome::Refused(refusal) => Err(DuelRefusal::Machine(refusal)),
    }
}

/// As [`decided`], with what the answer to this command tells.
///
/// # Panics
/// The machine gives answers of another kind to this command.
pub(crate) fn decided_as<T>(
    landing: Landing<Games>,
    kind: impl FnOnce(Done) -> Option<T>,
) -> Result<T, DuelRefusal> {
    Ok(kind(decided(landing)?).expect("the machine answers a command in its own kind"))
}

/// What the wire says of a standing. A scores server may have told of more matches than can be counted.
pub(crate) fn triple(standing: Standing) -> Triple {
    let tally = standing.tally;
    let lost = tally.lost.min(u64::MAX - tally.won);
    Triple::new(tally.played(), tally.won, lost)
        .expect("who has won and lost so often has played as often")
}

/// Has a command decided that ought to be done. Its player is to hear what comes of it.
pub(crate) fn decide(engine: &mut Engine, command: &Command) -> Result<Done, DuelRefusal> {
    engine.heed_games();
    match engine.execute::<Games>(None, command, None)?.outcome {
        Outcome::Done(done) => Ok(done),
        Outcome::Refused(refusal) => Err(DuelRefusal::Machine(refusal)),
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
) -> Result<T, DuelRefusal> {
    let done = decide(engine, command)?;
    Ok(kind(done).expect("the machine answers a command in its own kind"))
}

#[cfg(test)]
mod tests {
    use turnstile_games::Tally;

    use super::*;

    #[test]
    fn what_a_scores_server_tells_of_too_many_matches_can_be_said() {
        let most = u64::MAX;
        for (won, lost, drawn, told) in [
            (1, 2, 3, (6, 1, 2)),
            (1 << 63, 1 << 63, 0, (most, 1 << 63, most >> 1)),
            (most, most, most, (most, most, 0)),
            (most - 1, 0, 5, (most, most - 1, 0)),
        ] {
            let triple = triple(Standing {
                tally: Tally { won, lost, drawn },
                ratings: None,
            });
            assert_eq!((triple.played(), triple.won(), triple.lost()), told);
        }
    }
}
