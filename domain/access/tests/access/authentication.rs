//! Who shows a key, and what follows from it.

use turnstile_access::{
    AccessQuota, Command, NotAuthenticated, Outcome, Refusal, Right, SecretKey,
};
use turnstile_types::Timestamp;

use crate::scenery::{
    Office, add_key, add_principal, grant, key, key_id, name, principal, revoke, subject,
};

#[test]
fn a_key_opens_what_its_principal_may_do() {
    let mut office = Office::guarded();
    office.done(&add_principal("shop"));
    office.done(&grant("shop", "rooms.user", "*"));
    office.done(&add_key("shop", "live", Some(1_000_500)));
    let now = Timestamp(office.now);
    let found = office.access.authenticate(now, &key("live")).unwrap();
    assert_eq!(found.principal, principal("shop"));
    assert_eq!(found.key, key_id("live"));
    assert_eq!(found.expires, Some(Timestamp(1_000_500)));
    assert!(found.rights.has_all(1, Right::Read) && !found.rights.may_administer());
    let root = office.access.authenticate(now, &key("root")).unwrap();
    assert!(root.rights.may_administer() && root.rights.may_operate());
}

#[test]
fn a_wrong_secret_is_as_wrong_as_an_unknown_id() {
    let office = Office::guarded();
    let now = Timestamp(office.now);
    let right = key("root").expose().to_owned();
    let wrong = [
        right.replace("ts_test", "ts_live"),
        right.replacen("root0", "riit0", 1),
        format!("{}a", &right[..right.len() - 1]),
    ];
    for text in wrong {
        let key = SecretKey::parse(text.as_bytes()).unwrap();
        let found = office.access.authenticate(now, &key);
        assert_eq!(found, Err(NotAuthenticated::Wrong), "{text}");
    }
}

#[test]
fn only_who_has_the_whole_key_learns_that_it_ended() {
    let mut office = Office::guarded();
    office.done(&add_principal("shop"));
    office.done(&add_key("shop", "past", Some(1_000_500)));
    office.done(&add_key("shop", "gone", None));
    office.done(&revoke("gone"));
    let at = Timestamp(1_000_000);
    let gone = office.access.authenticate(at, &key("gone"));
    assert_eq!(gone, Err(NotAuthenticated::Revoked { at }));
    // Nothing has told the machine that the time has come.
    for (now, is_live) in [(1_000_499, true), (1_000_500, false), (1_000_501, false)] {
        let now = Timestamp(now);
        assert_eq!(office.access.is_live(now, key_id("past")), is_live);
        let past = office.access.authenticate(now, &key("past"));
        let at = Timestamp(1_000_500);
        let expected = (!is_live).then_some(NotAuthenticated::Expired { at });
        assert_eq!(past.err(), expected);
    }
    office.now = 1_000_600;
    office.tick();
    let past = office
        .access
        .authenticate(Timestamp(office.now), &key("past"));
    let at = Timestamp(1_000_500);
    assert_eq!(past, Err(NotAuthenticated::Expired { at }));
    let other = key("past").expose().replace("ts_test", "ts_live");
    let other = SecretKey::parse(other.as_bytes()).unwrap();
    let past = office.access.authenticate(Timestamp(office.now), &other);
    assert_eq!(past, Err(NotAuthenticated::Wrong));
}

