//! What the machine can be asked to do.

use turnstile_chassis::{Bytes, Fields, Operations, Words};

use crate::{
    Claim, Game, MatchId, Parcel, PlayerId, Settings, Standing, Verdict, about::About,
    outcome::DeedView,
};

/// One whole request that may change the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields, Words, Operations)]
#[operations(answers = DeedView<'static>, about = About)]
pub enum Command {
    /// Names an opponent. The match begins when both have named each other; the player who did so
    /// first moves first.
    #[byte(0x01)]
    #[operation(answer = Paired, opens, about = Player(*player))]
    Challenge {
        player: PlayerId,
        opponent: PlayerId,
        game: Game,
    },
    /// Looks for anybody about as strong; the ticket says why that still takes.
    #[byte(0x02)]
    #[operation(answer = Paired, opens, about = Player(*player))]
    Seek { player: PlayerId, game: Game },
    /// Waits no longer, for an opponent or for anybody.
    #[byte(0x03)]
    #[operation(answer = Nothing, about = Player(*player))]
    Withdraw { player: PlayerId },
    /// Begins a match of two who need not be asked. The first moves first.
    #[byte(0x04)]
    #[operation(answer = Paired, opens, right = manage, about = Players(*players))]
    Begin {
        #[parameter(last)]
        game: Game,
        #[parameter(flatten)]
        players: [PlayerId; 2],
    },
    /// Does something in a match.
    #[byte(0x05)]
    #[word(inner = deed)]
    #[operation(about = Player(*player))]
    Act {
        #[parameter(name = "match")]
        match_id: MatchId,
        player: PlayerId,
        #[field(flatten)]
        deed: Deed,
    },

    /// Says that a player is there, and shows the match to go on with.
    #[byte(0x10)]
    #[operation(answer = Connected, about = Player(*player))]
    Connect { player: PlayerId },
    /// Says that a player is gone. In a match the player has a while to come back.
    #[byte(0x11)]
    #[operation(answer = Nothing, about = Player(*player))]
    Disconnect { player: PlayerId },
    /// The process has started anew, so that every connection is gone.
    #[byte(0x12)]
    #[operation(internal)]
    Restarted,

    #[byte(0x20)]
    #[operation(internal)]
    Configure(#[field(skip)] Settings),
    /// The scores server has counted a result of this arena, and says so.
    #[byte(0x21)]
    #[operation(internal)]
    Acknowledge {
        number: u64,
        #[field(skip)]
        standings: [Standing; 2],
    },
    /// A result of a distant arena has arrived.
    #[byte(0x22)]
    #[operation(internal)]
    Deliver(#[field(skip)] Parcel),
    /// Counts the result of a match that was played elsewhere. Nothing numbers it: each counts.
    #[byte(0x23)]
    #[operation(answer = Counted, right = manage, about = Players(*players))]
    Report {
        #[parameter(flatten)]
        players: [PlayerId; 2],
        verdict: Verdict,
    },
}

/// What a player does in a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes, Fields, Words, Operations)]
#[operations(answers = DeedView<'static>)]
pub enum Deed {
    /// Moves. One that comes too late is answered with the state as it is.
    #[byte(0x01)]
    #[operation(answer = Acted)]
    Move {
        /// How many moves the player has seen: this one's number, from 0.
        ply: u16,
        /// A cell or a column, from 1.
        choice: u8,
        /// What the player says that the move does, if anything.
        claim: Option<Claim>,
    },
    /// Gives up.
    #[byte(0x02)]
    #[operation(answer = Acted)]
    Resign,
    /// Ends a match in which not both have moved.
    #[byte(0x03)]
    #[operation(answer = Acted)]
    Abort,
    /// Offers a draw, until the other moves or answers; takes the other's offer if there is one.
    #[byte(0x04)]
    #[operation(answer = Acted)]
    OfferDraw,
    /// Takes the other's offer of a draw.
    #[byte(0x05)]
    #[operation(answer = Acted)]
    AcceptDraw,
    /// Turns the other's offer of a draw down.
    #[byte(0x06)]
    #[operation(answer = Acted)]
    DeclineDraw,
    /// Wins a match of which the other has been away, or late, for long enough.
    #[byte(0x07)]
    #[operation(answer = Acted)]
    ClaimWin,
}
