//! What simulated administrators ask for.

use turnstile_seed::Random;
use turnstile_services::access::{
    Access, AccessQuota, AccessRole, CertificateSubject, Command, GrantedNames, KeyId, NamePattern,
    Outcome, SecretKey,
};
use turnstile_types::{Name, Timestamp};

use crate::{
    actors::SimulatedClients,
    keyring::{KEYS, key},
};

const PRINCIPALS: [&[u8]; 4] = [b"root", b"desk", b"shop", b"robot"];
const ROLES: [AccessRole; 5] = [
    AccessRole::Admin,
    AccessRole::Operator,
    AccessRole::RoomsUser,
    AccessRole::SeatsManager,
    AccessRole::ExchangeUser,
];
const PATTERNS: [&[u8]; 3] = [b"hotel-1", b"hotel-*", b"acme"];

fn name(text: &[u8]) -> Name {
    Name::parse(text).expect("a name of the simulated world")
}

fn add_key(principal: Name, key: &SecretKey, expires: Option<Timestamp>) -> Command {
    Command::AddKey {
        principal,
        key: key.id(),
        digest: key.digest(),
        name: None,
        expires,
    }
}

/// Makes commands. What was given out is known beforehand.
#[derive(Debug, Default)]
pub(crate) struct AccessClients;

impl SimulatedClients<Access> for AccessClients {
    fn opening() -> Vec<Command> {
        let root = name(b"root");
        vec![
            Command::AddPrincipal { principal: root },
            Command::Grant {
                principal: root,
                role: AccessRole::Admin,
                only: GrantedNames::all(),
            },
            add_key(root, &key(KEYS), None),
        ]
    }

    fn next(&self, random: &mut Random, now: Timestamp) -> Command {
        let principal = name(random.pick(&PRINCIPALS));
        let role = random.pick(&ROLES);
        let soon = now.plus_ms(1_000 + random.below(60_000));
        match random.below(20) {
            0..=1 => Command::AddPrincipal { principal },
            2 => Command::RemovePrincipal { principal },
            3..=5 => Command::Grant {
                principal,
                role,
                only: only(random),
            },
            6 => Command::WithdrawGrant { principal, role },
            7..=11 => {
                let expires = random.one_in(2).then_some(soon);
                add_key(principal, &key(random.below(KEYS)), expires)
            }
            12..=13 => Command::ExpireKey {
                key: any_key(random),
                at: if random.one_in(4) { now } else { soon },
            },
            14..=15 => Command::RevokeKey {
                key: any_key(random),
            },
            16 => Command::SetQuota {
                principal,
                quota: quota(random),
            },
            17 => Command::SetDefaultQuota {
                quota: quota(random),
            },
            18 => Command::AddCertificate {
                principal,
                subject: subject(random),
            },
            _ if random.one_in(2) => Command::RemoveCertificate {
                subject: subject(random),
            },
            _ => Command::NoteUse {
                key: any_key(random),
            },
        }
    }

    fn note(&mut self, _outcome: &Outcome) {}
}

fn any_key(random: &mut Random) -> KeyId {
    key(random.below(KEYS + 1)).id()
}

fn only(random: &mut Random) -> GrantedNames {
    if random.one_in(2) {
        return GrantedNames::all();
    }
    let pattern = NamePattern::parse(random.pick(&PATTERNS));
    let patterns = vec![pattern.expect("a pattern of the simulated world")];
    GrantedNames::try_from(patterns).expect("one pattern")
}

fn quota(random: &mut Random) -> AccessQuota {
    AccessQuota {
        connections: random.one_in(2).then_some(8),
        ..AccessQuota::NONE
    }
}

fn subject(random: &mut Random) -> CertificateSubject {
    let text = format!("desk-{}.example.org", random.below(4));
    CertificateSubject::parse(text.as_bytes()).expect("a subject of the simulated world")
}
