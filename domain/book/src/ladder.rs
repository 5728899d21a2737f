//! The price levels of a side, sorted: a compressed radix tree.

mod check;

use crate::{
    levels::{Level, Levels},
    node::{Child, Kind, Node, highest_bit},
    slab::NONE,
};

/// The levels of one side of one book. The best one is kept at hand.
///
/// A tree of sixteen-way forks, without the forks that would have a single child: four or five
/// steps for the prices of a day, sixteen for whatever prices an enemy thinks of. A new level is a
/// store into the node where it belongs and moves nothing else, unlike in sorted arrays and
/// B-trees, and the successor of the best level is a bit next to its own. A flat array over the
/// ticks would save the steps, but wants memory for prices that nobody quotes, for each symbol.
///
/// Most orders are cancelled before they trade, and many of those were alone at the best price: so
/// the ladder remembers which level was the best one before, instead of looking for it again.
#[derive(Debug)]
pub(crate) struct PriceLadder {
    root: Child,
    best: u32,
    /// The level after the best one; `NONE` where there is none, or where it is not known.
    second: u32,
}

/// Where a key is, or where it would be put.
enum Place {
    Level(u32),
    /// A free child of a node, or of no node where the tree is empty.
    Below(u32),
    /// Above a child of the node, whose keys first differ at this bit from the one looked for.
    Above {
        parent: u32,
        child: Child,
        bit: u32,
    },
}

impl PriceLadder {
    pub(crate) const fn new() -> Self {
        Self {
            root: Child::NOTHING,
            best: NONE,
            second: NONE,
        }
    }

    /// The best level, or `NONE`.
    #[inline]
    pub(crate) const fn best(&self) -> u32 {
        self.best
    }

    pub(crate) fn find(&self, levels: &Levels, key: u64) -> Option<u32> {
        match self.place(levels, key) {
            Place::Level(level) => Some(level),
            Place::Below(_) | Place::Above { .. } => None,
        }
    }

    /// The level of a key; a new one, without orders, where there was none.
    #[inline]
    pub(crate) fn find_or_add(&mut self, levels: &mut Levels, key: u64) -> u32 {
        let (parent, level) = match self.place(levels, key) {
            Place::Level(level) => return level,
            Place::Below(parent) => (parent, levels.add(key, parent)),
            Place::Above { parent, child, bit } => {
                let fork = self.fork(levels, parent, child, (key, bit));
                (fork, levels.add(key, fork))
            }
        };
        self.hang(levels, parent, key, Child::level(level));
        if self.best == NONE || key < levels.at(self.best).key {
            self.second = self.best;
            self.best = level;
        } else if self.second != NONE && key < levels.at(self.second).key {
            self.second = level;
        }
        level
    }

    /// Takes a level without orders away.
    #[inline]
    pub(crate) fn remove(&mut self, levels: &mut Levels, level: u32) {
        if level == self.best {
            self.best = self.after(levels, level);
            self.second = NONE;
        }
        self.detach(levels, level);
    }

    /// The level after this one, which is taken away where it has no orders.
    #[inline]
    pub(crate) fn pass(&mut self, levels: &mut Levels, level: u32) -> u32 {
        let next = self.after(levels, level);
        if levels.at(level).orders == 0 {
            if level == self.best {
                self.best = next;
                self.second = NONE;
            }
            self.detach(levels, level);
        }
        next
    }

    /// The level after this one, or `NONE`.
    #[inline]
    fn after(&self, levels: &Levels, level: u32) -> u32 {
        if level == self.best && self.second != NONE {
            return self.second;
        }
        levels.next(level)
    }

    #[inline]
    fn detach(&mut self, levels: &mut Levels, level: u32) {
        let Level { key, parent, .. } = *levels.at(level);
        levels.give_back(level);
        if level == self.second {
            self.second = NONE;
        }
        if parent == NONE {
            self.root = Child::NOTHING;
            return;
        }
        let node = levels.nodes.at_mut(parent);
        if let Some(last) = node.clear(key) {
            let above = node.parent;
            levels.nodes.give_back(parent);
            levels.set_parent(last, above);
            self.hang(levels, above, key, last);
        }
    }

    #[inline]
    fn place(&self, levels: &Levels, key: u64) -> Place {
        let (mut parent, mut child) = (NONE, self.root);
        loop {
            match child.kind() {
                Kind::Nothing => return Place::Below(parent),
                Kind::Level(level) => {
                    let difference = key ^ levels.at(level).key;
                    if difference == 0 {
                        return Place::Level(level);
                    }
                    let bit = highest_bit(difference);
                    return Place::Above { parent, child, bit };
                }
                Kind::Node(node) => {
                    let fork = levels.nodes.at(node);
                    if let Some(bit) = fork.differs(key) {
                        return Place::Above { parent, child, bit };
                    }
                    (parent, child) = (node, fork.child(fork.number(key)));
                }
            }
        }
    }

    /// Puts a new node between a child and its parent.
    fn fork(
        &mut self,
        levels: &mut Levels,
        parent: u32,
        child: Child,
        (key, bit): (u64, u32),
    ) -> u32 {
        let fork = levels.nodes.take(Node::new(key, bit, parent));
        let below = levels.common_key(child);
        levels.nodes.at_mut(fork).set(below, child);
        levels.set_parent(child, fork);
        self.hang(levels, parent, key, Child::node(fork));
        fork
    }

    /// Makes something the child of a node, or the root.
    #[inline]
    fn hang(&mut self, levels: &mut Levels, parent: u32, key: u64, child: Child) {
        if parent == NONE {
            self.root = child;
        } else {
            levels.nodes.at_mut(parent).set(key, child);
        }
    }
}

impl Levels {
    /// The level with the next key in the same ladder, or `NONE`.
    #[inline]
    pub(crate) fn next(&self, level: u32) -> u32 {
        let Level {
            key, mut parent, ..
        } = *self.at(level);
        while parent != NONE {
            let node = self.nodes.at(parent);
            if let Some(child) = node.after(key) {
                return self.first(child);
            }
            parent = node.parent;
        }
        NONE
    }

    /// The level with the least key below a child.
    #[inline]
    fn first(&self, mut child: Child) -> u32 {
        loop {
            match child.kind() {
                Kind::Nothing => return NONE,
                Kind::Level(level) => return level,
                Kind::Node(node) => {
                    let node = self.nodes.at(node);
                    child = node.child(node.first());
                }
            }
        }
    }

    /// What the keys below a child have in common, and with it their place in any fork above.
    fn common_key(&self, child: Child) -> u64 {
        match child.kind() {
            Kind::Nothing => 0,
            Kind::Level(level) => self.at(level).key,
            Kind::Node(node) => self.nodes.at(node).prefix,
        }
    }

    fn set_parent(&mut self, child: Child, parent: u32) {
        match child.kind() {
            Kind::Nothing => {}
            Kind::Level(level) => self.at_mut(level).parent = parent,
            Kind::Node(node) => self.nodes.at_mut(node).parent = parent,
        }
    }
}
