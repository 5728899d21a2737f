//! The secret under which a directory's id numbers are sealed.

use std::{
    fmt, fs,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use turnstile_rooms::IdKey;

/// The file's name in the data directory.
const FILE: &str = "id.key";

const KEY_BYTES: usize = 16;

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
}

/// Reads the directory's key, or makes one when the directory is new.
///
/// A key that is lost must not be replaced by another in silence: only a directory without a
/// journal gets a new one.
pub(crate) fn of_directory(directory: &Path, is_new: bool) -> Result<IdKey, IdKeyError> {
    let path = directory.join(FILE);
    match fs::read(&path) {
        Ok(bytes) => match bytes.as_slice().try_into() {
            Ok(secret) => Ok(IdKey::new(secret)),
            Err(_length) => Err(IdKeyError::Length {
                path,
                found: bytes.len(),
            }),
        },
        Err(cause) if cause.kind() == io::ErrorKind::NotFound && is_new => {
            create(directory, &path).map_err(|cause| IdKeyError::Io { path, cause })
        }
        Err(cause) => Err(IdKeyError::Io { path, cause }),
    }
}

/// A key that dies with the process.
pub(crate) fn passing() -> Result<IdKey, IdKeyError> {
    let no_file = |cause| IdKeyError::Io {
        path: PathBuf::new(),
        cause,
    };
    Ok(IdKey::new(random::<KEY_BYTES>().map_err(no_file)?))
}

fn create(directory: &Path, path: &Path) -> io::Result<IdKey> {
    let key = IdKey::new(random::<KEY_BYTES>()?);
    write(directory, path, &key)?;
    Ok(key)
}

/// Gives a directory without a journal the key of a state that came from elsewhere.
pub(crate) fn bring(directory: &Path, key: &IdKey) -> Result<(), IdKeyError> {
    let path = directory.join(FILE);
    write(directory, &path, key).map_err(|cause| IdKeyError::Io { path, cause })
}

fn write(directory: &Path, path: &Path, key: &IdKey) -> io::Result<()> {
    let unfinished = directory.join("id.key.new");
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&unfinished)?;
    file.write_all(&key.secret())?;
    file.sync_all()?;
    fs::rename(&unfinished, path)?;
    fs::File::open(directory)?.sync_all()
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
                    "{} has {found} bytes instead of {KEY_BYTES}",
                    path.display()
                )
            }
        }
    }
}

impl std::error::Error for IdKeyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { cause, .. } => Some(cause),
            Self::Length { .. } => None,
        }
    }
}
