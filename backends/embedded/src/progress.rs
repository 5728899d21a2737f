//! The progress of a recovery, for other threads to read, and the way to cancel it.

use std::{
    fmt,
    sync::atomic::{AtomicU8, AtomicU64, Ordering},
};

use turnstile_types::ReadProgress;

/// What a recovery does. The journal is checked while the others go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Every checksum of the journal is checked. Counted in bytes.
    Checking,
    /// The newest snapshot is read. Counted in bytes.
    Loading,
    /// The records after the snapshot are applied. Counted in records.
    Replaying,
}

/// What a recovery has done at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headway {
    pub stage: Stage,
    /// Bytes or records of this stage that are done, and how many there are.
    pub done: u64,
    pub total: u64,
}

/// Shared by the thread that recovers and those who watch it.
#[derive(Debug, Default)]
pub struct RecoveryProgress {
    stage: AtomicU8,
    total: AtomicU64,
    read: ReadProgress,
}

impl RecoveryProgress {
    /// How far it is.
    #[must_use]
    pub fn headway(&self) -> Headway {
        let done = self.read.done();
        Headway {
            stage: match self.stage.load(Ordering::Relaxed) {
                0 => Stage::Checking,
                1 => Stage::Loading,
                _ => Stage::Replaying,
            },
            done,
            // How much there is to replay is known for sure in the end only.
            total: self.total.load(Ordering::Relaxed).max(done),
        }
    }

    /// Asks the recovery to end before its time. It ends in the middle of a snapshot, or at the next
    /// group that it would replay.
    pub fn end(&self) {
        self.read.stop();
    }

    /// Whether it was asked to.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.read.is_stopped()
    }

    /// Where a reader of the snapshot notes how far it has come.
    pub(crate) const fn of_reader(&self) -> &ReadProgress {
        &self.read
    }

    /// A stage of so many bytes or records begins.
    pub fn begin(&self, stage: Stage, total: u64) {
        let number = match stage {
            Stage::Checking => 0,
            Stage::Loading => 1,
            Stage::Replaying => 2,
        };
        self.read.set_done(0);
        self.total.store(total, Ordering::Relaxed);
        self.stage.store(number, Ordering::Relaxed);
    }

    pub(crate) fn note(&self, done: u64) {
        self.read.set_done(done);
    }
}

impl Stage {
    /// Its name in reports to machines.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Checking => "checking_journal",
            Self::Loading => "loading_snapshot",
            Self::Replaying => "replaying_records",
        }
    }

    /// What is counted in it.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Checking | Self::Loading => "bytes",
            Self::Replaying => "records",
        }
    }
}

impl fmt::Display for Headway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stage, done, total } = self;
        let doing = match stage {
            Stage::Checking => "checking the journal",
            Stage::Loading => "loading the snapshot",
            Stage::Replaying => "replaying the journal",
        };
        write!(f, "{doing}, {done} of {total} {}", stage.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recovery_is_seen_stage_by_stage() {
        let progress = RecoveryProgress::default();
        let mut seen = vec![progress.headway().to_string()];
        progress.begin(Stage::Loading, 700);
        seen.push(progress.headway().to_string());
        progress.begin(Stage::Replaying, 40);
        progress.note(3);
        seen.push(progress.headway().to_string());
        assert_eq!(
            seen,
            [
                "checking the journal, 0 of 0 bytes",
                "loading the snapshot, 0 of 700 bytes",
                "replaying the journal, 3 of 40 records",
            ]
        );
    }
}
