//! Two players of one connection who play a script, game after game: their moves go over it in turn.

use std::num::NonZeroU64;

use turnstile_check::games::{ClubAnswer, ClubRequest, GameKind, MatchDeed, MatchEnding};

use super::StewardPlan;
use crate::{
    games::player::Games,
    pace::{Answer, Ended},
};

/// Moves of the script: the cells 1 to 7 in order. Who begins wins with the last.
const MOVES: u8 = 7;

/// Two players at one connection.
#[derive(Debug)]
pub(crate) struct ScriptedPlay {
    pub(in crate::games) pair: [u16; 2],
    /// Games left to play, and whether they were a number from the start.
    left: u64,
    is_limited: bool,
    /// Which of the two begins; they take turns.
    first: usize,
    /// The number of the match, while one is played, and how many moves are made.
    playing: Option<(u64, u8)>,
    due: u64,
    free: u64,
    ended: bool,
    /// The games of each that have ended.
    pub(in crate::games) played: [Games; 2],
    /// Whether a game may have ended of which nobody knows.
    pub(in crate::games) doubt: bool,
    pub(in crate::games) fault: Option<ScriptFault>,
}

/// What ended the games of a pair too early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::games) enum ScriptFault {
    /// The connection ended. That need not be the server's fault.
    Lost,
    /// The server refused what it must not, or could not do it; its words.
    Refused(String),
    /// A move was answered by something else than what the script has come to.
    Answered(String),
}

impl ScriptedPlay {
    /// Of two who play so many games; none: as long as the run lasts.
    pub(in crate::games) fn new(pair: [u16; 2], games: Option<NonZeroU64>) -> Self {
        Self {
            pair,
            left: games.map_or(u64::MAX, NonZeroU64::get),
            is_limited: games.is_some(),
            first: 0,
            playing: None,
            due: 0,
            free: 0,
            ended: false,
            played: [Games::default(); 2],
            doubt: false,
            fault: None,
        }
    }

    /// Whether a game was left unfinished, or not all that were to be played were.
    pub(in crate::games) const fn is_left(&self) -> bool {
        self.fault.is_some() || self.playing.is_some() || self.left > 0 && self.is_limited
    }

    fn player(&self, seat: usize) -> u16 {
        self.pair[(self.first + seat) % 2]
    }

    fn stop(&mut self, fault: ScriptFault) {
        self.fault.get_or_insert(fault);
    }

    /// Takes what was done; nothing when it is not what the script has come to.
    fn take(&mut self, ask: &ClubRequest, answer: &ClubAnswer) -> Option<()> {
        match (ask, answer) {
            (ClubRequest::Begin { .. }, ClubAnswer::Begun(state)) => {
                self.playing = Some((state.number, 0));
            }
            (ClubRequest::Act { .. }, ClubAnswer::Acted(change)) => {
                let (number, before) = self.playing?;
                let made = before + 1;
                if (change.number, change.ply) != (number, u16::from(made)) {
                    return None;
                }
                let won = (Some(MatchEnding::Line), Some(self.player(0)));
                match (made == MOVES, (change.ending, change.winner)) {
                    (false, (None, _)) => self.playing = Some((number, made)),
                    (true, end) if end == won => self.end(),
                    (false | true, _) => return None,
                }
            }
            _ => return None,
        }
        Some(())
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

impl StewardPlan for ScriptedPlay {
    const OPERATIONS: &'static [&'static str] = &["begin", "move"];

    const WHOLES: &'static [&'static str] = &["game"];

    fn operation(ask: &ClubRequest) -> usize {
        usize::from(!matches!(ask, ClubRequest::Begin { .. }))
    }

    fn choose(&mut self) -> Option<ClubRequest> {
        if self.left == 0 || self.fault.is_some() {
            return None;
        }
        let Some((number, made)) = self.playing else {
            let (game, players) = (GameKind::TicTacToe, [self.player(0), self.player(1)]);
            return Some(ClubRequest::Begin { game, players });
        };
        let deed = MatchDeed::Move {
            ply: made.into(),
            choice: made + 1,
            claim: None,
        };
        Some(ClubRequest::Act {
            number,
            player: self.player(made.into()),
            deed,
        })
    }

