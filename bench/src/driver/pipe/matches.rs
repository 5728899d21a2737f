//! Games of tic-tac-toe between players of one connection, at as many tables as requests may be
//! under way: each table's next move waits for the answer to the one before.

use std::collections::VecDeque;

use anyhow::{Context as _, Result, bail, ensure};
use turnstile_client::resp;

use super::{Heard, Talk, resp_answer};

/// Moves of the ancestor's script: the cells 1 to 7 one after the other, which the first player wins.
const MOVES: u8 = 7;

/// Requests of one game: its beginning and its moves.
pub(crate) const REQUESTS: u8 = 1 + MOVES;

/// What the answer to a beginning begins with, up to the number of the match.
const BEGUN: &[u8] = b"*5\r\n:1\r\n*30\r\n$5\r\nmatch\r\n:";

/// One connection's side.
pub(super) struct Host {
    /// In the order in which they ask next.
    tables: VecDeque<Table>,
    /// Those that have asked, in the order of their answers.
    asked: VecDeque<Table>,
}

/// Two players, and the match they are in.
struct Table {
    players: [String; 2],
    number: Vec<u8>,
    /// Moves made; none has begun a match yet.
    ply: Option<u8>,
}

impl Host {
    pub(super) fn new(connection: u32, tables: u32) -> Self {
        let table = |table: u32| Table {
            players: ["a", "b"].map(|side| format!("{side}{connection}.{table}")),
            number: Vec::new(),
            ply: None,
        };
        Self {
            tables: (0..tables).map(table).collect(),
            asked: VecDeque::new(),
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

    fn hear(&mut self, answer: &[u8]) -> Result<()> {
        self.ply = match self.ply {
            None => {
                let number = answer.strip_prefix(BEGUN).context("no match began")?;
                let digits = number.iter().take_while(|byte| byte.is_ascii_digit());
                self.number.clear();
                self.number.extend(digits);
                Some(0)
            }
            Some(ply) if ply + 1 < MOVES => Some(ply + 1),
            Some(_) => {
                let is_won = answer.windows(4).any(|word| word == b"line");
                ensure!(is_won, "nobody won: {}", answer.escape_ascii());
                None
            }
        };
        Ok(())
    }
}

impl Talk for Host {
    fn ask(&mut self, out: &mut Vec<u8>) {
        let table = self.tables.pop_front();
        let table = table.expect("a table for each request that may be under way");
        table.ask(out);
        self.asked.push_back(table);
    }

    fn hear(&mut self, bytes: &[u8]) -> Result<Option<Heard>> {
        let Some((heard, _)) = resp_answer(bytes)? else {
            return Ok(None);
        };
        let answer = &bytes[..heard.length];
        if !heard.accepted {
            bail!("refused: {}", answer.escape_ascii());
        }
        let mut table = self.asked.pop_front().context("an answer to nothing")?;
        table.hear(answer)?;
        self.tables.push_back(table);
        Ok(Some(heard))
    }
}

#[cfg(test)]
mod tests {
    use super::{Host, REQUESTS, Talk as _};

    #[test]
    fn a_table_plays_the_script_and_begins_again() {
        let mut host = Host::new(3, 1);
        let begun = b"*5\r\n:1\r\n*30\r\n$5\r\nmatch\r\n:17\r\n";
        let begun = [
            &begun[..],
            &b"$-1\r\n".repeat(29),
            b"$7\r\nplaying\r\n:9\r\n",
        ]
        .concat();
        let moved = b"*3\r\n:1\r\n$4\r\nline\r\n:9\r\n";
        for request in 0..=REQUESTS {
            let mut asked = Vec::new();
            host.ask(&mut asked);
            let asked = String::from_utf8(asked).unwrap().replace("\r\n", " ");
            let is_first = request % REQUESTS == 0;
            let expected = if is_first {
                "*4 $11 GAMES.BEGIN $4 a3.0 $4 b3.0 $11 tic-tac-toe ".to_owned()
            } else {
                let (ply, player) = (request - 1, if request % 2 == 1 { 'a' } else { 'b' });
                format!("*5 $10 GAMES.MOVE $2 17 $4 {player}3.0 $1 {ply} $1 {request} ")
            };
            assert_eq!(asked, expected);
            let answer = if is_first { &begun[..] } else { moved };
            let heard = host.hear(answer).unwrap().unwrap();
            assert_eq!((heard.length, heard.accepted), (answer.len(), true));
        }
        let mut other = Host::new(0, 1);
        other.ask(&mut Vec::new());
        assert!(other.hear(b"*2\r\n:0\r\n$7\r\nplaying\r\n").is_err());
    }
}
