//! The answers that stewards read.

use turnstile_check::games::{
    Activity, Answer, Ask, Board, Change, Ending, Game, Refusal, STRANGER, State, Tally, Versus,
};
use turnstile_client::resp::Token;

use super::words::word_of_game;
use crate::{
    pace::Garbled,
    reply::{Tokens, error},
};

/// The names of a run's players.
#[derive(Debug)]
pub(super) struct Names {
    stem: Vec<u8>,
    names: Vec<Vec<u8>>,
}

/// What a steward was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told<'a> {
    Error(&'a [u8]),
    Answered {
        /// Of what may change anything.
        position: Option<u64>,
        answer: Answer,
        /// Why it was refused.
        refused: Option<&'a [u8]>,
    },
}

/// The fields of an answer.
#[derive(Clone, Copy, Debug, Default)]
struct Fields<'a> {
    done: bool,
    reason: Option<&'a [u8]>,
    position: Option<u64>,
    player: Option<u16>,
    opponent: Option<u16>,
    activity: Option<&'a [u8]>,
    played: Option<u64>,
    won: Option<u64>,
    lost: Option<u64>,
    drawn: Option<u64>,
    /// Those of a match that are not in a map of their own.
    facts: Facts<'a>,
    /// Those that are.
    state: Option<Facts<'a>>,
    /// The game that a ticket is for.
    ticket: Option<Game>,
}

/// The fields of a match.
#[derive(Clone, Copy, Debug, Default)]
struct Facts<'a> {
    number: Option<u64>,
    game: Option<Game>,
    first: Option<u16>,
    second: Option<u16>,
    board: Option<&'a [u8]>,
    ply: Option<u16>,
    changes: Option<u32>,
    last: Option<u8>,
    to_move: Option<u16>,
    offer: Option<u16>,
    ending: Option<Ending>,
    winner: Option<u16>,
}

impl Names {
    /// So many names that no run has used which began at another position.
    pub(super) fn of_run(position: u64, players: u16) -> Self {
        let stem = format!("c{position}-").into_bytes();
        let name = |player: u16| [&*stem, player.to_string().as_bytes()].concat();
        let names = (0..players).map(name).collect();
        Self { stem, names }
    }

    pub(super) fn of(&self, player: u16) -> &[u8] {
        &self.names[usize::from(player)]
    }

    fn find(&self, name: &[u8]) -> u16 {
        let digits = name.strip_prefix(&*self.stem);
        let player = digits.and_then(|digits| str::from_utf8(digits).ok()?.parse().ok());
        let known = |player: &u16| {
            self.names
                .get(usize::from(*player))
                .is_some_and(|known| known == name)
        };
        player.filter(known).unwrap_or(STRANGER)
    }
}

/// Reads a whole reply in RESP3 to what was asked.
pub(super) fn told<'a>(reply: &'a [u8], ask: &Ask, names: &Names) -> Result<Told<'a>, Garbled> {
    if let Some(code) = error(reply)? {
        return Ok(Told::Error(code));
    }
    let fields = Fields::read(reply, names)?;
    let (answer, position) = if ask.is_reading() {
        (fields.shown(ask)?, None)
    } else {
        (fields.outcome(ask)?, Some(fields.position.ok_or(Garbled)?))
    };
    let refused = fields.reason.filter(|_reason| !ask.is_reading());
    Ok(Told::Answered {
        position,
        answer,
        refused,
    })
}

impl<'a> Fields<'a> {
    fn read(reply: &'a [u8], names: &Names) -> Result<Self, Garbled> {
        let mut tokens = Tokens(reply);
        let mut fields = Self::default();
        for _ in 0..tokens.pairs()? {
            let name = tokens.text()?;
            match (name, tokens.next()?) {
                (b"state", Token::Map(pairs)) => {
                    fields.state = Some(Facts::read(&mut tokens, pairs, names)?);
                }
                (b"ticket", Token::Map(pairs)) => {
                    fields.ticket = Some(
                        Facts::read(&mut tokens, pairs, names)?
                            .game
                            .ok_or(Garbled)?,
                    );
                }
                (_, token) => fields.take(name, scalar(token)?, names)?,
            }
        }
        Ok(fields)
    }

