//! The queries of games and their answers.

use std::fmt;

use turnstile_chassis::{
    Fields, Kind, NotWhole, Operations, PAGE, PAGE_MAX, Readable, Show, Value, Words,
};

use crate::{
    Game, MatchId, MatchView, Measure, PlayerId, Standing, Tally, TicketView,
    about::About,
    limits,
    shown::{AfterMatch, after},
};

/// What leaders are ordered by when nothing is said.
const MEASURE: Measure = Measure::Elo;

/// How many are shown on each side of somebody when nothing is said.
const EACH_SIDE: u16 = 5;

/// The most that are shown on each side.
const EACH_SIDE_MAX: u64 = limits::PAGE_MAX as u64 / 2;

/// One whole request that only reads. Pages have at most `limits::PAGE_MAX` members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words, Operations)]
#[operations(answers = Answer, right = read, about = About)]
pub enum Query {
    /// Shows one match: all that is needed to go on from here.
    #[word("get_match")]
    #[operation(about = Public)]
    Match {
        #[parameter(name = "match")]
        match_id: MatchId,
    },
    /// Lists the matches that are played, in the order of their numbers.
    #[word("list_matches")]
    #[operation(about = Public)]
    Matches {
        #[parameter(name = "cursor", read_as = AfterMatch)]
        after: Option<MatchId>,
        #[parameter(min = 1, max = PAGE_MAX, default = PAGE)]
        limit: u16,
    },
    /// Shows what a player does, and why a search still waits.
    #[word("get_player")]
    #[operation(about = Player(*player))]
    Player { player: PlayerId },
    /// Lists everybody who looks for anybody.
    #[word("list_tickets")]
    #[operation(about = Public)]
    Tickets { game: Game },
    /// Shows what a player has won, lost and drawn, and the ratings.
    #[word("get_standing")]
    #[operation(about = Public)]
    Standing { player: PlayerId },
    /// Shows what a player has won, lost and drawn against another.
    #[word("get_tally")]
    #[operation(about = Public)]
    Against {
        player: PlayerId,
        opponent: PlayerId,
    },
    /// Lists those a player has met, the one met first latest first.
    #[word("list_opponents")]
    #[operation(about = Public)]
    Opponents {
        player: PlayerId,
        cursor: Option<Opponent>,
        #[parameter(min = 1, max = PAGE_MAX, default = PAGE)]
        limit: u16,
    },
    /// Lists the best, or those after a place in the order.
    #[word("list_leaders")]
    #[operation(about = Public)]
    Leaders {
        #[parameter(default = MEASURE, shown = MEASURE.code())]
        measure: Measure,
        cursor: Option<Rung>,
        #[parameter(min = 1, max = PAGE_MAX, default = PAGE)]
        limit: u16,
    },
    /// Lists those who stand next to a player.
    #[word("list_around")]
    #[operation(about = Public)]
    Around {
        #[parameter(default = MEASURE, shown = MEASURE.code())]
        measure: Measure,
        player: PlayerId,
        /// How many before the player, and as many behind.
        #[parameter(max = EACH_SIDE_MAX, default = EACH_SIDE)]
        each_side: u16,
    },
    /// Shows how much there is of everything.
    #[word("get_totals")]
    #[operation(about = Public)]
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

impl Readable<'_> for Opponent {
    type Invalid = NotWhole;

    /// A cursor that no page gave out may be larger than every number of a player: nothing follows it.
    fn read(text: &[u8]) -> Result<Self, NotWhole> {
        let number = u64::read(text)?;
        Ok(Self(u32::try_from(number).unwrap_or(u32::MAX)))
    }

    fn kind() -> Kind {
        Kind::Cursor
    }
}

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

/// Text that is no [`Rung`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidRung;

impl fmt::Display for InvalidRung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a cursor is what the page before says of the next")
    }
}

impl std::error::Error for InvalidRung {}

turnstile_chassis::readable!(Rung, InvalidRung, Rung::KIND);

impl Rung {
    const KIND: Kind = Kind::Pattern {
        example: "r00000000001721e000000003",
        pattern: "^r[0-9a-f]{24}$",
    };

    /// Reads what it is shown as; nothing else is one.
    ///
    /// # Errors
    /// Any other text.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidRung> {
        let digits = text.strip_prefix(b"r").ok_or(InvalidRung)?;
        let small = |digit: &u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
        if digits.len() != 24 || !digits.iter().all(small) {
            return Err(InvalidRung);
        }
        let digits = str::from_utf8(digits).map_err(|_invalid| InvalidRung)?;
        let (score, number) = digits.split_at(16);
        let score = u64::from_str_radix(score, 16).map_err(|_invalid| InvalidRung)?;
        let number = u32::from_str_radix(number, 16).map_err(|_invalid| InvalidRung)?;
        Ok(Self {
            score: score.cast_signed(),
            number,
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
        Self::KIND
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
    /// Players who seek any opponent.
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
            assert_eq!(Rung::parse(rung.to_string().as_bytes()), Ok(rung));
        }
        let short = format!("r{}", "0".repeat(23));
        let large = format!("r{}", "F".repeat(24));
        for text in ["", "r", "c0000000000000001", &short, &large] {
            assert_eq!(Rung::parse(text.as_bytes()), Err(InvalidRung), "{text}");
        }
        assert!(InvalidRung.to_string().contains("the page before"));
    }
}
