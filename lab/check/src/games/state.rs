//! A match, and the rules of all games.

use std::fmt;

use super::board::{GameKind, WitnessBoard};
use crate::compact::compact;

/// A match as it is. Players are numbers within the run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MatchState {
    pub number: u64,
    /// The first moves first.
    pub players: [u16; 2],
    pub board: WitnessBoard,
    /// Moves made.
    pub ply: u16,
    /// Changes so far.
    pub changes: u32,
    /// The cell in which the last stone came to lie, from 1.
    pub last: Option<u8>,
    pub to_move: Option<u16>,
    /// Who offers a draw.
    pub offer: Option<u16>,
    pub ending: Option<MatchEnding>,
    pub winner: Option<u16>,
}

/// What is told of a match to whoever has changed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchChange {
    pub number: u64,
    pub ply: u16,
    pub changes: u32,
    pub last: Option<u8>,
    pub to_move: Option<u16>,
    pub ending: Option<MatchEnding>,
    pub winner: Option<u16>,
}

/// How a match ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchEnding {
    Line,
    Resigned,
    Full,
    Agreed,
    Aborted,
    /// Somebody was late, or away for too long. Only the server knows when.
    Clock,
}

/// What a player says that a move does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveClaim {
    /// The match goes on.
    Ordinary,
    Wins,
    /// It fills the board, and nobody has won.
    Fills,
}

compact!(struct MatchState {
    number, players, board, ply, changes, last, to_move, offer, ending, winner,
});
compact!(struct MatchChange { number, ply, changes, last, to_move, ending, winner });
compact!(enum MatchEnding {
    0 = Line,
    1 = Resigned,
    2 = Full,
    3 = Agreed,
    4 = Aborted,
    5 = Clock,
});
compact!(enum MoveClaim { 0 = Ordinary, 1 = Wins, 2 = Fills });

impl fmt::Debug for MatchState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.players;
        let (number, board, ply, changes) = (self.number, self.board, self.ply, self.changes);
        write!(
            f,
            "match {number} of {first} and {second}, {:?} {board:?}, ply {ply}, change {changes}",
            board.game()
        )?;
        if let Some(cell) = self.last {
            write!(f, ", last {cell}")?;
        }
        if let Some(player) = self.to_move {
            write!(f, ", {player} to move")?;
        }
        if let Some(player) = self.offer {
            write!(f, ", {player} offers a draw")?;
        }
        if let Some(ending) = self.ending {
            write!(f, ", over: {ending:?}")?;
        }
        if let Some(player) = self.winner {
            write!(f, ", won by {player}")?;
        }
        Ok(())
    }
}

impl MatchState {
    /// A match that begins.
    #[must_use]
    pub fn new(number: u64, game: GameKind, players: [u16; 2]) -> Self {
        Self {
            number,
            players,
            board: WitnessBoard::empty(game),
            ply: 0,
            changes: 0,
            last: None,
            to_move: Some(players[0]),
            offer: None,
            ending: None,
            winner: None,
        }
    }

    #[must_use]
    pub fn has(&self, player: u16) -> bool {
        self.players.contains(&player)
    }

    /// The opponent of one of its players.
    #[must_use]
    pub const fn other(&self, player: u16) -> u16 {
        let [first, second] = self.players;
        if player == first { second } else { first }
    }

    /// What is true of a move that can be made, by who is to move.
    #[must_use]
    pub fn claim_of(&self, choice: u8) -> MoveClaim {
        let mut next = *self;
        next.play(choice);
        match next.ending {
            None => MoveClaim::Ordinary,
            Some(MatchEnding::Full) => MoveClaim::Fills,
            Some(_) => MoveClaim::Wins,
        }
    }

    /// Who is to move does so, where that is possible.
    pub fn play(&mut self, choice: u8) {
        let Some((cell, player)) = self.board.target(choice).zip(self.to_move) else {
            return;
        };
        let other = self.other(player);
        let seat = usize::from(self.ply % 2);
        self.board.put(seat, cell);
        self.ply += 1;
        self.changes += 1;
        self.last = Some(cell + 1);
        self.to_move = Some(other);
        // Whoever moves has not taken the other's offer.
        self.offer = self.offer.filter(|&by| by == player);
        if self.board.has_line(seat, cell) {
            self.over(MatchEnding::Line, Some(player));
        } else if self.board.is_full() {
            self.over(MatchEnding::Full, None);
        }
    }

    /// Ends otherwise than by a move.
    pub const fn end(&mut self, ending: MatchEnding, winner: Option<u16>) {
        self.changes += 1;
        self.over(ending, winner);
    }

    const fn over(&mut self, ending: MatchEnding, winner: Option<u16>) {
        self.ending = Some(ending);
        self.winner = winner;
        self.to_move = None;
        self.offer = None;
    }

    /// Offers a draw, or takes back the offer that stands.
    pub const fn offer(&mut self, by: Option<u16>) {
        self.changes += 1;
        self.offer = by;
    }

    #[must_use]
    pub const fn change(&self) -> MatchChange {
        MatchChange {
            number: self.number,
            ply: self.ply,
            changes: self.changes,
            last: self.last,
            to_move: self.to_move,
            ending: self.ending,
            winner: self.winner,
        }
    }
}