#[test]
fn every_change_of_who_may_what_is_a_new_generation_and_a_use_is_none() {
    let mut office = Office::guarded();
    let mut last = office.access.generation();
    let quota = AccessQuota::NONE;
    let (principal, shown) = (name("shop"), subject("desk"));
    let changes = [
        add_principal("shop"),
        grant("shop", "reader", "*"),
        add_key("shop", "live", None),
        Command::SetQuota { principal, quota },
        Command::SetDefaultQuota { quota },
        Command::AddCertificate {
            principal,
            subject: shown.clone(),
        },
        Command::RemoveCertificate { subject: shown },
        Command::ExpireKey {
            key: key_id("live"),
            at: Timestamp(1_000_500),
        },
        Command::WithdrawGrant {
            principal,
            role: crate::scenery::role("reader"),
        },
        revoke("live"),
        Command::RemovePrincipal { principal },
    ];
    for change in changes {
        office.done(&change);
        let generation = office.access.generation();
        assert!(generation > last, "{change:?}");
        last = generation;
    }
    office.done(&Command::NoteUse {
        key: key_id("root"),
    });
    office.done(&add_key("root", "root", None));
    assert_eq!(
        office.apply(&revoke("none")),
        Outcome::Refused(Refusal::UnknownKey)
    );
    assert_eq!(office.access.generation(), last);
    office.done(&add_key("root", "late", Some(1_000_500)));
    let last = office.access.generation();
    office.now = 1_000_500;
    office.tick();
    assert!(office.access.generation() > last);
}

#[test]
fn a_use_is_worth_a_note_once_an_hour() {
    let mut office = Office::guarded();
    let root = key_id("root");
    let is_worth = |office: &Office, now| office.access.is_use_worth_noting(Timestamp(now), root);
    assert!(is_worth(&office, office.now));
    office.done(&Command::NoteUse { key: root });
    assert!(!is_worth(&office, office.now + 3_599_999));
    assert!(is_worth(&office, office.now + 3_600_000));
    assert!(
        !office
            .access
            .is_use_worth_noting(Timestamp(office.now), key_id("none"))
    );
}

#[test]
fn a_certificate_belongs_to_one_principal() {
    let mut office = Office::guarded();
    office.done(&add_principal("desk"));
    let add = |of: &str| Command::AddCertificate {
        principal: name(of),
        subject: subject("desk.example.org"),
    };
    office.done(&add("desk"));
    let found = |office: &Office| office.access.principal_of_certificate("desk.example.org");
    assert_eq!(found(&office), Some(principal("desk")));
    assert_eq!(office.access.principal_of_certificate("desk"), None);
    assert_eq!(
        office.apply(&add("root")),
        Outcome::Refused(Refusal::CertificateExists)
    );
    office.done(&Command::RemovePrincipal {
        principal: name("desk"),
    });
    assert_eq!(found(&office), None);
    office.done(&add("root"));
    assert_eq!(found(&office), Some(principal("root")));
}

#[test]
fn a_quota_of_its_own_goes_before_that_of_everyone() {
    let mut office = Office::guarded();
    let quota = |connections, open_holds| AccessQuota {
        connections,
        open_holds,
        ..AccessQuota::NONE
    };
    office.done(&Command::SetDefaultQuota {
        quota: quota(Some(10), Some(20)),
    });
    let root = principal("root");
    assert!(office.access.has_quotas());
    assert_eq!(
        office.access.quota_of(&root),
        Some(quota(Some(10), Some(20)))
    );
    office.done(&Command::SetQuota {
        principal: name("root"),
        quota: quota(None, Some(7)),
    });
    assert_eq!(
        office.access.quota_of(&root),
        Some(quota(Some(10), Some(7)))
    );
    assert_eq!(office.access.quota_of(&principal("nobody")), None);
    let none = AccessQuota::NONE;
    office.done(&Command::SetDefaultQuota { quota: none });
    assert!(office.access.has_quotas());
    office.done(&Command::SetQuota {
        principal: name("root"),
        quota: none,
    });
    assert!(!office.access.has_quotas());
}

#[test]
fn a_copy_stays_as_it_was() {
    let mut office = Office::guarded();
    office.done(&add_principal("shop"));
    office.done(&add_key("shop", "live", None));
    let copy = office.access.clone();
    office.done(&revoke("live"));
    let now = Timestamp(office.now);
    assert!(copy.is_live(now, key_id("live")));
    assert!(!office.access.is_live(now, key_id("live")));
    assert!(office.access.generation() > copy.generation());
}
