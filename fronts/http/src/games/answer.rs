//! What the reads of games answer.

use serde::Serialize;
use turnstile_games::{
    self as games, ActivityView, Answer, Leader, Opponent, PlayerId, Query, Refusal, Rung, Tally,
    Totals,
};
use utoipa::ToSchema;

use super::{
    query::rung_cursor,
    state::{MatchView, StandingView, TicketView},
};
use crate::{
    answer::Told,
    conditional::etag_of_bytes,
    cursor::cursor_text,
    problem::{Code, Problem},
};

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MatchPage {
    matches: Vec<MatchView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// What a player does.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlayerView {
    player: String,
    /// Whether a door said that the player is there.
    connected: bool,
    /// `idle`, `challenging`, `seeking` or `playing`.
    #[schema(value_type = String, example = "playing")]
    activity: &'static str,
    /// Who is challenged.
    #[serde(skip_serializing_if = "Option::is_none")]
    opponent: Option<String>,
    /// What the challenge is to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    game: Option<&'static str>,
    /// Of whoever seeks: why it still waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    ticket: Option<TicketView>,
    /// The match that is played.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<MatchView>,
}

/// Everybody who looks for anybody.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TicketPage {
    tickets: Vec<TicketView>,
}

/// What somebody has won from somebody.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TallyView {
    played: u64,
    won: u64,
    lost: u64,
    drawn: u64,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OpponentView {
    opponent: String,
    #[serde(flatten)]
    tally: TallyView,
}

/// Those somebody has met, the one met first latest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OpponentsPage {
    opponents: Vec<OpponentView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LeaderView {
    /// From 1. Of equal scores, whoever was counted first stands first.
    place: u32,
    player: String,
    #[serde(flatten)]
    standing: StandingView,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LeadersPage {
    leaders: Vec<LeaderView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// Somebody, and those who stand before and after.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LeadersAround {
    leaders: Vec<LeaderView>,
}

/// How much there is, of the roles that this server plays.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GamesTotals {
    /// Players whom the arena knows.
    players: u32,
    open_matches: u32,
    seeking: u32,
    /// Players whose connection to a match is gone.
    away: u32,
    /// Players who have a standing.
    rated_players: u32,
    /// Results that the scores server has not acknowledged.
    unreported: u64,
    /// Matches ever begun.
    matches: u64,
    /// Moves ever made.
    moves: u64,
    /// Results counted.
    results: u64,
}

/// Tells the answer to a query, which the answer does not repeat.
///
/// # Errors
/// What was asked for is not there.
///
/// # Panics
/// The answer is to another query.
pub fn tell_answer(query: &Query, answer: &Answer) -> Result<Told, Problem> {
    Ok(match (query, answer) {
        (_, Answer::Match(Some(view))) => with_etag(Told::of(200, &MatchView::of(view))),
        (_, Answer::Match(None)) => return Err(Code::from(Refusal::NoSuchMatch).into()),
        (Query::Matches { limit, .. }, Answer::Matches(matches)) => tell_matches(matches, *limit),
        (Query::Player { player }, Answer::Player(Some(view))) => {
            Told::of(200, &PlayerView::of(player, view))
        }
        (_, Answer::Tickets(tickets)) => {
            let tickets = tickets.iter().map(TicketView::of).collect();
            Told::of(200, &TicketPage { tickets })
        }
        (_, Answer::Standing(Some(standing))) => {
            with_etag(Told::of(200, &StandingView::of(standing)))
        }
        (_, Answer::Player(None) | Answer::Standing(None) | Answer::Around(None)) => {
            return Err(Code::NoSuchPlayer.into());
        }
        (_, Answer::Against(tally)) => {
            let tally = tally.unwrap_or(Tally::NONE);
            with_etag(Told::of(200, &TallyView::of(tally)))
        }
        (_, Answer::Opponents { page, next }) => tell_opponents(page, *next),
        (_, Answer::Leaders { page, next }) => tell_leaders(page, *next),
        (_, Answer::Around(Some(leaders))) => {
            let leaders = leaders.iter().map(LeaderView::of).collect();
            Told::of(200, &LeadersAround { leaders })
        }
        (_, Answer::Totals(totals)) => Told::of(200, &GamesTotals::of(totals)),
        (other, _) => unreachable!("{other:?} has another answer"),
    })
}

/// A page that is full may be the last one; then an empty one follows.
fn tell_matches(matches: &[games::MatchView], limit: u16) -> Told {
    let last = matches.last();
    let last = last.filter(|_| matches.len() == usize::from(limit));
    let next = last.map(|last| cursor_text(last.id.0));
    let page = MatchPage {
        matches: matches.iter().map(MatchView::of).collect(),
        next_cursor: next.clone(),
    };
    paged(&page, next)
}

fn tell_opponents(page: &[(PlayerId, Tally)], next: Option<Opponent>) -> Told {
    let next = next.map(|Opponent(number)| cursor_text(number.into()));
    let view = |(opponent, tally): &(PlayerId, Tally)| OpponentView {
        opponent: opponent.to_string(),
        tally: TallyView::of(*tally),
    };
    let page = OpponentsPage {
        opponents: page.iter().map(view).collect(),
        next_cursor: next.clone(),
    };
    paged(&page, next)
}

fn tell_leaders(page: &[Leader], next: Option<Rung>) -> Told {
    let next = next.map(rung_cursor);
    let page = LeadersPage {
        leaders: page.iter().map(LeaderView::of).collect(),
        next_cursor: next.clone(),
    };
    paged(&page, next)
}

fn paged<T: Serialize>(page: &T, next: Option<String>) -> Told {
    Told {
        next,
        ..Told::of(200, page)
    }
}

/// What comes with the version that its text is.
fn with_etag(told: Told) -> Told {
    Told {
        etag: Some(etag_of_bytes(&told.json)),
        ..told
    }
}

impl PlayerView {
    pub(super) fn of(player: &PlayerId, view: &games::PlayerView) -> Self {
        let idle = Self {
            player: player.to_string(),
            connected: view.connected,
            activity: "idle",
            opponent: None,
            game: None,
            ticket: None,
            state: None,
        };
        match &view.activity {
            ActivityView::Idle => idle,
            ActivityView::Challenging { opponent, game } => Self {
                activity: "challenging",
                opponent: Some(opponent.to_string()),
                game: Some(game.code()),
                ..idle
            },
            ActivityView::Seeking(ticket) => Self {
                activity: "seeking",
                ticket: Some(TicketView::of(ticket)),
                ..idle
            },
            ActivityView::Playing(state) => Self {
                activity: "playing",
                state: Some(MatchView::of(state)),
                ..idle
            },
        }
    }
}

impl TallyView {
    const fn of(tally: Tally) -> Self {
        Self {
            played: tally.played(),
            won: tally.won,
            lost: tally.lost,
            drawn: tally.drawn,
        }
    }
}

impl LeaderView {
    fn of(leader: &Leader) -> Self {
        Self {
            place: leader.place,
            player: leader.player.to_string(),
            standing: StandingView::of(&leader.standing),
        }
    }
}

impl GamesTotals {
    const fn of(totals: &Totals) -> Self {
        Self {
            players: totals.players,
            open_matches: totals.open,
            seeking: totals.seeking,
            away: totals.away,
            rated_players: totals.rated,
            unreported: totals.unreported,
            matches: totals.begun,
            moves: totals.moves,
            results: totals.results,
        }
    }
}
