//! The log that the nodes share, as unreliable as a network makes it.

use std::collections::BTreeSet;

use turnstile_replica::ProposedEntry;
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

    /// Makes the message the last entry.
    pub(super) fn take(&mut self, message: &SimMessage) -> u64 {
        self.ids
            .insert((message.from.0, message.from.1, message.number));
        self.entries.push(message.bytes.clone());
        self.last()
    }

    /// The number of the last entry; the first has 1.
    pub(super) fn last(&self) -> u64 {
        self.entries.len() as u64
    }

    pub(super) fn entry(&self, sequence: u64) -> Option<&[u8]> {
        let at = usize::try_from(sequence.checked_sub(1)?).ok()?;
        self.entries.get(at).map(Vec::as_slice)
    }
}
