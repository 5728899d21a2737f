//! What nodes send each other for partitions that they do not hold, on its way.

use turnstile_seed::Random;

use super::oracle::ToldOutcome;

/// A request or an answer between two nodes.
#[derive(Clone, Debug)]
pub(super) struct NodeMail {
    /// The node that has passed the request on, and its run.
    pub(super) by: (usize, u64),
    /// The number of the request in that run.
    pub(super) number: u64,
    pub(super) operation: usize,
    /// The partition that decides it.
    pub(super) at: usize,
    pub(super) carries: MailContent,
}

/// What it carries.
#[derive(Clone, Debug)]
pub(super) enum MailContent {
    Request {
        /// How many nodes have passed it on.
        hops: u32,
        /// Whether it has its key.
        has_key: bool,
    },
    /// What an entry has decided.
    Decided { sequence: u64, told: ToldOutcome },
    /// The node did not hold the partition, and has done nothing.
    NotHeld,
}

/// Messages between nodes: they come in any order, and some do not come.
#[derive(Debug, Default)]
pub(super) struct SimMail(Vec<NodeMail>);

impl SimMail {
    pub(super) fn send(&mut self, mail: NodeMail) {
        self.0.push(mail);
    }

    /// Some message that comes next.
    pub(super) fn some(&mut self, random: &mut Random) -> Option<NodeMail> {
        let count = self.0.len() as u64;
        if count == 0 {
            return None;
        }
        let at = usize::try_from(random.below(count)).expect("few messages");
        Some(self.0.swap_remove(at))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
