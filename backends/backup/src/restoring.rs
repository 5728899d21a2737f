//! Restores a backup into an empty directory, up to any position or instant.

use std::{
    fs,
    path::{Path, PathBuf},
};

use turnstile_embedded::{
    ID_CHECK_FILE, ID_KEY_FILE, Verdict, put_id_file, unfinished, verify, verify_without_key,
};
use turnstile_journal::{Disk as _, JournalCopy, RealDisk, RealLock, snapshot};
use turnstile_types::{Position, Timestamp};
use zeroize::Zeroizing;

use crate::{
    BackupError, IdKeyKept, KeyRefusal, Manifest, Passphrase,
    archive::OpenBackup,
    checking::{check_directory, each_piece},
    files::{begin_filling, lock},
    sealed,
};

/// The name under which the mark of an unfinished directory is made.
const MARK: &str = "restore";

/// Up to where a backup is restored; a group is restored whole or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Everything.
    End,
    /// This position and those before.
    Position(Position),
    /// Everything up to this instant of logged time.
    Time(Timestamp),
}

/// Where the secret of the id numbers comes from.
#[derive(Clone, Debug)]
pub enum KeyFrom {
    /// From the backup, if it can be opened without more.
    Unsaid,
    Passphrase(Passphrase),
    /// A file with the secret as it lay in the directory.
    File(PathBuf),
    /// It is put in its place later.
    Nowhere,
}

/// What is restored, and how.
#[derive(Clone, Debug)]
pub struct RestoreWish {
    pub until: Until,
    pub key: KeyFrom,
    /// Start over a restore that was not finished.
    pub again: bool,
}

/// What was restored.
#[derive(Clone, Debug)]
pub struct RestoreReport {
    pub manifest: Manifest,
    /// The last position.
    pub last: Position,
    /// The logged time of the last group.
    pub time: Timestamp,
    /// Whether `id.key` was restored.
    pub has_key: bool,
    /// What the proof of the restored directory found.
    pub verdict: Verdict,
}

/// Restores a backup into a directory that is empty or not there, and verifies it. Until then no server
/// starts on it. An archive is unpacked beside that directory first, for a while.
///
/// # Errors
/// See [`BackupError`]. What was written stays, with a mark that it is not finished.
pub fn restore(
    backup: &Path,
    target: &Path,
    wish: &RestoreWish,
) -> Result<RestoreReport, BackupError> {
    let opened = OpenBackup::open(backup, target)?;
    let backup = opened.path();
    let check = check_directory(backup)?;
    if let Some(damaged) = check.damaged.first() {
        return Err(BackupError::Damaged {
            file: "a file".to_owned(),
            cause: damaged.clone(),
        });
    }
    let manifest = check.manifest;
    assert_reaches(&manifest, wish.until)?;
    let secret = secret(backup, &manifest, &wish.key)?;
    let io = |cause| BackupError::io(target, cause);
    let taken = begin_filling(target, MARK, wish.again)?;
    let copy = write(backup, (target, taken), &manifest, wish.until)?;
    let (last, time) = (copy.cursor().position(), copy.cursor().time());
    if manifest.file(ID_CHECK_FILE).is_some() {
        let content = fs::read(backup.join(ID_CHECK_FILE)).map_err(io)?;
        put(target, ID_CHECK_FILE, &content)?;
    }
    if let Some(secret) = &secret {
        put(target, ID_KEY_FILE, secret)?;
    }
    // The proof takes the lock itself.
    drop(copy);
    let verdict = if secret.is_some() {
        verify(target)
    } else {
        verify_without_key(target)
    };
    let verdict = verdict.map_err(BackupError::Unread)?;
    if !verdict.holds() || verdict.journal.last != last {
        let mut violations = verdict.violations;
        violations.push(format!(
            "{} of {last} positions were read back",
            verdict.journal.last
        ));
        return Err(BackupError::Violated(violations));
    }
    let _lock = lock(target)?;
    unfinished::unmark(target).map_err(io)?;
    Ok(RestoreReport {
        manifest,
        last,
        time,
        has_key: secret.is_some(),
        verdict,
    })
}

/// Makes sure that the backup does not begin after what is wanted.
fn assert_reaches(manifest: &Manifest, until: Until) -> Result<(), BackupError> {
    let (snapshot, time) = (
        Position(manifest.snapshot),
        Timestamp(manifest.snapshot_time),
    );
    let reaches = match until {
        Until::End => true,
        Until::Position(position) => position >= snapshot,
        Until::Time(instant) => instant >= time,
    };
    reaches
        .then_some(())
        .ok_or(BackupError::TooEarly { snapshot, time })
}

/// The secret of the id numbers, before anything is written.
fn secret(
    backup: &Path,
    manifest: &Manifest,
    key: &KeyFrom,
) -> Result<Option<Zeroizing<Vec<u8>>>, BackupError> {
    let passphrase = match (key, manifest.id_key) {
        (KeyFrom::Nowhere, _) => return Ok(None),
        (KeyFrom::File(path), _) => {
            let bytes = fs::read(path).map_err(|cause| BackupError::io(path, cause))?;
            return Ok(Some(Zeroizing::new(bytes)));
        }
        (_, IdKeyKept::LeftOut) => return Err(KeyRefusal::LeftOut.into()),
        (KeyFrom::Unsaid, IdKeyKept::Sealed) => return Err(KeyRefusal::NoPassphrase.into()),
        (KeyFrom::Passphrase(passphrase), IdKeyKept::Sealed) => passphrase,
    };
    let path = backup.join(sealed::NAME);
    let file = fs::read(&path).map_err(|cause| BackupError::io(&path, cause))?;
    let journal = manifest.copy_end()?.journal;
    Ok(Some(sealed::open(&file, journal, passphrase)?))
}

fn put(target: &Path, name: &str, content: &[u8]) -> Result<(), BackupError> {
    put_id_file(target, name, content).map_err(|refused| {
        BackupError::Unread(turnstile_embedded::BackendOpenError::IdKey(refused).into())
    })
}

/// Writes the snapshot and the groups into a directory that was taken.
fn write(
    backup: &Path,
    (target, taken): (&Path, RealLock),
    manifest: &Manifest,
    until: Until,
) -> Result<JournalCopy<RealDisk>, BackupError> {
    let io = |cause| BackupError::io(target, cause);
    let disk = RealDisk::open(target).map_err(io)?;
    if manifest.snapshot > 0 {
        let name = snapshot::name(Position(manifest.snapshot));
        let from = backup.join(&name);
        fs::copy(&from, target.join(&name)).map_err(io)?;
        let copied = fs::File::open(target.join(&name));
        copied.and_then(|file| file.sync_all()).map_err(io)?;
    }
    let failed = |error| BackupError::of_copy(target, error);
    let opened = JournalCopy::open_taken(disk.clone(), taken);
    let mut copy = opened.map_err(|error| failed(turnstile_journal::CopyError::Open(error)))?;
    let is_wanted = |end: Position, time: Timestamp| match until {
        Until::End => true,
        Until::Position(position) => end <= position,
        Until::Time(instant) => time <= instant,
    };
    each_piece(backup, manifest, |bytes| {
        copy.put(bytes, |group| {
            is_wanted(Position(group.end().0 - 1), group.time())
        })
        .map(|put| put.is_whole.then_some(put.bytes))
        .map_err(failed)
    })?;
    copy.sync().map_err(failed)?;
    disk.sync_directory().map_err(io)?;
    Ok(copy)
}
