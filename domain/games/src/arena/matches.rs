//! The matches, open and ended.

use std::collections::BTreeMap;

use turnstile_chassis::{Linked, Pool, Table, hash_of};
use turnstile_types::Timestamp;

use crate::{
    Board, Ending, Game, MatchId, Played, Seat, limits,
    line::{Chained, Line, Links},
};

/// A chunk of matches is half a mebibyte.
const CHUNK_BITS: u32 = 12;

/// Two players and their board.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GameMatch {
    pub(crate) id: MatchId,
    pub(crate) game: Game,
    /// Numbers of players; the first moves first.
    pub(crate) seats: [u32; 2],
    pub(crate) board: Board,
    pub(crate) ply: u16,
    /// Changes so far, the beginning not among them.
    pub(crate) seq: u32,
    pub(crate) last: Option<u8>,
    pub(crate) offer: Option<Seat>,
    pub(crate) moved_at: Timestamp,
    pub(crate) ending: Option<Ending>,
    /// The place among the open ones or among those that are over.
    pub(crate) links: Links,
}

impl GameMatch {
    pub(crate) fn seat_of(&self, number: u32) -> Option<Seat> {
        let mut seats = Seat::BOTH.into_iter();
        seats.find(|seat| *seat.of(&self.seats) == number)
    }
}

/// All matches that can be looked at.
///
/// Open ones wait in a line in which whoever moves goes to the end: as the time for a move is the
/// same in all, the first of the line is the one whose time is over first.
#[derive(Debug)]
pub(crate) struct Matches {
    slots: Pool<GameMatch, CHUNK_BITS>,
    numbers: Table,
    /// The open ones in their order, which they are listed in.
    open_ids: BTreeMap<MatchId, u32>,
    /// By the last move, the longest ago first.
    open: Line,
    /// By their ends, the longest ago first.
    over: Line,
    /// The number given last.
    last: MatchId,
}

impl Linked for GameMatch {
    fn next_mut(&mut self) -> &mut u32 {
        &mut self.links.after
    }
}

impl Chained for Pool<GameMatch, CHUNK_BITS> {
    fn links(&self, number: u32) -> Links {
        self.at(number).links
    }

    fn links_mut(&mut self, number: u32) -> &mut Links {
        &mut self.at_mut(number).links
    }
}

impl Matches {
    pub(crate) fn new() -> Self {
        Self {
            slots: Pool::empty(),
            numbers: Table::empty(),
            open_ids: BTreeMap::new(),
            open: Line::EMPTY,
            over: Line::EMPTY,
            last: MatchId(0),
        }
    }

    /// How many are open.
    pub(crate) const fn open(&self) -> u32 {
        self.open.len()
    }

    /// How many ever began.
    pub(crate) const fn begun(&self) -> u64 {
        self.last.0
    }

    pub(crate) fn at(&self, slot: u32) -> &GameMatch {
        self.slots.at(slot)
    }

    pub(crate) fn at_mut(&mut self, slot: u32) -> &mut GameMatch {
        self.slots.at_mut(slot)
    }

    pub(crate) fn find(&self, id: MatchId) -> Option<u32> {
        self.numbers
            .find(hash(id), |slot| self.slots.at(slot).id == id)
    }

    /// Open matches with higher numbers than this, in their order.
    pub(crate) fn open_after(&self, id: MatchId) -> impl Iterator<Item = u32> {
        let higher = self.open_ids.range(MatchId(id.0.saturating_add(1))..);
        higher.map(|(_, &slot)| slot)
    }

    /// The open match in which nobody has moved for the longest time.
    pub(crate) fn slowest(&self) -> Option<&GameMatch> {
        self.open.first().map(|slot| self.at(slot))
    }

    /// Open matches, the one longest without a move first.
    pub(crate) fn iter_open(&self) -> impl Iterator<Item = u32> {
        self.open.iter(&self.slots)
    }

    /// Matches that are over, the one over for longest first.
    pub(crate) fn iter_over(&self) -> impl Iterator<Item = u32> {
        self.over.iter(&self.slots)
    }

    pub(crate) fn begin(&mut self, now: Timestamp, game: Game, seats: [u32; 2]) -> u32 {
        self.last = MatchId(self.last.0 + 1);
        self.restore(GameMatch {
            id: self.last,
            game,
            seats,
            board: Board::default(),
            ply: 0,
            seq: 0,
            last: None,
            offer: None,
            moved_at: now,
            ending: None,
            links: Links::NONE,
        })
    }

    /// Adds the next match as it is.
    pub(crate) fn restore(&mut self, one: GameMatch) -> u32 {
        let (id, open) = (one.id, one.ending.is_none());
        let slot = self.slots.take(one);
        self.numbers.insert(hash(id), slot);
        if open {
            self.open.join(&mut self.slots, slot);
            self.open_ids.insert(id, slot);
        } else {
            self.over.join(&mut self.slots, slot);
        }
        slot
    }

    /// Goes on as if so many had begun.
    pub(crate) const fn restore_last(&mut self, last: MatchId) {
        self.last = last;
    }

    /// Takes note of a move of an open match.
    pub(crate) fn moved(&mut self, slot: u32, now: Timestamp, seat: Seat, played: &Played) {
        let found = self.slots.at_mut(slot);
        found.board = played.board;
        found.ply += 1;
        found.last = Some(played.cell);
        // Whoever moves has not taken the other's offer.
        if found.offer == Some(seat.other()) {
            found.offer = None;
        }
        found.moved_at = now;
        self.open.leave(&mut self.slots, slot);
        self.open.join(&mut self.slots, slot);
    }

    /// Ends an open match, and forgets the oldest where too many are remembered.
    pub(crate) fn end(&mut self, slot: u32, ending: Ending) {
        let found = self.slots.at_mut(slot);
        found.ending = Some(ending);
        found.offer = None;
        let id = found.id;
        self.open.leave(&mut self.slots, slot);
        self.open_ids.remove(&id);
        self.over.join(&mut self.slots, slot);
        while self.over.len() > limits::OVER_MATCHES_MAX
            && let Some(oldest) = self.over.first()
        {
            self.over.leave(&mut self.slots, oldest);
            let id = self.slots.at(oldest).id;
            self.numbers.remove(hash(id), oldest);
            self.slots.give_back(oldest);
        }
    }
}

fn hash(id: MatchId) -> u64 {
    hash_of(0, &id.0.to_le_bytes())
}
