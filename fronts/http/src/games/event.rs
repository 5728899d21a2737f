//! What happened in games, as server-sent events or as lines of JSON.

use std::io::Write;

use serde::Serialize;
use turnstile_games::{
    self as games, Event, EventKind, MatchId, PlayerId, Source, Standing, Verdict,
};
use turnstile_types::Position;
use utoipa::ToSchema;

use super::state::{MatchView, StandingView};
use crate::event::{self, EventId, put_block};

/// How a stream is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Server-sent events.
    Events,
    /// One JSON object a line.
    Lines,
}

impl Form {
    #[must_use]
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Events => "text/event-stream",
            Self::Lines => "application/x-ndjson",
        }
    }

    /// What says nothing: a stream on which nothing happens stays known to proxies.
    #[must_use]
    pub const fn heartbeat(self) -> &'static [u8] {
        match self {
            Self::Events => b":\n\n",
            Self::Lines => b"\n",
        }
    }
}

/// One thing that happened in games. What does not apply to its kind is left out.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct GamesEventView {
    position: u64,
    /// Counts the events of one record, from 0.
    ordinal: u32,
    #[schema(format = DateTime)]
    at: String,
    /// Of a match: `begun`, `moved`, `draw_offered`, `draw_declined`, `left`, `returned` or `ended`
    /// (otherwise than by a move). Of players: `challenged`, `seeking` or `withdrawn`. Of results:
    /// `reported`, `counted` or `scored`.
    #[schema(value_type = String, example = "moved")]
    kind: &'static str,
    /// Of a match: how it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<MatchView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    player: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    opponent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    game: Option<&'static str>,
    /// Of a distant arena: which, in hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    arena: Option<String>,
    /// The number of a result that is reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
    /// The match of a result.
    #[serde(skip_serializing_if = "Option::is_none", rename = "match")]
    id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    second: Option<String>,
    /// Of a result: `first_won`, `second_won` or `drawn`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    verdict: Option<&'static str>,
    /// How both stand now, the first first.
    #[serde(skip_serializing_if = "Option::is_none")]
    standings: Option<[StandingView; 2]>,
}

/// A match as it was found at a position.
#[derive(Serialize)]
struct Found {
    position: u64,
    kind: &'static str,
    state: MatchView,
}

#[derive(Serialize)]
struct Gap {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    missed: Option<u64>,
    first: String,
}

impl GamesEventView {
    pub(super) fn of(event: &Event) -> Self {
        let view = Self {
            position: event.position.0,
            ordinal: event.ordinal,
            at: event.at.to_string(),
            kind: event.kind.code(),
            ..Self::default()
        };
        match &event.kind {
            EventKind::Challenged {
                player,
                opponent,
                game,
            } => Self {
                player: Some(player.to_string()),
                opponent: Some(opponent.to_string()),
                game: Some(game.code()),
                ..view
            },
            EventKind::Seeking { player, game } => Self {
                player: Some(player.to_string()),
                game: Some(game.code()),
                ..view
            },
            EventKind::Withdrawn { player } => Self {
                player: Some(player.to_string()),
                ..view
            },
            EventKind::Match { state, .. } => Self {
                state: Some(MatchView::of(state)),
                ..view
            },
            EventKind::Reported(parcel) => Self {
                arena: Some(arena(parcel.arena)),
                number: Some(parcel.number),
                id: Some(parcel.result.match_id.0),
                game: Some(parcel.result.game.code()),
                verdict: Some(word(parcel.result.verdict)),
                ..view.of_both(&parcel.result.players)
            },
            EventKind::Counted {
                source,
                players,
                verdict,
                standings,
            } => Self {
                verdict: Some(word(*verdict)),
                standings: Some(shown(standings)),
                ..view.from(*source).of_both(players)
            },
            EventKind::Scored {
                match_id,
                players,
                standings,
            } => Self {
                id: Some(match_id.0),
                standings: Some(shown(standings)),
                ..view.of_both(players)
            },
        }
    }

