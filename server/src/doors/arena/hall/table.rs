//! One pair at its table, and the words of the wire in those of the machine.

use turnstile_duel::{Duel, Player, Triple};
use turnstile_games::{Claim, MatchId, PlayerId, Standing};

/// Two who play, the one who came first first.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) duel: Duel,
    pub(super) players: [Player; 2],
    pub(super) names: [PlayerId; 2],
    pub(super) places: [usize; 2],
    /// The match that is played; none between two games.
    pub(super) game: Option<OpenGame>,
    /// What distant scores say of the last game, until it is told.
    pub(super) standings: Option<[Standing; 2]>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct OpenGame {
    pub(super) match_id: MatchId,
    /// Moves made.
    pub(super) ply: u16,
}

/// The name of a number: its decimal digits.
pub(crate) fn name(player: Player) -> PlayerId {
    let digits = player.0.to_string();
    PlayerId::parse(digits.as_bytes()).expect("ten digits are a name")
}

pub(super) const fn claim(claim: turnstile_duel::Claim) -> Claim {
    match claim {
        turnstile_duel::Claim::Ordinary => Claim::Ordinary,
        turnstile_duel::Claim::Wins => Claim::Wins,
        turnstile_duel::Claim::Fills => Claim::Fills,
    }
}

/// What the wire says of a standing.
pub(crate) fn triple(standing: Standing) -> Triple {
    let tally = standing.tally;
    Triple::new(tally.played(), tally.won, tally.lost)
        .expect("who has won and lost so often has played as often")
}
