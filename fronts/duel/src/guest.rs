//! The client's end of the wire to an arena.

use crate::{BoardCell, DuelSeat, Greeting, Move, Parcel, Refusal, Triple, scan};

/// One player on one connection. It knows what may come next, not the rules of the game: whoever
/// drives it knows when a game is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guest {
    stage: Stage,
    moves_next: bool,
}

/// What an arena has told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// The opponent is there.
    Start(DuelSeat),
    /// The opponent's move.
    Cell(BoardCell),
    /// How this player stands after the game.
    Triple(Triple),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Silent,
    /// The start byte is to come.
    Greeted,
    /// This player is to move, or to say that the game is over.
    Moves,
    Watches,
    /// The triple is to come.
    Done,
}

impl Guest {
    /// What is to be sent first.
    ///
    /// # Panics
    /// When it has greeted.
    pub fn greet(&mut self, greeting: Greeting) -> Parcel {
        assert!(self.stage == Stage::Silent, "it greets once");
        self.stage = Stage::Greeted;
        Parcel::greeting(greeting)
    }

    /// Reads the front of what came and is not consumed yet: the message and its length, or
    /// nothing while that is not whole.
    ///
    /// # Errors
    /// No arena says so now.
    pub fn hear(&mut self, bytes: &[u8]) -> Result<Option<(Told, usize)>, Refusal> {
        let Some(&byte) = bytes.first() else {
            return Ok(None);
        };
        match self.stage {
            Stage::Greeted => {
                let seat = match byte {
                    1 => DuelSeat::First,
                    2 => DuelSeat::Second,
                    byte => return Err(Refusal::NoStart { byte }),
                };
                self.begin(seat == DuelSeat::First);
                Ok(Some((Told::Start(seat), 1)))
            }
            Stage::Silent | Stage::Moves => Err(Refusal::OutOfTurn { byte }),
            Stage::Watches => {
                let cell = scan::cell(bytes)?;
                self.stage = Stage::Moves;
                Ok(cell.map(|(cell, length)| (Told::Cell(cell), length)))
            }
            Stage::Done => {
                let triple = scan::triple(bytes)?;
                if triple.is_some() {
                    self.begin(self.moves_next);
                }
                Ok(triple.map(|(triple, length)| (Told::Triple(triple), length)))
            }
        }
    }

    /// What is to be sent for this player's move.
    ///
    /// # Panics
    /// When it [is not its turn](Self::is_to_move).
    pub fn play(&mut self, play: Move) -> Parcel {
        assert!(self.is_to_move(), "it is this player's turn");
        self.stage = Stage::Watches;
        Parcel::play(play)
    }

    /// What is to be sent when the move that was sent or heard last has ended the game.
    ///
    /// # Panics
    /// When no player can have moved.
    pub fn finish(&mut self) -> Parcel {
        self.moves_next = match self.stage {
            Stage::Moves => true,
            Stage::Watches => false,
            Stage::Silent | Stage::Greeted | Stage::Done => panic!("a game is on"),
        };
        self.stage = Stage::Done;
        Parcel::done()
    }

    /// Whether this player is to move, or to finish.
    #[must_use]
    pub fn is_to_move(&self) -> bool {
        self.stage == Stage::Moves
    }

    const fn begin(&mut self, moves: bool) {
        self.stage = if moves { Stage::Moves } else { Stage::Watches };
    }
}
