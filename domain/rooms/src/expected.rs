//! Commands that wait, and how far memory was asked for what they will touch.

use turnstile_chassis::Belt;
use turnstile_types::Night;

/// Commands that were announced.
pub(crate) type Expected = Belt<Target, LINKS>;

/// Where a command's data is found: the property's name, the property and the room's name, the
/// room, its index and its shelf, the night's block and the shelf's index, the shelf's night.
const LINKS: usize = 6;

/// How far a command has come.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    /// The hashes of the names of a property and a room.
    Named {
        property: u64,
        room: u64,
        night: Night,
    },
    /// The hash of the room's name, within its property, is known.
    Scoped {
        room: u64,
        night: Night,
    },
    Entry {
        slot: u32,
    },
    Spot {
        room: u32,
        night: Night,
    },
    /// It leads nowhere: to a room or an entry that is not there yet.
    Lost,
}
