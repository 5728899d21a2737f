//! One pair at its table, and the words of the wire in those of the machine.

use std::collections::VecDeque;

use turnstile_duel::{Duel, Player};
use turnstile_games::{Change, Claim, MatchId, MatchView, PlayerId, Standing};

/// Two who play, the one who came first first.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) duel: Duel,
    pub(super) players: [Player; 2],
    pub(super) names: [PlayerId; 2],
    /// Where their connections are; none at this node where it is one to another.
    pub(super) places: [Option<usize>; 2],
    /// The match that is played; none between two games.
    pub(super) game: Option<OpenGame>,
    /// What distant scores say of the last game, until it is told.
    pub(super) standings: Option<[Standing; 2]>,
    /// What the order has decided and the players have not been told, the oldest first.
    pub(super) news: VecDeque<TableNews>,
    /// The last turn in which something was said to somebody here.
    pub(super) spoken: u64,
}

/// Something that has happened to a table, and was not told to those who sit there.
#[derive(Clone, Copy, Debug)]
pub(super) enum TableNews {
    Match(Change, MatchView),
    /// The player at the other node has left between two games.
    OtherLeft,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct OpenGame {
    pub(super) match_id: MatchId,
    /// Moves made.
    pub(super) ply: u16,
}

impl OpenGame {
    pub(super) const fn of(state: &MatchView) -> Self {
        Self {
            match_id: state.id,
            ply: state.ply,
        }
    }
}

pub(super) const fn claim(claim: turnstile_duel::Claim) -> Claim {
    match claim {
        turnstile_duel::Claim::Ordinary => Claim::Ordinary,
        turnstile_duel::Claim::Wins => Claim::Wins,
        turnstile_duel::Claim::Fills => Claim::Fills,
    }
}
