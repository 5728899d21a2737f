//! The list of a backup's files, with what each must be.

use std::{fs, io, path::Path};

use serde::{Deserialize, Serialize};
use turnstile_journal::{CopyEnd, files};
use turnstile_types::Position;

use crate::{
    BackupError,
    files::sha256_of,
    source::{from_hex, journal_text},
};

/// The file's name.
pub(crate) const NAME: &str = "backup.json";

/// The version that this code writes.
pub(crate) const FORMAT: u32 = 1;

/// Whether the secret of the id numbers is in a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdKeyKept {
    /// Under a passphrase.
    Sealed,
    /// It must be kept elsewhere.
    LeftOut,
}

/// One file of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestFile {
    pub name: String,
    /// How many of its bytes belong to the backup. What is behind them comes from a backup that broke off.
    pub bytes: u64,
    /// Of these bytes, in hexadecimal digits.
    pub sha256: String,
}

/// Where the journal of a backup ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestEnd {
    pub segment: u32,
    /// The length of that segment in a data directory.
    pub segment_bytes: u32,
    pub offset: u32,
    /// The checksum of the header of the last group.
    pub chain: u32,
    /// The logged time of the last group, in milliseconds since 1970.
    pub time: u64,
    /// The last position.
    pub position: u64,
}

/// What a backup is of, and its files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub format: u32,
    /// The version of the program that wrote it.
    pub program: String,
    /// The journal's random number, in 16 hexadecimal digits.
    pub journal: String,
    /// When the last increment was taken, in milliseconds since 1970 by the clock of that machine.
    pub taken: u64,
    /// The position of the snapshot that the backup begins with; zero for none.
    pub snapshot: u64,
    /// Its logged time, in milliseconds since 1970; zero for none.
    pub snapshot_time: u64,
    pub end: ManifestEnd,
    pub id_key: IdKeyKept,
    /// The snapshot, the segments in their order, and what belongs to the id numbers.
    pub files: Vec<ManifestFile>,
    /// The SHA-256 of this document with this text empty, in hexadecimal digits.
    pub sha256: String,
}

impl Manifest {
    /// Reads the manifest of a backup; nothing where there is none.
    ///
    /// # Errors
    /// It is damaged, or of a newer version.
    pub(crate) fn read(backup: &Path) -> Result<Option<Self>, BackupError> {
        let bytes = match fs::read(backup.join(NAME)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(cause) => return Err(BackupError::io(&backup.join(NAME), cause)),
        };
        Self::decode(&bytes).map(Some)
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, BackupError> {
        /// What every version has.
        #[derive(Deserialize)]
        struct OfAnyVersion {
            format: u32,
            program: String,
        }
        let damaged = || BackupError::Damaged {
            file: NAME.to_owned(),
            cause: "its checksum does not match".to_owned(),
        };
        if let Ok(OfAnyVersion { format, program }) = serde_json::from_slice(bytes)
            && format > FORMAT
        {
            return Err(BackupError::Newer {
                format,
                reads: FORMAT,
                program,
            });
        }
        let manifest: Self = serde_json::from_slice(bytes).map_err(|_json| damaged())?;
        // Every byte counts, also those that JSON does not look at.
        let is_sound = manifest.format == FORMAT
            && manifest.clone().sealed().encode() == bytes
            && manifest.files.iter().all(|file| is_plain(&file.name));
        is_sound.then_some(manifest).ok_or_else(damaged)
    }

    /// With its own hash.
    fn sealed(mut self) -> Self {
        self.sha256 = String::new();
        self.sha256 = sha256_of(&self.encode());
        self
    }

    fn encode(&self) -> Vec<u8> {
        let mut json = serde_json::to_vec_pretty(self).expect("it is texts, numbers and lists");
        json.push(b'\n');
        json
    }

    /// Puts the manifest into a backup: from then on, its files are the backup.
    ///
    /// # Errors
    /// The disk failed.
    pub(crate) fn write(self, backup: &Path) -> Result<Self, BackupError> {
        let manifest = self.sealed();
        let written = files::put(backup, NAME, &manifest.encode());
        written.map_err(|cause| BackupError::io(&backup.join(NAME), cause))?;
        Ok(manifest)
    }

    /// The file of this name.
    pub(crate) fn file(&self, name: &str) -> Option<&ManifestFile> {
        self.files.iter().find(|file| file.name == name)
    }

    /// Where the copy of the journal ends.
    pub(crate) fn copy_end(&self) -> Result<CopyEnd, BackupError> {
        let journal = from_hex(&self.journal).and_then(|bytes| bytes.try_into().ok());
        let journal = journal.map(u64::from_be_bytes);
        let ManifestEnd {
            segment,
            segment_bytes,
            offset,
            chain,
            time,
            position,
        } = self.end;
        let link = turnstile_record::Link {
            position: Position(position).next(),
            time: turnstile_types::Timestamp(time),
            chain,
        };
        let is_whole = journal.is_some_and(|journal| journal_text(journal) == self.journal);
        Ok(CopyEnd {
            journal: journal
                .filter(|_| is_whole)
                .ok_or_else(|| BackupError::Damaged {
                    file: NAME.to_owned(),
                    cause: "it names no journal".to_owned(),
                })?,
            segment,
            segment_bytes,
            offset,
            link: Some(link),
        })
    }
}

/// Whether a name is of a file in the backup itself.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The document of `docs/formats/backup.md`, written and hashed by another program.
    const GOLDEN: &[u8] = include_bytes!("../golden/backup-1.json");

    fn golden() -> Manifest {
        let file = |name: &str, bytes, digit: &str| ManifestFile {
            name: name.to_owned(),
            bytes,
            sha256: digit.repeat(32),
        };
        Manifest {
            format: 1,
            program: "0.1.0".to_owned(),
            journal: "0123456789abcdef".to_owned(),
            taken: 1_798_106_645_678,
            snapshot: 42,
            snapshot_time: 1_798_106_640_000,
            end: ManifestEnd {
                segment: 3,
                segment_bytes: 67_108_864,
                offset: 8_192,
                chain: 305_419_896,
                time: 1_798_106_645_000,
                position: 4_711,
            },
            id_key: IdKeyKept::Sealed,
            files: vec![
                file("snapshot-00000000000000000042", 5_000, "ab"),
                file("segment-00000003", 8_192, "cd"),
                file("id.check", 34, "ef"),
                file("id.key.sealed", 98, "01"),
            ],
            sha256: String::new(),
        }
    }

    #[test]
    fn a_list_of_version_1_is_read_and_written() {
        let read = Manifest::decode(GOLDEN).unwrap();
        assert_eq!(read, golden().sealed());
        assert_eq!(golden().sealed().encode(), GOLDEN);
        assert_eq!(read.copy_end().unwrap().journal, 0x0123_4567_89ab_cdef);
    }

    #[test]
    fn a_list_that_names_a_file_elsewhere_is_refused() {
        for name in ["../id.key", "/etc/passwd", "a/b", "", ".hidden", "a\0b"] {
            let mut manifest = golden();
            manifest.files[0].name = name.to_owned();
            let refused = Manifest::decode(&manifest.sealed().encode());
            assert!(
                matches!(refused, Err(BackupError::Damaged { .. })),
                "{name}"
            );
        }
    }
}
