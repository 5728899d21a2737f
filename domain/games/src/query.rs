//! What the machine can be asked without changing anything, and what it answers.

use std::fmt;

use turnstile_chassis::{Fields, Kind, Show, Value, Words};

use crate::{
    Game, MatchId, MatchView, Measure, PlayerId, Standing, Tally, TicketView, shown::after,
};

/// One whole request that only reads. Pages have at most `limits::PAGE_MAX` members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
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

/// What is answered to a query.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub enum Answer {
    /// A match as it is: all that a player or a spectator needs to go on from here.
    Match(#[field(flatten)] MatchView),
    /// Matches that are played, by their numbers.
    Matches {
        matches: Vec<MatchView>,
        /// Where the next page begins, unless this one was not full.
        #[field(with = after)]
        next: Option<MatchId>,
    },
    /// What a player does.
    Player(#[field(flatten)] PlayerView),
    /// The players who seek any opponent.
    Tickets(#[field(name = "tickets")] Vec<TicketView>),
    /// How a player stands. A scores server of the original counts without ratings.
    Standing(#[field(flatten)] Standing),
    /// What a player has won from an opponent: nothing if they have not met.
    Against(#[field(flatten)] Tally),
    /// The opponents of a player, the one met first latest first.
    Opponents {
        #[field(name = "opponents")]
        page: Vec<HeadToHead>,
        /// Where the next page begins; not set on the last.
        next: Option<Opponent>,
    },
    /// The best players by one measure.
    Leaders {
        #[field(name = "leaders")]
        page: Vec<Leader>,
        /// Where the next page begins; not set on the last.
        next: Option<Rung>,
    },
    /// A player, and those who stand before and after.
    Around(#[field(name = "leaders")] Vec<Leader>),
    /// How much there is, of the roles that this server plays.
    Totals(#[field(flatten)] Totals),
    Absent(#[field(skip)] Absent),
}

/// What was asked for and is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields, Words)]
pub enum Absent {
    /// There never was such a match, or it is forgotten.
    #[refusal(not_found, "There never was such a match, or it is forgotten")]
    NoSuchMatch,
    /// The arena does not know the player, or the scores have counted no match of this player.
    #[refusal(not_found, "Nothing is known of the player")]
    NoSuchPlayer,
}

/// What a player does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields)]
pub struct PlayerView {
    pub player: PlayerId,
    /// Whether a door said that the player is there.
    pub connected: bool,
    #[field(flatten)]
    pub activity: ActivityView,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields, Words)]
#[fields(tag = "activity")]
pub enum ActivityView {
    Idle,
    Challenging {
        /// The player who is challenged.
        opponent: PlayerId,
        game: Game,
    },
    Seeking(
        /// Why a player who seeks still waits.
        #[field(name = "ticket")]
        TicketView,
    ),
    Playing(
        /// The match that is played.
        #[field(name = "state")]
        MatchView,
    ),
}

/// What a player has won from one opponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields)]
pub struct HeadToHead {
    pub opponent: PlayerId,
    #[field(flatten)]
    pub tally: Tally,
}

/// Where the next page of opponents begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opponent(pub u32);

impl Value for Opponent {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.cursor(u64::from(self.0))
    }

    fn kind() -> Kind {
        Kind::Cursor
    }
}

/// A place in the order of a leaderboard, whether or not anybody stands there now: a page goes on
/// behind it, whatever has changed before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rung {
    pub score: i64,
    pub number: u32,
}

impl Rung {
    /// Reads what it is shown as; nothing else is one.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let digits = text.strip_prefix(b"r")?;
        let small = |digit: &u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
        if digits.len() != 24 || !digits.iter().all(small) {
            return None;
        }
        let (score, number) = str::from_utf8(digits).ok()?.split_at(16);
        Some(Self {
            score: u64::from_str_radix(score, 16).ok()?.cast_signed(),
            number: u32::from_str_radix(number, 16).ok()?,
        })
    }

    /// Whether it is before another: by score, then by number. Nothing is decided step by step here,
    /// for no processor could foresee how.
    pub(crate) const fn precedes(self, other: Self) -> bool {
        (self.score > other.score) | ((self.score == other.score) & (self.number < other.number))
    }
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{:016x}{:08x}", self.score, self.number)
    }
}

impl Value for Rung {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.display(self)
    }

    fn kind() -> Kind {
        Kind::Text("r00000000001721e000000003")
    }
}

/// Somebody on a leaderboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields)]
pub struct Leader {
    /// From 1. Of equal scores, whoever was counted first stands first.
    pub place: u32,
    pub player: PlayerId,
    #[field(flatten)]
    pub standing: Standing,
}

/// How much there is, of the roles that are played here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Fields)]
pub struct Totals {
    /// Players whom the arena knows.
    pub players: u32,
    /// Matches that are played.
    #[field(name = "open_matches")]
    pub open: u32,
    /// Players who look for anybody.
    pub seeking: u32,
    /// Players whose connection to a match is gone.
    pub away: u32,
    /// Results that the scores server has not acknowledged.
    pub unreported: u64,
    /// Players who have a standing.
    #[field(name = "rated_players")]
    pub rated: u32,
    /// Matches ever begun.
    #[field(name = "matches_total")]
    pub begun: u64,
    /// Moves ever made.
    #[field(name = "moves_total")]
    pub moves: u64,
    /// Results counted.
    #[field(name = "results_total")]
    pub results: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_on_a_leaderboard_reads_back_and_nothing_else_does() {
        for (score, number) in [(0, 0), (1_516_000, 7), (-1, u32::MAX), (i64::MIN, 1)] {
            let rung = Rung { score, number };
            assert_eq!(Rung::parse(rung.to_string().as_bytes()), Some(rung));
        }
        let short = format!("r{}", "0".repeat(23));
        let large = format!("r{}", "F".repeat(24));
        for text in ["", "r", "c0000000000000001", &short, &large] {
            assert_eq!(Rung::parse(text.as_bytes()), None, "{text}");
        }
    }
}
