//! A leaderboard: an order that is kept up to date while scores change.

use std::{iter, mem};

use crate::Rung;

/// A node has at most so many members. Among them one is found in seven steps, and to move the rest up
/// by a place takes no longer; one more fills two kibibytes.
const MEMBERS_MAX: usize = 127;

/// A node with fewer is joined with a neighbour, so that nothing is kept for those who have gone.
const MEMBERS_MIN: usize = MEMBERS_MAX / 3;

/// Players by their scores, the best first; of equal scores, whoever was counted first stands
/// first, so that the order never depends on how it came about.
///
/// A tree of wide nodes, which know how many stand beneath them: that tells places. Thousands of
/// players are two nodes deep, millions three. A tree with a node for each player was tried before:
/// each new score walked through it from end to end, to be balanced on the way back.
#[derive(Debug, Default)]
pub(crate) struct Leaderboard {
    root: RankNode,
}

#[derive(Debug, Default)]
struct RankNode {
    /// At the bottom those who stand here, in their order. Otherwise what separates the parts:
    /// nobody in the part behind precedes it, and everybody in the part before does.
    rungs: Vec<Rung>,
    /// One more than what separates them; none at the bottom.
    parts: Vec<Self>,
    /// How many stand here and beneath.
    size: u32,
}

impl Leaderboard {
    pub(crate) const fn len(&self) -> u32 {
        self.root.size
    }

    /// Adds a player who does not stand here.
    pub(crate) fn insert(&mut self, rung: Rung) {
        self.root.insert(rung);
        self.mend();
    }

    /// Gives a player who stands here another score.
    pub(crate) fn replace(&mut self, old: Rung, new: Rung) {
        if old != new {
            self.root.replace(old, new);
            self.mend();
        }
    }

    /// How many stand before this score and number.
    pub(crate) fn before(&self, rung: Rung) -> u32 {
        let (mut node, mut before) = (&self.root, 0);
        while let Some(part) = node.parts.get(node.place_of(rung)) {
            let earlier = node.parts.iter().take(node.place_of(rung));
            before += earlier.map(|part| part.size).sum::<u32>();
            node = part;
        }
        before + count(node.place_among(rung))
    }

    /// Those who stand behind so many others, in their order.
    pub(crate) fn behind(&self, before: u32) -> impl Iterator<Item = Rung> {
        let mut next = before;
        let runs = iter::from_fn(move || {
            let run = self.run(next);
            next += count(run.len());
            (!run.is_empty()).then_some(run)
        });
        runs.flatten().copied()
    }

    /// Those who stand behind so many others, as far as they lie in one node; nobody at the end.
    fn run(&self, mut before: u32) -> &[Rung] {
        let mut node = &self.root;
        while !node.parts.is_empty() {
            let reaches = |part: &&RankNode| {
                let is_here = before < part.size;
                before -= if is_here { 0 } else { part.size };
                is_here
            };
            let Some(part) = node.parts.iter().find(reaches) else {
                return &[];
            };
            node = part;
        }
        node.rungs.get(before as usize..).unwrap_or_default()
    }

    /// Lets the tree grow by a node at its root, or shrink by one.
    fn mend(&mut self) {
        if self.root.width() > MEMBERS_MAX {
            let size = self.root.size;
            let parts = vec![mem::take(&mut self.root)];
            let rungs = Vec::new();
            self.root = RankNode { rungs, parts, size };
            self.root.mend(0);
        } else if self.root.parts.len() == 1
            && let Some(only) = self.root.parts.pop()
        {
            self.root = only;
        }
    }
}

impl RankNode {
    const fn is_bottom(&self) -> bool {
        self.parts.is_empty()
    }

    const fn width(&self) -> usize {
        if self.is_bottom() {
            self.rungs.len()
        } else {
            self.parts.len()
        }
    }

    /// How many of those at the bottom precede this one.
    fn place_among(&self, rung: Rung) -> usize {
        self.rungs.partition_point(|one| one.precedes(rung))
    }

    /// The part in which this one stands, or would.
    fn place_of(&self, rung: Rung) -> usize {
        self.rungs.partition_point(|bound| !rung.precedes(*bound))
    }

    fn part_mut(&mut self, place: usize) -> &mut Self {
        let part = self.parts.get_mut(place);
        part.expect("there is one part more than what separates them")
    }

    fn insert(&mut self, rung: Rung) {
        self.size += 1;
        if self.is_bottom() {
            self.rungs.insert(self.place_among(rung), rung);
        } else {
            let place = self.place_of(rung);
            self.part_mut(place).insert(rung);
            self.mend(place);
        }
    }

    fn remove(&mut self, rung: Rung) {
        self.size -= 1;
        if self.is_bottom() {
            let gone = self.rungs.remove(self.place_among(rung));
            assert_eq!(gone, rung, "who is taken away stands here");
        } else {
            let place = self.place_of(rung);
            self.part_mut(place).remove(rung);
            self.mend(place);
        }
    }

    /// Gives one who stands here another score with which it stands here, too.
    fn replace(&mut self, old: Rung, new: Rung) {
        if self.is_bottom() {
            return self.shift(old, new);
        }
        let (from, to) = (self.place_of(old), self.place_of(new));
        if from == to {
            self.part_mut(from).replace(old, new);
            return self.mend(from);
        }
        self.part_mut(to).insert(new);
        self.part_mut(from).remove(old);
        // The one behind first: what is before keeps its place.
        self.mend(from.max(to));
        self.mend(from.min(to));
    }

