//! The secret under which a directory's id numbers are sealed, and how it is known to be the right one.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
};

use siphasher::sip128::{Hasher128, SipHasher24};
use turnstile_journal::files;
use turnstile_rooms::IdKey;

/// The name of the file of the key in the data directory.
pub const FILE: &str = "id.key";
/// The name of the file that binds the key to its journal.
pub const CHECK: &str = "id.check";

const KEY_BYTES: usize = 16;

/// The check: magic, version, the journal's number, the key's fingerprint, and a checksum.
const MAGIC: [u8; 4] = *b"TSIC";
pub(crate) const VERSION: u16 = 1;
const CHECK_BYTES: usize = 34;

/// Why there is no key.
#[derive(Debug)]
pub enum IdKeyError {
    Io {
        path: PathBuf,
        cause: io::Error,
    },
    /// The file has another length than a key.
    Length {
        path: PathBuf,
        found: usize,
    },
    /// The key is not the one that this journal was written with: it is damaged, or of another
    /// directory.
    Wrong {
        path: PathBuf,
    },
    /// The file by which the key is known is damaged, or of another directory.
    Check {
        path: PathBuf,
    },
    /// The same, written by a newer version.
    CheckVersion {
        path: PathBuf,
        version: u16,
    },
}

/// A directory's key, and whether the directory can tell it from others.
#[derive(Debug)]
pub(crate) struct DirectoryKey {
    pub(crate) key: IdKey,
    /// Not so in a directory of an earlier version, until its next start.
    pub(crate) is_bound: bool,
}

/// Reads the key of the directory of the journal with this number.
pub(crate) fn read(directory: &Path, journal: u64) -> Result<DirectoryKey, IdKeyError> {
    let path = directory.join(FILE);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(cause) => return Err(IdKeyError::Io { path, cause }),
    };
    let Ok(secret) = bytes.as_slice().try_into() else {
        let found = bytes.len();
        return Err(IdKeyError::Length { path, found });
    };
    let key = IdKey::new(secret);
    let is_bound = match known(directory, journal)? {
        Some(fingerprint) if fingerprint != fingerprint_of(&key, journal) => {
            return Err(IdKeyError::Wrong { path });
        }
        known => known.is_some(),
    };
    Ok(DirectoryKey { key, is_bound })
}

/// Reads the key as [`read`] does; makes one when the directory is new, and binds one that is not
/// bound.
///
/// A key that is lost must not be replaced by another in silence: only a directory without a
/// journal gets a new one.
pub(crate) fn of_directory(
    directory: &Path,
    journal: u64,
    is_new: bool,
) -> Result<IdKey, IdKeyError> {
    let found = match read(directory, journal) {
        Err(IdKeyError::Io { path, cause })
            if cause.kind() == io::ErrorKind::NotFound && is_new =>
        {
            let key = random().map(IdKey::new);
            let key = key.map_err(|cause| IdKeyError::Io { path, cause })?;
            bring(directory, journal, &key)?;
            return Ok(key);
        }
        found => found?,
    };
    if !found.is_bound {
        bind(directory, journal, &found.key)?;
    }
    Ok(found.key)
}

/// A key that dies with the process.
pub(crate) fn passing() -> Result<IdKey, IdKeyError> {
    let no_file = |cause| IdKeyError::Io {
        path: PathBuf::new(),
        cause,
    };
    Ok(IdKey::new(random::<KEY_BYTES>().map_err(no_file)?))
}

/// The key of the directory of this journal, for a copy of it.
///
/// # Errors
/// There is none, or not the right one.
pub fn key_of(directory: &Path, journal: u64) -> Result<IdKey, IdKeyError> {
    read(directory, journal).map(|found| found.key)
}

/// Puts one of the two files into a copy of a directory, as it was there: the copy is verified later.
///
/// # Errors
/// The disk failed.
pub fn put(directory: &Path, name: &str, content: &[u8]) -> Result<(), IdKeyError> {
    write(directory, name, content)
}

