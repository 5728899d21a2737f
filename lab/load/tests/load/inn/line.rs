//! The line before a toy server of rooms: in order, or with one fault.

use std::collections::{BTreeSet, VecDeque};

/// How a line is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    InOrder,
    /// Every tenth caller who comes is let in before those who wait.
    LetsSomeJump,
    /// The turn is that of who came last.
    LastFirst,
    /// Every tenth caller who asks again is put behind the others.
    LosesPlaces,
    /// Everybody is let in when asking for the third time.
    LetsAllIn,
}

/// So many are let in before there is a line.
const AT_ONCE: usize = 3;

/// One more turn comes with so many questions.
const QUESTIONS_PER_TURN: usize = 8;

#[derive(Debug)]
pub(crate) struct Line {
    kept: Kept,
    questions: usize,
    came: usize,
    waiting: VecDeque<String>,
    called: BTreeSet<String>,
}

impl Line {
    pub(crate) const fn new(kept: Kept) -> Self {
        Self {
            kept,
            questions: 0,
            came: 0,
            waiting: VecDeque::new(),
            called: BTreeSet::new(),
        }
    }

    /// What the server says that it lets in each second.
    pub(crate) const fn rate(&self) -> u64 {
        match self.kept {
            Kept::LetsAllIn => 1,
            _ => 1_000_000,
        }
    }

    /// The place of a caller; nothing when it is let in.
    pub(crate) fn place(&mut self, key: &str) -> Option<usize> {
        self.questions += 1;
        if self.questions.is_multiple_of(QUESTIONS_PER_TURN) {
            let called = match self.kept {
                Kept::LastFirst => self.waiting.pop_back(),
                _ => self.waiting.pop_front(),
            };
            self.called.extend(called);
        }
        if self.called.remove(key) {
            return None;
        }
        if let Some(at) = self.waiting.iter().position(|waiter| waiter == key) {
            if self.kept == Kept::LetsAllIn {
                self.waiting.remove(at);
                return None;
            }
            if self.kept != Kept::LosesPlaces || !self.questions.is_multiple_of(10) {
                return Some(at + 1);
            }
            self.waiting.remove(at);
        } else {
            self.came += 1;
            let jumps = self.kept == Kept::LetsSomeJump && self.came.is_multiple_of(10);
            if self.came <= AT_ONCE || jumps {
                return None;
            }
        }
        self.waiting.push_back(key.to_owned());
        Some(self.waiting.len())
    }
}
