//! The arena between the two of a pair: whose turn it is to speak, and what may be sent.

use crate::{BoardCell, DuelSeat, Move, Parcel, Refusal, Triple, scan};

/// One pair on its two connections, from the start byte of the first game to the end of either
/// connection.
///
/// It owns what is said on the wire and in which order; not the rules of the game. Whoever drives
/// it reads with [`hear`](Self::hear), has each move decided elsewhere, says with
/// [`accept`](Self::accept) or [`accept_last`](Self::accept_last) that it stands, and with
/// [`tell`](Self::tell) what the scores are; after each of these it sends what
/// [`next_parcel`](Self::next_parcel) hands out until there is nothing. A move that does not stand
/// ends both connections, for the wire has no word for it.
///
/// Invariant: no message is handed out that could be read together with the one before it. What a
/// client says proves that it has read what was sent before; a byte that comes while nothing is due
/// is refused, so that the proof holds. Where it says nothing in between, the message before is
/// [marked](Parcel::is_marked).
#[derive(Clone, Debug)]
pub struct Duel {
    /// Who is to move, also while the move is decided; between two games, who begins the next.
    turn: DuelSeat,
    stage: Stage,
    /// Whether this game has seen a move.
    moved: bool,
    queue: [Option<(DuelSeat, Message)>; 2],
}

/// What one seat said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It is to be decided; nothing more is heard from this seat before.
    Move(Move),
    /// This seat waits for its statistics.
    Done,
}

/// What it means when a client goes now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// No move of this game was made. That is how the ancestor's clients end.
    NotBegun,
    /// Who goes leaves a game.
    Playing,
    /// The game is decided, and its result stands.
    Decided,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Playing,
    Deciding(BoardCell),
    /// Who has said that it is done.
    Over([bool; 2]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Message {
    Start,
    Cell(BoardCell),
    Triple(Triple),
}

impl Default for Duel {
    /// Begins with the start bytes. The first seat is who came first.
    fn default() -> Self {
        // The second first: the first answers at once, the second is to have read by then.
        Self {
            turn: DuelSeat::First,
            stage: Stage::Playing,
            moved: false,
            queue: [
                Some((DuelSeat::Second, Message::Start)),
                Some((DuelSeat::First, Message::Start)),
            ],
        }
    }
}

impl Duel {
    /// Reads the front of what came from a seat and is not consumed yet: what it says and its
    /// length, or nothing while that is not whole or what was said before is not decided.
    ///
    /// # Errors
    /// It cannot be said, or not now, and it is not known where this client stands.
    pub fn hear(
        &mut self,
        from: DuelSeat,
        bytes: &[u8],
    ) -> Result<Option<(Heard, usize)>, Refusal> {
        let Some(&byte) = bytes.first() else {
            return Ok(None);
        };
        let is_owed = self.queue.iter().flatten().any(|(to, _)| *to == from);
        match &mut self.stage {
            Stage::Deciding(_) if from == self.turn => Ok(None),
            Stage::Playing if from == self.turn && !is_owed => {
                Ok(scan::play(bytes)?.map(|(play, length)| {
                    self.stage = Stage::Deciding(play.cell);
                    (Heard::Move(play), length)
                }))
            }
            Stage::Over(done) if !done[from.index()] && !is_owed => {
                Ok(scan::done(bytes)?.map(|((), length)| {
                    done[from.index()] = true;
                    (Heard::Done, length)
                }))
            }
            Stage::Playing | Stage::Deciding(_) | Stage::Over(_) => {
                Err(Refusal::OutOfTurn { byte })
            }
        }
    }

    /// Whether a move was heard that is neither accepted nor refused.
    #[must_use]
    pub const fn is_deciding(&self) -> bool {
        matches!(self.stage, Stage::Deciding(_))
    }

    /// This seat has made a move where it is heard by others; [`accept`](Self::accept) or
    /// [`accept_last`](Self::accept_last) is to follow. Answers whether it was its turn.
    pub fn overhear(&mut self, from: DuelSeat, cell: BoardCell) -> bool {
        let is_due = self.stage == Stage::Playing && from == self.turn;
        if is_due {
            self.stage = Stage::Deciding(cell);
        }
        is_due
    }

    /// This seat waits for its statistics where it is heard by others; after the game it may be said at
    /// any time.
    pub const fn overhear_done(&mut self, from: DuelSeat) {
        if let Stage::Over(done) = &mut self.stage {
            done[from.index()] = true;
        }
    }

    /// The move that was heard stands, and the game goes on.
    ///
    /// # Panics
    /// When no move is to be decided.
    pub fn accept(&mut self) {
        self.stand();
        self.stage = Stage::Playing;
    }

    /// The move that was heard stands and ends the game.
    ///
    /// # Panics
    /// When no move is to be decided.
    pub fn accept_last(&mut self) {
        self.stand();
        self.stage = Stage::Over([false; 2]);
    }

    /// Whether both wait for their statistics.
    #[must_use]
    pub fn awaits_triples(&self) -> bool {
        self.stage == Stage::Over([true; 2])
    }

    /// What the scores say after the game. The next game is open with this; who did not make the
    /// last move begins it.
    ///
    /// # Panics
    /// When it is not [awaited](Self::awaits_triples).
    pub fn tell(&mut self, first: Triple, second: Triple) {
        assert!(self.awaits_triples(), "both are done");
        // As with the start: the player who moves next is told last.
        for seat in [self.turn.other(), self.turn] {
            self.enqueue(seat, Message::Triple([first, second][seat.index()]));
        }
        self.stage = Stage::Playing;
        self.moved = false;
    }

    /// The next message, and to whom. It MUST meet the socket of this seat at once and in one send, or
    /// that connection is broken: no more than one parcel is ever under way to a client that follows.
    pub fn next_parcel(&mut self) -> Option<(DuelSeat, Parcel)> {
        let (to, message) = self.queue[0]?;
        self.queue = [self.queue[1], None];
        let parcel = match message {
            Message::Start => Parcel::start(to),
            Message::Cell(cell) => Parcel::cell(cell),
            Message::Triple(triple) => Parcel::triple(triple),
        };
        let marks = self.precedes_another(to, message);
        Some((to, if marks { parcel.marked() } else { parcel }))
    }

    /// Who is to move; between two games, who begins the next.
    #[must_use]
    pub const fn turn(&self) -> DuelSeat {
        self.turn
    }

    #[must_use]
    pub const fn standing(&self) -> Standing {
        match self.stage {
            Stage::Over(_) => Standing::Decided,
            Stage::Deciding(_) => Standing::Playing,
            Stage::Playing if self.moved => Standing::Playing,
            Stage::Playing => Standing::NotBegun,
        }
    }

    fn stand(&mut self) {
        let Stage::Deciding(cell) = self.stage else {
            panic!("a move is to be decided");
        };
        self.turn = self.turn.other();
        self.moved = true;
        self.enqueue(self.turn, Message::Cell(cell));
    }

    fn enqueue(&mut self, seat: DuelSeat, message: Message) {
        let free = self.queue.iter_mut().find(|place| place.is_none());
        let place = free.expect("nobody is owed anything when a move or statistics are due");
        *place = Some((seat, message));
    }

    /// Whether the client says nothing between this message and the next to it. That is so where it
    /// is told that a game begins or has ended and the other moves; after a cell it answers.
    fn precedes_another(&self, to: DuelSeat, message: Message) -> bool {
        match message {
            Message::Start | Message::Triple(_) => to != self.turn,
            Message::Cell(_) => false,
        }
    }
}