/// Gives the directory of a journal its key, new or of a state that came from elsewhere.
pub(crate) fn bring(directory: &Path, journal: u64, key: &IdKey) -> Result<(), IdKeyError> {
    write(directory, FILE, &key.secret())?;
    bind(directory, journal, key)
}

/// Notes by what the key of this journal is known.
fn bind(directory: &Path, journal: u64, key: &IdKey) -> Result<(), IdKeyError> {
    let mut check = Vec::with_capacity(CHECK_BYTES);
    check.extend_from_slice(&MAGIC);
    check.extend_from_slice(&VERSION.to_le_bytes());
    check.extend_from_slice(&journal.to_le_bytes());
    check.extend_from_slice(&fingerprint_of(key, journal));
    let checksum = crc32c::crc32c(&check);
    check.extend_from_slice(&checksum.to_le_bytes());
    write(directory, CHECK, &check)
}

/// The version of the file by which the key is known; nothing where there is none.
pub(crate) fn check_version(directory: &Path) -> Result<Option<u16>, IdKeyError> {
    Ok(sound_check(directory)?.map(|(version, _fields)| version))
}

/// The fingerprint of the journal's key; nothing where none was noted yet.
fn known(directory: &Path, journal: u64) -> Result<Option<[u8; 16]>, IdKeyError> {
    let Some((version, fields)) = sound_check(directory)? else {
        return Ok(None);
    };
    let path = directory.join(CHECK);
    if version > VERSION {
        return Err(IdKeyError::CheckVersion { path, version });
    }
    match fields.split_first_chunk::<8>() {
        Some((number, fingerprint)) if u64::from_le_bytes(*number) == journal => fingerprint
            .try_into()
            .map(Some)
            .map_err(|_length| IdKeyError::Check { path }),
        _ => Err(IdKeyError::Check { path }),
    }
}

/// The version of the file by which the key is known, and what follows it; nothing where there is none.
fn sound_check(directory: &Path) -> Result<Option<(u16, Vec<u8>)>, IdKeyError> {
    let path = directory.join(CHECK);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(IdKeyError::Io { path, cause }),
    };
    let Some((covered, checksum)) = bytes.split_last_chunk::<4>() else {
        return Err(IdKeyError::Check { path });
    };
    let is_sound = crc32c::crc32c(covered) == u32::from_le_bytes(*checksum);
    let fields = covered.strip_prefix(&MAGIC).filter(|_| is_sound);
    let Some((version, fields)) = fields.and_then(<[u8]>::split_first_chunk::<2>) else {
        return Err(IdKeyError::Check { path });
    };
    Ok(Some((u16::from_le_bytes(*version), fields.to_vec())))
}

/// What tells a key from another and does not give it away: `SipHash`-2-4 of the journal's number
/// under the key.
fn fingerprint_of(key: &IdKey, journal: u64) -> [u8; 16] {
    let mut hasher = SipHasher24::new_with_key(&key.secret());
    std::hash::Hasher::write_u64(&mut hasher, journal);
    hasher.finish128().as_bytes()
}

fn write(directory: &Path, name: &str, content: &[u8]) -> Result<(), IdKeyError> {
    files::put(directory, name, content).map_err(|cause| IdKeyError::Io {
        path: directory.join(name),
        cause,
    })
}

/// Up to 256 bytes that nobody can guess.
pub(crate) fn random<const COUNT: usize>() -> io::Result<[u8; COUNT]> {
    let mut secret = [0; COUNT];
    let filled = rustix::rand::getrandom(&mut secret, rustix::rand::GetRandomFlags::empty())?;
    assert_eq!(filled, COUNT, "the kernel fills up to 256 bytes at once");
    Ok(secret)
}

