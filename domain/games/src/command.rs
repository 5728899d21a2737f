//! What the machine can be asked to do.

use turnstile_chassis::{Bytes, Words};

use crate::{Claim, Game, MatchId, Parcel, PlayerId, Settings, Standing, Verdict};

/// One whole request that may change the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Words)]
pub enum Command {
    /// Names somebody to play with. The match begins when both have named each other; whoever did
    /// so first moves first.
    #[byte(0x01)]
    Challenge {
        player: PlayerId,
        opponent: PlayerId,
        game: Game,
    },
    /// Asks for anybody of about the same strength.
    #[byte(0x02)]
    Seek { player: PlayerId, game: Game },
    /// Waits no longer, for an opponent or for anybody.
    #[byte(0x03)]
    Withdraw { player: PlayerId },
    /// Begins a match of two who need not be asked. The first moves first.
    #[byte(0x04)]
    Begin { game: Game, players: [PlayerId; 2] },
    /// Does something in a match.
    #[byte(0x05)]
    #[word(inner = deed)]
    Act {
        match_id: MatchId,
        player: PlayerId,
        deed: Deed,
    },

    /// A player is there, for the first time or again.
    #[byte(0x10)]
    Connect { player: PlayerId },
    /// A player's connection is gone.
    #[byte(0x11)]
    Disconnect { player: PlayerId },
    /// The process has started anew, so that every connection is gone.
    #[byte(0x12)]
    Restarted,

    #[byte(0x20)]
    Configure(Settings),
    /// The scores server has counted a result of this arena, and says so.
    #[byte(0x21)]
    Acknowledge {
        number: u64,
        standings: [Standing; 2],
    },
    /// A result of a distant arena has arrived.
    #[byte(0x22)]
    Deliver(Parcel),
    /// A result of an arena that numbers nothing: each is another one.
    #[byte(0x23)]
    Report {
        players: [PlayerId; 2],
        verdict: Verdict,
    },
}

/// What a player does in a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Words)]
pub enum Deed {
    #[byte(0x01)]
    Move {
        /// How many moves the player has seen: this one's number, from 0.
        ply: u16,
        /// A cell or a column, from 1.
        choice: u8,
        /// What the player says that the move does, if anything.
        claim: Option<Claim>,
    },
    #[byte(0x02)]
    Resign,
    /// Ends a match that hardly began.
    #[byte(0x03)]
    Abort,
    /// Offers a draw, until the other moves or answers; takes the other's offer if there is one.
    #[byte(0x04)]
    OfferDraw,
    #[byte(0x05)]
    AcceptDraw,
    #[byte(0x06)]
    DeclineDraw,
    /// Wins a match of which the other has been away, or late, for long enough.
    #[byte(0x07)]
    ClaimWin,
}
