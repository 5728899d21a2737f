//! One scripted player on the ancestor's wire: what it says, what it has heard, and whether that adds
//! up.

use std::num::NonZeroU64;

use turnstile_duel::{
    BoardCell, Claim, Greeting, Guest, Move, Parcel, Refusal, Told, Triple,
    limits::MESSAGE_BYTES_MAX,
};

use crate::pace::{Answer, Ended, Garbled, ParsedAnswer, User};

/// Each move is the cell behind the opponent's: who begins takes 1, 3, 5 and 7, and wins with the
/// diagonal 3, 5, 7.
const FIRST_CELL: u8 = 1;
const LAST_CELL: u8 = 7;

/// What says that a game is over; all other messages of a player have two bytes or greet.
const FINISH: u8 = b'd';

/// A player, who is one of two on neighbouring connections.
///
/// Each message is one write, and each read is compared with one message: an arena that lets two be
/// read at once would lose the ancestor's clients.
///
/// Invariant: `heard`, the triple heard last, is what its games since the first triple say.
#[derive(Debug)]
pub(super) struct WirePlayer {
    greeting: Greeting,
    guest: Guest,
    /// Games left to play.
    left: u64,
    next: Says,
    /// Whether this player began the game, and when that was due, and it was free for it.
    began: bool,
    due: u64,
    free: u64,
    /// Whether this player made the last move of the game that is over.
    won: bool,
    /// A game is over and counted, and nobody has been told.
    counted: bool,
    pub(super) first: Option<Standing>,
    pub(super) heard: Option<Triple>,
    /// Its games of this run.
    pub(super) played: Games,
    pub(super) fault: Option<Fault>,
    /// Messages that could be read together with the one before.
    pub(super) met: u64,
}

/// The first statistics of a run, and whether that game was won.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    pub(super) triple: Triple,
    pub(super) won: bool,
}

/// What a player knows of its games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Games {
    pub(super) won: u64,
    pub(super) lost: u64,
}

/// What ended a player's run too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The connection ended. That need not be the arena's fault.
    Lost,
    /// No arena says so.
    Refused(Refusal),
    /// A cell was told that was not played.
    Cell { told: BoardCell, played: u8 },
    /// The statistics before, those told, and whether the game between them was won.
    Counted {
        before: Triple,
        told: Triple,
        won: bool,
    },
    /// The first statistics of the run do not hold the game that was played.
    Uncounted { told: Triple, won: bool },
}

/// What a player says, and so what it hears next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    /// Who it is, and against whom it plays; then who begins.
    Greeting,
    /// The first move of a game; then the opponent's.
    First,
    /// A move to this cell; then the opponent's.
    Move(u8),
    /// The winning move, and in a write of its own that the game is over; then its statistics.
    Win,
    /// That the game is over, which the opponent has won; then its statistics.
    Loss,
    /// Nothing: the opponent begins.
    Nothing,
}

/// What a player asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    says: Says,
    /// Whether it began the game.
    began: bool,
}

impl WirePlayer {
    /// Who plays so many games; none: as long as the run lasts.
    pub(super) fn new(greeting: Greeting, games: Option<NonZeroU64>) -> Self {
        Self {
            greeting,
            guest: Guest::default(),
            left: games.map_or(u64::MAX, NonZeroU64::get),
            next: Says::Greeting,
            began: false,
            due: 0,
            free: 0,
            won: false,
            counted: false,
            first: None,
            heard: None,
            played: Games::default(),
            fault: None,
            met: 0,
        }
    }

    /// The player's number.
    pub(super) const fn name(&self) -> u32 {
        self.greeting.own.0
    }

    /// Whether all its games are played.
    const fn is_through(&self) -> bool {
        self.left == 0
    }

    /// Whether it is left in a game, or before all that it was to play.
    pub(super) fn is_left(&self, counted: bool) -> bool {
        let between = matches!(self.next, Says::First | Says::Nothing);
        match self.fault {
            Some(fault) => fault == Fault::Lost,
            None if counted => !self.is_through(),
            None => !between,
        }
    }

