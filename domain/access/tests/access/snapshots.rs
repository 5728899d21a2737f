//! Snapshots: the same state from the same bytes, and nothing from others.

use turnstile_access::{Access, AccessQuota, Command};
use turnstile_trial::{check_changed, check_cut_or_continued, check_restored, check_watched};
use turnstile_types::{Machine, Timestamp, hash_of};

use crate::scenery::{
    Office, add_key, add_principal, grant, key, key_id, name, principal, revoke, subject,
};

/// A small state with something of everything.
fn lived_in() -> Access {
    let mut office = Office::guarded();
    office.done(&add_principal("shop"));
    office.done(&grant("shop", "rooms.user", "hotel-1,acme:*"));
    office.done(&grant("shop", "reader", "*"));
    office.done(&add_principal("desk"));
    office.done(&add_key("shop", "live", Some(90_000_000)));
    office.done(&add_key("shop", "gone", None));
    office.done(&add_key("shop", "past", Some(1_500_000)));
    office.done(&revoke("gone"));
    office.done(&Command::NoteUse {
        key: key_id("live"),
    });
    let quota = AccessQuota {
        open_holds: Some(9),
        ..AccessQuota::NONE
    };
    office.done(&Command::SetDefaultQuota { quota });
    office.done(&Command::SetQuota {
        principal: name("shop"),
        quota,
    });
    office.done(&Command::AddCertificate {
        principal: name("desk"),
        subject: subject("desk.example.org"),
    });
    office.now = 2_000_000;
    office.tick();
    office.access
}

#[test]
fn a_restored_machine_has_the_same_hash_and_is_sound() {
    let access = lived_in();
    let totals = access.totals();
    assert_eq!(
        (totals.principals, totals.keys, totals.keys_ended),
        (3, 2, 2)
    );
    let restored = check_restored(&access);
    assert_eq!(restored.totals(), totals);
    for id in ["root", "live", "gone", "past", "none"] {
        let now = Timestamp(2_000_000);
        let before = access.authenticate(now, &key(id));
        assert_eq!(restored.authenticate(now, &key(id)), before, "{id}");
    }
    let shop = principal("shop");
    assert_eq!(restored.rights_of(&shop), access.rights_of(&shop));
    assert_eq!(restored.quota_of(&shop), access.quota_of(&shop));
    assert!(restored.is_guarded() && !restored.is_new());
    let empty = check_restored(&Access::empty());
    assert!(empty.is_new() && !empty.is_guarded());
}

#[test]
fn the_form_of_a_snapshot_does_not_change_in_silence() {
    assert_eq!(
        format!("{:032x}", hash_of(&lived_in())),
        "6046ef54218845bc7a224e3ba0090847",
        "old snapshots must be read for ever: give a new form a new version"
    );
}

#[test]
fn a_cut_or_continued_snapshot_is_refused() {
    check_cut_or_continued(&lived_in());
}

#[test]
fn the_reading_of_a_snapshot_can_be_watched_and_stopped() {
    check_watched(&lived_in());
}

#[test]
fn a_changed_snapshot_is_refused_or_sound() {
    let (refused, bytes) = check_changed(&lived_in());
    assert!(refused > bytes, "{refused} bits of {bytes} bytes");
}
