//! Who stands where: an order that is kept while scores change.

use turnstile_chassis::{NONE, Slab, some};

/// A chunk of nodes is a few hundred kibibytes.
const CHUNK_BITS: u32 = 12;

/// Players by their scores, the best first; of equal scores, whoever was counted first stands
/// first, so that the order never depends on how it came about.
///
/// A tree that is balanced by weight (Adams; the parameters of Hirai and Yamamoto): its nodes know
/// how many are beneath them, which both keeps it balanced and tells places. Each player's node
/// has the player's number, so that nothing is allocated when a score changes.
#[derive(Debug)]
pub(crate) struct Ladder {
    nodes: Slab<Node, CHUNK_BITS>,
    root: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    score: i64,
    left: u32,
    right: u32,
    /// Nodes from here on down, with this one.
    size: u32,
}

/// A side may be heavier than the other by this factor.
const HEAVIER: u32 = 3;

/// By this factor an inner grandchild is heavier than its sibling when turning once would not do.
const INNER: u32 = 2;

impl Ladder {
    pub(crate) const fn new() -> Self {
        Self {
            nodes: Slab::empty(),
            root: NONE,
        }
    }

    pub(crate) const fn len(&self) -> u32 {
        self.nodes.len()
    }

    /// Adds the next player.
    pub(crate) fn push(&mut self, score: i64) {
        let number = self.nodes.push(Node {
            score,
            left: NONE,
            right: NONE,
            size: 1,
        });
        self.root = self.added(self.root, number);
    }

    /// Gives a player another score. Most change little: what both scores are in is left as it is, and
    /// whoever stays between the same two others is not moved.
    pub(crate) fn set(&mut self, number: u32, score: i64) {
        let (before, after) = (self.key(number), (score, number));
        let (mut above, mut at) = (None, self.root);
        while at != number {
            let node = self.nodes.at(at);
            let key = (node.score, at);
            let is_left = precedes(before, key);
            if precedes(after, key) != is_left {
                break;
            }
            above = Some((at, is_left));
            at = if is_left { node.left } else { node.right };
        }
        if at == number && self.stays(after) {
            self.nodes.at_mut(number).score = score;
            return;
        }
        let others = self.removed(at, before);
        *self.nodes.at_mut(number) = Node {
            score,
            left: NONE,
            right: NONE,
            size: 1,
        };
        let tree = self.added(others, number);
        match above {
            None => self.root = tree,
            Some((above, true)) => self.nodes.at_mut(above).left = tree,
            Some((above, false)) => self.nodes.at_mut(above).right = tree,
        }
    }

    /// Whether a player with this key would stand between the same two of those beneath.
    fn stays(&self, key: (i64, u32)) -> bool {
        let Node { left, right, .. } = *self.nodes.at(key.1);
        let last = some(left).map(|left| self.outermost(left, |node| node.right));
        let first = some(right).map(|right| self.outermost(right, |node| node.left));
        last.is_none_or(|last| precedes(self.key(last), key))
            && first.is_none_or(|first| precedes(key, self.key(first)))
    }

    pub(crate) fn score(&self, number: u32) -> i64 {
        self.nodes.at(number).score
    }

    /// How many stand before this score and number.
    pub(crate) fn before(&self, key: (i64, u32)) -> u32 {
        let mut before = 0;
        let mut at = self.root;
        while let Some(here) = some(at) {
            let node = self.nodes.at(here);
            if precedes((node.score, here), key) {
                before += self.size(node.left) + 1;
                at = node.right;
            } else {
                at = node.left;
            }
        }
        before
    }

    /// Who stands behind so many others.
    pub(crate) fn at(&self, mut before: u32) -> Option<u32> {
        let mut at = self.root;
        while let Some(here) = some(at) {
            let node = self.nodes.at(here);
            let left = self.size(node.left);
            if before == left {
                return Some(here);
            }
            if before < left {
                at = node.left;
            } else {
                before -= left + 1;
                at = node.right;
            }
        }
        None
    }

    fn size(&self, at: u32) -> u32 {
        some(at).map_or(0, |at| self.nodes.at(at).size)
    }

    fn key(&self, number: u32) -> (i64, u32) {
        (self.nodes.at(number).score, number)
    }

    /// The tree with one node more.
    fn added(&mut self, at: u32, number: u32) -> u32 {
        if at == NONE {
            return number;
        }
        let Node {
            score, left, right, ..
        } = *self.nodes.at(at);
        if precedes(self.key(number), (score, at)) {
            let left = self.added(left, number);
            self.balanced(at, left, right)
        } else {
            let right = self.added(right, number);
            self.balanced(at, left, right)
        }
    }

