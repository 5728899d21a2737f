//! The whole state as bytes: equal states give equal bytes.
//!
//! Everything that has a number is written in order of its number, so that writing is one pass
//! over memory. Numbers are state: slots stand in references, rooms and properties in cursors.
//! What can be derived (calendar, words, chains, deadlines) is not written, but derived again,
//! and what cannot be true is refused. Fields have their stable bytes; a list is preceded by its
//! length.
//!
//! ```text
//! snapshot   8 bytes "rooms\0\0\1", totals, principals, properties, types, rooms, slots, free
//! totals     u64 booked, u64 cancelled, u64 held, u64 expired
//! principals u32 count, names, in order of first success
//! properties u32 count, each: name, flag open
//! types      u32 count, each: u32 property, name
//! rooms      u32 count, each: u32 type, flag withdrawn, name,
//!            u16 count of runs of stopped nights, each: u16 first night, u16 nights;
//!            runs are in order, and do not touch
//! slots      u32 count, each one of
//!            0x00 free      u32 generation of the next entry
//!            0x01 spent     (its generation was the last one)
//!            0x02 booked    entry, guest, guest id
//!            0x03 held      entry, instant until, u64 position that made it
//!            0x04 expired   entry, instant at, u64 position that made it
//! entry      u32 generation, u32 room, u32 principal, stay, instant since,
//!            u64 position of its last change
//! free       the free slots, u32 each, the one that is used next first
//! ```

mod reading;
mod writing;

pub(crate) use reading::{empty_slot, read, seat, stop_run};
pub(crate) use writing::{runs_of, write};

/// What a snapshot begins with: the machine and the version of the form.
const MAGIC: &[u8; 8] = b"rooms\0\0\x01";
