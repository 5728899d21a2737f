//! The bytes of commands and outcomes: each kind as it is written in journals, and nothing else read.

use std::collections::BTreeSet;

use proptest::prelude::*;
use turnstile_access::{Access, AccessQuota, Command, Done, KeyDigest, Outcome, Refusal};
use turnstile_trial::{check_canonical, check_command, check_only_whole, check_outcome, unhex};
use turnstile_types::{Machine, Malformed, Timestamp};

use crate::scenery::{key_id, name, only, role, subject};

const AT: Timestamp = Timestamp(0x0102_0304);

fn quota() -> AccessQuota {
    AccessQuota {
        requests_per_second: Some(100),
        connections: None,
        requests_under_way: Some(1),
        bytes_out_per_second: None,
        open_holds: Some(2),
        open_transactions: Some(3),
        open_orders: Some(4),
        idempotency_keys: Some(5),
    }
}

const QUOTA: &str = "0164000000 00 0101000000 00 0102000000 0103000000 0104000000 0105000000";
const KEY: &str = "616263313030303030303030";

/// Every kind of command, with its bytes.
fn commands() -> Vec<(Command, String)> {
    let mut commands = commands_of_principals();
    commands.extend(commands_of_keys());
    commands
}

fn commands_of_principals() -> Vec<(Command, String)> {
    let principal = name("p");
    let grant = |granted, names| Command::Grant {
        principal,
        role: role(granted),
        only: only(names),
    };
    let withdraw = Command::WithdrawGrant {
        principal,
        role: role("seats.manager"),
    };
    let (quota, subject) = (quota(), subject("a b"));
    let set_quota = Command::SetQuota { principal, quota };
    let add_certificate = Command::AddCertificate {
        principal,
        subject: subject.clone(),
    };
    vec![
        (Command::AddPrincipal { principal }, "01 0170".into()),
        (Command::RemovePrincipal { principal }, "02 0170".into()),
        (
            grant("rooms.user", "h2,h1*"),
            "03 0170 12 02 0368312a 026832".into(),
        ),
        (grant("admin", "*"), "03 0170 01 01 012a".into()),
        (withdraw, "04 0170 51".into()),
        (set_quota, format!("08 0170 {QUOTA}")),
        (Command::SetDefaultQuota { quota }, format!("09 {QUOTA}")),
        (add_certificate, "0a 0170 03612062".into()),
        (Command::RemoveCertificate { subject }, "0b 03612062".into()),
    ]
}

fn commands_of_keys() -> Vec<(Command, String)> {
    let (key, at, digits) = (key_id("abc1"), AT, "0f".repeat(32));
    let add = |name, expires| Command::AddKey {
        principal: crate::scenery::name("p"),
        key,
        digest: KeyDigest::parse(digits.as_bytes()).unwrap(),
        name,
        expires,
    };
    let whole = format!("05 0170 {KEY} {digits} 01016e 010403020100000000");
    vec![
        (add(Some(name("n")), Some(at)), whole),
        (add(None, None), format!("05 0170 {KEY} {digits} 00 00")),
        (
            Command::ExpireKey { key, at },
            format!("06 {KEY} 0403020100000000"),
        ),
        (Command::RevokeKey { key }, format!("07 {KEY}")),
        (Command::NoteUse { key }, format!("0c {KEY}")),
    ]
}

