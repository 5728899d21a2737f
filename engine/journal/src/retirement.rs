//! Removing what nobody needs any more: snapshots beyond the newest two, and the segments that lie
//! wholly before the older of them.

use std::io;

use turnstile_types::Position;

use crate::Disk;
use crate::replay::{first_position, segment_numbers};
use crate::segment::{self, LabelError, Segment, Window};
use crate::snapshot::{self, Rotten};

/// How many sound snapshots are kept. With two, one may rot and nothing is lost.
const SNAPSHOTS_KEPT: usize = 2;

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retired {
    pub snapshots: usize,
    pub segments: usize,
}

/// Removes what the newest two sound snapshots make superfluous. It touches no segment that the
/// writer may be using, so it may run in another thread of the process that has the lock.
///
/// Nothing goes while there are fewer than two sound snapshots. Each removal is made durable before
/// the next, oldest first, so that a crash leaves no gap.
///
/// # Errors
/// The disk fails; what was removed so far stays removed.
pub fn retire<D: Disk>(disk: &D, journal: u64) -> io::Result<Retired> {
    let mut retired = Retired::default();
    let positions = snapshot::positions(disk)?;
    let Some(older) = oldest_to_keep(disk, journal, &positions)? else {
        return Ok(retired);
    };
    for &position in positions.iter().rev().filter(|&&position| position < older) {
        disk.remove(&snapshot::name(position))?;
        disk.sync_directory()?;
        retired.snapshots += 1;
    }
    let mut window = Window::default();
    for pair in segment_numbers(disk)?.windows(2) {
        let &[number, later] = pair else { continue };
        if !begins_by(disk, later, older.next(), &mut window)? {
            break;
        }
        disk.remove(&segment::name(number))?;
        disk.sync_directory()?;
        retired.segments += 1;
    }
    Ok(retired)
}

/// The last position before the newest segment that has records: a snapshot there lets all segments
/// before it go. Nothing while all records lie in the first.
///
/// # Errors
/// The disk fails.
pub fn last_boundary<D: Disk>(disk: &D) -> io::Result<Option<Position>> {
    let numbers = segment_numbers(disk)?;
    let mut window = Window::default();
    for &number in numbers.iter().skip(1).rev() {
        let segment = match Segment::open(disk, number) {
            Ok(segment) => segment,
            Err(LabelError::Io(error)) => return Err(error),
            Err(_damaged) => return Ok(None),
        };
        if let Some(first) = first_position(&segment, &mut window)? {
            return Ok(first.0.checked_sub(1).map(Position));
        }
    }
    Ok(None)
}

/// The last of the newest sound snapshots that are kept, when there are so many.
fn oldest_to_keep<D: Disk>(
    disk: &D,
    journal: u64,
    newest_first: &[Position],
) -> io::Result<Option<Position>> {
    let mut sound = 0;
    for &position in newest_first {
        match snapshot::verify(disk, journal, position) {
            Ok(_title) => sound += 1,
            Err(Rotten::Io(error)) => return Err(error),
            Err(_rotten) => {}
        }
        if sound == SNAPSHOTS_KEPT {
            return Ok(Some(position));
        }
    }
    Ok(None)
}

/// Whether a segment has groups, the first of them at or before `position`.
fn begins_by<D: Disk>(
    disk: &D,
    number: u32,
    position: Position,
    window: &mut Window,
) -> io::Result<bool> {
    match Segment::open(disk, number) {
        Ok(segment) => {
            let first = first_position(&segment, window)?;
            Ok(first.is_some_and(|first| first <= position))
        }
        Err(LabelError::Io(error)) => Err(error),
        // Damage is for recovery to judge; nothing is removed next to it.
        Err(LabelError::Rotten | LabelError::Version(_) | LabelError::Misplaced) => Ok(false),
    }
}
