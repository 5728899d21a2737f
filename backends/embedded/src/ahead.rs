//! Replays a journal while its end is still being looked for.
//!
//! To find the end of a journal, every checksum in it is checked; to replay it, it is read again. Neither
//! needs the other, so two processors do both at once. What was replayed ahead counts only if it ends with
//! the group that the check has found to be the last. Otherwise it is dropped, and the replay begins when the
//! check is over.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use turnstile_journal::{self as journal, Journal, JournalReader, RealDisk};
use turnstile_record::Link;

use crate::{
    BackendOpenError, RecoveryProgress,
    recovery::{RecordReplay, Replayed, newest_state},
};

/// What was replayed ahead.
pub(crate) struct ReplayedAhead {
    replayed: Replayed,
    /// What the last group has left for the next one to continue.
    end: Link,
}

impl ReplayedAhead {
    /// What was replayed, if it is all that the journal holds.
    pub(crate) fn all_of(self, journal: &Journal<RealDisk>) -> Option<Replayed> {
        (self.end == journal.link()).then_some(self.replayed)
    }
}

/// Does what finds the end, and replays meanwhile. Nothing is replayed when the other fails, or if there is
/// anything that cannot be.
pub(crate) fn beside<T>(
    disk: &RealDisk,
    progress: &RecoveryProgress,
    find_end: impl FnOnce() -> Result<T, BackendOpenError>,
) -> Result<(T, Option<ReplayedAhead>), BackendOpenError> {
    let is_vain = AtomicBool::new(false);
    thread::scope(|scope| {
        let replaying = thread::Builder::new()
            .name("replay".to_owned())
            .spawn_scoped(scope, || replay(disk, progress, &is_vain));
        let found = find_end();
        is_vain.store(found.is_err(), Ordering::Relaxed);
        let ahead = replaying.ok().and_then(|thread| thread.join().ok());
        Ok((found?, ahead.flatten()))
    })
}

/// All that can be read behind the newest snapshot.
fn replay(
    disk: &RealDisk,
    progress: &RecoveryProgress,
    is_vain: &AtomicBool,
) -> Option<ReplayedAhead> {
    let id = journal::journal_id(disk).ok().flatten()?;
    let state = newest_state(disk, id, progress).ok()?;
    let after = state.position();
    let acknowledged = journal::acknowledged(disk).ok().flatten();
    let last = acknowledged.map_or(after, |(_, last)| last);
    let mut reader = JournalReader::open(disk.clone(), after).ok()?;
    let mut replaying = RecordReplay::begin(state, last, progress).ok()?;
    while let Some(group) = reader.next(JournalReader::<RealDisk>::END).ok()? {
        if is_vain.load(Ordering::Relaxed) {
            return None;
        }
        // The segment may begin before the snapshot.
        if group.first() > after {
            replaying.take(&group, progress).ok()?;
        }
    }
    let end = reader.link()?;
    Some(ReplayedAhead {
        replayed: replaying.finish(),
        end,
    })
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;
    use turnstile_journal::{Chores, Durability, Log as _, Options};
    use turnstile_record::RecordRef;
    use turnstile_rooms::{Command, Rooms};
    use turnstile_types::{Author, Name, Position, Principal, Timestamp};

    use super::*;
    use crate::Embedded;

    /// A directory in which two runs have added a property each.
    fn written() -> (TempDir, RealDisk) {
        let directory = tempfile::tempdir().unwrap();
        for property in ["one", "two"] {
            let options = crate::Options::with(Durability::Os);
            let (mut backend, _) = Embedded::open(Some(directory.path()), options).unwrap();
            let property = Name::parse(property.as_bytes()).unwrap();
            let add = Command::AddProperty {
                property,
                open: true,
            };
            let (principal, now) = (Principal::local(), Timestamp(1_780_272_000_000));
            let author = Author::unknown(&principal);
            let added = backend.execute::<Rooms>(now, author, None, &add, None);
            assert!(added.is_ok(), "{added:?}");
            backend.close().unwrap();
        }
        let disk = RealDisk::open(directory.path()).unwrap();
        (directory, disk)
    }

    fn open(disk: &RealDisk) -> Result<Journal<RealDisk>, BackendOpenError> {
        let options = Options {
            segment_bytes: 1 << 20,
            durability: Durability::Os,
            chores: Chores::Inline,
            accept_loss: None,
        };
        let opened = Journal::open(disk.clone(), options);
        opened
            .map_err(BackendOpenError::Journal)
            .map(|(journal, _)| journal)
    }

    #[test]
    fn all_that_a_journal_holds_is_replayed_ahead() {
        let (_directory, disk) = written();
        let progress = RecoveryProgress::default();
        let (journal, ahead) = beside(&disk, &progress, || open(&disk)).unwrap();
        let replayed = ahead.unwrap().all_of(&journal).unwrap();
        assert_eq!(replayed.snapshot, Position(0));
        assert_eq!(replayed.state.position().next(), journal.next_position());
        assert_eq!(progress.headway().done, replayed.state.position().0);
    }

    #[test]
    fn what_ends_before_the_journal_does_is_dropped() {
        let (_directory, disk) = written();
        let progress = RecoveryProgress::default();
        let (mut journal, ahead) = beside(&disk, &progress, || open(&disk)).unwrap();
        let principal = Principal::local();
        journal.push(&RecordRef {
            service: 1,
            author: Author::server(&principal),
            key: None,
            payload: b"later",
        });
        journal.commit().unwrap();
        assert!(ahead.unwrap().all_of(&journal).is_none());
    }

    #[test]
    fn a_replay_ends_with_the_failure_to_find_the_end() {
        let (_directory, disk) = written();
        let progress = RecoveryProgress::default();
        let found = beside(&disk, &progress, || Err::<(), _>(BackendOpenError::Ended));
        assert!(matches!(found, Err(BackendOpenError::Ended)));
    }
}
