//! What is answered to a command.

use turnstile_chassis::Bytes;
use turnstile_types::Timestamp;

use crate::{Illegal, MatchId, MatchView, PlayerId, Standing, TicketView};

pub type Outcome = turnstile_types::Outcome<Done, Refusal>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Bytes)]
pub enum Done {
    /// The opponent has not named this player yet.
    #[byte(0x01)]
    Challenged,
    #[byte(0x02)]
    Seeking(TicketView),
    #[byte(0x04)]
    Begun(MatchView),
    #[byte(0x03)]
    Withdrawn,
    /// The match as it is after the deed.
    #[byte(0x05)]
    Acted(MatchView),
    /// The match that the player is in.
    #[byte(0x10)]
    Connected(Option<MatchView>),
    #[byte(0x11)]
    Disconnected,
    #[byte(0x12)]
    Restarted,
    #[byte(0x20)]
    Configured,
    #[byte(0x21)]
    Acknowledged,
    /// The result was counted, now or before; how both stand now.
    #[byte(0x22)]
    Counted([Standing; 2]),
}

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq, Bytes)]
pub enum Refusal {
    /// That role is not played here.
    #[byte(0x80)]
    NotHere,
    /// A time that is zero or too long, an arena without a number, no role at all, or other roles
    /// than those with which it began.
    #[byte(0x81)]
    UnsoundSettings,
    /// As many as there may be.
    #[byte(0x82)]
    Full { limit: u32 },
    /// The scores server has been away for so many results that none may be added.
    #[byte(0x83)]
    ScoresAway,

    /// Nobody plays with themselves.
    #[byte(0x90)]
    SamePlayer,
    /// The player is in a match.
    #[byte(0x91)]
    Playing { player: PlayerId, match_id: MatchId },
    /// The player waits for somebody, or for somebody else.
    #[byte(0x92)]
    Waiting { player: PlayerId },
    #[byte(0x93)]
    NotWaiting,

    /// There never was such a match, or it is forgotten.
    #[byte(0xa0)]
    NoSuchMatch,
    /// The player does not play in it.
    #[byte(0xa1)]
    NotSeated,
    /// It is over, so.
    #[byte(0xa2)]
    Over(Box<MatchView>),
    /// The move was meant for another state than this one.
    #[byte(0xa3)]
    Stale(Box<MatchView>),
    #[byte(0xa4)]
    NotYourTurn(Box<MatchView>),
    #[byte(0xa5)]
    IllegalMove(Illegal),
    /// The move would not do what was claimed.
    #[byte(0xa6)]
    FalseClaim,
    /// The other does not offer a draw.
    #[byte(0xa7)]
    NoOffer,
    /// The player offers a draw already.
    #[byte(0xa8)]
    OfferStands,
    /// Both have moved: it can be resigned.
    #[byte(0xa9)]
    TooLate,
    /// The other is neither away nor to move.
    #[byte(0xaa)]
    NothingToClaim,
    /// The other has until then.
    #[byte(0xab)]
    TooEarly { until: Timestamp },

    /// A result or an acknowledgement comes before its turn: this number is the next.
    #[byte(0xb0)]
    OutOfOrder { expected: u64 },
}

impl Refusal {
    /// The stable word for this refusal on every door and in every metric.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotHere => "not_here",
            Self::UnsoundSettings => "unsound_settings",
            Self::Full { .. } => "full",
            Self::ScoresAway => "scores_away",
            Self::SamePlayer => "same_player",
            Self::Playing { .. } => "playing",
            Self::Waiting { .. } => "waiting",
            Self::NotWaiting => "not_waiting",
            Self::NoSuchMatch => "no_such_match",
            Self::NotSeated => "not_seated",
            Self::Over(_) => "over",
            Self::Stale(_) => "stale",
            Self::NotYourTurn(_) => "not_your_turn",
            Self::IllegalMove(Illegal::NoSuchCell) => "no_such_cell",
            Self::IllegalMove(Illegal::Taken) => "taken",
            Self::FalseClaim => "false_claim",
            Self::NoOffer => "no_offer",
            Self::OfferStands => "offer_stands",
            Self::TooLate => "too_late",
            Self::NothingToClaim => "nothing_to_claim",
            Self::TooEarly { .. } => "too_early",
            Self::OutOfOrder { .. } => "out_of_order",
        }
    }
}
