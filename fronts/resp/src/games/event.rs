//! Events as messages of a channel.

use std::fmt::{Display, Write};

use turnstile_games::{
    Change, Event, EventKind, Game, MatchView, PlayerId, Seat, Source, Standing, Verdict,
};

use super::values::{CELLS_MAX, letters};
use crate::words::Coded;

/// The channel on which every event of the service is told.
pub const CHANNEL: &str = "games.events";

/// One event as one line of JSON. No text in it has anything to escape. Of a match, its whole state is
/// told, in the words of `GAMES.MATCH`; what is not set is left out.
#[must_use]
pub fn event_json(event: &Event) -> String {
    let mut json = Json(String::with_capacity(512));
    let (position, ordinal) = (event.position, event.ordinal);
    let (at, code) = (event.at, event.kind.code());
    json.put(format_args!(
        r#"{{"position":{position},"ordinal":{ordinal},"at":"{at}","event":"{code}""#
    ));
    json.kind(&event.kind);
    json.0.push('}');
    json.0
}

struct Json(String);

impl Json {
    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        self.0
            .write_fmt(text)
            .expect("writing to memory does not fail");
    }

    fn number(&mut self, name: &str, number: impl Display) {
        self.put(format_args!(r#","{name}":{number}"#));
    }

    fn text(&mut self, name: &str, text: impl Display) {
        self.put(format_args!(r#","{name}":"{text}""#));
    }

    fn kind(&mut self, kind: &EventKind) {
        match kind {
            EventKind::Challenged {
                player,
                opponent,
                game,
            } => {
                self.text("player", player);
                self.text("opponent", opponent);
                self.text("game", game.code());
            }
            EventKind::Seeking { player, game } => {
                self.text("player", player);
                self.text("game", game.code());
            }
            EventKind::Withdrawn { player } => self.text("player", player),
            EventKind::Match { change, state } => self.change(*change, state),
            EventKind::Reported(parcel) => {
                let result = parcel.result;
                self.number("number", parcel.number);
                self.number("match", result.match_id);
                self.result(Some(result.game), &result.players, result.verdict);
            }
            EventKind::Counted {
                source,
                players,
                verdict,
                standings,
            } => {
                self.source(*source);
                self.result(None, players, *verdict);
                self.standings(standings);
            }
            EventKind::Scored {
                match_id,
                players,
                standings,
            } => {
                self.number("match", match_id);
                self.players(players);
                self.standings(standings);
            }
        }
    }

    fn players(&mut self, [first, second]: &[PlayerId; 2]) {
        self.text("first", first);
        self.text("second", second);
    }

    fn source(&mut self, source: Source) {
        match source {
            Source::Here { match_id } => self.number("match", match_id),
            Source::Arena { arena, match_id } => {
                self.number("arena", arena);
                self.number("match", match_id);
            }
            Source::Foreign => {}
        }
    }

    fn result(&mut self, game: Option<Game>, players: &[PlayerId; 2], verdict: Verdict) {
        if let Some(game) = game {
            self.text("game", game.code());
        }
        self.players(players);
        self.text("verdict", verdict.word());
    }

    fn change(&mut self, change: Change, state: &MatchView) {
        let by = match change {
            Change::Moved { seat }
            | Change::DrawOffered { seat }
            | Change::DrawDeclined { seat }
            | Change::Left { seat }
            | Change::Returned { seat } => Some(seat),
            Change::Begun | Change::Ended => None,
        };
        self.seated("player", state, by);
        self.number("match", state.id);
        self.text("game", state.game.code());
        self.players(&state.players);
        let mut dots = [b'.'; CELLS_MAX];
        let board = letters(state, &mut dots);
        self.text("board", str::from_utf8(board).expect("letters are ASCII"));
        self.number("ply", state.ply);
        self.number("seq", state.seq);
        if let Some(cell) = state.last {
            self.number("last", u16::from(cell) + 1);
        }
        self.seated("to_move", state, state.to_move());
        self.seated("offer", state, state.offer);
        for seat in Seat::BOTH {
            let name = *seat.of(&["first_away", "second_away"]);
            if let Some(since) = *seat.of(&state.away) {
                self.text(name, since);
            }
        }
        self.text("moved_at", state.moved_at);
        if let Some(ending) = state.ending {
            self.text("ending", ending.code());
            let winner = ending.verdict().and_then(Verdict::winner);
            self.seated("winner", state, winner);
        }
    }

    /// A player by the seat, if it is anybody's.
    fn seated(&mut self, name: &str, state: &MatchView, seat: Option<Seat>) {
        if let Some(seat) = seat {
            self.text(name, seat.of(&state.players));
        }
    }

    /// How both stand, whoever sat first first.
    fn standings(&mut self, standings: &[Standing; 2]) {
        self.0.push_str(r#","standings":["#);
        for (at, standing) in standings.iter().enumerate() {
            let gap = if at == 0 { "" } else { "," };
            let (won, lost, drawn) = {
                let tally = standing.tally;
                (tally.won, tally.lost, tally.drawn)
            };
            self.put(format_args!(
                r#"{gap}{{"won":{won},"lost":{lost},"drawn":{drawn}"#
            ));
            if let Some(ratings) = standing.ratings {
                self.number("elo_milli", ratings.elo_milli);
                self.number("glicko_milli", ratings.glicko.rating_milli());
            }
            self.0.push('}');
        }
        self.0.push(']');
    }
}
