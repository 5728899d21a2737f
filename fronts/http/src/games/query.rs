//! The paths and parameters of the reads of games, and the queries they become.

use turnstile_games::{Game, MatchId, Measure, Opponent, PlayerId, Query, Rung, limits};

use super::event::Form;
use crate::{
    cursor::InvalidCursor,
    problem::{Place, Problem},
    query::Parameters,
    request::Faults,
};

/// How many stand before and after somebody when the request does not say.
const EACH_SIDE_DEFAULT: u16 = 10;

/// The most that may: a page has both, and whoever is between.
pub(crate) const EACH_SIDE_MAX: u16 = (limits::PAGE_MAX - 1) / 2;

fn part<T>(read: impl FnOnce(&mut Faults) -> Option<T>) -> Result<T, Problem> {
    let mut faults = Faults::in_place(Place::Path);
    let part = read(&mut faults);
    faults.finish(part)
}

impl Faults {
    pub(super) fn player(&mut self, field: &str, text: &str) -> Option<PlayerId> {
        self.take(field, PlayerId::parse(text.as_bytes()))
    }

    pub(super) fn game(&mut self, text: &str) -> Option<Game> {
        self.choice("game", text, &Game::ALL.map(|game| (game.code(), game)))
    }
}

/// Reads a player out of a path, where it stands under such a name.
///
/// # Errors
/// Text that is none.
pub fn player_in(name: &str, path: &str) -> Result<PlayerId, Problem> {
    part(|faults| faults.player(name, path))
}

/// Reads a match out of a path.
///
/// # Errors
/// Text that is no number.
pub fn match_in(path: &str) -> Result<MatchId, Problem> {
    part(|faults| {
        let digits = path.bytes().all(|byte| byte.is_ascii_digit());
        let number = path.parse().ok().filter(|_| digits);
        if number.is_none() {
            faults.add("match", "a match's number, from 1");
        }
        number.map(MatchId)
    })
}

/// Reads out of a path what a leaderboard is ordered by.
///
/// # Errors
/// Text that is nothing of that kind.
pub fn measure_in(path: &str) -> Result<Measure, Problem> {
    let measures = Measure::ALL.map(|measure| (measure.code(), measure));
    part(|faults| faults.choice("measure", path, &measures))
}

/// # Errors
/// Wrong parameters.
pub fn matches(mut parameters: Parameters<'_>) -> Result<Query, Problem> {
    let page = parameters.page();
    parameters.finish(page.map(|(after, limit)| Query::Matches {
        after: after.map(MatchId),
        limit,
    }))
}

/// # Errors
/// Wrong parameters.
pub fn tickets(mut parameters: Parameters<'_>) -> Result<Query, Problem> {
    let game = match parameters.text("game") {
        Some(game) => parameters.faults().game(&game),
        None => {
            parameters.faults().add("game", "missing");
            None
        }
    };
    parameters.finish(game.map(|game| Query::Tickets { game }))
}

/// # Errors
/// Wrong parameters.
pub fn opponents(mut parameters: Parameters<'_>, player: PlayerId) -> Result<Query, Problem> {
    let page = parameters.page().and_then(|(cursor, limit)| {
        let number = cursor.map(u32::try_from).transpose();
        let number = number.map_err(|_large| InvalidCursor);
        let cursor = parameters.faults().take("cursor", number)?;
        Some((cursor.map(Opponent), limit))
    });
    parameters.finish(page.map(|(cursor, limit)| Query::Opponents {
        player,
        cursor,
        limit,
    }))
}

/// # Errors
/// Wrong parameters.
pub fn leaders(mut parameters: Parameters<'_>, measure: Measure) -> Result<Query, Problem> {
    let cursor = parameters.text("cursor");
    let rung = |text: &str| Rung::parse(text.as_bytes()).map_err(|_invalid| InvalidCursor);
    let cursor = cursor.as_deref().map(rung).transpose();
    let cursor = parameters.faults().take("cursor", cursor);
    let page = cursor.zip(parameters.limit());
    parameters.finish(page.map(|(cursor, limit)| Query::Leaders {
        measure,
        cursor,
        limit,
    }))
}

/// # Errors
/// Wrong parameters.
pub fn around(
    mut parameters: Parameters<'_>,
    measure: Measure,
    player: PlayerId,
) -> Result<Query, Problem> {
    let each_side = match parameters.text("each_side") {
        None => Some(EACH_SIDE_DEFAULT),
        Some(text) => {
            let digits = text.bytes().all(|byte| byte.is_ascii_digit());
            let number = text.parse().ok().filter(|_| digits);
            let number = number.filter(|number| *number <= EACH_SIDE_MAX);
            if number.is_none() {
                let range = format!("0 to {EACH_SIDE_MAX}");
                parameters.faults().add("each_side", range);
            }
            number
        }
    };
    parameters.finish(each_side.map(|each_side| Query::Around {
        measure,
        player,
        each_side,
    }))
}

/// How a stream is wanted, and after which event.
///
/// # Errors
/// Wrong parameters.
pub fn watching(
    mut parameters: Parameters<'_>,
    accepted: Option<&str>,
) -> Result<(Form, Option<String>), Problem> {
    let forms = [("sse", Form::Events), ("ndjson", Form::Lines)];
    let since = parameters.text("since");
    let form = match parameters.text("format") {
        Some(word) => parameters.faults().choice("format", &word, &forms),
        None => Some(form_of(accepted.unwrap_or_default())),
    };
    parameters.finish(form.map(|form| (form, since)))
}

/// Events, unless the client accepts lines and no events.
fn form_of(accepted: &str) -> Form {
    let has = |form: Form| {
        let mut types = accepted.split(',').filter_map(|one| one.split(';').next());
        types.any(|one| one.trim().eq_ignore_ascii_case(form.content_type()))
    };
    if has(Form::Lines) && !has(Form::Events) {
        Form::Lines
    } else {
        Form::Events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_comes_as_lines_only_when_that_is_asked_for() {
        let lines = "application/x-ndjson";
        let rows = [
            ("", "", Form::Events),
            ("", "*/*", Form::Events),
            ("", lines, Form::Lines),
            ("", "application/X-NDJSON;q=0.9, */*", Form::Lines),
            ("", "text/event-stream, application/x-ndjson", Form::Events),
            ("format=sse", lines, Form::Events),
            ("format=ndjson", "", Form::Lines),
        ];
        for (query, accepted, expected) in rows {
            let parameters = Parameters::parse(query, &["since", "format"]);
            let read = watching(parameters, Some(accepted));
            assert_eq!(read, Ok((expected, None)), "{query} {accepted}");
        }
    }
}
