//! Whether the servers of a log agree: each says in its entries what it has come to.

use std::collections::{BTreeMap, VecDeque};

use turnstile_record::EntryHead;
use turnstile_types::Name;

/// Entries of which it is remembered what this server came to.
const REMEMBERED_ENTRIES: usize = 4_096;

/// After so many entries of others, a server that is not asked for anything says what it has come to.
pub(crate) const SILENT_ENTRIES_MAX: u64 = 1_024;

/// What this server has come to, and what others said of it.
#[derive(Debug, Default)]
pub(crate) struct Agreement {
    /// The hash over all records up to each of the last entries, without a gap.
    chains: VecDeque<(u64, u64)>,
    /// Whether each other server came to the same, as it said last.
    said: BTreeMap<Name, bool>,
    /// Entries since the last of this server.
    pub(crate) silent: u64,
}

impl Agreement {
    /// This server has applied an entry.
    pub(crate) fn note(&mut self, sequence: u64, chain: u64) {
        self.chains.push_back((sequence, chain));
        if self.chains.len() > REMEMBERED_ENTRIES {
            self.chains.pop_front();
        }
    }

    /// Hears what another server has come to. Says whether most of those that were heard, with this
    /// one, have come to something else.
    pub(crate) fn hear(&mut self, head: &EntryHead) -> bool {
        let (sequence, chain) = head.applied;
        let Some(own) = self.chain_at(sequence) else {
            return false;
        };
        self.said.insert(head.node, own == chain);
        let with = 1 + self.said.values().filter(|agrees| **agrees).count();
        let against = self.said.len() + 1 - with;
        against > with
    }

    /// Whether a server came to the same, as it said last; nothing if it has not said.
    pub(crate) fn agrees(&self, node: &Name) -> Option<bool> {
        self.said.get(node).copied()
    }

    /// Whether some server came to something else.
    pub(crate) fn is_disputed(&self) -> bool {
        self.said.values().any(|agrees| !agrees)
    }

    fn chain_at(&self, sequence: u64) -> Option<u64> {
        let (first, _) = self.chains.front()?;
        let at = usize::try_from(sequence.checked_sub(*first)?).ok()?;
        self.chains.get(at).map(|(_, chain)| *chain)
    }
}

#[cfg(test)]
mod tests {
    use turnstile_types::Position;

    use super::*;

    fn said(node: &str, sequence: u64, chain: u64) -> EntryHead {
        EntryHead {
            node: Name::parse(node.as_bytes()).expect("a name"),
            incarnation: 1,
            number: 1,
            epoch: Position(0),
            installation: 0,
            applied: (sequence, chain),
            version: 1,
            reads: 1,
        }
    }

    #[test]
    fn only_who_is_alone_against_most_stops() {
        let mut agreement = Agreement::default();
        for sequence in 5..9 {
            agreement.note(sequence, sequence * 10);
        }
        assert!(!agreement.hear(&said("n1", 7, 70)));
        assert!(!agreement.is_disputed());
        assert!(!agreement.hear(&said("n2", 4, 1)), "that is forgotten");
        assert!(!agreement.hear(&said("n2", 9, 1)), "that is not known yet");
        assert!(!agreement.hear(&said("n2", 8, 1)), "one against two");
        assert!(agreement.is_disputed());
        assert!(agreement.hear(&said("n1", 8, 1)), "one against two others");
        assert!(!agreement.hear(&said("n2", 8, 80)), "one has come round");
    }
}