    /// Appends the next message.
    fn put(&mut self, out: &mut Vec<u8>) {
        let mut say = |parcel: Parcel| out.extend_from_slice(parcel.bytes());
        match self.next {
            Says::Greeting => say(self.guest.greet(self.greeting)),
            Says::First => say(self.guest.play(to(FIRST_CELL))),
            Says::Move(cell) => say(self.guest.play(to(cell))),
            Says::Win => {
                say(self.guest.play(to(LAST_CELL)));
                say(self.guest.finish());
            }
            Says::Loss => say(self.guest.finish()),
            Says::Nothing => {}
        }
    }

    /// Takes what the arena told.
    fn take(&mut self, told: Told) -> Result<(), Fault> {
        match told {
            Told::Start(_) => self.begin(),
            Told::Cell(cell) => self.answer(cell)?,
            Told::Triple(triple) => self.count(triple)?,
        }
        Ok(())
    }

    /// A game may begin.
    fn begin(&mut self) {
        self.began = self.guest.is_to_move();
        self.next = if self.began {
            Says::First
        } else {
            Says::Nothing
        };
    }

    fn answer(&mut self, told: BoardCell) -> Result<(), Fault> {
        let played = match self.next {
            Says::First => FIRST_CELL + 1,
            Says::Move(cell) => cell + 1,
            Says::Greeting | Says::Win | Says::Loss | Says::Nothing => FIRST_CELL,
        };
        if told.number() != played {
            return Err(Fault::Cell { told, played });
        }
        self.won = played + 1 == LAST_CELL;
        self.next = match played {
            LAST_CELL => Says::Loss,
            _ if self.won => Says::Win,
            _ => Says::Move(played + 1),
        };
        Ok(())
    }

    /// Takes the statistics after a game.
    fn count(&mut self, told: Triple) -> Result<(), Fault> {
        let won = self.won;
        match self.heard {
            Some(before) if after(before, won) != Some(told) => {
                return Err(Fault::Counted { before, told, won });
            }
            Some(_) => {}
            None if told.won() < u64::from(won) || told.lost() < u64::from(!won) => {
                return Err(Fault::Uncounted { told, won });
            }
            None => self.first = Some(Standing { triple: told, won }),
        }
        self.heard = Some(told);
        self.played.won += u64::from(won);
        self.played.lost += u64::from(!won);
        self.left -= 1;
        self.counted = self.began;
        self.begin();
        Ok(())
    }
}

impl User for WirePlayer {
    type Ask = Ask;

