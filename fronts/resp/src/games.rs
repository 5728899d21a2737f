//! Games in RESP: arguments to commands and queries, outcomes and answers to replies.

mod answer;
mod event;
mod facts;
mod outcome;
mod request;
#[cfg(test)]
mod tests;
mod values;
mod words;

pub use answer::put_answer;
pub use event::{CHANNEL, event_json};
pub use facts::facts;
pub use outcome::put_outcome;
pub use request::{Request, parse};
pub use words::{Flaw, Invalid};

/// The commands of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Challenge,
    Seek,
    Withdraw,
    Begin,
    Move,
    Resign,
    Abort,
    OfferDraw,
    AcceptDraw,
    DeclineDraw,
    ClaimWin,
    Connect,
    Disconnect,
    Report,
    Match,
    Matches,
    Player,
    Tickets,
    Standing,
    Against,
    Opponents,
    Leaders,
    Around,
    Totals,
}

impl Verb {
    /// Whether it only reads.
    #[must_use]
    pub const fn is_read(self) -> bool {
        match self {
            Self::Challenge
            | Self::Seek
            | Self::Withdraw
            | Self::Begin
            | Self::Move
            | Self::Resign
            | Self::Abort
            | Self::OfferDraw
            | Self::AcceptDraw
            | Self::DeclineDraw
            | Self::ClaimWin
            | Self::Connect
            | Self::Disconnect
            | Self::Report => false,
            Self::Match
            | Self::Matches
            | Self::Player
            | Self::Tickets
            | Self::Standing
            | Self::Against
            | Self::Opponents
            | Self::Leaders
            | Self::Around
            | Self::Totals => true,
        }
    }

    /// The command's name in the catalogue.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Challenge => "games.challenge",
            Self::Seek => "games.seek",
            Self::Withdraw => "games.withdraw",
            Self::Begin => "games.begin",
            Self::Move => "games.move",
            Self::Resign => "games.resign",
            Self::Abort => "games.abort",
            Self::OfferDraw => "games.draw|offer",
            Self::AcceptDraw => "games.draw|accept",
            Self::DeclineDraw => "games.draw|decline",
            Self::ClaimWin => "games.claimwin",
            Self::Connect => "games.connect",
            Self::Disconnect => "games.disconnect",
            Self::Report => "games.report",
            Self::Match => "games.match",
            Self::Matches => "games.matches",
            Self::Player => "games.player",
            Self::Tickets => "games.tickets",
            Self::Standing => "games.standing",
            Self::Against => "games.against",
            Self::Opponents => "games.opponents",
            Self::Leaders => "games.leaders",
            Self::Around => "games.around",
            Self::Totals => "games.totals",
        }
    }
}