    fn of_both(self, players: &[PlayerId; 2]) -> Self {
        let [first, second] = players.map(|player| Some(player.to_string()));
        Self {
            first,
            second,
            ..self
        }
    }

    fn from(self, source: Source) -> Self {
        let (from, id) = match source {
            Source::Here { match_id } => (None, Some(match_id.0)),
            Source::Arena {
                arena: from,
                match_id,
            } => (Some(arena(from)), Some(match_id.0)),
            Source::Foreign => (None, None),
        };
        Self {
            arena: from,
            id,
            ..self
        }
    }
}

fn arena(number: u64) -> String {
    format!("{number:016x}")
}

fn shown(standings: &[Standing; 2]) -> [StandingView; 2] {
    standings.each_ref().map(StandingView::of)
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::FirstWon => "first_won",
        Verdict::SecondWon => "second_won",
        Verdict::Drawn => "drawn",
    }
}

/// Whether an event is about a player.
#[must_use]
pub fn concerns(event: &Event, player: &PlayerId) -> bool {
    concerned(event).contains(&Some(*player))
}

/// Who is to hear of an event: two players at the most.
#[must_use]
pub const fn concerned(event: &Event) -> [Option<PlayerId>; 2] {
    match &event.kind {
        EventKind::Challenged {
            player, opponent, ..
        } => [Some(*player), Some(*opponent)],
        EventKind::Seeking { player, .. } | EventKind::Withdrawn { player } => {
            [Some(*player), None]
        }
        EventKind::Match { state, .. } => [Some(state.players[0]), Some(state.players[1])],
        EventKind::Counted { players, .. } | EventKind::Scored { players, .. } => {
            [Some(players[0]), Some(players[1])]
        }
        EventKind::Reported(_) => [None, None],
    }
}

/// How a match is after an event; none when the event is about something else.
#[must_use]
pub fn is_about(event: &Event, match_id: MatchId) -> Option<&games::MatchView> {
    match &event.kind {
        EventKind::Match { state, .. } => Some(state).filter(|state| state.id == match_id),
        _ => None,
    }
}

/// Appends one event.
pub fn put_event(form: Form, event: &Event, out: &mut Vec<u8>) {
    let id = EventId::of((event.position, event.ordinal));
    let view = GamesEventView::of(event);
    match form {
        Form::Events => put_block(id, view.kind, &view, out),
        Form::Lines => put_line(&view, out),
    }
}

/// Appends a match as it was found at a position; what happens to it from then on follows.
pub fn put_state(form: Form, at: Position, state: &games::MatchView, out: &mut Vec<u8>) {
    let view = Found {
        position: at.0,
        kind: "state",
        state: MatchView::of(state),
    };
    match form {
        Form::Events => put_block(at, view.kind, &view, out),
        Form::Lines => put_line(&view, out),
    }
}

/// Tells a follower that the place it asked for is no longer kept, and where the feed begins now.
pub fn put_reset(form: Form, first: EventId, out: &mut Vec<u8>) {
    match form {
        Form::Events => event::put_reset(first, out),
        Form::Lines => put_line(
            &Gap {
                kind: "reset",
                missed: None,
                first: first.to_string(),
            },
            out,
        ),
    }
}

/// Tells a follower that it was too slow: the events up to `first` are lost to it.
pub fn put_lagged(form: Form, missed: u64, first: EventId, out: &mut Vec<u8>) {
    match form {
        Form::Events => event::put_lagged(missed, first, out),
        Form::Lines => put_line(
            &Gap {
                kind: "lagged",
                missed: Some(missed),
                first: first.to_string(),
            },
            out,
        ),
    }
}

fn put_line<T: Serialize>(view: &T, out: &mut Vec<u8>) {
    serde_json::to_writer(&mut *out, view).expect("a view is a map of texts and numbers");
    out.write_all(b"\n").expect("a vector takes all bytes");
}
