//! The bytes of the whole state, in its one canonical form. Byte map: `docs/formats/access.md`.
//!
//! Principals are written in the order of their names, keys in that of their ids; rights, deadlines and
//! the orders of age are derived again.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use turnstile_chassis::{Bytes, Decode, Encode, Pieces, put_count, read_all};
use turnstile_types::{Malformed, Name, Position, Principal, Reader, Sink, Timestamp};

use crate::{
    Access, AccessQuota, AccessRole, CertificateSubject, GrantedNames, KeyDigest, KeyId, KeyState,
    Rights, Totals, check,
    state::{KeptKey, Member, Register},
};

/// What a snapshot begins with: the machine and the version of the form.
const MAGIC: &[u8; 8] = b"access\0\x01";

/// What is not of a principal or a key.
#[derive(Bytes)]
struct WrittenSettings {
    is_guarded: bool,
    default_quota: AccessQuota,
    keys_added: u64,
    keys_expired: u64,
    keys_revoked: u64,
}

/// A principal as written.
#[derive(Bytes)]
struct WrittenMember {
    name: Name,
    since: Timestamp,
    added: Position,
    changed: Position,
    quota: AccessQuota,
    grants: BTreeMap<AccessRole, GrantedNames>,
    certificates: BTreeSet<CertificateSubject>,
}

/// A key as written.
#[derive(Bytes)]
struct WrittenKey {
    id: KeyId,
    principal: Name,
    digest: KeyDigest,
    name: Option<Name>,
    state: WrittenKeyState,
    since: Timestamp,
    added: Position,
    last_used: Option<Timestamp>,
}

#[derive(Bytes)]
enum WrittenKeyState {
    #[byte(0x01)]
    Live { expires: Option<Timestamp> },
    #[byte(0x02)]
    Expired { ended: Timestamp },
    #[byte(0x03)]
    Revoked { ended: Timestamp },
}

pub(crate) fn write(access: &Access, out: &mut dyn Sink) {
    let mut pieces = Pieces::to(out);
    let register = &*access.register;
    pieces.put(|out| {
        out.extend_from_slice(MAGIC);
        let settings = WrittenSettings {
            is_guarded: register.is_guarded,
            default_quota: register.default_quota,
            keys_added: register.totals.keys_added_total,
            keys_expired: register.totals.keys_expired_total,
            keys_revoked: register.totals.keys_revoked_total,
        };
        settings.encode(out);
        put_count(register.principals.len(), out);
    });
    for (principal, member) in &register.principals {
        pieces.put(|out| written_member(*principal, member).encode(out));
    }
    pieces.put(|out| put_count(register.keys.len(), out));
    for (id, kept) in &register.keys {
        pieces.put(|out| written_key(access, *id, kept).encode(out));
    }
    pieces.finish();
}

fn written_member(principal: Principal, member: &Member) -> WrittenMember {
    WrittenMember {
        name: principal.0,
        since: member.since,
        added: member.added,
        changed: member.changed,
        quota: member.quota,
        grants: member.grants.clone(),
        certificates: member.certificates.clone(),
    }
}

fn written_key(access: &Access, id: KeyId, kept: &KeptKey) -> WrittenKey {
    WrittenKey {
        id,
        principal: kept.principal.0,
        digest: kept.digest,
        name: kept.name,
        state: match kept.state {
            KeyState::Live { expires } => WrittenKeyState::Live { expires },
            KeyState::Expired { ended } => WrittenKeyState::Expired { ended },
            KeyState::Revoked { ended } => WrittenKeyState::Revoked { ended },
        },
        since: kept.since,
        added: kept.added,
        last_used: access.uses.get(&id).copied(),
    }
}

pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Access, Malformed> {
    if reader.take(MAGIC.len(), "magic")? != MAGIC {
        return Err(Malformed { field: "magic" });
    }
    let settings = WrittenSettings::decode(reader, "settings")?;
    let mut register = Register {
        default_quota: settings.default_quota,
        ..Register::default()
    };
    read_all(reader, "principal", |written| {
        take_member(&mut register, written)
    })?;
    let mut uses = BTreeMap::new();
    read_all(reader, "key", |written: WrittenKey| {
        uses.extend(written.last_used.map(|used| (written.id, used)));
        take_key(&mut register, &written)
    })?;
    register.is_guarded = settings.is_guarded;
    register.totals = Totals {
        keys_added_total: settings.keys_added,
        keys_expired_total: settings.keys_expired,
        keys_revoked_total: settings.keys_revoked,
        ..register.totals
    };
    let access = Access {
        register: Arc::new(register),
        uses: Arc::new(uses),
        ..Access::new()
    };
    check::examine(&access).map_err(|_violations| Malformed { field: "access" })?;
    Ok(access)
}

/// Adds the next principal.
fn take_member(register: &mut Register, written: WrittenMember) -> Result<(), Malformed> {
    let field = "principal";
    let principal = Principal(written.name);
    let last = register.principals.last_key_value();
    let is_next = last.is_none_or(|(last, _)| *last < principal);
    let is_new = !register.principals_by_age.contains_key(&written.added);
    Malformed::unless(is_next && is_new, field)?;
    for subject in &written.certificates {
        let is_free = !register.certificates.contains_key(subject);
        Malformed::unless(is_free, "certificates")?;
        register.take_certificate(subject.clone(), principal);
    }
    let member = Member {
        rights: Rights::of(written.grants.iter()),
        grants: written.grants,
        keys: BTreeSet::new(),
        certificates: written.certificates,
        quota: written.quota,
        since: written.since,
        added: written.added,
        changed: written.changed,
    };
    register.admit(principal, member);
    Ok(())
}

/// Adds the next key.
fn take_key(register: &mut Register, written: &WrittenKey) -> Result<(), Malformed> {
    let field = "key";
    let last = register.keys.last_key_value();
    let is_next = last.is_none_or(|(last, _)| *last < written.id);
    let is_new = !register.keys_by_age.contains_key(&written.added);
    let principal = Principal(written.principal);
    let is_owned = register.principals.contains_key(&principal);
    Malformed::unless(is_next && is_new && is_owned, field)?;
    let kept = KeptKey {
        principal,
        digest: written.digest,
        name: written.name,
        state: match written.state {
            WrittenKeyState::Live { expires } => KeyState::Live { expires },
            WrittenKeyState::Expired { ended } => KeyState::Expired { ended },
            WrittenKeyState::Revoked { ended } => KeyState::Revoked { ended },
        },
        since: written.since,
        added: written.added,
    };
    register.take_key(written.id, kept);
    Ok(())
}
