//! What histories of clusters went through, in figures.

/// What histories of clusters went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClusterSummary {
    pub entries: u64,
    /// Entries that were void, for whatever reason.
    pub void: u64,
    /// Messages that the log lost, and that were sent again.
    pub lost: u64,
    /// Entries that the log took twice.
    pub repeated: u64,
    pub crashes: u64,
    /// Entries that a node had applied, lost in a crash, and applied again.
    pub applied_again: u64,
    pub answers: u64,
    pub readings: u64,
    /// Commands that were asked together, with a reading between them.
    pub runs: u64,
    /// Commands that were asked again under their key.
    pub retries: u64,
    /// Clients that waited too long.
    pub unknown: u64,
    pub snapshots: u64,
    /// Snapshots that were put into the store, and those that were not.
    pub stored: u64,
    pub not_stored: u64,
    /// Snapshots of no use that were removed before another one was stored.
    pub leftovers: u64,
    /// How often entries were purged.
    pub purges: u64,
    /// Nodes that began with a snapshot of the store.
    pub joins: u64,
    /// Nodes that lost all that they had.
    pub lost_directories: u64,
    /// Nodes that ended because an entry of an earlier run of theirs came late.
    pub superseded: u64,
    /// Nodes that came back with a newer program.
    pub upgrades: u64,
    /// Entries of the newest version.
    pub newest: u64,
    /// The hash of everything that was answered: the same for the same seed.
    pub trace: u64,
}

impl ClusterSummary {
    /// Adds another history's figures; the traces are mixed in order.
    pub fn add(&mut self, other: &Self) {
        self.entries += other.entries;
        self.void += other.void;
        self.lost += other.lost;
        self.repeated += other.repeated;
        self.crashes += other.crashes;
        self.applied_again += other.applied_again;
        self.answers += other.answers;
        self.readings += other.readings;
        self.runs += other.runs;
        self.retries += other.retries;
        self.unknown += other.unknown;
        self.snapshots += other.snapshots;
        self.stored += other.stored;
        self.not_stored += other.not_stored;
        self.leftovers += other.leftovers;
        self.purges += other.purges;
        self.joins += other.joins;
        self.lost_directories += other.lost_directories;
        self.superseded += other.superseded;
        self.upgrades += other.upgrades;
        self.newest += other.newest;
        self.trace = self.trace.rotate_left(5) ^ other.trace;
    }
}