    /// The tree without a node that is in it.
    fn removed(&mut self, at: u32, key: (i64, u32)) -> u32 {
        let Node {
            score, left, right, ..
        } = *self.nodes.at(at);
        if at == key.1 {
            return self.joined(left, right);
        }
        if precedes(key, (score, at)) {
            let left = self.removed(left, key);
            self.balanced(at, left, right)
        } else {
            let right = self.removed(right, key);
            self.balanced(at, left, right)
        }
    }

    /// Two neighbouring trees that balance each other, as one.
    fn joined(&mut self, left: u32, right: u32) -> u32 {
        if left == NONE || right == NONE {
            return if left == NONE { right } else { left };
        }
        if self.size(left) > self.size(right) {
            let last = self.outermost(left, |node| node.right);
            let left = self.removed(left, self.key(last));
            self.balanced(last, left, right)
        } else {
            let first = self.outermost(right, |node| node.left);
            let right = self.removed(right, self.key(first));
            self.balanced(first, left, right)
        }
    }

    fn outermost(&self, at: u32, side: impl Fn(&Node) -> u32) -> u32 {
        let mut at = at;
        while let Some(next) = some(side(self.nodes.at(at))) {
            at = next;
        }
        at
    }

    /// The node with these two under it, of which one has grown or shrunk by one.
    fn balanced(&mut self, at: u32, left: u32, right: u32) -> u32 {
        let (l, r) = (self.size(left), self.size(right));
        if l + r > 1 && r > HEAVIER * l {
            let Node {
                left: inner,
                right: outer,
                ..
            } = *self.nodes.at(right);
            if self.size(inner) < INNER * self.size(outer) {
                let here = self.put(at, left, inner);
                return self.put(right, here, outer);
            }
            let turned = *self.nodes.at(inner);
            let here = self.put(at, left, turned.left);
            let there = self.put(right, turned.right, outer);
            return self.put(inner, here, there);
        }
        if l + r > 1 && l > HEAVIER * r {
            let Node {
                left: outer,
                right: inner,
                ..
            } = *self.nodes.at(left);
            if self.size(inner) < INNER * self.size(outer) {
                let here = self.put(at, inner, right);
                return self.put(left, outer, here);
            }
            let turned = *self.nodes.at(inner);
            let there = self.put(left, outer, turned.left);
            let here = self.put(at, turned.right, right);
            return self.put(inner, there, here);
        }
        self.put_sized(at, (left, right), 1 + l + r)
    }

    fn put(&mut self, at: u32, left: u32, right: u32) -> u32 {
        let size = 1 + self.size(left) + self.size(right);
        self.put_sized(at, (left, right), size)
    }

    fn put_sized(&mut self, at: u32, (left, right): (u32, u32), size: u32) -> u32 {
        let node = self.nodes.at_mut(at);
        (node.left, node.right, node.size) = (left, right, size);
        at
    }
}

/// Whether somebody stands before somebody else: by score, then by number.
fn precedes(one: (i64, u32), other: (i64, u32)) -> bool {
    one.0 > other.0 || one.0 == other.0 && one.1 < other.1
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn depth(ladder: &Ladder, at: u32) -> u32 {
        some(at).map_or(0, |at| {
            let node = ladder.nodes.at(at);
            1 + depth(ladder, node.left).max(depth(ladder, node.right))
        })
    }

    fn check(ladder: &Ladder, scores: &[i64]) {
        let mut sorted: Vec<(i64, u32)> = scores.iter().copied().zip(0..).collect();
        sorted.sort_by_key(|&(score, number)| (-score, number));
        for (place, &(score, number)) in (0..).zip(&sorted) {
            assert_eq!(ladder.at(place), Some(number));
            assert_eq!(ladder.before((score, number)), place);
            assert_eq!(ladder.score(number), score);
        }
        assert_eq!(ladder.at(ladder.len()), None);
    }

    proptest! {
        #[test]
        fn a_ladder_is_a_sorted_list(
            sets in vec((0..40_u32, -5..5_i64), 0..300),
            players in 1..40_u32,
        ) {
            let mut ladder = Ladder::new();
            let mut scores = Vec::new();
            for number in 0..players {
                ladder.push(i64::from(number) % 3);
                scores.push(i64::from(number) % 3);
            }
            for (number, score) in sets {
                let number = number % players;
                ladder.set(number, score);
                scores[number as usize] = score;
                check(&ladder, &scores);
            }
        }
    }

    #[test]
    fn a_ladder_of_many_who_climb_in_order_is_low() {
        let mut ladder = Ladder::new();
        for number in 0..50_000 {
            ladder.push(number);
        }
        for number in 0..50_000 {
            ladder.set(number, i64::from(number) + 100_000);
        }
        let depth = depth(&ladder, ladder.root);
        assert!((16..=40).contains(&depth), "{depth}");
        assert_eq!(ladder.at(0), Some(49_999));
    }
}
