//! Invariants of a ladder.

use super::PriceLadder;
use crate::{
    levels::Levels,
    node::{Child, Kind, Node},
    slab::NONE,
};

/// What a walk through the whole tree finds.
#[derive(Debug, Default)]
pub(crate) struct LadderCensus {
    /// In the order of their keys.
    pub(crate) levels: Vec<u32>,
    pub(crate) forks: u32,
}

impl PriceLadder {
    /// Walks through the whole tree and checks it.
    ///
    /// # Errors
    /// What is broken, in words.
    pub(crate) fn check(&self, levels: &Levels) -> Result<LadderCensus, String> {
        let mut found = LadderCensus::default();
        found.walk(levels, self.root, NONE)?;
        let keys = found.levels.iter().map(|&level| levels.at(level).key);
        if !keys.is_sorted_by(|key, next| key < next) {
            return Err("the levels are not in order".to_owned());
        }
        if found.levels.first().copied().unwrap_or(NONE) != self.best {
            return Err(format!("{} is not the best level", self.best));
        }
        let second = found.levels.get(1).copied();
        if self.second != NONE && Some(self.second) != second {
            return Err(format!("{} is not the second level", self.second));
        }
        let mut next = self.best;
        for &level in &found.levels {
            if next != level {
                return Err(format!("{next} is met where {level} is next"));
            }
            next = levels.next(level);
        }
        if next != NONE {
            return Err(format!("{next} comes after the last level"));
        }
        Ok(found)
    }
}

impl LadderCensus {
    fn walk(&mut self, levels: &Levels, child: Child, parent: u32) -> Result<(), String> {
        match child.kind() {
            Kind::Nothing => {}
            Kind::Level(level) => {
                if levels.at(level).parent != parent {
                    return Err(format!("level {level} does not know its parent {parent}"));
                }
                self.levels.push(level);
            }
            Kind::Node(index) => {
                let node = levels.nodes.at(index);
                if node.parent != parent {
                    return Err(format!("node {index} does not know its parent {parent}"));
                }
                self.forks += 1;
                self.walk_children(levels, index, node)?;
            }
        }
        Ok(())
    }

    fn walk_children(&mut self, levels: &Levels, index: u32, node: &Node) -> Result<(), String> {
        let mut present = 0;
        for (number, &child) in node.children.iter().enumerate() {
            if child == Child::NOTHING {
                continue;
            }
            present |= 1 << number;
            let key = levels.common_key(child);
            if node.differs(key).is_some() || node.number(key) != number {
                return Err(format!("child {number} of {index} is in the wrong place"));
            }
            self.walk(levels, child, index)?;
        }
        if present != node.present || present.count_ones() < 2 {
            return Err(format!(
                "node {index} is not a fork of {present:b}: {node:?}"
            ));
        }
        Ok(())
    }
}
