//! What can be asked of games, and what is answered.

use super::{
    board::Game,
    state::{Change, Claim, Ending, State},
};
use crate::compact::compact;

/// Somebody who does not belong to the run.
pub const STRANGER: u16 = u16::MAX;

/// What was asked, and what was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    pub ask: Ask,
    pub answer: Answer,
}

/// What can be asked. Players are numbers within the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    Challenge {
        game: Game,
        player: u16,
        opponent: u16,
    },
    /// For anybody. Whoever seeks has always been as good as all others who do.
    Seek {
        game: Game,
        player: u16,
    },
    Withdraw {
        player: u16,
    },
    Begin {
        game: Game,
        players: [u16; 2],
    },
    Act {
        number: u64,
        player: u16,
        deed: Deed,
    },
    /// Somebody looks at a match, at what a player does, at a player's scores.
    Match {
        number: u64,
    },
    Player {
        player: u16,
    },
    Standing {
        player: u16,
    },
    /// At what a player has won from another.
    Against {
        player: u16,
        opponent: u16,
    },
}

/// What a player does in a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    Move {
        /// How many moves the player has seen.
        ply: u16,
        /// A cell or, in connect four, a column; from 1.
        choice: u8,
        claim: Option<Claim>,
    },
    Resign,
    Abort,
    Offer,
    Accept,
    Decline,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Challenged,
    Seeking(Game),
    Withdrawn,
    Begun(State),
    Acted(Change),
    Refused(Refusal),
    /// None: there never was such a match, or it is forgotten.
    Match(Option<State>),
    /// None: nobody has named this player.
    Player(Option<Activity>),
    /// None: no match of this player was counted.
    Standing(Option<Tally>),
    /// Nothing but zeros where they never met.
    Against(Versus),
    /// No answer came.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    SamePlayer,
    Playing {
        player: u16,
        number: u64,
    },
    Waiting {
        player: u16,
    },
    NotWaiting,
    NoSuchMatch,
    NotSeated,
    Over(State),
    Stale(State),
    NotYourTurn(State),
    NoSuchCell,
    Taken,
    FalseClaim,
    NoOffer,
    OfferStands,
    TooLate,
    /// A refusal that this load cannot get.
    Strange,
}

/// What a player does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    Idle,
    Challenging(u16, Game),
    Seeking(Game),
    Playing(State),
}

/// Matches that count of one player against another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Versus {
    pub won: u64,
    pub lost: u64,
    pub drawn: u64,
}

/// Matches of a player that count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// As it is told, which need not be the sum of the others.
    pub played: u64,
    pub won: u64,
    pub lost: u64,
    pub drawn: u64,
}

compact!(struct Operation { ask, answer });
compact!(enum Ask {
    0 = Challenge { game, player, opponent },
    1 = Seek { game, player },
    2 = Withdraw { player },
    3 = Begin { game, players },
    4 = Act { number, player, deed },
    5 = Match { number },
    6 = Player { player },
    7 = Standing { player },
    8 = Against { player, opponent },
});
compact!(enum Deed {
    0 = Move { ply, choice, claim },
    1 = Resign,
    2 = Abort,
    3 = Offer,
    4 = Accept,
    5 = Decline,
});
compact!(enum Answer {
    0 = Challenged,
    1 = Seeking(game),
    2 = Withdrawn,
    3 = Begun(state),
    4 = Acted(change),
    5 = Refused(refusal),
    6 = Match(state),
    7 = Player(activity),
    8 = Standing(tally),
    9 = Against(versus),
    10 = Unknown,
});
compact!(enum Refusal {
    0 = SamePlayer,
    1 = Playing { player, number },
    2 = Waiting { player },
    3 = NotWaiting,
    4 = NoSuchMatch,
    5 = NotSeated,
    6 = Over(state),
    7 = Stale(state),
    8 = NotYourTurn(state),
    9 = NoSuchCell,
    10 = Taken,
    11 = FalseClaim,
    12 = NoOffer,
    13 = OfferStands,
    14 = TooLate,
    15 = Strange,
});
compact!(enum Activity {
    0 = Idle,
    1 = Challenging(opponent, game),
    2 = Seeking(game),
    3 = Playing(state),
});
compact!(struct Versus { won, lost, drawn });
compact!(struct Tally { played, won, lost, drawn });

impl Ask {
    /// Whether it changes nothing, whatever is answered.
    #[must_use]
    pub const fn is_reading(&self) -> bool {
        matches!(
            self,
            Self::Match { .. } | Self::Player { .. } | Self::Standing { .. } | Self::Against { .. }
        )
    }
}

impl Answer {
    /// The match that it shows.
    #[must_use]
    pub const fn state(&self) -> Option<State> {
        match *self {
            Self::Begun(state)
            | Self::Match(Some(state))
            | Self::Player(Some(Activity::Playing(state)))
            | Self::Refused(
                Refusal::Over(state) | Refusal::Stale(state) | Refusal::NotYourTurn(state),
            ) => Some(state),
            _ => None,
        }
    }

    /// Whether it shows a match that the server's clock has ended.
    pub(super) fn shows_clock(&self) -> bool {
        let ending = match self {
            Self::Acted(change) => change.ending,
            _ => self.state().and_then(|state| state.ending),
        };
        ending == Some(Ending::Clock)
    }
}

/// What it means that something else was answered.
pub(super) fn meaning(told: &Answer, replayed: &Answer) -> &'static str {
    const LOST: &str = "what was answered before is lost";
    match (told, replayed) {
        (Answer::Begun(state), Answer::Begun(_)) if state.has(STRANGER) => {
            "somebody else plays here"
        }
        (Answer::Begun(_), Answer::Begun(_)) => "it is another match",
        (Answer::Begun(_), _) => "somebody would do two things at once",
        (Answer::Acted(told), Answer::Acted(replayed)) if told.changes < replayed.changes => LOST,
        (Answer::Acted(_), Answer::Acted(_)) => "it has done something else",
        (
            Answer::Acted(change),
            Answer::Refused(Refusal::Stale(state) | Refusal::NotYourTurn(state)),
        ) if change.changes <= state.changes => LOST,
        (Answer::Acted(_), _) => "it was not allowed",
        (Answer::Refused(Refusal::Strange), _) => "there is no reason",
        (Answer::Refused(_), Answer::Refused(_)) => "the reason is another",
        (Answer::Refused(_), _) => LOST,
        (Answer::Challenged | Answer::Seeking(_), Answer::Begun(_)) => LOST,
        _ => "they differ",
    }
}
