//! The answers that stewards read.

use turnstile_check::games::{
    ClubAnswer, ClubRefusal, ClubRequest, GameKind, MatchChange, MatchEnding, MatchState,
    PlayerActivity, STRANGER, ScoreTally, Versus, WitnessBoard,
};
use turnstile_client::resp::Token;

use super::words::word_of_game;
use crate::{
    again::KeyedReply,
    pace::Garbled,
    reply::{Tokens, error},
};

/// What stands in an answer to a move, behind the number of the match.
const CHANGED: [&[u8]; 6] = [b"ply", b"seq", b"last", b"to_move", b"ending", b"winner"];

/// The names of a run's players.
#[derive(Debug)]
pub(crate) struct PlayerNames {
    stem: Vec<u8>,
    /// The number of the first.
    first: u32,
    names: Vec<Vec<u8>>,
}

/// The fields of an answer.
#[derive(Clone, Copy, Debug, Default)]
struct GamesFields<'a> {
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
    facts: MatchFields<'a>,
    /// Those that are.
    state: Option<MatchFields<'a>>,
    /// The game that a ticket is for.
    ticket: Option<GameKind>,
}

/// The fields of a match.
#[derive(Clone, Copy, Debug, Default)]
struct MatchFields<'a> {
    number: Option<u64>,
    game: Option<GameKind>,
    first: Option<u16>,
    second: Option<u16>,
    board: Option<&'a [u8]>,
    ply: Option<u16>,
    changes: Option<u32>,
    last: Option<u8>,
    to_move: Option<u16>,
    offer: Option<u16>,
    ending: Option<MatchEnding>,
    winner: Option<u16>,
}

impl PlayerNames {
    /// So many names that no run has used which began at another position.
    pub(crate) fn of_run(position: u64, players: u16) -> Self {
        Self::new(format!("c{position}-"), 0, usize::from(players))
    }

    /// So many numbers, whose decimal digits are names: those of players on the original's wire.
    pub(super) fn numbered(first: u32, players: usize) -> Self {
        Self::new(String::new(), first, players)
    }

    fn new(stem: String, first: u32, players: usize) -> Self {
        let name = |number: u32| format!("{stem}{number}").into_bytes();
        let names = (first..).take(players).map(name).collect();
        let stem = stem.into_bytes();
        Self { stem, first, names }
    }

    pub(crate) fn of(&self, player: u16) -> &[u8] {
        &self.names[usize::from(player)]
    }

    fn find(&self, name: &[u8]) -> u16 {
        let number = || {
            let digits = str::from_utf8(name.strip_prefix(&*self.stem)?).ok()?;
            u16::try_from(digits.parse::<u32>().ok()?.checked_sub(self.first)?).ok()
        };
        let known = |player: &u16| {
            let known = self.names.get(usize::from(*player));
            known.is_some_and(|known| known == name)
        };
        number().filter(known).unwrap_or(STRANGER)
    }
}

/// Reads a whole reply in RESP3 to what was asked.
pub(crate) fn told<'a>(
    reply: &'a [u8],
    ask: &ClubRequest,
    names: &PlayerNames,
) -> Result<KeyedReply<'a, ClubAnswer>, Garbled> {
    if let Some(code) = error(reply)? {
        return Ok(KeyedReply::Error(code));
    }
    let fields = GamesFields::read(reply, names)?;
    let (answer, position) = if ask.is_reading() {
        (fields.shown(ask)?, None)
    } else {
        (fields.outcome(ask)?, Some(fields.position.ok_or(Garbled)?))
    };
    let refused = fields.reason.filter(|_reason| !ask.is_reading());
    Ok(KeyedReply::Answered {
        position,
        answer,
        refused,
    })
}

/// Reads a whole reply in RESP2 to a beginning or a move that was done.
pub(super) fn done_briefly(
    reply: &[u8],
    ask: &ClubRequest,
    names: &PlayerNames,
) -> Result<ClubAnswer, Garbled> {
    let mut tokens = Tokens(reply);
    // An array, and that it was done.
    let _start = (tokens.next()?, tokens.next()?);
    let mut facts = MatchFields::default();
    match (ask, tokens.next()?) {
        (ClubRequest::Begin { .. }, Token::Array(words)) => {
            let facts = MatchFields::read(&mut tokens, words / 2, names)?;
            Ok(ClubAnswer::Begun(facts.state()?))
        }
        (ClubRequest::Act { .. }, number) => {
            facts.take(b"match", number, names)?;
            for name in CHANGED {
                facts.take(name, scalar(tokens.next()?)?, names)?;
            }
            Ok(ClubAnswer::Acted(facts.change()?))
        }
        _ => Err(Garbled),
    }
}

