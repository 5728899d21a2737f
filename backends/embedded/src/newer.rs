//! Refuses what a newer version of this program wrote, before anything is changed.

use std::path::Path;

use turnstile_journal::{RealDisk, snapshot};
use turnstile_sequencer::SNAPSHOT_VERSION;
use turnstile_types::Position;

use crate::{BackendOpenError, id_key};

/// Refuses a directory of which a snapshot, or what binds its key, was written by a newer version of this
/// program. The journal itself refuses newer segments and groups, before it changes anything.
pub(crate) fn refuse(disk: &RealDisk, directory: &Path) -> Result<(), BackendOpenError> {
    let newer = |what: String, version: u16, reads: u16| BackendOpenError::Newer {
        what,
        version,
        reads,
    };
    for position in snapshot::positions(disk).map_err(BackendOpenError::Snapshot)? {
        let name = snapshot::name(position);
        match snapshot::versions(disk, position) {
            Ok((file, _)) if file > snapshot::VERSION => {
                return Err(newer(name, file, snapshot::VERSION));
            }
            Ok((_, Some(state))) if state > SNAPSHOT_VERSION && is_sound(disk, position) => {
                let what = format!("the state in {name}");
                return Err(newer(what, state.into(), SNAPSHOT_VERSION.into()));
            }
            // A damaged one is passed over.
            Ok(_) | Err(_) => {}
        }
    }
    match id_key::check_version(directory) {
        Ok(Some(version)) if version > id_key::VERSION => {
            let path = directory.join(id_key::CHECK);
            Err(BackendOpenError::IdKey(id_key::IdKeyError::CheckVersion {
                path,
                version,
            }))
        }
        // What else is wrong with it is said when the key is read.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Whether a snapshot is whole: then its first byte is what its writer meant.
fn is_sound(disk: &RealDisk, position: Position) -> bool {
    let journal = turnstile_journal::journal_id(disk).ok().flatten();
    journal.is_some_and(|journal| snapshot::verify(disk, journal, position).is_ok())
}
