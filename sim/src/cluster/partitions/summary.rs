//! Figures of histories of partitions.

/// What histories of partitions went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartitionSummary {
    pub entries: u64,
    pub answers: u64,
    /// Answers of other partitions than the first.
    pub of_others: u64,
    /// Commands that were asked again under their key.
    pub retries: u64,
    pub crashes: u64,
    /// Clients that waited too long.
    pub unknown: u64,
    pub snapshots: u64,
    /// Commands that were passed on to other nodes, and how often that was done once more.
    pub relayed: u64,
    pub relayed_again: u64,
    /// Answers of other nodes.
    pub relayed_answers: u64,
    /// The hash of all states at the end: the same for the same seed.
    pub trace: u64,
}

impl PartitionSummary {
    /// Adds another history's figures; the traces are mixed in order.
    pub fn add(&mut self, other: &Self) {
        self.entries += other.entries;
        self.answers += other.answers;
        self.of_others += other.of_others;
        self.retries += other.retries;
        self.crashes += other.crashes;
        self.unknown += other.unknown;
        self.snapshots += other.snapshots;
        self.relayed += other.relayed;
        self.relayed_again += other.relayed_again;
        self.relayed_answers += other.relayed_answers;
        self.trace = self.trace.rotate_left(5) ^ other.trace;
    }
}