    const OPERATIONS: &'static [&'static str] = &["greet", "move", "finish", "listen"];

    const WHOLES: &'static [&'static str] = &["game"];

    const TOGETHER: usize = 2;

    const REQUEST_BYTES_MAX: usize = MESSAGE_BYTES_MAX;

    const ANSWER_BYTES_MAX: usize = MESSAGE_BYTES_MAX;

    fn goes_on(&self) -> bool {
        self.next != Says::First
    }

    fn is_owed(ask: &Ask) -> bool {
        ask.says != Says::Nothing
    }

    fn write_length(bytes: &[u8]) -> usize {
        match bytes {
            [first, ..] if *first == FINISH => 1,
            [_claim, _cell, FINISH] => 2,
            _ => bytes.len(),
        }
    }

    fn reads_on(&self) -> bool {
        self.next == Says::Nothing
    }

    fn disconnected(&mut self) -> bool {
        if !self.is_through() {
            self.fault.get_or_insert(Fault::Lost);
        }
        false
    }

    fn ask(&mut self, out: &mut Vec<u8>) -> Option<Ask> {
        if self.is_through() || self.fault.is_some() {
            return None;
        }
        self.put(out);
        Some(Ask {
            says: self.next,
            began: self.began,
        })
    }

    fn operation(ask: &Ask) -> usize {
        match ask.says {
            Says::Greeting => 0,
            Says::First | Says::Move(_) => 1,
            Says::Win | Says::Loss => 2,
            Says::Nothing => 3,
        }
    }

    /// Those of who began a game follow each other without a gap, and come to its time.
    fn measures(ask: &Ask) -> bool {
        ask.began
    }

    fn hear<'a>(
        &mut self,
        _ask: &Ask,
        bytes: &'a [u8],
    ) -> Result<Option<ParsedAnswer<'a>>, Garbled> {
        let heard = self.guest.hear(bytes).map_err(Fault::Refused);
        let taken = heard.and_then(|heard| {
            let Some((told, length)) = heard else {
                return Ok(None);
            };
            self.take(told).map(|()| Some(length))
        });
        let length = taken.map_err(|fault| {
            self.fault = Some(fault);
            Garbled
        })?;
        Ok(length.map(|length| {
            self.met += u64::from(bytes.len() > length);
            let answer = Answer::Done;
            ParsedAnswer { length, answer }
        }))
    }

    fn heard(&mut self, ask: &Ask, due: u64, free: u64) -> Option<Ended> {
        if ask.says == Says::First {
            (self.due, self.free) = (due, free);
        }
        std::mem::take(&mut self.counted).then_some(Ended {
            whole: 0,
            due: self.due,
            free: self.free,
            measured: true,
            answer: Answer::Done,
        })
    }
}

impl Games {
    pub(super) const fn all(self) -> u64 {
        self.won + self.lost
    }
}

/// The move to a cell of the script.
fn to(cell: u8) -> Move {
    let claim = if cell == LAST_CELL {
        Claim::Wins
    } else {
        Claim::Ordinary
    };
    let cell = BoardCell::new(cell).expect("the script has the cells 1 to 7");
    Move { claim, cell }
}

/// What one more game makes of the statistics.
fn after(before: Triple, won: bool) -> Option<Triple> {
    Triple::new(
        before.played().checked_add(1)?,
        before.won().checked_add(won.into())?,
        before.lost().checked_add((!won).into())?,
    )
}

#[cfg(test)]
mod tests {
    use turnstile_duel::Player as Name;

    use super::*;

    fn player(games: u64) -> WirePlayer {
        let (own, opponent) = (Name(1), Name(2));
        WirePlayer::new(Greeting { own, opponent }, NonZeroU64::new(games))
    }

    /// What a player says before each message, and after the last; in how many writes each.
    fn says(player: &mut WirePlayer, messages: &[&[u8]]) -> Vec<(Vec<u8>, usize)> {
        let mut said = Vec::new();
        for message in messages {
            let mut out = Vec::new();
            let ask = player.ask(&mut out).unwrap();
            let heard = player.hear(&ask, message).unwrap().unwrap();
            assert_eq!(heard.length, message.len());
            player.heard(&ask, 5, 7);
            let (mut left, mut writes) = (&out[..], 0);
            while !left.is_empty() {
                left = &left[WirePlayer::write_length(left)..];
                writes += 1;
            }
            said.push((out, writes));
        }
        said
    }

    /// What it makes of one more message.
    fn fault(player: &mut WirePlayer, message: &[u8]) -> Option<Fault> {
        let ask = player.ask(&mut Vec::new()).unwrap();
        assert_eq!(player.hear(&ask, message), Err(Garbled));
        player.fault
    }

