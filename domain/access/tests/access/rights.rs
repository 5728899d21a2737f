//! What roles permit.

use turnstile_access::{Command, MissingRight, Query, Right, Rights, Subject};
use turnstile_chassis::{Needs as _, SubjectOf as _};
use turnstile_types::Principal;

use crate::scenery::{Office, add_principal, grant, key_id, name, principal};

const ROOMS: u8 = 1;
const EXCHANGE: u8 = 2;
const ACCESS: u8 = 6;

/// What the grants of a principal `shop` permit.
struct Shop(std::sync::Arc<Rights>);

impl Shop {
    fn with(grants: &[(&str, &str)]) -> Self {
        let mut office = Office::new();
        office.done(&add_principal("shop"));
        for (role, names) in grants {
            office.done(&grant("shop", role, names));
        }
        Self(office.access.rights_of(&principal("shop")).unwrap())
    }

    fn asks(&self, service: u8, right: Right, subject: &Subject) -> Result<(), MissingRight> {
        self.0.permits(&principal("shop"), service, right, subject)
    }

    /// Which of the rights it has for a subject: `rum` for read, use and manage.
    fn has(&self, service: u8, subject: &Subject) -> String {
        let letters = Right::ALL.into_iter().zip(["r", "u", "m"]);
        letters
            .filter(|(right, _)| self.asks(service, *right, subject).is_ok())
            .map(|(_, letter)| letter)
            .collect()
    }
}

fn thing(text: &str) -> Subject {
    Subject::of(name(text))
}

fn held(text: &str, holder: &str) -> Subject {
    Subject::Things {
        names: [Some(name(text)), None],
        holder: Some(principal(holder)),
    }
}

#[test]
fn each_role_permits_what_it_is_for_and_nothing_else() {
    let rows = [
        (&[][..], "", "", "", "", false),
        (&[("operator", "*")], "", "", "", "", false),
        (&[("reader", "*")], "r", "r", "r", "", false),
        (&[("rooms.user", "*")], "ru", "ru", "", "", false),
        (&[("rooms.manager", "*")], "rum", "rum", "", "", false),
        (&[("exchange.user", "*")], "", "", "ru", "", false),
        (
            &[("rooms.user", "*"), ("exchange.manager", "*")],
            "ru",
            "ru",
            "rum",
            "",
            false,
        ),
        (
            &[("reader", "*"), ("rooms.user", "hotel-1")],
            "ru",
            "r",
            "r",
            "",
            false,
        ),
        (&[("admin", "*")], "rum", "rum", "rum", "rum", true),
    ];
    for (grants, hotel, all, account, principals, administers) in rows {
        let shop = Shop::with(grants);
        assert_eq!(shop.has(ROOMS, &thing("hotel-1")), hotel, "{grants:?}");
        assert_eq!(shop.has(ROOMS, &Subject::All), all, "{grants:?}");
        assert_eq!(shop.has(EXCHANGE, &thing("acme")), account, "{grants:?}");
        assert_eq!(shop.has(ACCESS, &Subject::All), principals, "{grants:?}");
        assert_eq!(shop.has(ACCESS, &Subject::Caller), "rum", "{grants:?}");
        assert_eq!(shop.0.may_administer(), administers, "{grants:?}");
        let operates = administers || grants.contains(&("operator", "*"));
        assert_eq!(shop.0.may_operate(), operates, "{grants:?}");
    }
}

#[test]
fn a_limited_grant_is_for_its_names_and_for_what_everyone_sees() {
    let shop = Shop::with(&[("rooms.user", "hotel-1,acme:*"), ("rooms.manager", "inn")]);
    let both = |first, second| Subject::of_both(name(first), name(second));
    let nameless = Subject::Things {
        names: [None, None],
        holder: None,
    };
    let rows = [
        (thing("hotel-1"), "ru"),
        (thing("hotel-2"), ""),
        (thing("acme:7"), "ru"),
        (thing("inn"), "rum"),
        (both("hotel-1", "acme:7"), "ru"),
        (both("hotel-1", "inn"), "ru"),
        (both("hotel-1", "hotel-2"), ""),
        (Subject::Public, "rum"),
        (nameless, "rum"),
        (Subject::All, ""),
        (Subject::Unknown, ""),
        (Subject::Caller, "rum"),
    ];
    for (subject, expected) in rows {
        assert_eq!(shop.has(ROOMS, &subject), expected, "{subject:?}");
    }
    assert!(!shop.0.has_all(ROOMS, Right::Read));
    assert!(shop.0.has_any(ROOMS, Right::Manage) && !shop.0.has_any(EXCHANGE, Right::Read));
}