/// Every kind of outcome, with its bytes.
fn outcomes() -> Vec<(Outcome, &'static str)> {
    let done = [
        (Done::PrincipalAdded, "01"),
        (Done::PrincipalRemoved { keys: 3 }, "02 03000000"),
        (Done::Granted, "03"),
        (Done::GrantWithdrawn, "04"),
        (Done::KeyAdded, "05"),
        (Done::KeyExpires { expires: AT }, "06 0403020100000000"),
        (Done::KeyExpired, "07"),
        (Done::KeyRevoked, "08"),
        (Done::QuotaSet, "09"),
        (Done::CertificateAdded, "0a"),
        (Done::CertificateRemoved, "0b"),
        (Done::UseNoted, "0c"),
    ];
    let limit = 300;
    let refused = [
        (Refusal::UnknownPrincipal, "81"),
        (Refusal::PrincipalExists, "82"),
        (Refusal::TooManyPrincipals { limit }, "83 2c010000"),
        (Refusal::NotGranted, "84"),
        (Refusal::RoleTakesNoNames, "85"),
        (Refusal::UnknownKey, "86"),
        (Refusal::KeyExists, "87"),
        (Refusal::TooManyKeys { limit }, "88 2c010000"),
        (Refusal::ExpiresInThePast, "89"),
        (Refusal::KeyEnded, "8a"),
        (Refusal::FirstKeyNotAdmin, "8b"),
        (Refusal::LastAdministrator, "8c"),
        (Refusal::CertificateExists, "8d"),
        (Refusal::UnknownCertificate, "8e"),
        (Refusal::TooManyCertificates { limit }, "8f 2c010000"),
    ];
    let done = done.map(|(done, bytes)| (Outcome::Done(done), bytes));
    let refused = refused.map(|(refusal, bytes)| (Outcome::Refused(refusal), bytes));
    done.into_iter().chain(refused).collect()
}

#[test]
fn commands_have_stable_words() {
    let commands = commands();
    let words: BTreeSet<&str> = commands.iter().map(|(one, _)| one.code()).collect();
    let expected = [
        "add_certificate",
        "add_key",
        "add_principal",
        "expire_key",
        "grant",
        "note_use",
        "remove_certificate",
        "remove_principal",
        "revoke_key",
        "set_default_quota",
        "set_quota",
        "withdraw_grant",
    ];
    assert_eq!(words, BTreeSet::from(expected));
}

#[test]
fn every_command_has_its_bytes_and_reads_back_from_them() {
    for (command, golden) in commands() {
        check_command::<Access>(&command, &unhex(&golden));
    }
}

#[test]
fn every_outcome_has_its_bytes_and_reads_back_from_them() {
    for (outcome, golden) in outcomes() {
        check_outcome::<Access>(&outcome, &unhex(golden));
    }
}

#[test]
fn bytes_that_are_cut_or_continued_are_refused() {
    for (_, golden) in commands() {
        let read = |bytes: &[u8]| Access::decode_command(bytes).map(drop);
        check_only_whole(&unhex(&golden), "command", read);
    }
    for (_, golden) in outcomes() {
        check_only_whole(&unhex(golden), "outcome", Access::decode_outcome);
    }
}

#[test]
fn values_out_of_range_are_refused() {
    let many = format!("03 0170 12 41 {}", "0168".repeat(65));
    let rows = [
        ("00", "command"),
        ("0d", "command"),
        ("03 0170 04 01 012a", "role"),
        ("03 0170 61 01 012a", "role"),
        ("03 0170 12 00", "only"),
        // In another order, twice, and all beside others.
        ("03 0170 12 02 026832 0368312a", "only"),
        ("03 0170 12 02 026832 026832", "only"),
        ("03 0170 12 02 012a 026832", "only"),
        ("03 0170 12 01 022a2a", "only"),
        (&many, "only"),
        ("07 414243313030303030303030", "key"),
        ("0b 026120", "subject"),
        ("0b 00", "subject"),
        ("0b 0161 00", "command"),
    ];
    for (text, field) in rows {
        let bytes = unhex(text);
        let found = Access::decode_command(&bytes);
        assert_eq!(found, Err(Malformed { field }), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 20_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// What is read from any bytes at all is written back as the same bytes: there is one form.
    #[test]
    fn hostile_bytes_never_panic_and_are_canonical(
        kind in 0_u8..0x98,
        rest in proptest::collection::vec(any::<u8>(), 0..40),
        row in 0_usize..14,
        at in 0_usize..80,
        byte in any::<u8>(),
    ) {
        let mut random = vec![kind];
        random.extend(rest);
        let mut flipped = unhex(&commands()[row].1);
        let at = at % flipped.len();
        flipped[at] = byte;
        for bytes in [random, flipped] {
            check_canonical::<Access>(&bytes);
        }
    }
}
