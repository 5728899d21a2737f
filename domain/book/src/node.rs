//! A fork of the tree of price levels.

use crate::slab::{INDEX_END, NONE, Vacant};

/// Bits of a key that one node tells apart.
const NODE_BITS: u32 = 4;
const CHILDREN: usize = 1 << NODE_BITS;

/// A fork of the tree. It has two children at least, so there are fewer forks than levels,
/// wherever the prices lie.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) children: [Child; CHILDREN],
    /// The bits that all keys below have in common, with zeros for the others.
    pub(crate) prefix: u64,
    pub(crate) parent: u32,
    /// Which children there are.
    pub(crate) present: u16,
    /// The lowest of the bits that it tells apart.
    pub(crate) shift: u8,
}

/// Nothing, a level or a node, in 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Child(u32);

pub(crate) enum Kind {
    Nothing,
    Level(u32),
    Node(u32),
}

impl Child {
    pub(crate) const NOTHING: Self = Self(NONE);

    pub(crate) const fn level(level: u32) -> Self {
        Self(level)
    }

    pub(crate) const fn node(node: u32) -> Self {
        Self(node | INDEX_END)
    }

    #[inline]
    pub(crate) const fn kind(self) -> Kind {
        if self.0 < INDEX_END {
            Kind::Level(self.0)
        } else if self.0 == NONE {
            Kind::Nothing
        } else {
            Kind::Node(self.0 & !INDEX_END)
        }
    }
}

impl Vacant for Node {
    fn vacant(next: u32) -> Self {
        Self::new(0, 0, next)
    }

    fn next_vacant(&self) -> u32 {
        self.parent
    }
}

impl Node {
    pub(crate) const fn new(key: u64, bit: u32, parent: u32) -> Self {
        let shift = bit - bit % NODE_BITS;
        Self {
            children: [Child::NOTHING; CHILDREN],
            prefix: key >> shift >> NODE_BITS << NODE_BITS << shift,
            parent,
            present: 0,
            #[expect(clippy::cast_possible_truncation, reason = "a shift is less than 64")]
            shift: shift as u8,
        }
    }

    /// The number of the child that leads to a key.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "only four bits are kept")]
    pub(crate) const fn number(&self, key: u64) -> usize {
        ((key >> self.shift) & (CHILDREN as u64 - 1)) as usize
    }

    /// Where a key differs from those below, unless it may be below.
    #[inline]
    pub(crate) const fn differs(&self, key: u64) -> Option<u32> {
        let difference = (key ^ self.prefix) >> self.shift >> NODE_BITS;
        if difference == 0 {
            return None;
        }
        Some(highest_bit(key ^ self.prefix))
    }

    #[inline]
    pub(crate) fn child(&self, number: usize) -> Child {
        *self.children.get(number).expect("a number has four bits")
    }

    #[inline]
    pub(crate) fn set(&mut self, key: u64, child: Child) {
        let number = self.number(key);
        *self
            .children
            .get_mut(number)
            .expect("a number has four bits") = child;
        self.present |= 1 << number;
    }

    /// Takes a child away; returns the other one, if only one is left.
    #[inline]
    pub(crate) fn clear(&mut self, key: u64) -> Option<Child> {
        let number = self.number(key);
        self.present &= !(1 << number);
        *self
            .children
            .get_mut(number)
            .expect("a number has four bits") = Child::NOTHING;
        self.present
            .is_power_of_two()
            .then(|| self.child(self.first()))
    }

    #[inline]
    pub(crate) const fn first(&self) -> usize {
        self.present.trailing_zeros() as usize
    }

    /// The next child after the one that leads to a key.
    #[inline]
    pub(crate) fn after(&self, key: u64) -> Option<Child> {
        let later = u32::from(self.present) & (u32::MAX << 1 << self.number(key));
        (later != 0).then(|| self.child(later.trailing_zeros() as usize))
    }
}

pub(crate) const fn highest_bit(difference: u64) -> u32 {
    63 - difference.leading_zeros()
}