    fn take(&mut self, name: &[u8], token: Token<'a>, names: &Names) -> Result<(), Garbled> {
        match (name, token) {
            (b"outcome", Token::Bulk(word)) => self.done = word == b"done",
            (b"reason", Token::Bulk(word)) => self.reason = Some(word),
            (b"activity", Token::Bulk(word)) => self.activity = Some(word),
            (b"player", Token::Bulk(player)) => self.player = Some(names.find(player)),
            (b"opponent", Token::Bulk(player)) => self.opponent = Some(names.find(player)),
            (b"position", Token::Integer(count)) => self.position = number(count)?,
            (b"played", Token::Integer(count)) => self.played = number(count)?,
            (b"won", Token::Integer(count)) => self.won = number(count)?,
            (b"lost", Token::Integer(count)) => self.lost = number(count)?,
            (b"drawn", Token::Integer(count)) => self.drawn = number(count)?,
            _ => self.facts.take(name, token, names)?,
        }
        Ok(())
    }

    /// What somebody reads.
    fn shown(&self, ask: &Ask) -> Result<Answer, Garbled> {
        Ok(match (ask, self.reason) {
            (Ask::Match { .. }, None) => Answer::Match(Some(self.facts.state()?)),
            (Ask::Match { .. }, Some(b"no_such_match")) => Answer::Match(None),
            (Ask::Player { .. }, None) => Answer::Player(Some(self.activity()?)),
            (Ask::Player { .. }, Some(b"no_such_player")) => Answer::Player(None),
            (Ask::Standing { .. }, None) => Answer::Standing(Some(self.tally()?)),
            (Ask::Standing { .. }, Some(b"no_such_player")) => Answer::Standing(None),
            (Ask::Against { .. }, None) => Answer::Against(self.versus()?),
            _ => return Err(Garbled),
        })
    }

    fn activity(&self) -> Result<Activity, Garbled> {
        Ok(match self.activity.ok_or(Garbled)? {
            b"idle" => Activity::Idle,
            b"challenging" => {
                let opponent = self.opponent.ok_or(Garbled)?;
                Activity::Challenging(opponent, self.facts.game.ok_or(Garbled)?)
            }
            b"seeking" => Activity::Seeking(self.ticket.ok_or(Garbled)?),
            b"playing" => Activity::Playing(self.state()?),
            _ => return Err(Garbled),
        })
    }

    fn tally(&self) -> Result<Tally, Garbled> {
        Ok(Tally {
            played: self.played.ok_or(Garbled)?,
            won: self.won.ok_or(Garbled)?,
            lost: self.lost.ok_or(Garbled)?,
            drawn: self.drawn.ok_or(Garbled)?,
        })
    }

    fn versus(&self) -> Result<Versus, Garbled> {
        Ok(Versus {
            won: self.won.ok_or(Garbled)?,
            lost: self.lost.ok_or(Garbled)?,
            drawn: self.drawn.ok_or(Garbled)?,
        })
    }

    fn state(&self) -> Result<State, Garbled> {
        self.state.ok_or(Garbled)?.state()
    }

    /// What became of something that may change anything.
    fn outcome(&self, ask: &Ask) -> Result<Answer, Garbled> {
        if !self.done {
            return Ok(Answer::Refused(self.refusal()?));
        }
        Ok(match ask {
            Ask::Begin { .. } => Answer::Begun(self.state()?),
            Ask::Challenge { .. } | Ask::Seek { .. } if self.state.is_some() => {
                Answer::Begun(self.state()?)
            }
            Ask::Challenge { .. } => Answer::Challenged,
            Ask::Seek { .. } => Answer::Seeking(self.ticket.ok_or(Garbled)?),
            Ask::Withdraw { .. } => Answer::Withdrawn,
            Ask::Act { .. } => Answer::Acted(self.facts.change()?),
            _ => return Err(Garbled),
        })
    }

    fn refusal(&self) -> Result<Refusal, Garbled> {
        let player = || self.player.ok_or(Garbled);
        Ok(match self.reason.ok_or(Garbled)? {
            b"same_player" => Refusal::SamePlayer,
            b"playing" => Refusal::Playing {
                player: player()?,
                number: self.facts.number.ok_or(Garbled)?,
            },
            b"waiting" => Refusal::Waiting { player: player()? },
            b"not_waiting" => Refusal::NotWaiting,
            b"no_such_match" => Refusal::NoSuchMatch,
            b"not_seated" => Refusal::NotSeated,
            b"over" => Refusal::Over(self.state()?),
            b"stale" => Refusal::Stale(self.state()?),
            b"not_your_turn" => Refusal::NotYourTurn(self.state()?),
            b"no_such_cell" => Refusal::NoSuchCell,
            b"taken" => Refusal::Taken,
            b"false_claim" => Refusal::FalseClaim,
            b"no_offer" => Refusal::NoOffer,
            b"offer_stands" => Refusal::OfferStands,
            b"too_late" => Refusal::TooLate,
            _ => Refusal::Strange,
        })
    }
}

