//! The booking or hold of each room-night.

use turnstile_chassis::prefetch;
use turnstile_types::{Night, Stay};

use crate::{
    arena::CellArena,
    index::Index,
    slab::{LINES, RecyclingSlab},
};

/// Nights of one block: with the stop-sells they fill one cache line.
const BLOCK_NIGHTS: u16 = 15;

/// No booking or hold.
const NOBODY: u32 = u32::MAX;

/// Fifteen nights of one room, in one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct NightBlock {
    /// The slot of the booking or hold, or `NOBODY`.
    owners: [u32; BLOCK_NIGHTS as usize],
    /// Bit k: the sale is stopped on the block's night k.
    stopped: u16,
}

const _: () = assert!(size_of::<NightBlock>() == 64);

/// What is in the way on each night of a stay; bit k stands for its k-th night.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub(crate) occupied: u128,
    pub(crate) stopped: u128,
}

impl Conflict {
    /// That of one booking or hold with the nights of `stay`.
    fn of_one(taken: Stay, stay: Stay) -> Self {
        if !taken.overlaps(stay) {
            return Self::default();
        }
        let begin = taken.arrival().max(stay.arrival()).days();
        let end = taken.departure().min(stay.departure()).days();
        let nights = (1 << (end - begin)) - 1;
        Self {
            occupied: nights << (begin - stay.arrival().days()),
            stopped: 0,
        }
    }
}

/// What a room keeps of its nights: a booking or hold that has been alone in the room from the
/// beginning, or the way to its blocks.
///
/// Where every booking names a room of its own, this saves a cache line each. Whoever joins the
/// lone one moves it to blocks, where it stays, so that no room goes back and forth. The form is
/// no state: what a room answers does not depend on it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Diary {
    Lone { slot: u32, stay: Stay },
    Blocks(Index),
}

impl Default for Diary {
    fn default() -> Self {
        Self::Blocks(Index::default())
    }
}

/// All rooms' nights. A room has blocks only where something is booked, held or stopped, and
/// finds them by its [`Diary`]; a block is given back when nothing is in it any more.
///
/// An owner is kept for every night, not for every booking: a booking then costs no search, and
/// the same line answers whether a night is free and who has it.
#[derive(Debug)]
pub(crate) struct Calendar {
    blocks: RecyclingSlab<NightBlock, LINES>,
    indexes: CellArena<u64>,
}

/// The part of a stay that lies in one block.
struct Piece {
    block: u16,
    /// The first night, within the block.
    start: usize,
    nights: usize,
    /// The first night, within the stay.
    offset: usize,
}

fn pieces(stay: Stay) -> impl Iterator<Item = Piece> {
    let (arrival, departure) = (stay.arrival().days(), stay.departure().days());
    let mut next = arrival;
    std::iter::from_fn(move || {
        if next == departure {
            return None;
        }
        let start = next % BLOCK_NIGHTS;
        let nights = (BLOCK_NIGHTS - start).min(departure - next);
        let piece = Piece {
            block: next / BLOCK_NIGHTS,
            start: usize::from(start),
            nights: usize::from(nights),
            offset: usize::from(next - arrival),
        };
        next += nights;
        Some(piece)
    })
}

impl NightBlock {
    const EMPTY: Self = Self {
        owners: [NOBODY; BLOCK_NIGHTS as usize],
        stopped: 0,
    };

    fn owners_of(&self, piece: &Piece) -> &[u32] {
        self.owners
            .get(piece.start..piece.start + piece.nights)
            .expect("a piece lies within its block")
    }

    fn owners_of_mut(&mut self, piece: &Piece) -> &mut [u32] {
        self.owners
            .get_mut(piece.start..piece.start + piece.nights)
            .expect("a piece lies within its block")
    }

    fn is_empty(&self) -> bool {
        self.stopped == 0 && self.owners.iter().all(|&owner| owner == NOBODY)
    }
}

