//! The limits of the machine, reached.

use turnstile_access::{Command, Outcome, Refusal, limits};

use crate::scenery::{Office, add_key, add_principal, grant, key_id, name, revoke, subject};

#[test]
fn there_is_a_limit_on_principals() {
    let mut office = Office::new();
    for number in 0..limits::PRINCIPALS_MAX {
        office.done(&add_principal(&format!("p{number}")));
    }
    let limit = limits::PRINCIPALS_MAX;
    let refused = office.apply(&add_principal("one-more"));
    assert_eq!(
        refused,
        Outcome::Refused(Refusal::TooManyPrincipals { limit })
    );
}

#[test]
fn a_principal_has_a_limit_on_live_keys_and_any_number_one_after_the_other() {
    let mut office = Office::guarded();
    office.done(&add_principal("shop"));
    let limit = limits::KEYS_PER_PRINCIPAL_MAX;
    for number in 0..limit {
        office.done(&add_key("shop", &format!("k{number}x"), None));
    }
    let refused = office.apply(&add_key("shop", "onemore", None));
    assert_eq!(refused, Outcome::Refused(Refusal::TooManyKeys { limit }));
    for number in 0..limit * 2 {
        office.now += 1;
        office.done(&revoke(&format!("k{number}x")));
        office.done(&add_key("shop", &format!("k{}x", number + limit), None));
    }
    let totals = office.access.totals();
    assert_eq!((totals.keys, totals.keys_ended), (101, 100));
    // The oldest are forgotten.
    let first = office.apply(&revoke("k99x"));
    assert_eq!(first, Outcome::Refused(Refusal::UnknownKey));
    let later = office.apply(&revoke("k100x"));
    assert_eq!(later, Outcome::Refused(Refusal::KeyEnded));
}

#[test]
fn there_is_a_limit_on_keys() {
    let mut office = Office::guarded();
    let mut added = 1;
    'adding: for number in 0.. {
        let shop = format!("p{number}");
        office.done(&add_principal(&shop));
        for key in 0..limits::KEYS_PER_PRINCIPAL_MAX {
            if added == limits::KEYS_MAX {
                break 'adding;
            }
            office.done(&add_key(&shop, &format!("{number}x{key}x"), None));
            added += 1;
        }
    }
    office.done(&add_principal("shop"));
    let limit = limits::KEYS_MAX;
    let refused = office.apply(&add_key("shop", "onemore", None));
    assert_eq!(refused, Outcome::Refused(Refusal::TooManyKeys { limit }));
    office.done(&Command::RemovePrincipal {
        principal: name("p7"),
    });
    office.done(&add_key("shop", "onemore", None));
}

#[test]
fn there_is_a_limit_on_certificates() {
    let mut office = Office::new();
    let add = |number: u32, of: u32| Command::AddCertificate {
        principal: name(&format!("p{of}")),
        subject: subject(&format!("desk-{number}")),
    };
    let each = limits::CERTIFICATES_PER_PRINCIPAL_MAX;
    for number in 0..limits::CERTIFICATES_MAX {
        if number % each == 0 {
            office.done(&add_principal(&format!("p{}", number / each)));
        }
        office.done(&add(number, number / each));
    }
    let limit = each;
    let refused = office.apply(&add(limits::CERTIFICATES_MAX, 0));
    assert_eq!(
        refused,
        Outcome::Refused(Refusal::TooManyCertificates { limit })
    );
    let limit = limits::CERTIFICATES_MAX;
    office.done(&add_principal("p200"));
    let refused = office.apply(&add(limits::CERTIFICATES_MAX, 200));
    assert_eq!(
        refused,
        Outcome::Refused(Refusal::TooManyCertificates { limit })
    );
}

#[test]
fn an_ended_key_is_kept_for_its_time_and_nothing_brings_it_back() {
    let mut office = Office::guarded();
    office.done(&add_principal("shop"));
    office.done(&add_key("shop", "gone", None));
    office.done(&Command::NoteUse {
        key: key_id("gone"),
    });
    office.done(&revoke("gone"));
    office.now += limits::ENDED_KEY_KEPT_MS - 1;
    let again = office.apply(&add_key("shop", "gone", None));
    assert_eq!(again, Outcome::Refused(Refusal::KeyExists));
    office.now += 1;
    let forgotten = office.apply(&revoke("gone"));
    assert_eq!(forgotten, Outcome::Refused(Refusal::UnknownKey));
    office.done(&grant("shop", "reader", "*"));
    assert_eq!(office.access.totals().keys_ended, 0);
}
