//! What versions of the stored formats a directory holds, and whether this program reads them.

use std::path::Path;

use turnstile_journal::{RealDisk, is_segment, segment_version, snapshot};
use turnstile_sequencer::state_version_after;
use turnstile_types::{Position, Timestamp};

use crate::{
    BackendOpenError, DirectoryReader, FORMATS, FormatVersion, ProgramStart, ReadFrom, VerifyError,
    id_key, newer, program_starts, verify,
};

/// The versions of one format that a directory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldFormat {
    pub format: FormatVersion,
    pub oldest: u16,
    pub newest: u16,
    /// What this program writes there from now on.
    pub written: u16,
}

/// What the groups of a journal take, from its oldest to its newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalGrowth {
    /// The logged time of the oldest.
    pub first: Timestamp,
    pub last: Timestamp,
    pub bytes: u64,
}

/// What a directory was written by, and in which formats. Nothing in it was changed.
#[derive(Debug)]
pub struct DirectoryVersions {
    /// Which versions of the program have written to it, as far as that was noted.
    pub programs: Vec<ProgramStart>,
    /// The formats of which it has something, in the order of [`FORMATS`].
    pub formats: Vec<HeldFormat>,
    /// The last position that was read.
    pub last: Position,
    /// Whether a server uses it.
    pub is_live: bool,
    /// Bytes of a torn tail, which the next start cuts.
    pub torn_bytes: u64,
    /// Whether the id numbers' key is bound to the journal already.
    pub is_key_bound: bool,
    /// How it has grown, if all of its groups were read and there are any.
    pub growth: Option<JournalGrowth>,
    /// Why this program does not read it.
    pub refusal: Option<VerifyError>,
}

impl DirectoryVersions {
    /// Looks at the headers of all files and groups.
    ///
    /// # Errors
    /// There is no journal, or the directory cannot be read.
    pub fn of(directory: &Path) -> Result<Self, VerifyError> {
        let disk = verify::disk_of(directory)?;
        let io = |cause| BackendOpenError::Directory {
            path: directory.to_owned(),
            cause,
        };
        let mut found = Self {
            programs: program_starts(directory).map_err(io)?,
            formats: Vec::new(),
            last: Position(0),
            is_live: false,
            torn_bytes: 0,
            is_key_bound: false,
            growth: None,
            refusal: None,
        };
        found.look_at_files(&disk).map_err(io)?;
        match id_key::check_version(directory) {
            Ok(None) => {}
            Ok(Some(version)) => {
                found.is_key_bound = true;
                found.hold("id key", version);
            }
            Err(refused) => found.refusal = Some(BackendOpenError::IdKey(refused).into()),
        }
        if let Err(refused) = newer::refuse(&disk, directory) {
            found.refusal = Some(refused.into());
        }
        match found.look_at_groups(directory) {
            Ok(()) => {}
            Err(none @ VerifyError::NoJournal) => return Err(none),
            Err(refused) => found.refusal = found.refusal.or(Some(refused)),
        }
        let place = |held: &HeldFormat| FORMATS.iter().position(|known| *known == held.format);
        found.formats.sort_by_key(place);
        Ok(found)
    }

    fn look_at_files(&mut self, disk: &RealDisk) -> std::io::Result<()> {
        use turnstile_journal::Disk as _;
        for name in disk.list()? {
            if is_segment(&name) {
                if let Some(version) = segment_version(disk, &name)? {
                    self.hold("journal", version);
                }
            } else if let Some(position) = snapshot::position(&name)
                && let Ok((file, state)) = snapshot::versions(disk, position)
            {
                self.hold("snapshot", file);
                if let Some(state) = state {
                    self.hold("state", u16::from(state));
                }
            }
        }
        Ok(())
    }

    fn look_at_groups(&mut self, directory: &Path) -> Result<(), VerifyError> {
        let mut reader = DirectoryReader::open(directory, ReadFrom::Oldest)?;
        self.is_live = reader.is_live();
        self.torn_bytes = reader.torn_bytes();
        let mut growth: Option<JournalGrowth> = None;
        while let Some(group) = reader.next_group()? {
            self.hold("record", group.header().version);
            let grown = growth.get_or_insert_with(|| JournalGrowth {
                first: group.time(),
                last: group.time(),
                bytes: 0,
            });
            grown.last = group.time();
            grown.bytes += u64::try_from(group.header().group_bytes()).unwrap_or_default();
        }
        self.growth = growth;
        self.last = reader.position();
        Ok(())
    }

    /// Notes that a format is there in this version.
    fn hold(&mut self, name: &str, version: u16) {
        if let Some(held) = self
            .formats
            .iter_mut()
            .find(|held| held.format.name == name)
        {
            held.oldest = held.oldest.min(version);
            held.newest = held.newest.max(version);
            held.written = held.written.max(written(held.format, version));
            return;
        }
        let format = FORMATS.into_iter().find(|known| known.name == name);
        let format = format.expect("every format that is looked for is in the list");
        self.formats.push(HeldFormat {
            format,
            oldest: version,
            newest: version,
            written: written(format, version),
        });
    }
}

/// Which version of a format this program writes where it finds this one.
fn written(format: FormatVersion, held: u16) -> u16 {
    match (format.name, u8::try_from(held)) {
        ("state", Ok(held)) => u16::from(state_version_after(held)),
        _ => format.newest,
    }
}