impl Piece {
    /// The bits of the nights within the block.
    const fn mask(&self) -> u16 {
        ((1 << self.nights) - 1) << self.start
    }
}

impl Calendar {
    pub(crate) fn new() -> Self {
        Self {
            blocks: RecyclingSlab::new(),
            indexes: CellArena::new(),
        }
    }

    pub(crate) fn conflict(&self, room: &Diary, stay: Stay) -> Conflict {
        let index = match room {
            Diary::Lone { stay: taken, .. } => return Conflict::of_one(*taken, stay),
            Diary::Blocks(index) => index,
        };
        let mut conflict = Conflict::default();
        for piece in pieces(stay) {
            let Some(block) = index.find(&self.indexes, piece.block) else {
                continue;
            };
            let block = self.blocks.at(block);
            for (night, &owner) in block.owners_of(&piece).iter().enumerate() {
                conflict.occupied |= u128::from(owner != NOBODY) << (piece.offset + night);
            }
            let stopped = (block.stopped & piece.mask()) >> piece.start;
            conflict.stopped |= u128::from(stopped) << piece.offset;
        }
        conflict
    }

    /// Gives the nights, which are free, to a slot.
    pub(crate) fn occupy(&mut self, room: &mut Diary, stay: Stay, slot: u32) {
        if matches!(room, Diary::Blocks(index) if index.is_empty()) {
            *room = Diary::Lone { slot, stay };
            return;
        }
        let index = self.unfold(room);
        index.look(&mut self.indexes);
        self.fill(index, stay, slot);
    }

