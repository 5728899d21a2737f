//! One scripted player: what it says, what it has heard, and whether that adds up.

use turnstile_duel::{Cell, Claim, Greeting, Guest, Move, Parcel, Refusal, Told, Triple};

/// Each move is the cell behind the opponent's: who begins takes 1, 3, 5 and 7, and wins with the
/// diagonal 3, 5, 7.
const FIRST_CELL: u8 = 1;
const LAST_CELL: u8 = 7;

/// A player, without its connection.
///
/// Invariant: `heard`, the triple heard last, is what its games since the first triple say.
#[derive(Debug)]
pub(super) struct Player {
    greeting: Greeting,
    guest: Guest,
    /// Games left to play.
    left: u64,
    /// The opponent's cell that is to come.
    due: u8,
    /// Whether this player made the last move of the game that is over.
    won: bool,
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
    /// The connection ended, or nothing came any more. That need not be the arena's fault.
    Lost,
    /// No arena says so.
    Refused(Refusal),
    /// A cell was told that was not played.
    Cell { told: Cell, played: u8 },
    /// The statistics before, those told, and whether the game between them was won.
    Counted {
        before: Triple,
        told: Triple,
        won: bool,
    },
    /// The first statistics of the run do not hold the game that was played.
    Uncounted { told: Triple, won: bool },
}

/// What a player does with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It says this.
    Says(Parcel),
    /// It says both, each in a write of its own.
    SaysTwice([Parcel; 2]),
    Waits,
    /// A game is over and counted, and this follows.
    Counted(Option<Parcel>),
}

impl Player {
    pub(super) fn new(greeting: Greeting, iterations: u64) -> Self {
        Self {
            greeting,
            guest: Guest::default(),
            left: iterations,
            due: FIRST_CELL,
            won: false,
            first: None,
            heard: None,
            played: Games::default(),
            fault: None,
            met: 0,
        }
    }

    /// What is to be sent first.
    pub(super) fn greet(&mut self) -> Parcel {
        self.guest.greet(self.greeting)
    }

    /// The player's number.
    pub(super) const fn name(&self) -> u32 {
        self.greeting.own.0
    }

    /// Whether all its games are played.
    pub(super) const fn is_through(&self) -> bool {
        self.left == 0
    }

    /// Reads the message at the front of `bytes`: what it does and the message's length, or nothing
    /// while that is not whole.
    pub(super) fn hear(&mut self, bytes: &[u8]) -> Result<Option<(Step, usize)>, Fault> {
        if self.is_through()
            && let Some(&byte) = bytes.first()
        {
            return Err(Fault::Refused(Refusal::OutOfTurn { byte }));
        }
        let Some((told, length)) = self.guest.hear(bytes).map_err(Fault::Refused)? else {
            return Ok(None);
        };
        let step = match told {
            Told::Start(_) => self.begin().map_or(Step::Waits, Step::Says),
            Told::Cell(cell) => self.answer(cell)?,
            Told::Triple(triple) => Step::Counted(self.count(triple)?),
        };
        Ok(Some((step, length)))
    }

    /// A game begins.
    fn begin(&mut self) -> Option<Parcel> {
        self.due = FIRST_CELL;
        self.guest.is_to_move().then(|| self.play(FIRST_CELL))
    }

    fn play(&mut self, cell: u8) -> Parcel {
        let claim = if cell == LAST_CELL {
            Claim::Wins
        } else {
            Claim::Ordinary
        };
        self.due = cell + 1;
        let cell = Cell::new(cell).expect("the script has the cells 1 to 7");
        self.guest.play(Move { claim, cell })
    }

    fn answer(&mut self, told: Cell) -> Result<Step, Fault> {
        let cell = told.number();
        if cell != self.due {
            let played = self.due;
            return Err(Fault::Cell { told, played });
        }
        if cell == LAST_CELL {
            self.won = false;
            return Ok(Step::Says(self.guest.finish()));
        }
        let play = self.play(cell + 1);
        if cell + 1 < LAST_CELL {
            return Ok(Step::Says(play));
        }
        self.won = true;
        Ok(Step::SaysTwice([play, self.guest.finish()]))
    }

    /// Takes the statistics after a game.
    fn count(&mut self, told: Triple) -> Result<Option<Parcel>, Fault> {
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
        if self.is_through() {
            return Ok(None);
        }
        Ok(self.begin())
    }
}

impl Step {
    /// Whether the player says something, and so waits for the opponent or for its statistics.
    pub(super) const fn speaks(&self) -> bool {
        match self {
            Self::Says(_) | Self::SaysTwice(_) => true,
            Self::Waits => false,
            Self::Counted(next) => next.is_some(),
        }
    }
}

impl Games {
    pub(super) const fn all(self) -> u64 {
        self.won + self.lost
    }
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

    fn player(games: u64) -> Player {
        let (own, opponent) = (Name(1), Name(2));
        let mut player = Player::new(Greeting { own, opponent }, games);
        assert_eq!(player.greet().bytes(), b"\x011:2:");
        player
    }

    /// What a player says to each message.
    fn says(player: &mut Player, messages: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut said = Vec::new();
        for message in messages {
            let (step, length) = player.hear(message).unwrap().unwrap();
            assert_eq!(length, message.len());
            match step {
                Step::Says(parcel) | Step::Counted(Some(parcel)) => {
                    said.push(parcel.bytes().to_vec());
                }
                Step::SaysTwice(parcels) => {
                    said.extend(parcels.map(|parcel| parcel.bytes().to_vec()));
                }
                Step::Waits | Step::Counted(None) => said.push(Vec::new()),
            }
        }
        said
    }

    #[test]
    fn who_begins_wins_at_move_seven_and_then_the_other_begins() {
        let mut one = player(2);
        let messages: [&[u8]; 9] = [&[1], &[2], &[4], &[6], b"1:1:0:", &[1], &[3], &[5], &[7]];
        let said: [&[u8]; 10] = [
            &[4, 1],
            &[4, 3],
            &[4, 5],
            &[8, 7],
            b"d",
            b"",
            &[4, 2],
            &[4, 4],
            &[4, 6],
            b"d",
        ];
        assert_eq!(says(&mut one, &messages), said);
        assert_eq!(says(&mut one, &[b"2:1:1:"]), [b""]);
        assert!(one.is_through());
        assert_eq!(one.played, Games { won: 1, lost: 1 });
        let late = one.hear(&[1]);
        let refused = Fault::Refused(Refusal::OutOfTurn { byte: 1 });
        assert_eq!(late, Err(refused));
    }

    #[test]
    fn a_cell_that_was_not_played_is_a_fault() {
        let mut one = player(1);
        says(&mut one, &[&[1]]);
        let told = Cell::new(4).unwrap();
        assert_eq!(one.hear(&[4]), Err(Fault::Cell { told, played: 2 }));
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
            let counted = Fault::Counted { before, told, won };
            let expected = if told == triple(10, 5, 3) {
                Ok(Some((Step::Counted(None), message.len())))
            } else {
                Err(counted)
            };
            assert_eq!(one.hear(message), expected);
        }
    }

    #[test]
    fn the_first_statistics_hold_the_first_game() {
        let mut one = player(1);
        says(&mut one, &[&[1], &[2], &[4], &[6]]);
        let told = Triple::new(7, 0, 7).unwrap();
        let won = true;
        assert_eq!(one.hear(b"7:0:7:"), Err(Fault::Uncounted { told, won }));
    }
}
