//! The bytes of a command in the journal: records, and the groups in which they become durable.
//!
//! Nothing here does I/O. The byte map is `docs/formats/record.md`; golden files in `golden/` keep
//! old bytes readable.

#![forbid(unsafe_code)]

mod broken;
mod builder;
mod entry;
mod group;
mod header;
mod origin;
mod record;

pub use broken::Broken;
pub use builder::{GroupBuilder, seal};
pub use entry::{
    ENTRIES_AHEAD_MAX, ENTRY_BODY_BYTES_MAX, ENTRY_BYTES_MAX, ENTRY_VERSION, EntryBuilder,
    EntryHead, SharedEntry, announced,
};
pub use group::{Group, Records};
pub use header::{Header, Kind, Link, Place};
pub use record::{Record, RecordRef};

/// The version that this code writes. It reads this one and all before it.
pub const VERSION: u16 = 2;

/// The version whose records do not say where they came from.
pub const VERSION_WITHOUT_ORIGINS: u16 = 1;

/// The first bytes of every group, by which recovery looks for groups behind a broken one.
pub const MAGIC: [u8; 4] = *b"TSGR";

/// The service number of the engine's own records, such as ticks.
pub const SERVICE_ENGINE: u8 = 0;

/// A group's header. See the byte map.
pub const HEADER_BYTES: usize = 60;

/// The longest payload of a record: its length is two bytes.
pub const PAYLOAD_BYTES_MAX: usize = 65_535;

/// A record's fixed part: service, the lengths of principal, key and payload, and the origin's door,
/// kind of address and length of the request id.
pub const RECORD_PREFIX_BYTES: usize = 8;

/// The largest record, with the longest address, principal, key and request id.
pub const RECORD_BYTES_MAX: usize = RECORD_PREFIX_BYTES + 16 + 64 + 128 + 64 + PAYLOAD_BYTES_MAX;

/// The largest body of a group. One sync of 1 MiB costs three times that of 4 KiB; beyond a few
/// MiB, a larger group only makes its callers wait longer.
pub const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The largest group, as it is written.
pub const GROUP_BYTES_MAX: usize = HEADER_BYTES + BODY_BYTES_MAX;

const _: () = assert!(
    RECORD_BYTES_MAX <= BODY_BYTES_MAX,
    "an empty group takes any record"
);