    /// Brings a lone booking or hold to blocks.
    fn unfold<'a>(&mut self, room: &'a mut Diary) -> &'a mut Index {
        if let Diary::Lone { slot, stay } = *room {
            let mut index = Index::default();
            self.fill(&mut index, stay, slot);
            *room = Diary::Blocks(index);
        }
        match room {
            Diary::Blocks(index) => index,
            Diary::Lone { .. } => unreachable!("it was just brought to blocks"),
        }
    }

    fn fill(&mut self, index: &mut Index, stay: Stay, slot: u32) {
        for piece in pieces(stay) {
            let block = self.block_for(index, piece.block);
            for owner in self.blocks.at_mut(block).owners_of_mut(&piece) {
                assert!(*owner == NOBODY, "a night has one owner at most");
                *owner = slot;
            }
        }
    }

    /// Takes the nights, which it has, from a slot.
    pub(crate) fn vacate(&mut self, room: &mut Diary, stay: Stay, slot: u32) {
        let index = match room {
            Diary::Lone {
                slot: owner,
                stay: nights,
            } => {
                assert!(
                    (*owner, *nights) == (slot, stay),
                    "a booking has all its nights"
                );
                *room = Diary::default();
                return;
            }
            Diary::Blocks(index) => index,
        };
        index.look(&mut self.indexes);
        for piece in pieces(stay) {
            let block = index
                .find(&self.indexes, piece.block)
                .expect("a booked night has its block");
            self.blocks.look(block);
            for owner in self.blocks.at_mut(block).owners_of_mut(&piece) {
                assert!(*owner == slot, "a booking has all its nights");
                *owner = NOBODY;
            }
            self.drop_if_empty(index, piece.block, block);
        }
    }

    /// Stops or resumes the sale of some nights.
    pub(crate) fn stop(&mut self, room: &mut Diary, stay: Stay, stopped: bool) {
        if !stopped && matches!(room, Diary::Lone { .. }) {
            // Nothing is stopped there.
            return;
        }
        let index = self.unfold(room);
        for piece in pieces(stay) {
            if stopped {
                let block = self.block_for(index, piece.block);
                self.blocks.at_mut(block).stopped |= piece.mask();
            } else if let Some(block) = index.find(&self.indexes, piece.block) {
                self.blocks.at_mut(block).stopped &= !piece.mask();
                self.drop_if_empty(index, piece.block, block);
            }
        }
    }

    fn block_for(&mut self, index: &mut Index, number: u16) -> u32 {
        if let Some(block) = index.find(&self.indexes, number) {
            self.blocks.look(block);
            return block;
        }
        let block = self.blocks.take(NightBlock::EMPTY);
        index.insert(&mut self.indexes, number, block);
        block
    }

    fn drop_if_empty(&mut self, index: &mut Index, number: u16, block: u32) {
        if self.blocks.at(block).is_empty() {
            index.remove(&mut self.indexes, number);
            self.blocks.give_back(block);
        }
    }

    /// The slots that have nights from `from` up to, not including, `to`, in order of the nights.
    pub(crate) fn owners<'a>(
        &'a self,
        room: &Diary,
        from: Night,
        to: Night,
    ) -> impl Iterator<Item = u32> + use<'a> {
        let mut last = NOBODY;
        self.nights(room, from)
            .take_while(move |&(night, ..)| night < to)
            .filter_map(move |(_, owner, _)| {
                let new = owner != last && owner != NOBODY;
                last = owner;
                new.then_some(owner)
            })
    }

    /// The nights on which the sale is stopped, in order.
    pub(crate) fn stopped<'a>(&'a self, room: &Diary) -> impl Iterator<Item = Night> + use<'a> {
        self.nights(room, Night::from_days(0))
            .filter_map(|(night, _, stopped)| stopped.then_some(night))
    }

    /// The first night that somebody has.
    pub(crate) fn first_owned(&self, room: &Diary) -> Option<Night> {
        self.nights(room, Night::from_days(0))
            .find(|&(_, owner, _)| owner != NOBODY)
            .map(|(night, ..)| night)
    }

    /// Every night from `from` on that has an owner or a block: its owner, and whether its sale is
    /// stopped.
    fn nights<'a>(
        &'a self,
        room: &Diary,
        from: Night,
    ) -> impl Iterator<Item = (Night, u32, bool)> + use<'a> {
        let (lone, index) = match *room {
            Diary::Lone { slot, stay } => (Some((slot, stay)), Index::default()),
            Diary::Blocks(index) => (None, index),
        };
        lone.into_iter()
            .flat_map(|(slot, stay)| stay.iter().map(move |night| (night, slot, false)))
            .chain(self.nights_in_blocks(&index, from))
            .skip_while(move |&(night, ..)| night < from)
    }

    fn nights_in_blocks<'a>(
        &'a self,
        index: &Index,
        from: Night,
    ) -> impl Iterator<Item = (Night, u32, bool)> + use<'a> {
        index
            .iter_from(&self.indexes, from.days() / BLOCK_NIGHTS)
            .flat_map(|(number, block)| {
                let block = self.blocks.at(block);
                block
                    .owners
                    .iter()
                    .zip(0_u16..)
                    .filter_map(move |(&owner, night)| {
                        let days = (number * BLOCK_NIGHTS).checked_add(night)?;
                        let stopped = block.stopped >> night & 1 == 1;
                        Some((Night::from_days(days), owner, stopped))
                    })
            })
    }

    /// Asks memory for the place where a room's blocks are found; see `warming`.
    pub(crate) fn prefetch_index(&self, room: &Diary) {
        if let Diary::Blocks(index) = room {
            index.prefetch(&self.indexes);
        }
    }

    /// Asks memory for a night's block; see `warming`.
    pub(crate) fn prefetch(&self, room: &Diary, night: Night) {
        let Diary::Blocks(index) = room else { return };
        let block = index.find(&self.indexes, night.days() / BLOCK_NIGHTS);
        if let Some(block) = block.and_then(|block| self.blocks.get(block)) {
            prefetch(block);
        }
    }

    /// How many blocks are in use.
    pub(crate) const fn blocks_used(&self) -> u32 {
        self.blocks.used()
    }

    /// How many blocks the room has, how many of them hold nothing, and how many of its nights
    /// somebody has.
    pub(crate) fn census(&self, room: &Diary) -> (u32, u32, u64) {
        let index = match *room {
            Diary::Lone { .. } => Index::default(),
            Diary::Blocks(index) => index,
        };
        let blocks = index.iter_from(&self.indexes, 0);
        let (count, empty) = blocks.fold((0, 0), |(count, empty), (_, block)| {
            let is_empty = self.blocks.at(block).is_empty();
            (count + 1, empty + u32::from(is_empty))
        });
        let owned = self
            .nights(room, Night::from_days(0))
            .filter(|&(_, owner, _)| owner != NOBODY)
            .count();
        (
            count,
            empty,
            u64::try_from(owned).expect("a count fits 64 bits"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAYS: u16 = 80;

    fn nights(first: u16, count: u16) -> Stay {
        Stay::new(Night::from_days(first), Night::from_days(first + count)).unwrap()
    }

    /// One room, night by night.
    struct Plain {
        owners: [u32; DAYS as usize],
        stopped: [bool; DAYS as usize],
    }

    impl Plain {
        fn conflict(&self, stay: Stay) -> Conflict {
            let mut conflict = Conflict::default();
            for (bit, night) in stay.iter().enumerate() {
                let at = usize::from(night.days());
                conflict.occupied |= u128::from(self.owners[at] != NOBODY) << bit;
                conflict.stopped |= u128::from(self.stopped[at]) << bit;
            }
            conflict
        }

        fn owners(&self, from: u16) -> Vec<u32> {
            let mut owners = self.owners[usize::from(from)..].to_vec();
            owners.dedup();
            owners.retain(|&owner| owner != NOBODY);
            owners
        }
    }

    #[test]
    fn a_room_answers_alike_with_one_booking_and_with_many() {
        let mut calendar = Calendar::new();
        let mut room = Diary::default();
        let mut plain = Plain {
            owners: [NOBODY; DAYS as usize],
            stopped: [false; DAYS as usize],
        };
        let mut standing: Vec<(Stay, u32)> = Vec::new();
        let (mut state, mut lone) = (1_u32, 0);
        for slot in 0..40_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let draw =
                |shift: u32, below: u16| u16::try_from(state >> shift & 255).unwrap() % below;
            let stay = nights(draw(8, DAYS - 20), 1 + draw(16, 20));
            let range = usize::from(stay.arrival().days())..usize::from(stay.departure().days());
            let conflict = calendar.conflict(&room, stay);
            assert_eq!(conflict, plain.conflict(stay));
            match state >> 29 {
                // More is taken away than put, so that the room is often empty.
                0..4 if !standing.is_empty() => {
                    let at = usize::from(draw(21, 255)) % standing.len();
                    let (stay, slot) = standing.swap_remove(at);
                    calendar.vacate(&mut room, stay, slot);
                    for owner in plain.owners.iter_mut().filter(|owner| **owner == slot) {
                        *owner = NOBODY;
                    }
                }
                4 => {
                    let stopped = slot % 8 == 0;
                    calendar.stop(&mut room, stay, stopped);
                    plain.stopped[range].fill(stopped);
                }
                _ if conflict.occupied == 0 => {
                    calendar.occupy(&mut room, stay, slot);
                    plain.owners[range].fill(slot);
                    standing.push((stay, slot));
                }
                _ => {}
            }
            lone += u32::from(matches!(room, Diary::Lone { .. }));
            let from = draw(8, DAYS);
            let owners = calendar.owners(&room, Night::from_days(from), Night::from_days(DAYS));
            assert_eq!(owners.collect::<Vec<u32>>(), plain.owners(from));
            let stopped = calendar
                .stopped(&room)
                .map(|night| usize::from(night.days()));
            assert!(stopped.eq((0..plain.stopped.len()).filter(|&at| plain.stopped[at])));
            let owned = plain.owners.iter().position(|&owner| owner != NOBODY);
            let first = calendar
                .first_owned(&room)
                .map(|night| usize::from(night.days()));
            assert_eq!(first, owned);
        }
        assert!(lone > 1_000, "it was alone {lone} times");
    }
}
