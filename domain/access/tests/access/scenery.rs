//! Names, keys and commands, as tests write them, and a machine to give them to.

use turnstile_access::{
    Access, AccessRole, CertificateSubject, Command, Done, GrantedNames, KeyId, NamePattern,
    Outcome, SecretKey,
};
use turnstile_chassis::Readable as _;
use turnstile_trial::context;
use turnstile_types::{Machine, Name, Principal, Timestamp};

pub(crate) fn name(text: &str) -> Name {
    Name::parse(text.as_bytes()).unwrap()
}

pub(crate) fn principal(text: &str) -> Principal {
    Principal(name(text))
}

pub(crate) fn role(text: &str) -> AccessRole {
    AccessRole::read(text.as_bytes()).unwrap()
}

pub(crate) fn subject(text: &str) -> CertificateSubject {
    CertificateSubject::parse(text.as_bytes()).unwrap()
}

/// Patterns with commas between them.
pub(crate) fn only(text: &str) -> GrantedNames {
    let patterns = text.split(',');
    let patterns = patterns.map(|text| NamePattern::parse(text.as_bytes()).unwrap());
    GrantedNames::try_from(patterns.collect::<Vec<_>>()).unwrap()
}

/// A key with this id and a secret of its own.
pub(crate) fn key(id: &str) -> SecretKey {
    let secret: String = id.chars().cycle().take(52).collect();
    let secret = secret.replace(|letter: char| !matches!(letter, 'a'..='z' | '2'..='7'), "x");
    SecretKey::parse(format!("ts_test_{}_{secret}", key_id(id)).as_bytes()).unwrap()
}

/// An id that begins so.
pub(crate) fn key_id(text: &str) -> KeyId {
    KeyId::parse(format!("{text:0<12}").as_bytes()).unwrap()
}

pub(crate) fn add_principal(text: &str) -> Command {
    Command::AddPrincipal {
        principal: name(text),
    }
}

pub(crate) fn grant(principal: &str, granted: &str, names: &str) -> Command {
    Command::Grant {
        principal: name(principal),
        role: role(granted),
        only: only(names),
    }
}

pub(crate) fn add_key(principal: &str, id: &str, expires: Option<u64>) -> Command {
    Command::AddKey {
        principal: name(principal),
        key: key_id(id),
        digest: key(id).digest(),
        name: None,
        expires: expires.map(Timestamp),
    }
}

pub(crate) fn revoke(id: &str) -> Command {
    Command::RevokeKey { key: key_id(id) }
}

/// A machine, and the time on it.
pub(crate) struct Office {
    pub(crate) access: Access,
    pub(crate) now: u64,
    position: u64,
}

impl Office {
    pub(crate) fn new() -> Self {
        Self {
            access: Access::empty(),
            now: 1_000_000,
            position: 0,
        }
    }

    /// One with an administrator `root`, whose key is `root`.
    pub(crate) fn guarded() -> Self {
        let mut office = Self::new();
        office.done(&add_principal("root"));
        office.done(&grant("root", "admin", "*"));
        office.done(&add_key("root", "root", None));
        office
    }

    pub(crate) fn apply(&mut self, command: &Command) -> Outcome {
        self.position += 1;
        let local = Principal::local();
        let context = context(self.position, self.now, &local);
        self.access.apply(&context, command)
    }

    pub(crate) fn tick(&mut self) {
        self.position += 1;
        let local = Principal::local();
        self.access.tick(&context(self.position, self.now, &local));
    }

    pub(crate) fn done(&mut self, command: &Command) -> Done {
        match self.apply(command) {
            Outcome::Done(done) => done,
            Outcome::Refused(refusal) => panic!("{command:?}: {refusal:?}"),
        }
    }
}