    fn learn(&mut self, ask: &ClubRequest, answer: &ClubAnswer) {
        if self.take(ask, answer).is_none() {
            self.stop(ScriptFault::Answered(format!("{answer:?}")));
        }
    }

    fn fails(&mut self, words: &[u8]) {
        self.stop(ScriptFault::Refused(words.escape_ascii().to_string()));
    }

    fn lost(&mut self) {
        self.doubt = matches!(self.playing, Some((_, made)) if made + 1 == MOVES);
    }

    fn goes_on(&self) -> bool {
        self.playing.is_some()
    }

    fn disconnected(&mut self) -> bool {
        if self.left > 0 {
            self.stop(ScriptFault::Lost);
        }
        false
    }

    fn heard(&mut self, ask: &ClubRequest, due: u64, free: u64) -> Option<Ended> {
        if matches!(ask, ClubRequest::Begin { .. }) {
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
    use std::sync::Arc;

    use super::*;
    use crate::{
        again::Keyed,
        games::{PlayerNames, Steward},
        pace::User,
    };

    type Table = Keyed<Steward<ScriptedPlay>>;

    fn table(games: u64) -> Table {
        let names = Arc::new(PlayerNames::numbered(7, 2));
        let plan = ScriptedPlay::new([0, 1], NonZeroU64::new(games));
        Keyed::plain(Steward::new(plan, names))
    }

    const BEGUN: &str = "*5\r\n:1\r\n*14\r\n$5\r\nmatch\r\n:17\r\n$4\r\ngame\r\n$11\r\ntic-tac-toe\r\n\
                         $5\r\nfirst\r\n$1\r\n7\r\n$6\r\nsecond\r\n$1\r\n8\r\n\
                         $5\r\nboard\r\n$9\r\n.........\r\n$3\r\nply\r\n:0\r\n$3\r\nseq\r\n:0\r\n\
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
            assert_eq!(
                whole,
                (ply == 7).then_some((5, 7)),
                "{:?}",
                table.user.plan.fault
            );
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
        assert!(table.user.plan.is_left() && !table.goes_on());
        assert_eq!(play(&mut table, "8")[0], "GAMES.BEGIN 8 7 tic-tac-toe");
        assert!(!table.user.plan.is_left() && table.ask(&mut Vec::new()).is_none());
        assert_eq!(table.user.plan.played, [Games { won: 1, lost: 1 }; 2]);
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
            let fault = table.user.plan.fault.clone();
            assert!(
                matches!(fault, Some(ScriptFault::Answered(_))),
                "{answer} {fault:?}"
            );
        }
        let mut table = table(1);
        exchange(&mut table, "*2\r\n:0\r\n$7\r\nplaying\r\n");
        assert!(
            matches!(table.user.plan.fault, Some(ScriptFault::Refused(_))),
            "{table:?}"
        );
        assert!(table.user.plan.is_left() && table.ask(&mut Vec::new()).is_none());
    }

    #[test]
    fn the_last_move_that_was_not_answered_may_have_been_made() {
        // The connection is lost, the run has waited long enough, or the answer says so.
        let ends: [fn(&mut Table, &<Table as User>::Ask); 3] = [
            |table, ask| {
                table.lost(ask);
                assert!(!table.disconnected());
            },
            |table, ask| table.lost(ask),
            |table, ask| {
                let heard = table.hear(ask, b"-UNKNOWN it was done or not\r\n");
                let answer = heard.unwrap().unwrap().answer;
                assert_eq!(answer, Answer::Error(b"UNKNOWN"));
            },
        ];
        let moves = [(0, false), (5, false), (6, true)];
        let rows = ends.iter().flat_map(|end| moves.map(|row| (end, row)));
        for (end, (moves, doubt)) in rows {
            let mut table = table(1);
            exchange(&mut table, BEGUN);
            for ply in 1..=moves {
                exchange(&mut table, &moved(17, ply, OPEN));
            }
            let ask = table.ask(&mut Vec::new()).unwrap();
            end(&mut table, &ask);
            assert!(table.user.plan.is_left());
            assert_eq!(table.user.plan.doubt, doubt, "{moves}");
        }
    }
}
