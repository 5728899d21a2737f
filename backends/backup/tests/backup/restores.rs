//! Restores up to a position or an instant.

use std::fs;

use turnstile_backup::{
    BackupError, KeyChoice, KeyFrom, KeyRefusal, Passphrase, RestoreWish, Until, restore,
};
use turnstile_embedded::{BackendOpenError, VerifyError, verify};
use turnstile_types::{Position, Timestamp};

use crate::{
    BEGIN, Folder, OPTIONS, WITH_SNAPSHOTS, content, hash, open, passphrase, restored, take, used,
    used_again, wish,
};

#[test]
fn a_restore_stops_with_the_last_whole_group_at_or_before_what_is_wanted() {
    let folder = Folder::new();
    let (data, backup) = (folder.path("data"), folder.path("backup"));
    used(&data, OPTIONS, 1_000);
    take(&data, &backup, &KeyChoice::LeaveOut).unwrap();
    // Groups of ten rooms end at positions 11, 21, ...; the times are those of their first commands.
    let rows = [
        (Until::Position(Position(0)), 0),
        (Until::Position(Position(10)), 0),
        (Until::Position(Position(11)), 11),
        (Until::Position(Position(500)), 491),
        (Until::Position(Position(1_001)), 1_001),
        (Until::Position(Position(9_999)), 1_001),
        (Until::Time(Timestamp(BEGIN - 1)), 0),
        (Until::Time(Timestamp(BEGIN + 100_000 - 1)), 101),
        (Until::Time(Timestamp(BEGIN + 100_000)), 111),
        (Until::Time(Timestamp(u64::MAX)), 1_001),
    ];
    for (index, (until, expected)) in rows.into_iter().enumerate() {
        let back = folder.path(&format!("back-{index}"));
        let report = restored(&backup, &back, until);
        assert_eq!(report.last, Position(expected), "{until:?}");
        assert_eq!(report.verdict.journal.last, Position(expected), "{until:?}");
        assert!(report.verdict.journal.cut_bytes == 0, "{until:?}");
    }
    // What was left out does not come back, and the state is that of then.
    let (then, back) = (folder.path("then"), folder.path("back-3"));
    fs::create_dir(&then).unwrap();
    fs::copy(data.join("id.key"), then.join("id.key")).unwrap();
    used(&then, OPTIONS, 490);
    assert_eq!(hash(&back), hash(&then));
    fs::copy(data.join("id.key"), back.join("id.key")).unwrap();
    used_again(&back, OPTIONS, 490, 520);
}

#[test]
fn a_restore_before_the_begin_of_a_backup_is_refused_before_anything_is_written() {
    let folder = Folder::new();
    let (data, backup) = (folder.path("data"), folder.path("backup"));
    used(&data, WITH_SNAPSHOTS, 1_500);
    let begin = take(&data, &backup, &KeyChoice::LeaveOut).unwrap().manifest;
    assert!(begin.snapshot > 0);
    let back = folder.path("back");
    for until in [
        Until::Position(Position(begin.snapshot - 1)),
        Until::Time(Timestamp(begin.snapshot_time - 1)),
    ] {
        let refused = restore(&backup, &back, &wish(until));
        assert!(
            matches!(refused, Err(BackupError::TooEarly { .. })),
            "{refused:?}"
        );
        assert!(!back.exists());
    }
    let report = restored(&backup, &back, Until::Position(Position(begin.snapshot)));
    assert_eq!(report.last, Position(begin.snapshot));
}

#[test]
fn the_key_comes_from_the_backup_from_a_file_or_later() {
    let folder = Folder::new();
    let data = folder.path("data");
    used(&data, OPTIONS, 20);
    let (sealed, without) = (folder.path("sealed"), folder.path("without"));
    take(&data, &sealed, &KeyChoice::Seal(passphrase())).unwrap();
    take(&data, &without, &KeyChoice::LeaveOut).unwrap();
    let wish = |key| RestoreWish {
        until: Until::End,
        key,
        again: false,
    };
    let back = folder.path("back");
    let other = Passphrase::new(b"another passphrase".to_vec()).unwrap();
    let refusals = [
        (&sealed, KeyFrom::Unsaid),
        (&sealed, KeyFrom::Passphrase(other)),
        (&without, KeyFrom::Unsaid),
        (&without, KeyFrom::Passphrase(passphrase())),
    ];
    for (backup, key) in refusals {
        let refused = restore(backup, &back, &wish(key));
        assert!(
            matches!(
                refused,
                Err(BackupError::Key(
                    KeyRefusal::NoPassphrase | KeyRefusal::WrongPassphrase | KeyRefusal::LeftOut
                ))
            ),
            "{refused:?}"
        );
        assert!(!back.exists());
    }
    let file = KeyFrom::File(data.join("id.key"));
    assert!(restore(&without, &back, &wish(file)).unwrap().has_key);
    verify(&back).unwrap();
    let later = folder.path("later");
    assert!(
        !restore(&without, &later, &wish(KeyFrom::Nowhere))
            .unwrap()
            .has_key
    );
    let missing = verify(&later);
    assert!(
        matches!(missing, Err(VerifyError::Open(BackendOpenError::IdKey(_)))),
        "{missing:?}"
    );
    fs::copy(data.join("id.key"), later.join("id.key")).unwrap();
    verify(&later).unwrap();
    // A wrong one is found, and no server starts on what was restored with it.
    let wrong = folder.path("wrong.key");
    fs::write(&wrong, [1; 16]).unwrap();
    let never = folder.path("never");
    let refused = restore(&without, &never, &wish(KeyFrom::File(wrong)));
    assert!(
        matches!(refused, Err(BackupError::Unread(_))),
        "{refused:?}"
    );
    let opened = turnstile_embedded::Embedded::open(Some(&never), OPTIONS);
    assert!(
        matches!(opened, Err(BackendOpenError::UnfinishedCopy { .. })),
        "{opened:?}"
    );
}

#[test]
fn a_directory_that_is_not_empty_is_left_as_it_is() {
    let folder = Folder::new();
    let (data, backup) = (folder.path("data"), folder.path("backup"));
    used(&data, OPTIONS, 20);
    take(&data, &backup, &KeyChoice::LeaveOut).unwrap();
    let before = content(&data);
    for again in [false, true] {
        let wish = RestoreWish {
            again,
            ..wish(Until::End)
        };
        let refused = restore(&backup, &data, &wish);
        assert!(
            matches!(refused, Err(BackupError::Occupied { .. })),
            "{refused:?}"
        );
        assert_eq!(content(&data), before);
    }
    drop(open(&data, OPTIONS));
}