impl fmt::Display for IdKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, cause } if cause.kind() == io::ErrorKind::NotFound => write!(
                f,
                "{} is missing: without it no guest of this directory can be recognised; put it \
                 back from the backup",
                path.display()
            ),
            Self::Io { path, cause } => write!(f, "{}: {cause}", path.display()),
            Self::Length { path, found } => {
                write!(
                    f,
                    "{} has {found} bytes instead of {KEY_BYTES}: put it back from the backup",
                    path.display()
                )
            }
            Self::Wrong { path } => write!(
                f,
                "{} is damaged or of another directory: with it no guest of this directory would be \
                 recognised; put the right one back from the backup",
                path.display()
            ),
            Self::Check { path } => write!(
                f,
                "{0} is damaged or of another directory: put id.key and {CHECK} back from the backup; if \
                 id.key is surely the right one, remove {0} and start the server, which makes it again",
                path.display()
            ),
            Self::CheckVersion { path, version } => write!(
                f,
                "{} was written by a newer version of this program: it has format {version}, and this \
                 program reads up to {VERSION}; start the version that wrote it",
                path.display()
            ),
        }
    }
}

impl std::error::Error for IdKeyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { cause, .. } => Some(cause),
            Self::Length { .. }
            | Self::Wrong { .. }
            | Self::Check { .. }
            | Self::CheckVersion { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory with a bound key, and the bytes of both files.
    fn bound() -> (tempfile::TempDir, Vec<u8>, Vec<u8>) {
        let directory = tempfile::tempdir().unwrap();
        of_directory(directory.path(), 7, true).unwrap();
        let bytes = |name| fs::read(directory.path().join(name)).unwrap();
        let (key, check) = (bytes(FILE), bytes(CHECK));
        (directory, key, check)
    }

    #[test]
    fn every_flipped_bit_of_the_key_and_of_its_check_is_refused() {
        let (directory, key, check) = bound();
        for (name, sound) in [(FILE, key), (CHECK, check)] {
            let path = directory.path().join(name);
            for bit in 0..sound.len() * 8 {
                let mut bytes = sound.clone();
                bytes[bit / 8] ^= 1 << (bit % 8);
                fs::write(&path, bytes).unwrap();
                let found = of_directory(directory.path(), 7, false);
                assert!(
                    matches!(
                        (name, &found),
                        (FILE, Err(IdKeyError::Wrong { .. }))
                            | (CHECK, Err(IdKeyError::Check { .. }))
                    ),
                    "bit {bit} of {name}: {found:?}"
                );
            }
            fs::write(&path, sound).unwrap();
        }
        assert!(read(directory.path(), 7).unwrap().is_bound);
        assert!(read(directory.path(), 8).is_err(), "another journal");
    }

    #[test]
    fn a_key_of_an_earlier_version_is_bound_once_and_stays_the_same() {
        let (directory, key, check) = bound();
        fs::remove_file(directory.path().join(CHECK)).unwrap();
        assert!(!read(directory.path(), 7).unwrap().is_bound);
        let opened = of_directory(directory.path(), 7, false).unwrap();
        assert_eq!(opened.secret().to_vec(), key);
        assert_eq!(fs::read(directory.path().join(CHECK)).unwrap(), check);
    }

    /// The byte map of `docs/formats/id-key.md`, by hand, and the fingerprint by another program.
    #[test]
    fn a_check_of_version_1_is_read_and_written() {
        let directory = tempfile::tempdir().unwrap();
        let key = IdKey::new(std::array::from_fn(|index| u8::try_from(index).unwrap()));
        bring(directory.path(), 0x0123_4567_89ab_cdef, &key).unwrap();
        let expected = "5453 4943 0100 efcd ab89 6745 2301";
        let check = fs::read(directory.path().join(CHECK)).unwrap();
        let hex: Vec<String> = check
            .chunks(2)
            .map(|pair| format!("{:02x}{:02x}", pair[0], pair[1]))
            .collect();
        assert_eq!(hex[..7].join(" "), expected);
        assert_eq!(hex[7..15].join(" "), FINGERPRINT);
        assert_eq!(check.len(), CHECK_BYTES);
    }

    const FINGERPRINT: &str = "b7f4 6b74 ca35 e7ac 2078 ef27 0d87 686e";
}
