//! Events as messages of a channel.

use std::fmt::Write;

use turnstile_games::{Event, EventKind, MatchView, PlayerId, Seat, Source, Standing, Verdict};

/// The channel on which every event of the service is told.
pub const CHANNEL: &str = "games.events";

/// One event as one line of JSON. No text in it has anything to escape.
#[must_use]
pub fn event_json(event: &Event) -> String {
    let mut json = Json(String::with_capacity(512));
    let (position, ordinal) = (event.position, event.ordinal);
    let (at, code) = (event.at, event.kind.code());
    json.put(format_args!(
        r#"{{"position":{position},"ordinal":{ordinal},"at":"{at}","event":"{code}""#
    ));
    match &event.kind {
        EventKind::Challenged {
            player,
            opponent,
            game,
        } => json.put(format_args!(
            r#","player":"{player}","opponent":"{opponent}","game":"{}""#,
            game.code()
        )),
        EventKind::Seeking { player, game } => {
            json.put(format_args!(
                r#","player":"{player}","game":"{}""#,
                game.code()
            ));
        }
        EventKind::Withdrawn { player } => json.put(format_args!(r#","player":"{player}""#)),
        EventKind::Match { state, .. } => json.state(state),
        EventKind::Reported(parcel) => {
            let (number, match_id) = (parcel.number, parcel.result.match_id);
            json.put(format_args!(r#","number":{number},"match":{match_id}"#));
            json.result(&parcel.result.players, parcel.result.verdict);
        }
        EventKind::Counted {
            source,
            players,
            verdict,
            standings,
        } => {
            json.source(*source);
            json.result(players, *verdict);
            json.standings(standings);
        }
        EventKind::Scored {
            match_id,
            players: [first, second],
            standings,
        } => {
            json.put(format_args!(
                r#","match":{match_id},"first":"{first}","second":"{second}""#
            ));
            json.standings(standings);
        }
    }
    json.put(format_args!("}}"));
    json.0
}

struct Json(String);

impl Json {
    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        self.0
            .write_fmt(text)
            .expect("writing to memory does not fail");
    }

    /// A match as it is: the board row by row from the top left, `x` for whoever moves first.
    fn state(&mut self, state: &MatchView) {
        let [first, second] = &state.players;
        let (id, game) = (state.id, state.game.code());
        let (ply, seq) = (state.ply, state.seq);
        let cells = (0..state.game.shape().cells()).map(|cell| match state.board.at(cell) {
            None => '.',
            Some(Seat::First) => 'x',
            Some(Seat::Second) => 'o',
        });
        let board: String = cells.collect();
        self.put(format_args!(
            r#","match":{id},"game":"{game}","first":"{first}","second":"{second}","ply":{ply},"seq":{seq},"board":"{board}""#
        ));
        if let Some(seat) = state.to_move() {
            self.put(format_args!(r#","to_move":"{}""#, seat.of(&state.players)));
        }
        if let Some(ending) = state.ending {
            self.put(format_args!(r#","ending":"{}""#, ending.code()));
            if let Some(winner) = ending.verdict().and_then(Verdict::winner) {
                let winner = winner.of(&state.players);
                self.put(format_args!(r#","winner":"{winner}""#));
            }
        }
    }

    fn source(&mut self, source: Source) {
        match source {
            Source::Here { match_id } => self.put(format_args!(r#","match":{match_id}"#)),
            Source::Arena { arena, match_id } => self.put(format_args!(
                r#","arena":"{arena:016x}","match":{match_id}"#
            )),
            Source::Foreign => {}
        }
    }

    fn result(&mut self, [first, second]: &[PlayerId; 2], verdict: Verdict) {
        let word = match verdict {
            Verdict::FirstWon => "first_won",
            Verdict::SecondWon => "second_won",
            Verdict::Drawn => "drawn",
        };
        self.put(format_args!(
            r#","first":"{first}","second":"{second}","verdict":"{word}""#
        ));
    }

    /// How both stand now, the first first.
    fn standings(&mut self, [first, second]: &[Standing; 2]) {
        self.put(format_args!(r#","standings":["#));
        self.standing(first);
        self.put(format_args!(","));
        self.standing(second);
        self.put(format_args!("]"));
    }

    fn standing(&mut self, standing: &Standing) {
        let tally = standing.tally;
        let (won, lost, drawn) = (tally.won, tally.lost, tally.drawn);
        self.put(format_args!(
            r#"{{"won":{won},"lost":{lost},"drawn":{drawn}"#
        ));
        if let Some(ratings) = standing.ratings {
            let (elo, glicko) = (ratings.elo_milli, ratings.glicko.points());
            self.put(format_args!(r#","elo_milli":{elo},"glicko":{glicko}"#));
        }
        self.put(format_args!("}}"));
    }
}

#[cfg(test)]
mod tests {
    use turnstile_games::{Change, Ending, Game, MatchId, MatchResult, Parcel, Tally, play};
    use turnstile_types::{Position, Timestamp};

    use super::*;

    fn state() -> MatchView {
        let game = Game::TicTacToe;
        let begun = MatchView::begun(MatchId(7), game, players(), Timestamp(0));
        let played = play(game, &begun.board, Seat::First, 5).unwrap();
        MatchView {
            board: played.board,
            ply: 1,
            seq: 2,
            last: Some(4),
            ..begun
        }
    }

    fn players() -> [PlayerId; 2] {
        ["1", "2"].map(|name| PlayerId::parse(name.as_bytes()).unwrap())
    }

    #[track_caller]
    fn check(kind: EventKind, rest: &str) {
        let event = Event {
            position: Position(12),
            ordinal: 1,
            at: Timestamp(0),
            kind,
        };
        let json = event_json(&event);
        let head = r#"{"position":12,"ordinal":1,"at":"1970-01-01T00:00:00.000Z","event":"#;
        assert_eq!(json, format!("{head}{rest}}}"));
        serde_json::from_str::<serde_json::Value>(&json).unwrap();
    }

    #[test]
    fn who_waits_is_told_with_what_applies() {
        let [player, opponent] = players();
        let game = Game::TicTacToe;
        let challenged = EventKind::Challenged {
            player,
            opponent,
            game,
        };
        check(
            challenged,
            r#""challenged","player":"1","opponent":"2","game":"tic-tac-toe""#,
        );
        let seeking = EventKind::Seeking { player, game };
        check(seeking, r#""seeking","player":"1","game":"tic-tac-toe""#);
        check(
            EventKind::Withdrawn { player },
            r#""withdrawn","player":"1""#,
        );
    }

    #[test]
    fn a_match_is_told_as_it_is() {
        let seat = Seat::First;
        let state = state();
        let over = MatchView {
            ending: Some(Ending::Left { winner: seat }),
            ..state
        };
        let board = r#""match":7,"game":"tic-tac-toe","first":"1","second":"2","ply":1,"seq":2,"board":"....x....""#;
        let change = Change::Moved { seat };
        let moved = EventKind::Match { change, state };
        check(moved, &format!(r#""moved",{board},"to_move":"2""#));
        let ended = EventKind::Match {
            change: Change::Ended,
            state: over,
        };
        let rest = format!(r#""ended",{board},"ending":"left","winner":"1""#);
        check(ended, &rest);
    }

    #[test]
    fn a_result_is_told_with_how_both_stand() {
        let match_id = MatchId(7);
        let standing = |won, lost| Standing {
            tally: Tally {
                won,
                lost,
                drawn: 0,
            },
            ratings: None,
        };
        let standings = [standing(1, 0), standing(0, 1)];
        let (players, verdict) = (players(), Verdict::FirstWon);
        let result = MatchResult {
            match_id,
            game: Game::TicTacToe,
            players,
            verdict,
        };
        let reported = EventKind::Reported(Parcel {
            arena: 3,
            number: 4,
            result,
        });
        let both = r#""first":"1","second":"2""#;
        let how = format!(r#"{both},"verdict":"first_won""#);
        let told = r#""standings":[{"won":1,"lost":0,"drawn":0},{"won":0,"lost":1,"drawn":0}]"#;
        check(
            reported,
            &format!(r#""reported","number":4,"match":7,{how}"#),
        );
        let counted = |source| EventKind::Counted {
            source,
            players,
            verdict,
            standings,
        };
        let arena = r#""arena":"00000000000000ff","match":7"#;
        let distant = counted(Source::Arena {
            arena: 255,
            match_id,
        });
        check(distant, &format!(r#""counted",{arena},{how},{told}"#));
        check(
            counted(Source::Foreign),
            &format!(r#""counted",{how},{told}"#),
        );
        let scored = EventKind::Scored {
            match_id,
            players,
            standings,
        };
        check(scored, &format!(r#""scored","match":7,{both},{told}"#));
    }
}
