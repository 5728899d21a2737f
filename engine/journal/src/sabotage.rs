//! Planted bugs. Each is a mistake that real journals have shipped with; the simulator must catch
//! every one of them, or it has no teeth.

/// A planted bug. Without the cargo feature `sabotage` nobody can choose one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "sabotage"),
    expect(unreachable_pub, reason = "only the simulator's feature exports it")
)]
pub enum Sabotage {
    #[default]
    None,
    /// A commit returns before its group is synced.
    AckBeforeSync,
    /// A group that was submitted counts as durable while its sync is under way.
    SettleBeforeSync,
    /// Directory entries are never synced.
    NoDirectorySync,
    /// Checksums and chain are not checked when groups are read.
    NoCrcCheck,
    /// A failed sync is tried again, and its success believed.
    RetryFailedSync,
    /// Recovery believes the page cache and does not write the last group again.
    TrustPageCache,
    /// Recovery takes rot in the middle for a torn tail and cuts it.
    CutMiddleRot,
}

impl Sabotage {
    /// Every bug, for a simulator that tries them all.
    #[cfg(feature = "sabotage")]
    pub const ALL: [Self; 7] = [
        Self::AckBeforeSync,
        Self::SettleBeforeSync,
        Self::NoDirectorySync,
        Self::NoCrcCheck,
        Self::RetryFailedSync,
        Self::TrustPageCache,
        Self::CutMiddleRot,
    ];

    /// Whether this bug is planted; the question costs nothing where none can be.
    pub(crate) fn is(self, bug: Self) -> bool {
        cfg!(feature = "sabotage") && self == bug
    }
}