impl<'a> Facts<'a> {
    fn read(tokens: &mut Tokens<'a>, pairs: usize, names: &Names) -> Result<Self, Garbled> {
        let mut facts = Self::default();
        for _ in 0..pairs {
            let name = tokens.text()?;
            facts.take(name, scalar(tokens.next()?)?, names)?;
        }
        Ok(facts)
    }

    fn take(&mut self, name: &[u8], token: Token<'a>, names: &Names) -> Result<(), Garbled> {
        match (name, token) {
            (b"match", Token::Integer(count)) => self.number = number(count)?,
            (b"ply", Token::Integer(count)) => self.ply = number(count)?,
            (b"seq", Token::Integer(count)) => self.changes = number(count)?,
            (b"last", Token::Integer(count)) => self.last = number(count)?,
            (b"first", Token::Bulk(player)) => self.first = Some(names.find(player)),
            (b"second", Token::Bulk(player)) => self.second = Some(names.find(player)),
            (b"to_move", Token::Bulk(player)) => self.to_move = Some(names.find(player)),
            (b"offer", Token::Bulk(player)) => self.offer = Some(names.find(player)),
            (b"winner", Token::Bulk(player)) => self.winner = Some(names.find(player)),
            (b"board", Token::Bulk(cells)) => self.board = Some(cells),
            (b"ending", Token::Bulk(word)) => self.ending = Some(ending(word)?),
            (b"game", Token::Bulk(word)) => self.game = Some(game(word)?),
            // Instants, ratings, and a mark that it was replayed: it is the first answer.
            _ => {}
        }
        Ok(())
    }

    fn state(&self) -> Result<State, Garbled> {
        let players = self.first.zip(self.second).ok_or(Garbled)?;
        let (game, cells) = self.game.zip(self.board).ok_or(Garbled)?;
        Ok(State {
            number: self.number.ok_or(Garbled)?,
            players: players.into(),
            board: Board::parse(game, cells).ok_or(Garbled)?,
            ply: self.ply.ok_or(Garbled)?,
            changes: self.changes.ok_or(Garbled)?,
            last: self.last,
            to_move: self.to_move,
            offer: self.offer,
            ending: self.ending,
            winner: self.winner,
        })
    }

    fn change(&self) -> Result<Change, Garbled> {
        Ok(Change {
            number: self.number.ok_or(Garbled)?,
            ply: self.ply.ok_or(Garbled)?,
            changes: self.changes.ok_or(Garbled)?,
            last: self.last,
            to_move: self.to_move,
            ending: self.ending,
            winner: self.winner,
        })
    }
}

fn game(word: &[u8]) -> Result<Game, Garbled> {
    let mut all = Game::ALL.into_iter();
    all.find(|game| word_of_game(*game) == word).ok_or(Garbled)
}

fn ending(word: &[u8]) -> Result<Ending, Garbled> {
    Ok(match word {
        b"line" => Ending::Line,
        b"resigned" => Ending::Resigned,
        b"full" => Ending::Full,
        b"agreed" => Ending::Agreed,
        b"aborted" => Ending::Aborted,
        b"timed_out" | b"left" | b"claimed" => Ending::Clock,
        _ => return Err(Garbled),
    })
}

