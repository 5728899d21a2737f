//! One pair at its table, and the words of the wire in those of the machine.

use turnstile_duel::{Duel, Player};
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

pub(super) const fn claim(claim: turnstile_duel::Claim) -> Claim {
    match claim {
        turnstile_duel::Claim::Ordinary => Claim::Ordinary,
        turnstile_duel::Claim::Wins => Claim::Wins,
        turnstile_duel::Claim::Fills => Claim::Fills,
    }
}
