//! What can be asked of games, and what is answered.

use super::{
    board::GameKind,
    state::{MatchChange, MatchEnding, MatchState, MoveClaim},
};
use crate::compact::compact;

/// Somebody who does not belong to the run.
pub const STRANGER: u16 = u16::MAX;

/// What was asked, and what was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClubOperation {
    pub ask: ClubRequest,
    pub answer: ClubAnswer,
}

/// What can be asked. Players are numbers within the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClubRequest {
    Challenge {
        game: GameKind,
        player: u16,
        opponent: u16,
    },
    /// For anybody. Whoever seeks has always been as good as all others who do.
    Seek {
        game: GameKind,
        player: u16,
    },
    Withdraw {
        player: u16,
    },
    Begin {
        game: GameKind,
        players: [u16; 2],
    },
    Act {
        number: u64,
        player: u16,
        deed: MatchDeed,
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
pub enum MatchDeed {
    Move {
        /// How many moves the player has seen.
        ply: u16,
        /// A cell or, in connect four, a column; from 1.
        choice: u8,
        claim: Option<MoveClaim>,
    },
    Resign,
    Abort,
    Offer,
    Accept,
    Decline,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClubAnswer {
    Challenged,
    Seeking(GameKind),
    Withdrawn,
    Begun(MatchState),
    Acted(MatchChange),
    Refused(ClubRefusal),
    /// None: there never was such a match, or it is forgotten.
    Match(Option<MatchState>),
    /// None: nobody has named this player.
    Player(Option<PlayerActivity>),
    /// None: no match of this player was counted.
    Standing(Option<ScoreTally>),
    /// Nothing but zeros where they never met.
    Against(Versus),
    /// No answer came.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClubRefusal {
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
    Over(MatchState),
    Stale(MatchState),
    NotYourTurn(MatchState),
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
pub enum PlayerActivity {
    Idle,
    Challenging(u16, GameKind),
    Seeking(GameKind),
    Playing(MatchState),
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
pub struct ScoreTally {
    /// As it is told, which need not be the sum of the others.
    pub played: u64,
    pub won: u64,
    pub lost: u64,
    pub drawn: u64,
}

compact!(struct ClubOperation { ask, answer });
compact!(enum ClubRequest {
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
compact!(enum MatchDeed {
    0 = Move { ply, choice, claim },
    1 = Resign,
    2 = Abort,
    3 = Offer,
    4 = Accept,
    5 = Decline,
});
compact!(enum ClubAnswer {
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
compact!(enum ClubRefusal {
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
compact!(enum PlayerActivity {
    0 = Idle,
    1 = Challenging(opponent, game),
    2 = Seeking(game),
    3 = Playing(state),
});
compact!(struct Versus { won, lost, drawn });
compact!(struct ScoreTally { played, won, lost, drawn });

impl ClubRequest {
    /// Whether it changes nothing, whatever is answered.
    #[must_use]
    pub const fn is_reading(&self) -> bool {
        matches!(
            self,
            Self::Match { .. } | Self::Player { .. } | Self::Standing { .. } | Self::Against { .. }
        )
    }
}

impl ClubAnswer {
    /// The match that it shows.
    #[must_use]
    pub const fn state(&self) -> Option<MatchState> {
        match *self {
            Self::Begun(state)
            | Self::Match(Some(state))
            | Self::Player(Some(PlayerActivity::Playing(state)))
            | Self::Refused(
                ClubRefusal::Over(state)
                | ClubRefusal::Stale(state)
                | ClubRefusal::NotYourTurn(state),
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
        ending == Some(MatchEnding::Clock)
    }
}

/// What it means that something else was answered.
pub(super) fn meaning(told: &ClubAnswer, replayed: &ClubAnswer) -> &'static str {
    const LOST: &str = "what was answered before is lost";
    match (told, replayed) {
        (ClubAnswer::Begun(state), ClubAnswer::Begun(_)) if state.has(STRANGER) => {
            "another client plays here"
        }
        (ClubAnswer::Begun(_), ClubAnswer::Begun(_)) => "it is another match",
        (ClubAnswer::Begun(_), _) => "a player would do two things at once",
        (ClubAnswer::Acted(told), ClubAnswer::Acted(replayed))
            if told.changes < replayed.changes =>
        {
            LOST
        }
        (ClubAnswer::Acted(_), ClubAnswer::Acted(_)) => "it has done something else",
        (
            ClubAnswer::Acted(change),
            ClubAnswer::Refused(ClubRefusal::Stale(state) | ClubRefusal::NotYourTurn(state)),
        ) if change.changes <= state.changes => LOST,
        (ClubAnswer::Acted(_), _) => "it was not allowed",
        (ClubAnswer::Refused(ClubRefusal::Strange), _) => "there is no reason",
        (ClubAnswer::Refused(_), ClubAnswer::Refused(_)) => "the reason is another",
        (ClubAnswer::Refused(_), _) => LOST,
        (ClubAnswer::Challenged | ClubAnswer::Seeking(_), ClubAnswer::Begun(_)) => LOST,
        _ => "they differ",
    }
}
