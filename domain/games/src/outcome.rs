//! What is answered to a command.

use turnstile_chassis::{Bytes, Field, Fields, Variant, Variants, Visitor, Words};
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
#[derive(Clone, Debug, PartialEq, Eq, Bytes, Fields, Words)]
pub enum Refusal {
    /// That role is not played here.
    #[byte(0x80)]
    #[refusal(elsewhere, "This server does not play that part of games")]
    NotHere,
    /// A time that is zero or too long, an arena without a number, no role at all, or other roles
    /// than those with which it began.
    #[byte(0x81)]
    #[refusal(invalid, "The settings are out of range or contradict each other")]
    UnsoundSettings,
    /// As many as there may be.
    #[byte(0x82)]
    #[refusal(conflict, "There are as many of them as there may be")]
    Full { limit: u32 },
    /// The scores server has been away for so many results that none may be added.
    #[byte(0x83)]
    #[refusal(early, "The scores server has been away for too many results")]
    ScoresAway,

    /// Nobody plays with themselves.
    #[byte(0x90)]
    #[refusal(invalid, "A player cannot play against themselves")]
    SamePlayer,
    /// The player is in a match.
    #[byte(0x91)]
    #[refusal(conflict, "The player is in a match")]
    Playing {
        player: PlayerId,
        #[field(name = "match")]
        match_id: MatchId,
    },
    /// The player waits for somebody, or for somebody else.
    #[byte(0x92)]
    #[refusal(conflict, "The player waits for an opponent, or for another one")]
    Waiting { player: PlayerId },
    #[byte(0x93)]
    #[refusal(conflict, "The player does not wait for an opponent")]
    NotWaiting,

    /// There never was such a match, or it is forgotten.
    #[byte(0xa0)]
    #[refusal(not_found, "There never was such a match, or it is forgotten")]
    NoSuchMatch,
    /// The player does not play in it.
    #[byte(0xa1)]
    #[refusal(forbidden, "The player does not play in this match")]
    NotSeated,
    /// It is over, so.
    #[byte(0xa2)]
    #[refusal(gone, "The match is over")]
    Over(#[field(name = "state")] Box<MatchView>),
    /// The move was meant for another state than this one.
    #[byte(0xa3)]
    #[refusal(conflict, "The move was meant for another state than this one")]
    Stale(#[field(name = "state")] Box<MatchView>),
    #[byte(0xa4)]
    #[refusal(conflict, "It is the other's turn")]
    NotYourTurn(#[field(name = "state")] Box<MatchView>),
    #[byte(0xa5)]
    #[word(inner)]
    IllegalMove(#[field(flatten)] Illegal),
    /// The move would not do what was claimed.
    #[byte(0xa6)]
    #[refusal(conflict, "The move would not do what was claimed")]
    FalseClaim,
    /// The other does not offer a draw.
    #[byte(0xa7)]
    #[refusal(conflict, "The other does not offer a draw")]
    NoOffer,
    /// The player offers a draw already.
    #[byte(0xa8)]
    #[refusal(conflict, "The player offers a draw already")]
    OfferStands,
    /// Both have moved: it can be resigned.
    #[byte(0xa9)]
    #[refusal(conflict, "Both have moved: the match can be resigned")]
    TooLate,
    /// The other is neither away nor to move.
    #[byte(0xaa)]
    #[refusal(conflict, "The other is neither away nor to move")]
    NothingToClaim,
    /// The other has until then.
    #[byte(0xab)]
    #[refusal(early, "The other has still time")]
    TooEarly { until: Timestamp },

    /// A result or an acknowledgement comes before its turn: this number is the next.
    #[byte(0xb0)]
    #[refusal(conflict, "A number before it has not come yet")]
    OutOfOrder { expected: u64 },
}

/// What a player does who asked for an opponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum Pairing {
    Challenging,
    Seeking,
    Playing,
}

/// What was done, as doors show it.
#[derive(Fields)]
pub(crate) enum DeedView<'a> {
    /// What came of asking for an opponent.
    Paired {
        /// The match that began.
        state: Option<&'a MatchView>,
        /// Why a player who seeks still waits.
        ticket: Option<&'a TicketView>,
        /// `challenging` until the opponent has named this player.
        activity: Pairing,
    },
    /// The match as it is after the deed.
    Acted {
        state: &'a MatchView,
    },
    Connected {
        /// The match that the player is in.
        state: Option<&'a MatchView>,
    },
    Counted {
        /// How both stand now, the first player first.
        standings: &'a [Standing; 2],
    },
    Nothing,
}

impl Done {
    #[inline]
    const fn shown(&self) -> DeedView<'_> {
        let (state, ticket, activity) = match self {
            Self::Challenged => (None, None, Pairing::Challenging),
            Self::Seeking(ticket) => (None, Some(ticket), Pairing::Seeking),
            Self::Begun(state) => (Some(state), None, Pairing::Playing),
            Self::Acted(state) => return DeedView::Acted { state },
            Self::Connected(state) => {
                let state = state.as_ref();
                return DeedView::Connected { state };
            }
            Self::Counted(standings) => return DeedView::Counted { standings },
            Self::Withdrawn
            | Self::Disconnected
            | Self::Restarted
            | Self::Configured
            | Self::Acknowledged => return DeedView::Nothing,
        };
        DeedView::Paired {
            state,
            ticket,
            activity,
        }
    }
}

impl Fields for Done {
    #[inline]
    fn visit(&self, visitor: &mut impl Visitor) {
        self.shown().visit(visitor);
    }

    fn describe() -> Vec<Field> {
        DeedView::describe()
    }
}

impl Variants for Done {
    fn variants() -> Vec<Variant> {
        DeedView::variants()
    }
}
