//! Snapshots of a node on their way into the store of its log, off the loop's thread.

use std::{
    collections::BTreeMap,
    fs::File,
    sync::mpsc::{Receiver, Sender, channel},
    thread,
};

use turnstile_embedded::Embedded;
use turnstile_jetstream::{
    LogSettings, SnapshotError, SnapshotStore, StoredSnapshot, StreamIdentity,
};
use turnstile_replica::StoredTitle;
use turnstile_sequencer::{OrderedSnapshot, SharedPlace};

use crate::core::gate::Gate;

/// What the names of snapshots begin with; the number of the last entry follows.
const NAME: &str = "entry-";

/// The words by which a snapshot in the store says what it is of.
const STREAM: &str = "stream";
const SECRET: &str = "secret";
const INSTALLATION: &str = "installation";

/// Of which log and installation the snapshots of a node are.
#[derive(Clone, Debug)]
pub(crate) struct SnapshotOrigin {
    pub(crate) log: StreamIdentity,
    /// What tells the secret of the id numbers from others.
    pub(crate) secret: u64,
    pub(crate) installation: u64,
}

/// What has become of a snapshot that this node was to make.
pub(crate) struct KeptSnapshot {
    /// The last entry that it has.
    pub(crate) sequence: u64,
    /// Nothing if there is none.
    pub(crate) made: Option<OrderedSnapshot>,
}

/// Makes snapshots of the back end and puts them into the store.
pub(crate) struct SnapshotKeeper {
    settings: LogSettings,
    origin: SnapshotOrigin,
    tell: Sender<KeptSnapshot>,
    told: Receiver<KeptSnapshot>,
    gate: Gate,
}

impl SnapshotKeeper {
    pub(crate) fn new(settings: LogSettings, origin: SnapshotOrigin, gate: Gate) -> Self {
        let (tell, told) = channel();
        Self {
            settings,
            origin,
            tell,
            told,
            gate,
        }
    }

    /// Makes a snapshot of the state as it is, whose place is this one. [`Self::next`] says what has become
    /// of it.
    pub(crate) fn keep(&self, backend: &mut Embedded, place: SharedPlace) {
        let sequence = place.sequence;
        let (settings, origin) = (self.settings.clone(), self.origin.clone());
        let (tell, gate) = (self.tell.clone(), self.gate.clone());
        let put = move |file: Result<File, String>| {
            let made = file.and_then(|mut file| {
                make_room(&settings, &place);
                put(&settings, &origin, sequence, &mut file).map_err(|error| error.to_string())
            });
            if let Err(reason) = &made {
                tracing::error!("no snapshot of entry {sequence} in the store: {reason}");
            }
            let made = made.ok().map(|stored| OrderedSnapshot {
                sequence,
                bytes: stored.bytes,
                digest: stored.digest,
            });
            // A loop that has ended needs no answer.
            if tell.send(KeptSnapshot { sequence, made }).is_ok() {
                gate.wake();
            }
        };
        // The thread of snapshots is needed for the next ones while the store takes this one.
        backend.want_snapshot(move |file| spawn("snapshot-store", move || put(file)));
    }

    /// What has become of the next snapshot, if that is known.
    pub(crate) fn next(&self) -> Option<KeptSnapshot> {
        self.told.try_recv().ok()
    }

    /// Removes what is older than the snapshot of this entry from the store. What stays because brokers
    /// do not answer goes the next time.
    pub(crate) fn forget_below(&self, sequence: u64) {
        let settings = self.settings.clone();
        spawn("snapshot-store", move || {
            if let Err(error) = forget(&settings, |stored| stored < sequence) {
                tracing::warn!("older snapshots stay in the store: {error}");
            }
        });
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) {
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(work);
    if let Err(failure) = spawned {
        tracing::error!("no thread for the store of snapshots: {failure}");
    }
}

/// Puts a snapshot of this entry into the store, and reads it back.
pub(crate) fn put(
    settings: &LogSettings,
    origin: &SnapshotOrigin,
    sequence: u64,
    file: &mut File,
) -> Result<StoredSnapshot, SnapshotError> {
    let metadata = BTreeMap::from([
        (STREAM.to_owned(), origin.log.0.clone()),
        (SECRET.to_owned(), format!("{:016x}", origin.secret)),
        (
            INSTALLATION.to_owned(),
            format!("{:016x}", origin.installation),
        ),
    ]);
    SnapshotStore::open(settings)?.put(&format!("{NAME}{sequence:020}"), &metadata, file)
}

/// Removes what nodes have left in the store that ended with a snapshot under way: else there is no room for
/// the next ones in the end. If it fails, there may still be room.
fn make_room(settings: &LogSettings, place: &SharedPlace) {
    let removed = forget(settings, |stored| place.is_leftover(stored));
    let removed = removed.and_then(|()| SnapshotStore::of(settings)?.forget_leftovers());
    if let Err(error) = removed {
        tracing::warn!("what is of no use stays in the store of snapshots: {error}");
    }
}

/// Removes the snapshots of entries that are of no use.
fn forget(settings: &LogSettings, is_useless: impl Fn(u64) -> bool) -> Result<(), SnapshotError> {
    let store = SnapshotStore::of(settings)?;
    for stored in store.list()? {
        if sequence_of(&stored).is_some_and(&is_useless) {
            store.delete(&stored.name)?;
        }
    }
    Ok(())
}

fn sequence_of(stored: &StoredSnapshot) -> Option<u64> {
    stored.name.strip_prefix(NAME)?.parse().ok()
}

/// What a stored snapshot says that it is of, and its installation; nothing for what is no snapshot of ours.
pub(crate) fn title_of(stored: &StoredSnapshot) -> Option<(StoredTitle<StreamIdentity>, u64)> {
    let number = |word| u64::from_str_radix(stored.metadata.get(word)?, 16).ok();
    let title = StoredTitle {
        sequence: sequence_of(stored)?,
        log: StreamIdentity(stored.metadata.get(STREAM)?.clone()),
        secret: number(SECRET)?,
    };
    Some((title, number(INSTALLATION)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(name: &str, metadata: &[(&str, &str)]) -> StoredSnapshot {
        let metadata = metadata.iter();
        StoredSnapshot {
            name: name.to_owned(),
            bytes: 1,
            digest: [0; 32],
            metadata: metadata
                .map(|(word, value)| ((*word).to_owned(), (*value).to_owned()))
                .collect(),
        }
    }

    #[test]
    fn only_a_whole_title_is_one() {
        let whole = [
            (STREAM, "2026-01-01"),
            (SECRET, "00000000000000ff"),
            (INSTALLATION, "10"),
        ];
        let title = StoredTitle {
            sequence: 42,
            log: StreamIdentity("2026-01-01".to_owned()),
            secret: 255,
        };
        let name = "entry-00000000000000000042";
        assert_eq!(title_of(&stored(name, &whole)), Some((title, 16)));
        assert_eq!(title_of(&stored("backup", &whole)), None);
        for missing in 0..whole.len() {
            let mut part = whole.to_vec();
            part.remove(missing);
            assert_eq!(title_of(&stored(name, &part)), None, "without {missing}");
        }
    }
}
