//! What the machine can be asked to do.

use crate::{Claim, Game, MatchId, Parcel, PlayerId, Settings, Standing, Verdict};

/// One whole request that may change the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Names somebody to play with. The match begins when both have named each other; whoever did
    /// so first moves first.
    Challenge {
        player: PlayerId,
        opponent: PlayerId,
        game: Game,
    },
    /// Asks for anybody of about the same strength.
    Seek {
        player: PlayerId,
        game: Game,
    },
    /// Waits no longer, for an opponent or for anybody.
    Withdraw {
        player: PlayerId,
    },
    /// Begins a match of two who need not be asked. The first moves first.
    Begin {
        game: Game,
        players: [PlayerId; 2],
    },
    /// Does something in a match.
    Act {
        match_id: MatchId,
        player: PlayerId,
        deed: Deed,
    },

    /// A player is there, for the first time or again.
    Connect {
        player: PlayerId,
    },
    /// A player's connection is gone.
    Disconnect {
        player: PlayerId,
    },
    /// The process has started anew, so that every connection is gone.
    Restarted,

    Configure(Settings),
    /// The scores server has counted a result of this arena, and says so.
    Acknowledge {
        number: u64,
        standings: [Standing; 2],
    },
    /// A result of a distant arena has arrived.
    Deliver(Parcel),
    /// A result of an arena that numbers nothing: each is another one.
    Report {
        players: [PlayerId; 2],
        verdict: Verdict,
    },
}

/// What a player does in a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    Move {
        /// How many moves the player has seen: this one's number, from 0.
        ply: u16,
        /// A cell or a column, from 1.
        choice: u8,
        /// What the player says that the move does, if anything.
        claim: Option<Claim>,
    },
    Resign,
    /// Ends a match that hardly began.
    Abort,
    /// Offers a draw, until the other moves or answers; takes the other's offer if there is one.
    OfferDraw,
    AcceptDraw,
    DeclineDraw,
    /// Wins a match of which the other has been away, or late, for long enough.
    ClaimWin,
}
