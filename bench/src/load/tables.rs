//! Games of tic-tac-toe between players of one connection, at as many tables as requests may be in
//! flight: the next move at a table waits for the answer to the one before.

use std::{collections::VecDeque, thread, time::Duration};

use anyhow::Result;
use turnstile_client::resp::{self, ReplyLimits, Token};
use turnstile_load::pace::{self, Answer, Garbled, Pace, ParsedAnswer, User};

use super::{CLIENT_US, Measures, SERVER_US, Target, lab, option};
use crate::{pin, probe::joined};

/// Moves of the original's script: the cells 1 to 7 one after the other, which the first player wins.
pub(crate) const MOVES: u8 = 7;

/// Before the measured window.
const WARM_UP: Duration = Duration::from_millis(200);

/// What comes before the number of the match in the answer to a beginning.
const MATCH: &[u8] = b"$5\r\nmatch\r\n:";

pub(super) fn drive(words: &[&str], target: Target<'_>) -> Result<Measures> {
    let connections: usize = option(words, "-c")?;
    let tables: usize = option(words, "-P")?;
    let seconds: f64 = option(words, "-d")?;
    let length = Duration::from_secs_f64(seconds);
    let pace = Pace {
        pipeline: tables,
        ..Pace::closed(target.doors.resp, WARM_UP, length)
    };
    let core = target.core;
    joined(thread::spawn(move || {
        pin::pin(core)?;
        let hosts = (0..connections).map(|connection| TableHost::new(connection, tables));
        let totals = pace::run(&pace, hosts.collect(), &mut |_progress| {})?;
        let mut measures = lab::measures(&totals.point("games", &pace))?;
        // Who serves is not watched from here.
        measures.remove(SERVER_US);
        let own = totals.figures().cpu_per_request / 1e3;
        measures.insert(CLIENT_US.to_owned(), own);
        Ok(measures)
    }))
}

/// The number of the match that an answer begins.
pub(crate) fn number_of_match(answer: &[u8]) -> Option<&[u8]> {
    let at = memchr::memmem::find(answer, MATCH)? + MATCH.len();
    let digits = answer[at..].iter().take_while(|byte| byte.is_ascii_digit());
    let digits = digits.count();
    Some(&answer[at..at + digits])
}

/// One connection's side.
#[derive(Debug)]
struct TableHost {
    /// In the order in which they ask next.
    tables: VecDeque<Table>,
    /// Those that have asked, in the order of their answers.
    asked: VecDeque<Table>,
}

/// Two players, and the match they are in.
#[derive(Debug)]
struct Table {
    players: [String; 2],
    number: Vec<u8>,
    /// Moves made; none before a match begins.
    ply: Option<u8>,
}

impl TableHost {
    fn new(connection: usize, tables: usize) -> Self {
        let table = |table: usize| Table {
            players: ["a", "b"].map(|side| format!("{side}{connection}.{table}")),
            number: Vec::with_capacity(20),
            ply: None,
        };
        Self {
            tables: (0..tables).map(table).collect(),
            asked: VecDeque::with_capacity(tables),
        }
    }
}

impl Table {
    fn ask(&self, out: &mut Vec<u8>) {
        let [first, second] = self.players.each_ref().map(|name| name.as_bytes());
        let Some(ply) = self.ply else {
            resp::put_command(out, &[b"GAMES.BEGIN", first, second, b"tic-tac-toe"]);
            return;
        };
        let player = if ply % 2 == 0 { first } else { second };
        let (seen, cell) = ([b'0' + ply], [b'1' + ply]);
        resp::put_command(out, &[b"GAMES.MOVE", &self.number, player, &seen, &cell]);
    }

    /// Reads an answer that was done: none when it is no answer to what was asked.
    fn hear(&mut self, answer: &[u8]) -> Option<()> {
        self.ply = match self.ply {
            None => {
                self.number.clear();
                self.number.extend_from_slice(number_of_match(answer)?);
                Some(0)
            }
            Some(ply) if ply + 1 < MOVES => Some(ply + 1),
            Some(_) => {
                memchr::memmem::find(answer, b"line")?;
                None
            }
        };
        Some(())
    }
}

impl User for TableHost {
    type Ask = ();

    const OPERATIONS: &'static [&'static str] = &["request"];

    const REQUEST_BYTES_MAX: usize = 256;

    fn ask(&mut self, out: &mut Vec<u8>) -> Option<()> {
        let table = self.tables.pop_front()?;
        table.ask(out);
        self.asked.push_back(table);
        Some(())
    }

    fn operation((): &()) -> usize {
        0
    }

    fn hear<'a>(&mut self, (): &(), bytes: &'a [u8]) -> Result<Option<ParsedAnswer<'a>>, Garbled> {
        let limits = &ReplyLimits::REPLY;
        let reply = resp::reply(bytes, limits).map_err(|_malformed| Garbled)?;
        let Some((first, length)) = reply else {
            return Ok(None);
        };
        let answer = match first {
            Token::Error(text) => Answer::Error(text),
            _ if bytes.iter().skip_while(|byte| **byte != b':').nth(1) == Some(&b'1') => {
                let mut table = self.asked.pop_front().ok_or(Garbled)?;
                table.hear(&bytes[..length]).ok_or(Garbled)?;
                self.tables.push_back(table);
                Answer::Done
            }
            _ => Answer::Refused(b"refused"),
        };
        Ok(Some(ParsedAnswer { length, answer }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(host: &mut TableHost) -> String {
        let mut out = Vec::new();
        host.ask(&mut out).unwrap();
        let words = String::from_utf8(out).unwrap();
        let words = words.lines().filter(|line| !line.starts_with(['*', '$']));
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_table_plays_one_game_after_the_other() {
        let begun = b"*5\r\n:1\r\n*2\r\n$5\r\nmatch\r\n:17\r\n:1\r\n+-\r\n:0\r\n";
        let (moved, won) = (b"*2\r\n:1\r\n:9\r\n", b"*3\r\n:1\r\n$4\r\nline\r\n:9\r\n");
        let mut host = TableHost::new(3, 2);
        assert_eq!(asked(&mut host), "GAMES.BEGIN a3.0 b3.0 tic-tac-toe");
        assert_eq!(asked(&mut host), "GAMES.BEGIN a3.1 b3.1 tic-tac-toe");
        let done = |host: &mut TableHost, answer: &[u8]| {
            let heard = host.hear(&(), answer).unwrap().unwrap();
            assert_eq!((heard.length, heard.answer), (answer.len(), Answer::Done));
        };
        done(&mut host, begun);
        for ply in 0..MOVES {
            let player = ["a3.0", "b3.0"][usize::from(ply % 2)];
            let expected = format!("GAMES.MOVE 17 {player} {ply} {}", ply + 1);
            assert_eq!(asked(&mut host), expected);
            // The other table is not asked any more here: its answer came first.
            let other = host.asked.pop_front().unwrap();
            done(&mut host, if ply + 1 == MOVES { won } else { moved });
            host.asked.push_front(other);
        }
        assert_eq!(asked(&mut host), "GAMES.BEGIN a3.0 b3.0 tic-tac-toe");
    }

    #[test]
    fn an_answer_without_a_match_is_garbled() {
        let mut host = TableHost::new(0, 1);
        assert_eq!(asked(&mut host), "GAMES.BEGIN a0.0 b0.0 tic-tac-toe");
        assert_eq!(host.hear(&(), b"*1\r\n:1\r\n").unwrap_err(), Garbled);
    }
}
