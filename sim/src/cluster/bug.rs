//! Bugs that are planted in a cluster, to see that they are found.

use turnstile_sequencer::EntrySabotage;
use turnstile_types::Timestamp;

use super::EPOCH_MS;

/// A planted bug in how nodes share a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClusterBug {
    #[default]
    None,
    /// A node applies its own entry when the log acknowledges it, before those ahead of it.
    ApplyAtAcknowledgement,
    /// A node decides entries that were admitted before rights changed.
    IgnoreEpochs,
    /// A node decides an entry that comes again.
    IgnoreRepetitions,
    /// A node goes on when entries are missing.
    IgnoreGaps,
    /// A node decides by its own clock.
    LocalClock,
    /// A node answers a reading at once.
    ReadWithoutBarrier,
    /// A node proposes what it has no answer for once more, as something new.
    ProposeAnew,
    /// A node answers a reading between two commands behind the last of its entry.
    ReadAtTheEnd,
    /// A node puts something between two commands that belong together.
    SplitRuns,
    /// A node says that a snapshot is done without having read it back.
    SnapshotNotVerified,
    /// A node has entries purged that are in no older snapshot.
    PurgeTooFar,
    /// A node joins from whatever snapshot is the newest.
    JoinFromForeign,
    /// A node writes entries of a version that some node does not read.
    WriteTooEarly,
    /// A node takes what its clock says for the number of its run.
    TrustClock,
}

impl ClusterBug {
    /// Every one of them.
    pub const ALL: [Self; 14] = [
        Self::ApplyAtAcknowledgement,
        Self::IgnoreEpochs,
        Self::IgnoreRepetitions,
        Self::IgnoreGaps,
        Self::LocalClock,
        Self::ReadWithoutBarrier,
        Self::ProposeAnew,
        Self::ReadAtTheEnd,
        Self::SplitRuns,
        Self::SnapshotNotVerified,
        Self::PurgeTooFar,
        Self::JoinFromForeign,
        Self::WriteTooEarly,
        Self::TrustClock,
    ];

    pub(super) fn sabotage(self) -> EntrySabotage {
        match self {
            Self::IgnoreEpochs => EntrySabotage::IgnoreEpochs,
            Self::IgnoreRepetitions => EntrySabotage::IgnoreRepetitions,
            Self::IgnoreGaps | Self::ApplyAtAcknowledgement => EntrySabotage::IgnoreGaps,
            Self::LocalClock => EntrySabotage::LocalClock(Timestamp(EPOCH_MS)),
            Self::None
            | Self::ReadWithoutBarrier
            | Self::ProposeAnew
            | Self::ReadAtTheEnd
            | Self::SplitRuns
            | Self::SnapshotNotVerified
            | Self::PurgeTooFar
            | Self::JoinFromForeign
            | Self::WriteTooEarly
            | Self::TrustClock => EntrySabotage::None,
        }
    }
}
