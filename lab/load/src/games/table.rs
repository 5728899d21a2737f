//! A table at which two play the script over RESP: both moves go over one connection, in turn.

use std::num::NonZeroU64;

use turnstile_client::resp::{self, Limits, Token};

use super::player::Games;
use crate::{
    door::code,
    pace::{Answer, Ended, Garbled, Heard, User},
};

/// Moves of the script: the cells 1 to 7 in order. Who begins wins with the last.
const MOVES: u8 = 7;

/// How a match ends that the script has played.
const ENDING: &[u8] = b"line";

/// Tokens of an answer to a move, up to how it ended and who won.
const MOVED_TOKENS: usize = 9;

/// The digits of the largest number.
const DIGITS_MAX: usize = 20;

/// Two players at one connection.
#[derive(Debug)]
pub(super) struct Table {
    pair: [u32; 2],
    /// The same in decimal digits: whoever plays under this number on the ancestor's wire.
    names: [String; 2],
    /// Games left to play, and whether they were a number from the start.
    left: u64,
    is_limited: bool,
    /// Which of the two begins; they take turns.
    first: usize,
    /// The number of the match, while one is played, and how many moves are made.
    playing: Option<(u64, u8)>,
    /// That number's digits.
    digits: Vec<u8>,
    due: u64,
    free: u64,
    ended: bool,
    /// The games of each that have ended.
    pub(super) played: [Games; 2],
    /// Whether a game may have ended of which nobody knows.
    pub(super) doubt: bool,
    pub(super) fault: Option<Fault>,
}

/// What ended the games at a table too early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The connection ended. That need not be the server's fault.
    Lost,
    /// The server refused what it must not, or could not do it; its words.
    Refused(String),
    /// A move was answered by something else than what the script has come to.
    Answered(String),
}

/// What was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    Begin,
    /// A move, with how many were made before.
    Move(u8),
}

impl Table {
    /// Of two who play so many games; none: as long as the run lasts.
    pub(super) fn new(pair: [u32; 2], games: Option<NonZeroU64>) -> Self {
        Self {
            pair,
            names: pair.map(|name| name.to_string()),
            left: games.map_or(u64::MAX, NonZeroU64::get),
            is_limited: games.is_some(),
            first: 0,
            playing: None,
            digits: Vec::with_capacity(DIGITS_MAX),
            due: 0,
            free: 0,
            ended: false,
            played: [Games::default(); 2],
            doubt: false,
            fault: None,
        }
    }

    pub(super) const fn pair(&self) -> [u32; 2] {
        self.pair
    }

    pub(super) const fn names(&self) -> &[String; 2] {
        &self.names
    }

    /// Whether a game was left unfinished, or not all that were to be played were.
    pub(super) const fn is_left(&self) -> bool {
        self.fault.is_some() || self.playing.is_some() || !self.is_counted_out()
    }

    /// Whether it has played the games that it was to play, if that was a number.
    const fn is_counted_out(&self) -> bool {
        self.left == 0 || !self.is_limited
    }

    fn name(&self, seat: usize) -> &[u8] {
        self.names[(self.first + seat) % 2].as_bytes()
    }

    fn stop(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
    }

    /// Takes what was done, and is told by these tokens.
    fn take(&mut self, ask: Ask, tokens: &[Token<'_>]) -> Result<(), ()> {
        match ask {
            Ask::Begin => {
                let [_, _, _, Token::Bulk(b"match"), Token::Integer(number), ..] = tokens else {
                    return Err(());
                };
                let number = u64::try_from(*number).map_err(|_negative| ())?;
                self.playing = Some((number, 0));
                self.digits.clear();
                resp::put_decimal(&mut self.digits, number);
            }
            Ask::Move(before) => {
                let [_, _, Token::Integer(number), Token::Integer(ply), ..] = tokens else {
                    return Err(());
                };
                let made = before + 1;
                let (playing, _) = self.playing.ok_or(())?;
                if i64::try_from(playing) != Ok(*number) || i64::from(made) != *ply {
                    return Err(());
                }
                let [.., ending, winner] = tokens else {
                    return Err(());
                };
                let won = [Token::Bulk(ENDING), Token::Bulk(self.name(0))];
                match (made == MOVES, *ending == Token::Null) {
                    (false, true) => self.playing = Some((playing, made)),
                    (true, false) if [*ending, *winner] == won => self.end(),
                    (false | true, _) => return Err(()),
                }
            }
        }
        Ok(())
    }

    /// Who began has won.
    fn end(&mut self) {
        self.played[self.first].won += 1;
        self.played[1 - self.first].lost += 1;
        self.playing = None;
        self.first = 1 - self.first;
        self.left -= 1;
        self.ended = true;
    }
}

impl User for Table {
    type Ask = Ask;

