//! Faults of a machine, planted in what it answers: the twin contradicts each.

use turnstile_access::{Command, Done, Outcome, Refusal, Right, SERVICES, Subject};
use turnstile_trial::context;
use turnstile_types::{Principal, Timestamp};

use crate::{
    scenery::{Office, add_key, add_principal, grant, key, key_id, name, principal, revoke, role},
    twin::{Twin, is_permitted},
};

/// What the machine answers to these behind an administrator and a shop with a limited role.
fn honest(commands: &[Command]) -> Vec<(Command, Outcome)> {
    let mut office = Office::new();
    let before = [
        add_principal("root"),
        grant("root", "admin", "*"),
        add_key("root", "root", None),
        add_principal("shop"),
        grant("shop", "rooms.user", "hotel-1"),
        add_key("shop", "shop", None),
    ];
    let all = before.iter().chain(commands);
    all.map(|command| (command.clone(), office.apply(command)))
        .collect()
}

/// The twin behind all of these, if it gives all of these answers.
fn believer(told: &[(Command, Outcome)]) -> Option<Twin> {
    let mut twin = Twin::default();
    let local = Principal::local();
    let is_believed = (1..).zip(told).all(|(position, (command, outcome))| {
        twin.apply(&context(position, 1_000_000, &local), command) == *outcome
    });
    is_believed.then_some(twin)
}

fn withdraw(principal: &str, granted: &str) -> Command {
    Command::WithdrawGrant {
        principal: name(principal),
        role: role(granted),
    }
}

/// Commands, each with an answer that the machine must not give.
fn lies() -> Vec<(&'static str, Command, Outcome)> {
    let expire = |id, at| Command::ExpireKey {
        key: key_id(id),
        at: Timestamp(at),
    };
    let remove = |text| Command::RemovePrincipal {
        principal: name(text),
    };
    let withdraw = withdraw("root", "admin");
    let done = Outcome::Done;
    let refused = Outcome::Refused;
    let limited = grant("shop", "reader", "hotel-1");
    let later = Timestamp(2_000_000);
    vec![
        (
            "the last key of an administrator is revoked",
            revoke("root"),
            done(Done::KeyRevoked),
        ),
        (
            "it expires",
            expire("root", 2_000_000),
            done(Done::KeyExpires { expires: later }),
        ),
        (
            "it expires at once",
            expire("root", 0),
            done(Done::KeyExpired),
        ),
        (
            "the last administrator is none any more",
            withdraw,
            done(Done::GrantWithdrawn),
        ),
        (
            "it is removed",
            remove("root"),
            done(Done::PrincipalRemoved { keys: 1 }),
        ),
        (
            "a key is not revoked",
            revoke("shop"),
            refused(Refusal::KeyEnded),
        ),
        (
            "fewer keys end",
            remove("shop"),
            done(Done::PrincipalRemoved { keys: 0 }),
        ),
        (
            "an id is given twice",
            add_key("root", "shop", None),
            done(Done::KeyAdded),
        ),
        (
            "a key begins ended",
            add_key("shop", "late", Some(1_000_000)),
            done(Done::KeyAdded),
        ),
        (
            "a role is limited that is for all",
            limited,
            done(Done::Granted),
        ),
        (
            "a key has no principal",
            add_key("nobody", "late", None),
            done(Done::KeyAdded),
        ),
    ]
}

#[test]
fn the_twin_believes_what_the_machine_says_and_no_lie() {
    for (lie, command, outcome) in lies() {
        let mut told = honest(&[command]);
        assert!(believer(&told).is_some(), "{lie}");
        told[6].1 = outcome;
        assert!(believer(&told).is_none(), "{lie}");
    }
    let twice = [
        add_key("shop", "late", None),
        revoke("late"),
        add_key("shop", "late", None),
    ];
    let mut told = honest(&twice);
    assert!(believer(&told).is_some());
    told[8].1 = Outcome::Done(Done::KeyAdded);
    assert!(believer(&told).is_none(), "a key comes back");
}

#[test]
fn the_first_key_is_of_an_administrator() {
    let first = [add_principal("shop"), add_key("shop", "shop", None)];
    let mut office = Office::new();
    let mut told: Vec<_> = first
        .iter()
        .map(|command| (command.clone(), office.apply(command)))
        .collect();
    assert!(believer(&told).is_some());
    told[1].1 = Outcome::Done(Done::KeyAdded);
    assert!(believer(&told).is_none());
}

/// A machine that has lost a revocation lets somebody in whom the twin does not.
#[test]
fn the_twin_lets_nobody_else_in() {
    let told = honest(&[revoke("shop")]);
    let twin = believer(&told).unwrap();
    let mut forgetful = Office::new();
    for (command, _) in &told[..6] {
        forgetful.done(command);
    }
    let now = Timestamp(1_000_000);
    assert!(forgetful.access.authenticate(now, &key("shop")).is_ok());
    assert!(twin.authenticate(now, &key("shop")).is_err());
    forgetful.done(&revoke("shop"));
    assert!(forgetful.access.authenticate(now, &key("shop")).is_err());
}

/// Rights that are too wide or too narrow in one place: the twin has others.
#[test]
fn the_twin_permits_nothing_else() {
    let told = honest(&[]);
    let twin = believer(&told).unwrap();
    let shop = principal("shop");
    let thing = |text: &str| Subject::of(name(text));
    let held = |holder| Subject::Things {
        names: [Some(name("hotel-1")), None],
        holder: Some(principal(holder)),
    };
    let wanted: [(Right, Subject, bool); 8] = [
        (Right::Use, thing("hotel-1"), true),
        (Right::Use, thing("hotel-12"), false),
        (Right::Manage, thing("hotel-1"), false),
        (Right::Read, Subject::All, false),
        (Right::Read, Subject::Unknown, false),
        (Right::Read, Subject::Public, true),
        (Right::Use, held("shop"), true),
        (Right::Use, held("desk"), false),
    ];
    let permits = |grants: &[(&str, &str)], (right, subject): (Right, &Subject)| {
        let mut office = Office::new();
        office.done(&add_principal("shop"));
        for (role, names) in grants {
            office.done(&grant("shop", role, names));
        }
        let rights = office.access.rights_of(&shop).unwrap();
        rights.permits(&shop, 1, right, subject).is_ok()
    };
    let grants = twin.grants(name("shop")).unwrap();
    let (_, rooms) = SERVICES[0];
    for (right, subject, expected) in &wanted {
        let found = is_permitted(grants, &shop, (rooms, *right), subject);
        assert_eq!(found, *expected, "{right:?} {subject:?}");
        let found = permits(&[("rooms.user", "hotel-1")], (*right, subject));
        assert_eq!(found, *expected, "{right:?} {subject:?}");
    }
    let faults: [(&str, &[(&str, &str)]); 6] = [
        (
            "a name is the beginning of names",
            &[("rooms.user", "hotel-1*")],
        ),
        ("limits are forgotten", &[("rooms.user", "*")]),
        ("a user is a manager", &[("rooms.manager", "hotel-1")]),
        ("a user only reads", &[("reader", "*")]),
        ("a grant is lost", &[]),
        ("it is for another service", &[("seats.user", "hotel-1")]),
    ];
    for (fault, grants) in faults {
        let mut all = wanted.iter();
        let is_seen =
            all.any(|(right, subject, expected)| permits(grants, (*right, subject)) != *expected);
        assert!(is_seen, "{fault}");
    }
}
