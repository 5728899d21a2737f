//! The log that the nodes share, as unreliable as a network makes it.

use std::collections::BTreeSet;

use turnstile_replica::{ProposedEntry, ServerRun};
use turnstile_seed::Random;

/// A message on its way to the log.
#[derive(Clone, Debug)]
pub(super) struct SimMessage {
    /// The node and its run.
    pub(super) from: (usize, u64),
    number: u64,
    pub(super) bytes: Vec<u8>,
}

/// The entries in their order, and the messages that may become some.
#[derive(Debug, Default)]
pub(super) struct SimStream {
    entries: Vec<Vec<u8>>,
    /// The node and the run that each of them is of.
    runs: Vec<(usize, u64)>,
    /// How many of the first entries were purged.
    purged: u64,
    ids: BTreeSet<(usize, u64, u64)>,
    on_their_way: Vec<SimMessage>,
}

impl SimStream {
    pub(super) fn send(&mut self, from: (usize, u64), proposal: ProposedEntry) {
        self.on_their_way.push(SimMessage {
            from,
            number: proposal.number,
            bytes: proposal.bytes,
        });
    }

    /// Some message, whichever was sent first.
    pub(super) fn some_message(&mut self, random: &mut Random) -> Option<SimMessage> {
        if self.on_their_way.is_empty() {
            return None;
        }
        let at = random.below(self.on_their_way.len() as u64);
        let at = usize::try_from(at).expect("an index");
        Some(self.on_their_way.swap_remove(at))
    }

    pub(super) fn keep_on_its_way(&mut self, message: &SimMessage) {
        self.on_their_way.push(message.clone());
    }

    pub(super) fn is_busy(&self) -> bool {
        !self.on_their_way.is_empty()
    }

    /// Whether the log has this message already.
    pub(super) fn has(&self, message: &SimMessage) -> bool {
        self.ids
            .contains(&(message.from.0, message.from.1, message.number))
    }

    /// Whether the log has something of this node.
    pub(super) fn has_of(&self, node: usize) -> bool {
        let mut ids = self.ids.range((node, 0, 0)..(node + 1, 0, 0));
        ids.next().is_some()
    }

    /// Whether an entry of a run of a higher number came only after a run of the same node had begun.
    pub(super) fn has_run_above(&self, (node, run): (usize, &ServerRun)) -> bool {
        let after = usize::try_from(run.after).expect("a few entries");
        let mut later = self.runs.iter().skip(after);
        later.any(|(of, number)| *of == node && *number > run.incarnation)
    }

    /// Makes the message the last entry.
    pub(super) fn take(&mut self, message: &SimMessage) -> u64 {
        self.ids
            .insert((message.from.0, message.from.1, message.number));
        self.entries.push(message.bytes.clone());
        self.runs.push(message.from);
        self.last()
    }

    /// The number of the last entry; the first has 1.
    pub(super) fn last(&self) -> u64 {
        self.entries.len() as u64
    }

    /// The number of the first entry that is still there.
    pub(super) const fn first(&self) -> u64 {
        self.purged + 1
    }

    /// Forgets the entries before this one.
    pub(super) fn purge_below(&mut self, sequence: u64) {
        self.purged = self.purged.max(sequence.saturating_sub(1).min(self.last()));
    }

    pub(super) fn entry(&self, sequence: u64) -> Option<&[u8]> {
        if sequence < self.first() {
            return None;
        }
        let at = usize::try_from(sequence.checked_sub(1)?).ok()?;
        self.entries.get(at).map(Vec::as_slice)
    }
}
