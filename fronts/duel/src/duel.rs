//! The arena between the two of a pair: whose turn it is to speak, and what may be sent.

use std::time::{Duration, Instant};

use crate::{Cell, Move, Parcel, Refusal, Seat, Triple, scan};

/// One pair on its two connections, from the start byte of the first game to the end of either
/// connection.
///
/// It owns what is said on the wire and in which order; not the rules of the game. Whoever drives
/// it reads with [`hear`](Self::hear), has each move decided elsewhere, says with
/// [`accept`](Self::accept) or [`accept_last`](Self::accept_last) that it stands, and with
/// [`tell`](Self::tell) what the scores are; after each of these, and whenever a [`Wait`] is over,
/// it sends what [`next`](Self::next) hands out until there is nothing. A move that does not stand
/// ends both connections, for the wire has no word for it.
///
/// Invariant: at most one message to each seat is not known to be read, and no message is handed
/// out while the one before it could still be read together with it. What a client says proves that
/// it has read what was sent before; a byte that comes while nothing is due is refused, so that the
/// proof holds.
#[derive(Clone, Debug)]
pub struct Duel {
    boundary: Boundary,
    /// Who is to move, also while the move is decided; between two games, who begins the next.
    turn: Seat,
    stage: Stage,
    /// Whether this game has seen a move.
    moved: bool,
    queue: [Option<(Seat, Message)>; 2],
    unread: [Unread; 2],
}

/// What keeps two messages to one client apart where the client says nothing between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// A mark of TCP's own goes with the first of them, and nothing ever waits. It needs a path on
    /// which nobody removes the urgent flag.
    Mark,
    /// The second waits until the client's system has acknowledged the first, and then this long
    /// for the client to read it. Plain bytes alone, but no proof; and a system that delays its
    /// acknowledgements makes it a matter of 40 ms.
    Patience { grace: Duration },
}

/// What one seat said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It is to be decided; nothing more is heard from this seat before.
    Move(Move),
    /// This seat waits for its statistics.
    Done,
}

/// What is to be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Nothing,
    /// It MUST meet the socket of this seat at once and in one send, or that connection is broken:
    /// no more than one parcel is ever under way to a client that follows.
    Send {
        to: Seat,
        parcel: Parcel,
    },
    Wait(Wait),
}

/// What must be waited for before the next message may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Until the peer's system has acknowledged all that was sent to this seat (on Linux: `SIOCOUTQ`
    /// is 0), which is to be told with [`Duel::taken`].
    UntilTaken(Seat),
    /// Until this instant.
    Until(Instant),
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
    Deciding(Cell),
    /// Who has said that it is done.
    Over([bool; 2]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Message {
    Start,
    Cell(Cell),
    Triple(Triple),
}

/// What is known of the last message to a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unread {
    /// The client has spoken since, or nothing was sent.
    Nothing,
    /// It is sent with a mark.
    Marked,
    Sent,
    /// It is in the memory of the client's system since then.
    Taken(Instant),
}

impl Duel {
    /// Begins with the start bytes. The first seat is who came first.
    #[must_use]
    pub const fn new(boundary: Boundary) -> Self {
        // The second first: the first answers at once, the second is to have read by then.
        Self {
            boundary,
            turn: Seat::First,
            stage: Stage::Playing,
            moved: false,
            queue: [
                Some((Seat::Second, Message::Start)),
                Some((Seat::First, Message::Start)),
            ],
            unread: [Unread::Nothing; 2],
        }
    }

    /// Reads the front of what came from a seat and is not consumed yet: what it says and its
    /// length, or nothing while that is not whole or what was said before is not decided.
    ///
    /// # Errors
    /// It cannot be said, or not now, and nobody knows where this client stands.
    pub fn hear(&mut self, from: Seat, bytes: &[u8]) -> Result<Option<(Heard, usize)>, Refusal> {
        let Some(&byte) = bytes.first() else {
            return Ok(None);
        };
        let is_owed = self.queue.iter().flatten().any(|(to, _)| *to == from);
        let heard = match &mut self.stage {
            Stage::Deciding(_) if from == self.turn => return Ok(None),
            Stage::Playing if from == self.turn && !is_owed => {
                scan::play(bytes)?.map(|(play, length)| {
                    self.stage = Stage::Deciding(play.cell);
                    (Heard::Move(play), length)
                })
            }
            Stage::Over(done) if !done[from.index()] && !is_owed => {
                scan::done(bytes)?.map(|((), length)| {
                    done[from.index()] = true;
                    (Heard::Done, length)
                })
            }
            Stage::Playing | Stage::Deciding(_) | Stage::Over(_) => {
                return Err(Refusal::OutOfTurn { byte });
            }
        };
        if heard.is_some() {
            self.unread[from.index()] = Unread::Nothing;
        }
        Ok(heard)
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
        // As with the start: who moves next is told last.
        for seat in [self.turn.other(), self.turn] {
            self.enqueue(seat, Message::Triple([first, second][seat.index()]));
        }
        self.stage = Stage::Playing;
        self.moved = false;
    }

    /// The system of this seat's peer has acknowledged all that was sent to it.
    pub fn taken(&mut self, seat: Seat, now: Instant) {
        let unread = &mut self.unread[seat.index()];
        if *unread == Unread::Sent {
            *unread = Unread::Taken(now);
        }
    }

    /// What is to be done now. What it hands out counts as sent.
    pub fn next(&mut self, now: Instant) -> Next {
        let Some((to, message)) = self.queue[0] else {
            return Next::Nothing;
        };
        if let Some(wait) = self.wait(to, now) {
            return Next::Wait(wait);
        }
        self.queue = [self.queue[1], None];
        let marks = self.boundary == Boundary::Mark && self.precedes_another(to, message);
        self.unread[to.index()] = if marks { Unread::Marked } else { Unread::Sent };
        let parcel = match message {
            Message::Start => Parcel::start(to),
            Message::Cell(cell) => Parcel::cell(cell),
            Message::Triple(triple) => Parcel::triple(triple),
        };
        let parcel = if marks { parcel.marked() } else { parcel };
        Next::Send { to, parcel }
    }

    /// Who is to move; between two games, who begins the next.
    #[must_use]
    pub const fn turn(&self) -> Seat {
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

    fn enqueue(&mut self, seat: Seat, message: Message) {
        let free = self.queue.iter_mut().find(|place| place.is_none());
        let place = free.expect("nobody is owed anything when a move or statistics are due");
        *place = Some((seat, message));
    }

    fn wait(&self, to: Seat, now: Instant) -> Option<Wait> {
        let Boundary::Patience { grace } = self.boundary else {
            return None;
        };
        match self.unread[to.index()] {
            Unread::Nothing => None,
            Unread::Marked => unreachable!("whoever waits does not mark"),
            Unread::Sent => Some(Wait::UntilTaken(to)),
            Unread::Taken(at) if now < at + grace => Some(Wait::Until(at + grace)),
            Unread::Taken(_) => None,
        }
    }

    /// Whether the client says nothing between this message and the next to it. That is so where it
    /// is told that a game begins or has ended and the other moves; after a cell it answers.
    fn precedes_another(&self, to: Seat, message: Message) -> bool {
        match message {
            Message::Start | Message::Triple(_) => to != self.turn,
            Message::Cell(_) => false,
        }
    }
}
