//! Games in RESP: arguments to commands and queries, outcomes and answers to replies.

mod request;
#[cfg(test)]
mod tests;
mod words;

use turnstile_chassis::{Fields, Show as _};
use turnstile_games::{Answer, Done, Ending, MatchId, MatchView, Outcome, PlayerId};
use turnstile_types::Position;

use crate::{
    Encoder,
    fields::{self, put_done, put_refused},
};

pub use request::{Request, parse};
pub use words::{Flaw, Invalid};

/// The channel on which every event of the service is told.
pub const CHANNEL: &str = "games.events";

/// What is new to a player who did something in a match and knows how it was before.
#[derive(Fields)]
struct Deed<'a> {
    #[field(name = "match")]
    id: MatchId,
    ply: u16,
    seq: u32,
    last: Option<u16>,
    to_move: Option<&'a PlayerId>,
    ending: Option<Ending>,
    winner: Option<&'a PlayerId>,
}

impl<'a> Deed<'a> {
    #[inline]
    fn of(view: &'a MatchView) -> Self {
        Self {
            id: view.id,
            ply: view.ply,
            seq: view.seq,
            last: view.last_cell(),
            to_move: view.seated(view.to_move()),
            ending: view.ending,
            winner: view.seated(view.winner()),
        }
    }
}

/// Appends what was answered to a command. `replayed`: it is the answer to an earlier request with
/// the same key. A deed is answered with what it changed, not with the whole match.
#[inline]
pub fn put_outcome(reply: &mut Encoder<'_>, outcome: &Outcome, position: Position, replayed: bool) {
    match outcome {
        Outcome::Done(Done::Acted(view)) => {
            put_done(reply, &Deed::of(view), position, replayed);
        }
        outcome => fields::put_outcome(reply, outcome, position, replayed),
    }
}

/// Appends what was answered to a query: an object, or a refusal.
pub fn put_answer(reply: &mut Encoder<'_>, answer: &Answer) {
    match answer {
        Answer::Absent(absent) => put_refused(reply, absent, None, false),
        answer => reply.object(answer),
    }
}

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
