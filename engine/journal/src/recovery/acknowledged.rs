//! What a journal has acknowledged, without its lock.

use turnstile_types::Position;

use super::scan::refusal;
use super::{OpenError, read_mark};
use crate::Disk;
use crate::segment::{self, Segment};

/// The number of a journal and the last position that it has acknowledged for sure, without its lock: a
/// live journal may go on appending. Where groups are not synced one by one, the position is that of the
/// last start. Nothing: there is no journal, or no mark says so.
///
/// # Errors
/// The files cannot be read, or a newer version wrote them.
pub fn acknowledged<D: Disk>(disk: &D) -> Result<Option<(u64, Position)>, OpenError> {
    let Some(journal) = journal_id(disk)? else {
        return Ok(None);
    };
    let position = read_mark(disk, journal)?;
    Ok(position.map(|position| (journal, position)))
}

/// The number of a journal, without its lock; nothing where there is no journal.
///
/// # Errors
/// As of [`acknowledged`].
pub fn journal_id<D: Disk>(disk: &D) -> Result<Option<u64>, OpenError> {
    let names = disk.list().map_err(OpenError::Io)?;
    let numbers = names.iter().filter_map(|name| segment::number(name));
    // An older one may be removed meanwhile.
    let Some(newest) = numbers.max() else {
        return Ok(None);
    };
    let segment = Segment::open(disk, newest).map_err(|error| refusal(newest, error))?;
    Ok(Some(segment.label.journal))
}
