//! The words that every machine and every layer shares: names, nights, instants, positions, and
//! what a machine is.

#![forbid(unsafe_code)]
#![deny(
    clippy::float_arithmetic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

mod audited;
mod bytes;
mod instant;
mod machine;
mod name;
mod night;
mod origin;
mod outcome;
mod partition;
mod time;

pub use audited::{Audited, AuditedCommand};
pub use bytes::{
    Malformed, ReadProgress, Reader, put_bytes, put_flag, put_instant, put_u8, put_u16, put_u32,
    put_u64,
};
pub use instant::InvalidInstant;
pub use machine::{
    Context, Effect, Hosts, Machine, Machines, Sink, Unapplied, apply_command, effect_of_bytes,
    hash_of, read_payload, tell_late_outcomes,
};
pub use name::{InvalidKey, InvalidName, Key, Name, Principal};
pub use night::{InvalidNight, InvalidStay, Night, STAY_NIGHTS_MAX, Stay};
pub use origin::{
    AddressClass, AddressPolicy, Author, CallerAddress, DoorKind, InvalidRequestId, KeptAddress,
    Origin, RequestId,
};
pub use outcome::Outcome;
pub use partition::{PARTITIONS_MAX, PartitionFounding, PartitionNumber};
pub use time::{Position, Timestamp};
