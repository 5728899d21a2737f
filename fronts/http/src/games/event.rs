//! What happened in games, as server-sent events or as lines of JSON.

use std::io::Write;

use turnstile_chassis::{Fields, Readable as _, Source as _};
use turnstile_games::{Event, EventKind, MatchId, MatchView, PlayerId};
use turnstile_json::Object;
use turnstile_types::Position;

use crate::{
    accept::acceptance,
    event::{self, EventId, put_block, since},
    given::Given,
    problem::Problem,
};

/// How a stream is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamForm {
    /// Server-sent events.
    Events,
    /// One JSON object a line.
    Lines,
}

impl StreamForm {
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

/// Which match is watched, after which event, and how that is written: as the request says, or as it
/// accepts.
///
/// # Errors
/// Wrong parameters.
pub fn watching<'a>(
    given: &'a Given<'a>,
    accepted: Option<&str>,
) -> Result<(MatchId, Option<EventId>, StreamForm), Problem> {
    let accepted = accepted.unwrap_or_default();
    let likes = |form: StreamForm| acceptance(accepted, form.content_type());
    given.read_with(|reader| {
        let match_id = reader.required("match", MatchId::read);
        let since = since(reader);
        let form = match reader.optional("format", str::from_utf8)? {
            Some("ndjson") => StreamForm::Lines,
            Some(_) => StreamForm::Events,
            None if likes(StreamForm::Lines) > likes(StreamForm::Events) => StreamForm::Lines,
            None => StreamForm::Events,
        };
        Some((match_id?, since?, form))
    })
}

/// A match as it was found at a position.
#[derive(Fields)]
struct FoundMatch<'a> {
    position: Position,
    kind: &'a str,
    state: &'a MatchView,
}

#[derive(Fields)]
struct FeedGap<'a> {
    kind: &'a str,
    missed: Option<u64>,
    first: &'a str,
}

/// Whether an event is about a player.
#[must_use]
pub fn concerns(event: &Event, player: &PlayerId) -> bool {
    concerned(event).contains(&Some(*player))
}

/// The players that an event concerns: at most two.
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
pub fn is_about(event: &Event, match_id: MatchId) -> Option<&MatchView> {
    match &event.kind {
        EventKind::Match { state, .. } => Some(state).filter(|state| state.id == match_id),
        _ => None,
    }
}

/// Appends one event.
pub fn put_event(form: StreamForm, event: &Event, out: &mut Vec<u8>) {
    match form {
        StreamForm::Events => event::put_event(event, out),
        StreamForm::Lines => put_line(event, out),
    }
}

/// Appends a match as it was found at a position; what happens to it from then on follows.
pub fn put_state(form: StreamForm, at: Position, state: &MatchView, out: &mut Vec<u8>) {
    let found = FoundMatch {
        position: at,
        kind: "state",
        state,
    };
    match form {
        StreamForm::Events => put_block(at, found.kind, &found, out),
        StreamForm::Lines => put_line(&found, out),
    }
}

/// Tells a follower that the place it asked for is no longer kept, and where the feed begins now.
pub fn put_reset(form: StreamForm, first: EventId, out: &mut Vec<u8>) {
    match form {
        StreamForm::Events => event::put_reset(first, out),
        StreamForm::Lines => put_line(
            &FeedGap {
                kind: "reset",
                missed: None,
                first: &first.to_string(),
            },
            out,
        ),
    }
}

/// Tells a follower that it was too slow: the events up to `first` are lost to it.
pub fn put_lagged(form: StreamForm, missed: u64, first: EventId, out: &mut Vec<u8>) {
    match form {
        StreamForm::Events => event::put_lagged(missed, first, out),
        StreamForm::Lines => put_line(
            &FeedGap {
                kind: "lagged",
                missed: Some(missed),
                first: &first.to_string(),
            },
            out,
        ),
    }
}

/// Tells a follower that the server stops; nothing comes after it.
pub fn put_stopping(form: StreamForm, out: &mut Vec<u8>) {
    match form {
        StreamForm::Events => out.extend_from_slice(event::STOPPING),
        StreamForm::Lines => out.extend_from_slice(b"{\"kind\":\"stopping\"}\n"),
    }
}

fn put_line(fields: &impl Fields, out: &mut Vec<u8>) {
    serde_json::to_writer(&mut *out, &Object(fields)).expect("fields are texts and numbers");
    out.write_all(b"\n").expect("a vector takes all bytes");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation_at;

    #[test]
    fn a_stream_comes_as_lines_only_when_that_is_asked_for() {
        let operation = operation_at("GET", "/v1/games/matches/7/events").unwrap();
        let lines = "application/x-ndjson";
        let rows = [
            ("", "", StreamForm::Events),
            ("", "*/*", StreamForm::Events),
            ("", lines, StreamForm::Lines),
            ("", "application/X-NDJSON, */*;q=0.9", StreamForm::Lines),
            ("", "application/x-ndjson;q=0.9, */*", StreamForm::Events),
            (
                "",
                "application/x-ndjson, text/event-stream;q=0",
                StreamForm::Lines,
            ),
            ("", "application/x-ndjson;q=0, */*", StreamForm::Events),
            (
                "",
                "text/event-stream, application/x-ndjson",
                StreamForm::Events,
            ),
            ("format=sse", lines, StreamForm::Events),
            ("format=ndjson", "", StreamForm::Lines),
        ];
        for (query, accepted, expected) in rows {
            let mut given = Given::new(&operation.parameters);
            given.add_path("match", "7");
            given.add_query(query);
            let read = watching(&given, Some(accepted));
            assert_eq!(read, Ok((MatchId(7), None, expected)), "{query} {accepted}");
        }
    }
}