    #[test]
    fn who_begins_wins_at_move_seven_and_then_the_other_begins() {
        let mut one = player(2);
        let messages: [&[u8]; 10] = [
            &[1],
            &[2],
            &[4],
            &[6],
            b"1:1:0:",
            &[1],
            &[3],
            &[5],
            &[7],
            b"2:1:1:",
        ];
        let said: [(&[u8], usize); 10] = [
            (b"\x011:2:", 1),
            (&[4, 1], 1),
            (&[4, 3], 1),
            (&[4, 5], 1),
            (&[8, 7, b'd'], 2),
            (b"", 0),
            (&[4, 2], 1),
            (&[4, 4], 1),
            (&[4, 6], 1),
            (b"d", 1),
        ];
        let said = said.map(|(bytes, writes)| (bytes.to_vec(), writes));
        assert_eq!(says(&mut one, &messages), said);
        assert!(one.is_through() && one.ask(&mut Vec::new()).is_none());
        assert_eq!(one.played, Games { won: 1, lost: 1 });
    }

    #[test]
    fn a_game_is_of_who_began_it_and_nobody_waits_for_who_only_listens() {
        let mut one = player(2);
        let first = says(&mut one, &[&[2]]);
        assert_eq!(first, [(b"\x011:2:".to_vec(), 1)]);
        let listens = one.ask(&mut Vec::new()).unwrap();
        assert!(one.goes_on() && one.reads_on() && !WirePlayer::is_owed(&listens));
        assert!(one.hear(&listens, &[1]).unwrap().is_some());
        says(&mut one, &[&[3], &[5], &[7]]);
        let ask = one.ask(&mut Vec::new()).unwrap();
        assert!(WirePlayer::is_owed(&ask) && !WirePlayer::measures(&ask));
        assert!(one.hear(&ask, b"1:0:1:").unwrap().is_some());
        assert_eq!(one.heard(&ask, 1, 1), None);
        assert!(!one.goes_on(), "the next is its own to begin");
        says(&mut one, &[&[2], &[4], &[6]]);
        let ask = one.ask(&mut Vec::new()).unwrap();
        assert!(one.hear(&ask, b"2:1:1:").unwrap().is_some());
        let ended = one.heard(&ask, 90, 90).unwrap();
        assert_eq!((ended.due, ended.free), (5, 7));
    }

    #[test]
    fn a_cell_that_was_not_played_is_a_fault() {
        let mut one = player(1);
        says(&mut one, &[&[1]]);
        let told = BoardCell::new(4).unwrap();
        let expected = Fault::Cell { told, played: 2 };
        assert_eq!(fault(&mut one, &[4]), Some(expected));
    }

    #[test]
    fn each_game_raises_what_it_must_by_one() {
        let triple = |played, won, lost| Triple::new(played, won, lost).unwrap();
        let rows: [(&[u8], Triple); 5] = [
            (b"9:4:3:", triple(9, 4, 3)),
            (b"11:4:4:", triple(11, 4, 4)),
            (b"10:5:3:", triple(10, 5, 3)),
            (b"10:4:3:", triple(10, 4, 3)),
            (b"10:5:4:", triple(10, 5, 4)),
        ];
        for (message, told) in rows {
            let mut one = player(3);
            says(&mut one, &[&[2], &[1], &[3], &[5], &[7], b"9:4:3:"]);
            says(&mut one, &[&[2], &[4], &[6]]);
            let (before, won) = (triple(9, 4, 3), true);
            if told == triple(10, 5, 3) {
                says(&mut one, &[message]);
                assert_eq!(one.heard, Some(told));
            } else {
                let counted = Fault::Counted { before, told, won };
                assert_eq!(fault(&mut one, message), Some(counted));
            }
        }
    }

    #[test]
    fn the_first_statistics_hold_the_first_game() {
        let mut one = player(1);
        says(&mut one, &[&[1], &[2], &[4], &[6]]);
        let told = Triple::new(7, 0, 7).unwrap();
        let uncounted = Fault::Uncounted { told, won: true };
        assert_eq!(fault(&mut one, b"7:0:7:"), Some(uncounted));
    }

    #[test]
    fn two_messages_in_one_read_have_met() {
        let mut one = player(1);
        let ask = one.ask(&mut Vec::new()).unwrap();
        let heard = one.hear(&ask, &[2, 1]).unwrap().unwrap();
        assert_eq!((heard.length, one.met), (1, 1));
    }
}