#[test]
fn what_another_holds_is_read_by_users_and_used_by_managers() {
    let rows = [
        (("rooms.user", "*"), "ru", "r"),
        (("rooms.user", "hotel-1"), "ru", "r"),
        (("rooms.manager", "*"), "rum", "rum"),
        (("rooms.manager", "hotel-1"), "rum", "rum"),
        (("admin", "*"), "rum", "rum"),
    ];
    for (grant, own, of_another) in rows {
        let shop = Shop::with(&[grant]);
        assert_eq!(shop.has(ROOMS, &held("hotel-1", "shop")), own, "{grant:?}");
        assert_eq!(
            shop.has(ROOMS, &held("hotel-1", "desk")),
            of_another,
            "{grant:?}"
        );
    }
    let user = Shop::with(&[("rooms.user", "*")]);
    assert!(user.0.has_all(ROOMS, Right::Use) && !user.0.has_all(ROOMS, Right::Manage));
    assert_eq!(user.has(ROOMS, &Subject::Unknown), "ru");
    let all_held = |holder| Subject::AllHeldBy(principal(holder));
    assert_eq!(user.has(ROOMS, &all_held("shop")), "ru");
    assert_eq!(user.has(ROOMS, &all_held("desk")), "r");
    assert_eq!(
        Shop::with(&[("rooms.user", "inn")]).has(ROOMS, &all_held("shop")),
        ""
    );
    assert_eq!(
        Shop::with(&[("rooms.manager", "*")]).has(ROOMS, &all_held("desk")),
        "rum"
    );
    // What is about no name of its own may be about anything, as a transaction is.
    let nameless = |holder| Subject::Things {
        names: [None, None],
        holder: Some(principal(holder)),
    };
    for (grant, own, of_another) in [
        (("rooms.user", "inn"), "ru", "r"),
        (("rooms.manager", "inn"), "rum", "r"),
        (("rooms.manager", "*"), "rum", "rum"),
    ] {
        let shop = Shop::with(&[grant]);
        let has = ["shop", "desk"].map(|holder| shop.has(ROOMS, &nameless(holder)));
        assert_eq!(has, [own, of_another], "{grant:?}");
    }
    // A manager of one hotel is no manager of another.
    let shop = Shop::with(&[("rooms.user", "*"), ("rooms.manager", "inn")]);
    assert_eq!(shop.has(ROOMS, &held("hotel-1", "desk")), "r");
    assert_eq!(shop.has(ROOMS, &held("inn", "desk")), "rum");
}

#[test]
fn a_refusal_names_the_right_that_is_missing() {
    let shop = Shop::with(&[("rooms.user", "hotel-1")]);
    let rows = [
        (
            EXCHANGE,
            Right::Read,
            thing("a"),
            "exchange.read",
            "this needs the right exchange.read",
        ),
        (
            ROOMS,
            Right::Manage,
            thing("hotel-1"),
            "rooms.manage",
            "this needs the right rooms.manage",
        ),
        (
            ROOMS,
            Right::Use,
            thing("inn"),
            "rooms.use",
            "your right rooms.use is not for this",
        ),
        (
            ROOMS,
            Right::Use,
            Subject::Unknown,
            "rooms.use",
            "your right rooms.use is not for this",
        ),
        (
            ROOMS,
            Right::Read,
            Subject::All,
            "rooms.read",
            "this needs the right rooms.read for all names, yours is for some",
        ),
        (
            ROOMS,
            Right::Use,
            held("hotel-1", "desk"),
            "rooms.manage",
            "another principal holds it: this needs the right rooms.manage",
        ),
        // It does not tell that the thing is there.
        (
            ROOMS,
            Right::Use,
            held("inn", "desk"),
            "rooms.use",
            "your right rooms.use is not for this",
        ),
    ];
    for (service, right, subject, name, text) in rows {
        let missing = shop.asks(service, right, &subject).unwrap_err();
        assert_eq!(
            (missing.name(), missing.to_string()),
            (name.into(), text.into())
        );
    }
    let others = [MissingRight::Operate, MissingRight::Administer];
    assert_eq!(others.map(|one| one.name()), ["operate", "admin"]);
}

#[test]
fn everything_is_everything_and_no_service_beyond_the_list_has_rights() {
    let everything = Rights::everything();
    for service in 1..=6 {
        for right in Right::ALL {
            assert!(everything.has_all(service, right));
            let asked = everything.permits(&Principal::local(), service, right, &Subject::All);
            assert_eq!(asked, Ok(()));
        }
    }
    assert!(!everything.has_all(200, Right::Read));
}

#[test]
fn every_caller_may_ask_who_it_is_and_all_else_is_for_administrators() {
    let office = Office::guarded();
    let who = Query::WhoAmI;
    assert_eq!(office.access.subject_of_query(&who), Subject::Caller);
    let list = Query::Keys {
        principal: Some(name("shop")),
        cursor: None,
        limit: 1,
    };
    assert_eq!(office.access.subject_of_query(&list), Subject::All);
    assert_eq!(list.needed().right, Right::Read);
    let add = add_principal("shop");
    assert_eq!(office.access.subject_of(&add), Subject::All);
    assert_eq!(add.needed().right, Right::Manage);
    let note = Command::NoteUse {
        key: key_id("root"),
    };
    assert_eq!(note.needed().right, Right::Manage);
}