/// A token to which no others belong.
fn scalar(token: Token<'_>) -> Result<Token<'_>, Garbled> {
    match token {
        Token::Array(_) | Token::Map(_) | Token::Set(_) | Token::Push(_) => Err(Garbled),
        _ => Ok(token),
    }
}

fn number<N: TryFrom<i64>>(count: i64) -> Result<Option<N>, Garbled> {
    N::try_from(count)
        .map(Some)
        .map_err(|_out_of_range| Garbled)
}

#[cfg(test)]
mod tests {
    use turnstile_check::games::Deed;

    use super::*;

    const MOVE: Ask = Ask::Act {
        number: 7,
        player: 0,
        deed: Deed::Resign,
    };

    fn text(word: &str) -> String {
        format!("${}\r\n{word}\r\n", word.len())
    }

    /// Words are texts, unless they are whole values.
    fn map(pairs: &[(&str, &str)]) -> String {
        let mut reply = format!("%{}\r\n", pairs.len());
        for (name, value) in pairs {
            reply.push_str(&text(name));
            match value.chars().next() {
                Some(':' | '%' | '_') => reply.push_str(value),
                _ => reply.push_str(&text(value)),
            }
        }
        reply
    }

    fn names() -> Names {
        Names::of_run(12, 8)
    }

    fn answered(reply: &str, ask: &Ask) -> Result<(Option<u64>, Answer), Garbled> {
        match told(reply.as_bytes(), ask, &names())? {
            Told::Answered {
                position, answer, ..
            } => Ok((position, answer)),
            Told::Error(_) => panic!("{reply}"),
        }
    }

    fn state(first: &str) -> String {
        map(&[
            ("match", ":7\r\n"),
            ("game", "tic-tac-toe"),
            ("first", first),
            ("second", "c12-3"),
            ("board", "xo......."),
            ("ply", ":2\r\n"),
            ("seq", ":3\r\n"),
            ("last", ":2\r\n"),
            ("to_move", first),
            ("offer", "c12-3"),
            ("first_away", "_\r\n"),
            ("moved_at", "1970-01-01T00:00:00.000Z"),
            ("ending", "_\r\n"),
            ("winner", "_\r\n"),
        ])
    }

    fn expected(first: u16) -> State {
        let mut state = State::new(7, Game::TicTacToe, [first, 3]);
        state.play(1);
        state.play(2);
        state.offer(Some(3));
        state
    }

    #[test]
    fn a_match_is_read_wherever_it_is_shown() {
        let state = state("c12-0");
        let stale = map(&[
            ("outcome", "refused"),
            ("reason", "stale"),
            ("state", &state),
            ("position", ":9\r\n"),
        ]);
        let answer = Answer::Refused(Refusal::Stale(expected(0)));
        assert_eq!(answered(&stale, &MOVE), Ok((Some(9), answer)));
        let looks = Ask::Match { number: 7 };
        let answer = Answer::Match(Some(expected(0)));
        assert_eq!(answered(&state, &looks), Ok((None, answer)));
        let playing = map(&[("activity", "playing"), ("state", &state)]);
        let answer = Answer::Player(Some(Activity::Playing(expected(0))));
        let asks = Ask::Player { player: 0 };
        assert_eq!(answered(&playing, &asks), Ok((None, answer)));
    }

    #[test]
    fn whoever_is_not_of_the_run_is_a_stranger() {
        for name in ["ada", "c12-8", "c12-03", "c12-", "c1-0"] {
            let answer = Answer::Match(Some(expected(STRANGER)));
            let looks = Ask::Match { number: 7 };
            assert_eq!(answered(&state(name), &looks), Ok((None, answer)), "{name}");
        }
    }

    #[test]
    fn what_was_changed_and_what_was_refused_is_read_with_its_position() {
        let position = ("position", ":9\r\n");
        let ended = map(&[
            ("outcome", "done"),
            ("match", ":7\r\n"),
            ("ply", ":2\r\n"),
            ("seq", ":4\r\n"),
            ("last", ":2\r\n"),
            ("to_move", "_\r\n"),
            ("ending", "timed_out"),
            ("winner", "c12-3"),
            position,
        ]);
        let mut state = expected(0);
        state.end(Ending::Clock, Some(3));
        let answer = Answer::Acted(state.change());
        assert_eq!(answered(&ended, &MOVE), Ok((Some(9), answer)));
        let refused = |reason| map(&[("outcome", "refused"), ("reason", reason), position]);
        for (reason, refusal) in [
            ("taken", Refusal::Taken),
            ("no_offer", Refusal::NoOffer),
            ("scores_away", Refusal::Strange),
        ] {
            let answer = Answer::Refused(refusal);
            assert_eq!(answered(&refused(reason), &MOVE), Ok((Some(9), answer)));
        }
        let absent = map(&[("outcome", "refused"), ("reason", "no_such_player")]);
        let asks = Ask::Standing { player: 1 };
        assert_eq!(answered(&absent, &asks), Ok((None, Answer::Standing(None))));
        // Without a position there is no order.
        let nowhere = map(&[("outcome", "refused"), ("reason", "taken")]);
        assert_eq!(answered(&nowhere, &MOVE), Err(Garbled));
        let told = told(b"-BUSY later\r\n", &MOVE, &names());
        assert_eq!(told, Ok(Told::Error(b"BUSY")));
    }
}
