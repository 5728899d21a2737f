//! The results of a player, counted again from the journal.

use turnstile_chassis::{Fields, Readable as _, Source as _, Words};
use turnstile_games::{Event, EventKind, MatchId, PlayerId, Seat, Source, Standing};
use turnstile_types::{Position, Timestamp};

use crate::{given::Given, problem::Problem, schema::Schemas};

/// What the journal says of a player, and whether all statistics follow from it.
#[derive(Clone, Debug, PartialEq, Eq, Fields)]
pub struct PlayerRecount {
    pub player: PlayerId,
    /// The position after which the journal begins; above 0, the count goes on from a snapshot.
    pub from: Position,
    /// The last position that was read.
    pub position: Position,
    /// Results of all players.
    pub results: u64,
    /// A sentence for each statistic of any player that does not follow from the results.
    pub differences: Vec<Box<str>>,
    /// How the player stands by this count; not set where no result is known.
    pub standing: Option<Standing>,
    /// The last results, the newest first.
    pub history: Vec<CountedResult>,
    /// Whether there were results before these.
    pub has_older: bool,
}

/// One result of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Fields)]
pub struct CountedResult {
    /// Of the record that decided it.
    pub position: Position,
    pub at: Timestamp,
    /// Not set where another server named no match.
    #[field(name = "match")]
    pub match_id: Option<MatchId>,
    pub opponent: PlayerId,
    pub result: PlayerResult,
    /// How the player stood then.
    pub standing: Standing,
}

/// What a match came to, for one of its players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum PlayerResult {
    Won,
    Lost,
    Drawn,
}

impl CountedResult {
    /// What a result was for one of its players; nothing of another event or for another player.
    #[must_use]
    pub fn of(event: &Event, player: &PlayerId) -> Option<Self> {
        let EventKind::Counted {
            source,
            players,
            verdict,
            standings,
        } = &event.kind
        else {
            return None;
        };
        let mut seats = Seat::BOTH.into_iter();
        let seat = seats.find(|seat| seat.of(players) == player)?;
        Some(Self {
            position: event.position,
            at: event.at,
            match_id: match *source {
                Source::Here { match_id } | Source::Arena { match_id, .. } => Some(match_id),
                Source::Foreign => None,
            },
            opponent: *seat.other().of(players),
            result: match verdict.winner() {
                None => PlayerResult::Drawn,
                Some(winner) if winner == seat => PlayerResult::Won,
                Some(_) => PlayerResult::Lost,
            },
            standing: *seat.of(standings),
        })
    }
}

/// Reads whose results are counted.
///
/// # Errors
/// It is no player.
pub fn read_recount<'a>(given: &'a Given<'a>) -> Result<PlayerId, Problem> {
    given.read_with(|reader| reader.required("player", PlayerId::read))
}

pub(crate) fn schemas() -> Schemas {
    Schemas::new("Games").named::<PlayerRecount>(
        "PlayerRecount",
        "The results of a player, counted again from the journal.",
    )
}
