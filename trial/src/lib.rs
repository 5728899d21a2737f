//! What machines are tried with; nothing of the product is built with it.

mod allocations;
mod bytes;
mod chromium;
mod disk;
mod notice;
mod servers;
mod snapshots;
mod stories;
mod strace;
mod volume;

pub use allocations::{Counting, Tally};
pub use bytes::{check_canonical, check_command, check_only_whole, check_outcome, hex, unhex};
pub use chromium::Chromium;
pub use disk::{Filler, SmallDisk};
pub use notice::no_mount;
pub use servers::{MariaServer, PostgresServer, RedisServer};
pub use snapshots::{
    bytes_of, check_changed, check_cut_or_continued, check_restored, check_watched,
};
pub use stories::{Stage, Words, check_stories, ms};
pub use strace::Injection;
pub use volume::{Ballast, Volume, VolumeLog};

use turnstile_types::{Context, Position, Principal, Timestamp};

/// What a command sees, in plain numbers.
#[must_use]
pub const fn context(position: u64, now: u64, principal: &Principal) -> Context<'_> {
    Context {
        position: Position(position),
        now: Timestamp(now),
        principal,
    }
}