impl<'a> GamesFields<'a> {
    fn read(reply: &'a [u8], names: &PlayerNames) -> Result<Self, Garbled> {
        let mut tokens = Tokens(reply);
        let mut fields = Self::default();
        for _ in 0..tokens.pairs()? {
            let name = tokens.text()?;
            match (name, tokens.next()?) {
                (b"state", Token::Map(pairs)) => {
                    fields.state = Some(MatchFields::read(&mut tokens, pairs, names)?);
                }
                (b"ticket", Token::Map(pairs)) => {
                    fields.ticket = Some(
                        MatchFields::read(&mut tokens, pairs, names)?
                            .game
                            .ok_or(Garbled)?,
                    );
                }
                (_, token) => fields.take(name, scalar(token)?, names)?,
            }
        }
        Ok(fields)
    }

    fn take(&mut self, name: &[u8], token: Token<'a>, names: &PlayerNames) -> Result<(), Garbled> {
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
    fn shown(&self, ask: &ClubRequest) -> Result<ClubAnswer, Garbled> {
        Ok(match (ask, self.reason) {
            (ClubRequest::Match { .. }, None) => ClubAnswer::Match(Some(self.facts.state()?)),
            (ClubRequest::Match { .. }, Some(b"no_such_match")) => ClubAnswer::Match(None),
            (ClubRequest::Player { .. }, None) => ClubAnswer::Player(Some(self.activity()?)),
            (ClubRequest::Player { .. }, Some(b"no_such_player")) => ClubAnswer::Player(None),
            (ClubRequest::Standing { .. }, None) => ClubAnswer::Standing(Some(self.tally()?)),
            (ClubRequest::Standing { .. }, Some(b"no_such_player")) => ClubAnswer::Standing(None),
            (ClubRequest::Against { .. }, None) => ClubAnswer::Against(self.versus()?),
            _ => return Err(Garbled),
        })
    }

    fn activity(&self) -> Result<PlayerActivity, Garbled> {
        Ok(match self.activity.ok_or(Garbled)? {
            b"idle" => PlayerActivity::Idle,
            b"challenging" => {
                let opponent = self.opponent.ok_or(Garbled)?;
                PlayerActivity::Challenging(opponent, self.facts.game.ok_or(Garbled)?)
            }
            b"seeking" => PlayerActivity::Seeking(self.ticket.ok_or(Garbled)?),
            b"playing" => PlayerActivity::Playing(self.state()?),
            _ => return Err(Garbled),
        })
    }

    fn tally(&self) -> Result<ScoreTally, Garbled> {
        Ok(ScoreTally {
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

    fn state(&self) -> Result<MatchState, Garbled> {
        self.state.ok_or(Garbled)?.state()
    }

    /// What became of something that may change anything.
    fn outcome(&self, ask: &ClubRequest) -> Result<ClubAnswer, Garbled> {
        if !self.done {
            return Ok(ClubAnswer::Refused(self.refusal()?));
        }
        Ok(match ask {
            ClubRequest::Begin { .. } => ClubAnswer::Begun(self.state()?),
            ClubRequest::Challenge { .. } | ClubRequest::Seek { .. } if self.state.is_some() => {
                ClubAnswer::Begun(self.state()?)
            }
            ClubRequest::Challenge { .. } => ClubAnswer::Challenged,
            ClubRequest::Seek { .. } => ClubAnswer::Seeking(self.ticket.ok_or(Garbled)?),
            ClubRequest::Withdraw { .. } => ClubAnswer::Withdrawn,
            ClubRequest::Act { .. } => ClubAnswer::Acted(self.facts.change()?),
            _ => return Err(Garbled),
        })
    }

    fn refusal(&self) -> Result<ClubRefusal, Garbled> {
        let player = || self.player.ok_or(Garbled);
        Ok(match self.reason.ok_or(Garbled)? {
            b"same_player" => ClubRefusal::SamePlayer,
            b"playing" => ClubRefusal::Playing {
                player: player()?,
                number: self.facts.number.ok_or(Garbled)?,
            },
            b"waiting" => ClubRefusal::Waiting { player: player()? },
            b"not_waiting" => ClubRefusal::NotWaiting,
            b"no_such_match" => ClubRefusal::NoSuchMatch,
            b"not_seated" => ClubRefusal::NotSeated,
            b"over" => ClubRefusal::Over(self.state()?),
            b"stale" => ClubRefusal::Stale(self.state()?),
            b"not_your_turn" => ClubRefusal::NotYourTurn(self.state()?),
            b"no_such_cell" => ClubRefusal::NoSuchCell,
            b"taken" => ClubRefusal::Taken,
            b"false_claim" => ClubRefusal::FalseClaim,
            b"no_offer" => ClubRefusal::NoOffer,
            b"offer_stands" => ClubRefusal::OfferStands,
            b"too_late" => ClubRefusal::TooLate,
            _ => ClubRefusal::Strange,
        })
    }
}

impl<'a> MatchFields<'a> {
    fn read(tokens: &mut Tokens<'a>, pairs: usize, names: &PlayerNames) -> Result<Self, Garbled> {
        let mut facts = Self::default();
        for _ in 0..pairs {
            let name = tokens.text()?;
            facts.take(name, scalar(tokens.next()?)?, names)?;
        }
        Ok(facts)
    }

    fn take(&mut self, name: &[u8], token: Token<'a>, names: &PlayerNames) -> Result<(), Garbled> {
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

    fn state(&self) -> Result<MatchState, Garbled> {
        let players = self.first.zip(self.second).ok_or(Garbled)?;
        let (game, cells) = self.game.zip(self.board).ok_or(Garbled)?;
        Ok(MatchState {
            number: self.number.ok_or(Garbled)?,
            players: players.into(),
            board: WitnessBoard::parse(game, cells).ok_or(Garbled)?,
            ply: self.ply.ok_or(Garbled)?,
            changes: self.changes.ok_or(Garbled)?,
            last: self.last,
            to_move: self.to_move,
            offer: self.offer,
            ending: self.ending,
            winner: self.winner,
        })
    }

    fn change(&self) -> Result<MatchChange, Garbled> {
        Ok(MatchChange {
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

fn game(word: &[u8]) -> Result<GameKind, Garbled> {
    let mut all = GameKind::ALL.into_iter();
    all.find(|game| word_of_game(*game) == word).ok_or(Garbled)
}

fn ending(word: &[u8]) -> Result<MatchEnding, Garbled> {
    Ok(match word {
        b"line" => MatchEnding::Line,
        b"resigned" => MatchEnding::Resigned,
        b"full" => MatchEnding::Full,
        b"agreed" => MatchEnding::Agreed,
        b"aborted" => MatchEnding::Aborted,
        b"timed_out" | b"left" | b"claimed" => MatchEnding::Clock,
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
    use turnstile_check::games::MatchDeed;

    use super::*;

    const MOVE: ClubRequest = ClubRequest::Act {
        number: 7,
        player: 0,
        deed: MatchDeed::Resign,
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

    fn names() -> PlayerNames {
        PlayerNames::of_run(12, 8)
    }

    fn answered(reply: &str, ask: &ClubRequest) -> Result<(Option<u64>, ClubAnswer), Garbled> {
        match told(reply.as_bytes(), ask, &names())? {
            KeyedReply::Answered {
                position, answer, ..
            } => Ok((position, answer)),
            KeyedReply::Error(_) | KeyedReply::Waits => panic!("{reply}"),
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

    fn expected(first: u16) -> MatchState {
        let mut state = MatchState::new(7, GameKind::TicTacToe, [first, 3]);
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
        let answer = ClubAnswer::Refused(ClubRefusal::Stale(expected(0)));
        assert_eq!(answered(&stale, &MOVE), Ok((Some(9), answer)));
        let looks = ClubRequest::Match { number: 7 };
        let answer = ClubAnswer::Match(Some(expected(0)));
        assert_eq!(answered(&state, &looks), Ok((None, answer)));
        let playing = map(&[("activity", "playing"), ("state", &state)]);
        let answer = ClubAnswer::Player(Some(PlayerActivity::Playing(expected(0))));
        let asks = ClubRequest::Player { player: 0 };
        assert_eq!(answered(&playing, &asks), Ok((None, answer)));
    }

    #[test]
    fn whoever_is_not_of_the_run_is_a_stranger() {
        for name in ["ada", "c12-8", "c12-03", "c12-", "c1-0"] {
            let answer = ClubAnswer::Match(Some(expected(STRANGER)));
            let looks = ClubRequest::Match { number: 7 };
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
        state.end(MatchEnding::Clock, Some(3));
        let answer = ClubAnswer::Acted(state.change());
        assert_eq!(answered(&ended, &MOVE), Ok((Some(9), answer)));
        let refused = |reason| map(&[("outcome", "refused"), ("reason", reason), position]);
        for (reason, refusal) in [
            ("taken", ClubRefusal::Taken),
            ("no_offer", ClubRefusal::NoOffer),
            ("scores_away", ClubRefusal::Strange),
        ] {
            let answer = ClubAnswer::Refused(refusal);
            assert_eq!(answered(&refused(reason), &MOVE), Ok((Some(9), answer)));
        }
        let absent = map(&[("outcome", "refused"), ("reason", "no_such_player")]);
        let asks = ClubRequest::Standing { player: 1 };
        assert_eq!(
            answered(&absent, &asks),
            Ok((None, ClubAnswer::Standing(None)))
        );
        // Without a position there is no order.
        let nowhere = map(&[("outcome", "refused"), ("reason", "taken")]);
        assert_eq!(answered(&nowhere, &MOVE), Err(Garbled));
        let told = told(b"-BUSY later\r\n", &MOVE, &names());
        assert_eq!(told, Ok(KeyedReply::Error(b"BUSY")));
    }
}
