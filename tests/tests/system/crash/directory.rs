//! Data directories as the tests need them: with small segments, and with snapshots.

use std::path::Path;
use std::time::SystemTime;

use turnstile_embedded::{Durability, Embedded, Options};
use turnstile_rooms::{Command, Rooms};
use turnstile_types::{Author, Name, Principal, Timestamp};

/// Small enough to be made in no time and to be full after a thousand requests or two.
pub(crate) const SEGMENT_BYTES: u32 = 128 << 10;

/// Where the first group of a segment begins; before it is the segment's own header.
pub(crate) const FIRST_OFFSET: u64 = 4096;

/// A new journal whose first two segments are small. Those that the server adds later have the
/// server's own size.
pub(crate) fn with_small_segments(path: &Path) {
    let backend = open(path, 0);
    backend.close().expect("a new journal can be closed");
}

/// Starts and stops without a crash, and leaves a snapshot of everything.
pub(crate) fn make_snapshot(path: &Path) {
    let mut backend = open(path, 1);
    let property = Name::parse(b"snapshots").expect("it is a name");
    let command = Command::AddProperty {
        property,
        open: false,
    };
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let ms = since.expect("it is later than 1970").as_millis();
    let now = Timestamp(u64::try_from(ms).expect("it is long before the end of time"));
    let taken = backend.execute::<Rooms>(
        now,
        Author::unknown(&Principal::local()),
        None,
        &command,
        None,
    );
    taken.expect("there is room for one more record");
    backend.commit().expect("the disk is sound");
    backend.await_snapshot();
    backend.close().expect("the disk is sound");
    let files = std::fs::read_dir(path).expect("the directory is there");
    let mut names = files.map(|file| file.expect("it can be read").file_name());
    assert!(
        names.any(|name| name.to_string_lossy().starts_with("snapshot-")),
        "no snapshot was made"
    );
}

fn open(path: &Path, snapshot_records: u64) -> Embedded {
    let options = Options {
        segment_bytes: SEGMENT_BYTES,
        snapshot_records,
        ..Options::with(Durability::Sync)
    };
    let opened = Embedded::open(Some(path), options);
    opened
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        .0
}