    const OPERATIONS: &'static [&'static str] = &["begin", "move"];

    const WHOLES: &'static [&'static str] = &["game"];

    const REQUEST_BYTES_MAX: usize = 128;

    fn goes_on(&self) -> bool {
        self.playing.is_some()
    }

    fn disconnected(&mut self) -> bool {
        if self.left > 0 {
            self.doubt = matches!(self.playing, Some((_, made)) if made + 1 == MOVES);
            self.stop(Fault::Lost);
        }
        false
    }

    fn ask(&mut self, out: &mut Vec<u8>) -> Option<Ask> {
        if self.left == 0 || self.fault.is_some() {
            return None;
        }
        let Some((_, made)) = self.playing else {
            let (one, two) = (self.name(0), self.name(1));
            resp::put_command(out, &[b"GAMES.BEGIN", one, two, b"tic-tac-toe"]);
            return Some(Ask::Begin);
        };
        resp::put_count(out, b'*', 5);
        resp::put_bulk(out, b"GAMES.MOVE");
        resp::put_bulk(out, &self.digits);
        resp::put_bulk(out, self.name(usize::from(made % 2)));
        resp::put_bulk(out, &[b'0' + made]);
        resp::put_bulk(out, &[b'1' + made]);
        Some(Ask::Move(made))
    }

    fn operation(ask: &Ask) -> usize {
        usize::from(*ask != Ask::Begin)
    }

    fn hear<'a>(&mut self, ask: &Ask, bytes: &'a [u8]) -> Result<Option<Heard<'a>>, Garbled> {
        let garbled = |_malformed| Garbled;
        let Some(length) = resp::reply_length(bytes, &Limits::REPLY).map_err(garbled)? else {
            return Ok(None);
        };
        let mut tokens = [Token::Null; MOVED_TOKENS];
        let mut rest = &bytes[..length];
        let mut count = 0;
        while count < MOVED_TOKENS
            && let Some((token, used)) = resp::token(rest, &Limits::REPLY).map_err(garbled)?
        {
            tokens[count] = token;
            rest = &rest[used..];
            count += 1;
        }
        let told = |words: &[u8]| words.escape_ascii().to_string();
        let answer = match &tokens[..count] {
            [Token::Error(text), ..] => {
                self.stop(Fault::Refused(told(text)));
                Answer::Error(code(text))
            }
            [Token::Array(_), Token::Integer(0), Token::Bulk(reason), ..] => {
                self.stop(Fault::Refused(told(reason)));
                Answer::Refused(reason)
            }
            [Token::Array(_), Token::Integer(1), ..] => {
                if self.take(*ask, &tokens[..count]).is_err() {
                    self.stop(Fault::Answered(told(&bytes[..length])));
                }
                Answer::Done
            }
            _ => return Err(Garbled),
        };
        Ok(Some(Heard { length, answer }))
    }

    fn heard(&mut self, ask: &Ask, due: u64, free: u64) -> Option<Ended> {
        if *ask == Ask::Begin {
            (self.due, self.free) = (due, free);
        }
        std::mem::take(&mut self.ended).then_some(Ended {
            whole: 0,
            due: self.due,
            free: self.free,
            measured: true,
            answer: Answer::Done,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(games: u64) -> Table {
        Table::new([7, 8], NonZeroU64::new(games))
    }

    const BEGUN: &str = "*5\r\n:1\r\n*4\r\n$5\r\nmatch\r\n:17\r\n$4\r\ngame\r\n$-1\r\n\
                         $-1\r\n$7\r\nplaying\r\n:9\r\n";

    fn moved(number: u64, ply: u8, ending: &str) -> String {
        format!("*9\r\n:1\r\n:{number}\r\n:{ply}\r\n:{ply}\r\n:1\r\n$-1\r\n{ending}:9\r\n")
    }

    const OPEN: &str = "$-1\r\n$-1\r\n";

    fn won(name: &str) -> String {
        format!("$4\r\nline\r\n$1\r\n{name}\r\n")
    }

    /// Asks, and takes this answer: what was asked, and what has ended.
    fn exchange(table: &mut Table, answer: &str) -> (String, Option<Ended>) {
        let mut out = Vec::new();
        let ask = table.ask(&mut out).unwrap();
        for cut in 0..answer.len() {
            assert_eq!(table.hear(&ask, &answer.as_bytes()[..cut]), Ok(None));
        }
        let heard = table.hear(&ask, answer.as_bytes()).unwrap().unwrap();
        assert_eq!(heard.length, answer.len());
        let words = String::from_utf8(out).unwrap();
        let words = words
            .split("\r\n")
            .filter(|word| !word.starts_with(['*', '$']));
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        (words.join(" "), table.heard(&ask, 5, 7))
    }

    fn play(table: &mut Table, winner: &str) -> Vec<String> {
        let mut asked = vec![exchange(table, BEGUN).0];
        for ply in 1..=7 {
            assert!(table.goes_on());
            let ending = if ply == 7 {
                won(winner)
            } else {
                OPEN.to_owned()
            };
            let (words, ended) = exchange(table, &moved(17, ply, &ending));
            asked.push(words);
            let whole = ended.map(|ended| (ended.due, ended.free));
            assert_eq!(whole, (ply == 7).then_some((5, 7)), "{:?}", table.fault);
        }
        asked
    }

    #[test]
    fn two_play_the_script_and_then_the_other_begins() {
        let mut table = table(2);
        let asked = play(&mut table, "7");
        let expected = [
            "GAMES.BEGIN 7 8 tic-tac-toe",
            "GAMES.MOVE 17 7 0 1",
            "GAMES.MOVE 17 8 1 2",
            "GAMES.MOVE 17 7 2 3",
            "GAMES.MOVE 17 8 3 4",
            "GAMES.MOVE 17 7 4 5",
            "GAMES.MOVE 17 8 5 6",
            "GAMES.MOVE 17 7 6 7",
        ];
        assert_eq!(asked, expected);
        assert!(table.is_left() && !table.goes_on());
        assert_eq!(play(&mut table, "8")[0], "GAMES.BEGIN 8 7 tic-tac-toe");
        assert!(!table.is_left() && table.ask(&mut Vec::new()).is_none());
        assert_eq!(table.played, [Games { won: 1, lost: 1 }; 2]);
    }

    #[test]
    fn what_the_script_has_not_come_to_is_a_fault() {
        let rows = [
            moved(18, 1, OPEN),
            moved(17, 2, OPEN),
            moved(17, 1, &won("7")),
            moved(17, 1, "$4\r\nline\r\n$-1\r\n"),
        ];
        for answer in rows {
            let mut table = table(1);
            exchange(&mut table, BEGUN);
            exchange(&mut table, &answer);
            let fault = table.fault.clone();
            assert!(
                matches!(fault, Some(Fault::Answered(_))),
                "{answer} {fault:?}"
            );
        }
        let mut table = table(1);
        exchange(&mut table, "*2\r\n:0\r\n$7\r\nplaying\r\n");
        assert!(matches!(table.fault, Some(Fault::Refused(_))), "{table:?}");
        assert!(table.is_left() && table.ask(&mut Vec::new()).is_none());
    }

    #[test]
    fn the_last_move_of_a_lost_connection_may_have_been_made() {
        for (moves, doubt) in [(0, false), (5, false), (6, true)] {
            let mut table = table(1);
            exchange(&mut table, BEGUN);
            for ply in 1..=moves {
                exchange(&mut table, &moved(17, ply, OPEN));
            }
            table.ask(&mut Vec::new()).unwrap();
            assert!(!table.disconnected() && table.is_left());
            assert_eq!(table.doubt, doubt, "{moves}");
        }
    }
}
