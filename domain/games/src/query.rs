//! What the machine can be asked without changing anything, and what it answers.

use crate::{Game, MatchId, MatchView, Measure, PlayerId, Standing, Tally, TicketView};

/// One whole request that only reads. Pages have at most `limits::PAGE_MAX` members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    Match {
        match_id: MatchId,
    },
    /// Matches that are played, in the order of their numbers.
    Matches {
        after: Option<MatchId>,
        limit: u16,
    },
    Player {
        player: PlayerId,
    },
    /// Everybody who looks for anybody.
    Tickets {
        game: Game,
    },
    Standing {
        player: PlayerId,
    },
    /// What two have won from each other, from the side of the first.
    Against {
        player: PlayerId,
        opponent: PlayerId,
    },
    /// Those somebody has met, the one met first latest first.
    Opponents {
        player: PlayerId,
        cursor: Option<Opponent>,
        limit: u16,
    },
    /// The best, or those after a place in the order.
    Leaders {
        measure: Measure,
        cursor: Option<Rung>,
        limit: u16,
    },
    /// Somebody with so many before and as many after.
    Around {
        measure: Measure,
        player: PlayerId,
        each_side: u16,
    },
    Totals,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// None: there never was such a match, or it is forgotten.
    Match(Option<MatchView>),
    Matches(Vec<MatchView>),
    Player(Option<PlayerView>),
    Tickets(Vec<TicketView>),
    /// None: no match of this player was counted.
    Standing(Option<Standing>),
    /// None: they have not met.
    Against(Option<Tally>),
    Opponents {
        page: Vec<(PlayerId, Tally)>,
        next: Option<Opponent>,
    },
    Leaders {
        page: Vec<Leader>,
        next: Option<Rung>,
    },
    /// None: no match of this player was counted.
    Around(Option<Vec<Leader>>),
    Totals(Totals),
}

/// What a player does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayerView {
    /// Whether a door said that the player is there.
    pub connected: bool,
    pub activity: ActivityView,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActivityView {
    Idle,
    Challenging { opponent: PlayerId, game: Game },
    Seeking(TicketView),
    Playing(MatchView),
}

/// Where the next page of opponents begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opponent(pub u32);

/// A place in the order of a leaderboard, whether or not anybody stands there now: a page goes on
/// behind it, whatever has changed before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rung {
    pub score: i64,
    pub number: u32,
}

impl Rung {
    /// Whether it is before another: by score, then by number. Nothing is decided step by step here,
    /// for no processor could foresee how.
    pub(crate) const fn precedes(self, other: Self) -> bool {
        (self.score > other.score) | ((self.score == other.score) & (self.number < other.number))
    }
}

/// Somebody on a leaderboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leader {
    /// From 1. Of equal scores, whoever was counted first stands first.
    pub place: u32,
    pub player: PlayerId,
    pub standing: Standing,
}

/// How much there is, of the roles that are played here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Players whom the arena knows.
    pub players: u32,
    /// Matches that are played.
    pub open: u32,
    /// Matches ever begun.
    pub begun: u64,
    /// Moves ever made.
    pub moves: u64,
    /// Players who look for anybody.
    pub seeking: u32,
    /// Players whose connection to a match is gone.
    pub away: u32,
    /// Results that the scores server has not acknowledged.
    pub unreported: u64,
    /// Players who have a standing.
    pub rated: u32,
    /// Results counted.
    pub results: u64,
}
