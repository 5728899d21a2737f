//! Who has which night of a room.

use turnstile_chassis::prefetch;
use turnstile_types::{Night, Stay};

use crate::{arena::Arena, index::Index, slab::Pool};

/// Nights of one block: with the stop-sells they fill one cache line.
const BLOCK_NIGHTS: u16 = 15;

/// No booking or hold.
const NOBODY: u32 = u32::MAX;

/// Fifteen nights of one room, in one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Block {
    /// The slot of the booking or hold, or `NOBODY`.
    owners: [u32; BLOCK_NIGHTS as usize],
    /// Bit k: the sale is stopped on the block's night k.
    stopped: u16,
}

const _: () = assert!(size_of::<Block>() == 64);

/// What is in the way on each night of a stay; bit k stands for its k-th night.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub(crate) occupied: u128,
    pub(crate) stopped: u128,
}

/// All rooms' nights. A room has blocks only where something is booked, held or stopped, and
/// finds them by its [`Index`]; a block is given back when nothing is in it any more.
///
/// An owner is kept for every night, not for every booking: a booking then costs no search, and
/// the same line answers whether a night is free and who has it.
#[derive(Debug)]
pub(crate) struct Calendar {
    blocks: Pool<Block>,
    indexes: Arena<u64>,
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

impl Block {
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
            blocks: Pool::new(),
            indexes: Arena::new(),
        }
    }

    pub(crate) fn conflict(&self, room: &Index, stay: Stay) -> Conflict {
        let mut conflict = Conflict::default();
        for piece in pieces(stay) {
            let Some(block) = room.find(&self.indexes, piece.block) else {
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
    pub(crate) fn occupy(&mut self, room: &mut Index, stay: Stay, slot: u32) {
        for piece in pieces(stay) {
            let block = self.block_for(room, piece.block);
            for owner in self.blocks.at_mut(block).owners_of_mut(&piece) {
                assert!(*owner == NOBODY, "a night has one owner at most");
                *owner = slot;
            }
        }
    }

    /// Takes the nights, which it has, from a slot.
    pub(crate) fn vacate(&mut self, room: &mut Index, stay: Stay, slot: u32) {
        for piece in pieces(stay) {
            let block = room
                .find(&self.indexes, piece.block)
                .expect("a booked night has its block");
            for owner in self.blocks.at_mut(block).owners_of_mut(&piece) {
                assert!(*owner == slot, "a booking has all its nights");
                *owner = NOBODY;
            }
            self.drop_if_empty(room, piece.block, block);
        }
    }

    /// Stops or resumes the sale of some nights.
    pub(crate) fn stop(&mut self, room: &mut Index, stay: Stay, stopped: bool) {
        for piece in pieces(stay) {
            if stopped {
                let block = self.block_for(room, piece.block);
                self.blocks.at_mut(block).stopped |= piece.mask();
            } else if let Some(block) = room.find(&self.indexes, piece.block) {
                self.blocks.at_mut(block).stopped &= !piece.mask();
                self.drop_if_empty(room, piece.block, block);
            }
        }
    }

    fn block_for(&mut self, room: &mut Index, number: u16) -> u32 {
        room.find(&self.indexes, number).unwrap_or_else(|| {
            let block = self.blocks.take(Block::EMPTY);
            room.insert(&mut self.indexes, number, block);
            block
        })
    }

    fn drop_if_empty(&mut self, room: &mut Index, number: u16, block: u32) {
        if self.blocks.at(block).is_empty() {
            room.remove(&mut self.indexes, number);
            self.blocks.give_back(block);
        }
    }

    /// The slots that have nights from `from` up to, not including, `to`, in order of the nights.
    pub(crate) fn owners<'a>(
        &'a self,
        room: &Index,
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
    pub(crate) fn stopped<'a>(&'a self, room: &Index) -> impl Iterator<Item = Night> + use<'a> {
        self.nights(room, Night::from_days(0))
            .filter_map(|(night, _, stopped)| stopped.then_some(night))
    }

    /// The first night that somebody has.
    pub(crate) fn first_owned(&self, room: &Index) -> Option<Night> {
        self.nights(room, Night::from_days(0))
            .find(|&(_, owner, _)| owner != NOBODY)
            .map(|(night, ..)| night)
    }

    /// Every night from `from` on that has a block: its owner, and whether its sale is stopped.
    fn nights<'a>(
        &'a self,
        room: &Index,
        from: Night,
    ) -> impl Iterator<Item = (Night, u32, bool)> + use<'a> {
        room.iter_from(&self.indexes, from.days() / BLOCK_NIGHTS)
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
            .skip_while(move |&(night, ..)| night < from)
    }

    /// Asks memory for the place where a room's blocks are found; see `warming`.
    pub(crate) fn prefetch_index(&self, room: &Index) {
        room.prefetch(&self.indexes);
    }

    /// Asks memory for a night's block; see `warming`.
    pub(crate) fn prefetch(&self, room: &Index, night: Night) {
        let block = room.find(&self.indexes, night.days() / BLOCK_NIGHTS);
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
    pub(crate) fn census(&self, room: &Index) -> (u32, u32, u64) {
        let blocks = room.iter_from(&self.indexes, 0);
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
