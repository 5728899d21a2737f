//! A backup in one file.

use std::{fs, path::Path};

use turnstile_backup::{
    BackupError, DirectorySource, KeyChoice, KeyFrom, Until, check_backup, is_archive, restore,
    take_archive,
};
use turnstile_embedded::verify;

use crate::{Folder, OPTIONS, WITH_SNAPSHOTS, content, passphrase, used, used_again, wish};

fn take(data: &Path, archive: &Path) -> Result<(), BackupError> {
    let mut source = DirectorySource::open(data).unwrap();
    take_archive(&mut source, archive, &KeyChoice::Seal(passphrase())).map(drop)
}

/// What lies in a folder, by name.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    names
}

#[test]
fn an_archive_is_verified_and_restored_as_a_directory_is_and_leaves_nothing_behind() {
    let folder = Folder::new();
    let (data, archive) = (folder.path("data"), folder.path("backup.tar"));
    used(&data, WITH_SNAPSHOTS, 1_200);
    used_again(&data, OPTIONS, 1_200, 1_230);
    take(&data, &archive).unwrap();
    let check = check_backup(&archive).unwrap();
    assert_eq!(check.damaged, Vec::<String>::new());
    let restored = folder.path("restored");
    let mut wish = wish(Until::End);
    wish.key = KeyFrom::Passphrase(passphrase());
    let report = restore(&archive, &restored, &wish).unwrap();
    assert!(report.has_key);
    assert_eq!(report.verdict.hash, verify(&data).unwrap().hash);
    assert_eq!(names(&folder.path("")), ["backup.tar", "data", "restored"]);

    // Another backup never takes the place of one.
    let before = fs::read(&archive).unwrap();
    assert!(matches!(
        take(&data, &archive),
        Err(BackupError::Occupied { .. })
    ));
    assert!(fs::read(&archive).unwrap() == before);
    assert!(is_archive(&archive) && !is_archive(&restored));
}

#[test]
fn a_damaged_or_foreign_archive_is_refused_and_nothing_is_begun() {
    let folder = Folder::new();
    let (data, archive) = (folder.path("data"), folder.path("backup.tar"));
    used(&data, OPTIONS, 100);
    take(&data, &archive).unwrap();
    let sound = fs::read(&archive).unwrap();
    let is_refused = |bytes: &[u8]| {
        fs::write(&archive, bytes).unwrap();
        let found = match check_backup(&archive) {
            Ok(check) => !check.damaged.is_empty(),
            Err(_refused) => true,
        };
        let mut wish = wish(Until::End);
        wish.key = KeyFrom::Unsaid;
        let restored = restore(&archive, &folder.path("never"), &wish);
        assert!(
            restored.is_err(),
            "it has a sealed key and no passphrase was given"
        );
        assert_eq!(names(&folder.path("")), ["backup.tar", "data"]);
        found
    };
    assert!(!is_refused(&sound));
    // Whole blocks, so that what tar fills them up with is not all that is hit.
    for block in 0..sound.len() / 512 - 2 {
        let mut bytes = sound.clone();
        bytes[block * 512..(block + 1) * 512].fill(0x5a);
        assert!(is_refused(&bytes), "block {block}");
    }
    for length in (0..sound.len() - 1_024).step_by(509) {
        assert!(is_refused(&sound[..length]), "cut at {length}");
    }
    assert!(is_refused(b"no archive at all"));
    for name in ["../escaped", "/escaped", "folder/escaped"] {
        assert!(is_refused(&foreign(name)), "{name}");
    }
    assert!(!content(&folder.path("data")).is_empty());
}

/// An archive with one file, by a name that the library would not write.
fn foreign(name: &str) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.set_size(3);
    header.set_mode(0o600);
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_cksum();
    let mut archive = tar::Builder::new(Vec::new());
    archive.append(&header, &b"abc"[..]).unwrap();
    archive.into_inner().unwrap()
}
