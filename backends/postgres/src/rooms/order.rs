//! The order of the rooms of a property, as bytes that a database compares.

use turnstile_contract::natural_key;
use turnstile_types::Name;

/// Begins the place of a loose room, one of the type `open` in an open property: no name has it, so such
/// rooms come behind the others.
const LOOSE: u8 = 0xff;

/// Where a room lies among others by its name.
pub(super) fn natural_place(name: &Name) -> Vec<u8> {
    natural_key(name.as_bytes())
}

/// Where a loose room lies: by the position at which it was first named.
pub(super) fn loose_place(room: i64) -> Vec<u8> {
    let mut place = vec![LOOSE];
    place.extend_from_slice(&room.to_be_bytes());
    place
}
