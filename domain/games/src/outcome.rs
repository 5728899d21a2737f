//! What is answered to a command.

use turnstile_types::Timestamp;

use crate::{Illegal, MatchId, MatchView, PlayerId, Standing, TicketView};

pub type Outcome = turnstile_types::Outcome<Done, Refusal>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// The opponent has not named this player yet.
    Challenged,
    Seeking(TicketView),
    Begun(MatchView),
    Withdrawn,
    /// The match as it is after the deed.
    Acted(MatchView),
    /// The match that the player is in.
    Connected(Option<MatchView>),
    Disconnected,
    Restarted,
    Configured,
    Acknowledged,
    /// The result was counted, now or before; how both stand now.
    Counted([Standing; 2]),
}

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// That role is not played here.
    NotHere,
    /// A time that is zero or too long, an arena without a number, no role at all, or other roles
    /// than those with which it began.
    UnsoundSettings,
    /// As many as there may be.
    Full {
        limit: u32,
    },
    /// The scores server has been away for so many results that none may be added.
    ScoresAway,

    /// Nobody plays with themselves.
    SamePlayer,
    /// The player is in a match.
    Playing {
        player: PlayerId,
        match_id: MatchId,
    },
    /// The player waits for somebody, or for somebody else.
    Waiting {
        player: PlayerId,
    },
    NotWaiting,

    /// There never was such a match, or it is forgotten.
    NoSuchMatch,
    /// The player does not play in it.
    NotSeated,
    /// It is over, so.
    Over(Box<MatchView>),
    /// The move was meant for another state than this one.
    Stale(Box<MatchView>),
    NotYourTurn(Box<MatchView>),
    IllegalMove(Illegal),
    /// The move would not do what was claimed.
    FalseClaim,
    /// The other does not offer a draw.
    NoOffer,
    /// The player offers a draw already.
    OfferStands,
    /// Both have moved: it can be resigned.
    TooLate,
    /// The other is neither away nor to move.
    NothingToClaim,
    /// The other has until then.
    TooEarly {
        until: Timestamp,
    },

    /// A result or an acknowledgement comes before its turn: this number is the next.
    OutOfOrder {
        expected: u64,
    },
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
