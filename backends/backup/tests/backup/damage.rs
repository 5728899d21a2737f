//! Every file of a backup, damaged in every way.

use std::fs;

use turnstile_backup::{BackupError, KeyChoice, Until, check_backup, restore};

use crate::{Folder, OPTIONS, WITH_SNAPSHOTS, content, passphrase, take, used, used_again, wish};

/// A backup with all kinds of files, whose groups take a few KiB.
fn backup(folder: &Folder) -> std::path::PathBuf {
    let (data, backup) = (folder.path("data"), folder.path("backup"));
    used(&data, WITH_SNAPSHOTS, 1_200);
    used_again(&data, OPTIONS, 1_200, 1_230);
    take(&data, &backup, &KeyChoice::Seal(passphrase())).unwrap();
    backup
}

/// Whether a check finds something, and a restore refuses.
fn is_found(backup: &std::path::Path, folder: &Folder) -> bool {
    let found = match check_backup(backup) {
        Ok(check) => !check.damaged.is_empty(),
        Err(_refused) => true,
    };
    let restored = restore(backup, &folder.path("never"), &wish(Until::End));
    assert!(restored.is_err() == found, "{restored:?}");
    assert!(!folder.path("never").exists(), "nothing was begun");
    found
}

#[test]
fn a_flipped_bit_a_cut_and_a_missing_file_are_found_wherever_they_are() {
    let folder = Folder::new();
    let backup = backup(&folder);
    let files = content(&backup);
    let kinds = [
        "backup.json",
        "id.check",
        "id.key.sealed",
        "segment-",
        "snapshot-",
    ];
    for kind in kinds {
        let has = |path: &std::path::PathBuf| path.to_string_lossy().contains(kind);
        assert!(files.keys().any(has), "{kind}");
    }
    for (path, sound) in &files {
        // Every byte of small files, some hundred of larger ones.
        let step = (sound.len() / 150).max(1) | 1;
        let whole = sound.len();
        for at in (0..whole).step_by(step).chain([whole - 1]) {
            let mut bytes = sound.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(path, bytes).unwrap();
            assert!(
                is_found(&backup, &folder),
                "byte {at} of {}",
                path.display()
            );
        }
        for length in (0..whole).step_by(step * 7).chain([whole - 1]) {
            fs::write(path, &sound[..length]).unwrap();
            assert!(is_found(&backup, &folder), "{length} of {}", path.display());
        }
        fs::remove_file(path).unwrap();
        assert!(is_found(&backup, &folder), "{} is gone", path.display());
        fs::write(path, sound).unwrap();
    }
    assert!(check_backup(&backup).unwrap().damaged.is_empty());
}

/// Files of two backups must not be mixed, although each is sound.
#[test]
fn a_file_of_an_earlier_increment_is_found() {
    let folder = Folder::new();
    let (data, backup) = (folder.path("data"), folder.path("backup"));
    used(&data, OPTIONS, 100);
    take(&data, &backup, &KeyChoice::LeaveOut).unwrap();
    let manifest = fs::read(backup.join("backup.json")).unwrap();
    let segment = fs::read(backup.join("segment-00000001")).unwrap();
    used_again(&data, OPTIONS, 100, 200);
    take(&data, &backup, &KeyChoice::LeaveOut).unwrap();
    fs::write(backup.join("segment-00000001"), segment).unwrap();
    assert_eq!(check_backup(&backup).unwrap().damaged.len(), 1);
    fs::write(backup.join("backup.json"), manifest).unwrap();
    assert!(check_backup(&backup).unwrap().damaged.is_empty());
}

#[test]
fn a_backup_of_a_newer_version_is_refused_as_such_and_left_alone() {
    let folder = Folder::new();
    let backup = backup(&folder);
    let path = backup.join("backup.json");
    let text = fs::read_to_string(&path).unwrap();
    let newer = text.replacen("\"format\": 1", "\"format\": 2", 1).replacen(
        "{",
        "{\n  \"something\": \"new\",",
        1,
    );
    fs::write(&path, &newer).unwrap();
    let before = content(&backup);
    let refusals = [
        check_backup(&backup).err(),
        restore(&backup, &folder.path("never"), &wish(Until::End)).err(),
        take(&folder.path("data"), &backup, &KeyChoice::Unsaid).err(),
    ];
    for refusal in refusals {
        let refusal = refusal.unwrap();
        assert!(
            matches!(refusal, BackupError::Newer { format: 2, .. }),
            "{refusal:?}"
        );
        assert!(refusal.to_string().contains("format 2"), "{refusal}");
    }
    assert_eq!(content(&backup), before);
}