    /// The same at the bottom: those between the old and the new place move up by one.
    fn shift(&mut self, old: Rung, new: Rung) {
        let (from, to) = (self.place_among(old), self.place_among(new));
        let place = if to > from {
            self.rungs.copy_within(from + 1..to, from);
            to - 1
        } else {
            self.rungs.copy_within(to..from, to + 1);
            to
        };
        let place = self.rungs.get_mut(place);
        *place.expect("whoever gets another score stands here") = new;
    }

    /// Splits a part that has become too wide, and joins one that has become too narrow.
    fn mend(&mut self, place: usize) {
        let width = self.part_mut(place).width();
        if width > MEMBERS_MAX {
            self.split(place);
        } else if width < MEMBERS_MIN && self.parts.len() > 1 {
            let place = place.min(self.parts.len() - 2);
            self.join(place);
            self.mend(place);
        }
    }

    /// Makes two parts of one.
    fn split(&mut self, place: usize) {
        let part = self.part_mut(place);
        let half = part.width() / 2;
        let mut behind = Self::default();
        let bound = if part.is_bottom() {
            behind.rungs = part.rungs.split_off(half);
            behind.size = count(behind.rungs.len());
            behind.rungs.first().copied()
        } else {
            behind.parts = part.parts.split_off(half);
            behind.rungs = part.rungs.split_off(half);
            behind.size = behind.parts.iter().map(|part| part.size).sum();
            part.rungs.pop()
        };
        part.size -= behind.size;
        let bound = bound.expect("a part that is too wide has two halves");
        self.rungs.insert(place, bound);
        self.parts.insert(place + 1, behind);
    }

    /// Makes one part of two neighbours.
    fn join(&mut self, place: usize) {
        let bound = self.rungs.remove(place);
        let mut behind = self.parts.remove(place + 1);
        let part = self.part_mut(place);
        if !part.is_bottom() {
            part.rungs.push(bound);
        }
        part.rungs.append(&mut behind.rungs);
        part.parts.append(&mut behind.parts);
        part.size += behind.size;
    }
}

fn count(members: usize) -> u32 {
    u32::try_from(members).expect("a node is narrow")
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use proptest::{collection::vec, prelude::*};

    use super::*;

    /// How deep it is, where all of its nodes are as they should be.
    fn depth(node: &RankNode, is_root: bool) -> u32 {
        let least = if is_root { 0 } else { MEMBERS_MIN };
        assert!((least..=MEMBERS_MAX).contains(&node.width()));
        if node.is_bottom() {
            assert_eq!(node.size, count(node.rungs.len()));
            return 1;
        }
        assert_eq!(node.rungs.len() + 1, node.parts.len());
        let sizes = node.parts.iter().map(|part| part.size);
        assert_eq!(node.size, sizes.sum::<u32>());
        let mut depths = node.parts.iter().map(|part| depth(part, false));
        let first = depths.next().unwrap();
        assert!(depths.all(|depth| depth == first));
        1 + first
    }

    fn check(ladder: &Leaderboard, scores: &[i64]) {
        let rungs = scores.iter().zip(0..);
        let mut sorted: Vec<Rung> = rungs
            .map(|(&score, number)| Rung { score, number })
            .collect();
        sorted.sort_by_key(|rung| (Reverse(rung.score), rung.number));
        assert!(ladder.behind(0).eq(sorted.iter().copied()));
        for (place, &rung) in (0..).zip(&sorted) {
            assert_eq!(ladder.before(rung), place);
            assert_eq!(ladder.behind(place).next(), Some(rung));
        }
        assert_eq!(ladder.behind(ladder.len()).next(), None);
        assert_eq!(ladder.len(), count(scores.len()));
        depth(&ladder.root, true);
    }

    fn set(ladder: &mut Leaderboard, scores: &mut [i64], number: u32, score: i64) {
        let place = &mut scores[number as usize];
        let old = mem::replace(place, score);
        let rung = |score| Rung { score, number };
        ladder.replace(rung(old), rung(score));
    }

    fn ladder_of(scores: &[i64]) -> Leaderboard {
        let mut ladder = Leaderboard::default();
        for (&score, number) in scores.iter().zip(0..) {
            ladder.insert(Rung { score, number });
        }
        ladder
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_ladder_is_a_sorted_list(
            mut scores in vec(-5..5_i64, 1..900),
            sets in vec((0..900_u32, -5..5_i64), 0..900),
        ) {
            let mut ladder = ladder_of(&scores);
            check(&ladder, &scores);
            for (number, score) in sets {
                let number = number % ladder.len();
                set(&mut ladder, &mut scores, number, score);
            }
            check(&ladder, &scores);
        }
    }

    #[test]
    fn a_ladder_of_many_who_climb_in_order_is_low() {
        let mut scores: Vec<i64> = (0..50_000).collect();
        let mut ladder = ladder_of(&scores);
        for number in 0..50_000 {
            set(
                &mut ladder,
                &mut scores,
                number,
                i64::from(number) + 100_000,
            );
        }
        check(&ladder, &scores);
        assert_eq!(depth(&ladder.root, true), 3);
    }

    #[test]
    fn whoever_meets_again_at_one_score_leaves_no_empty_nodes_behind() {
        let mut scores: Vec<i64> = (0..50_000).collect();
        let mut ladder = ladder_of(&scores);
        for number in 0..50_000 {
            set(&mut ladder, &mut scores, number, 7);
        }
        for number in (0..50_000).rev() {
            set(&mut ladder, &mut scores, number, i64::MIN);
        }
        check(&ladder, &scores);
        assert_eq!(depth(&ladder.root, true), 3);
    }
}
