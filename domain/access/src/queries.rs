//! Answers to queries, from the state as it is.

use std::{collections::BTreeMap, ops::Bound};

use turnstile_types::{Name, Position, Principal};

use crate::{
    Access, AccessRole, Answer, Cursor, GrantEntry, GrantedNames, KeyEntry, KeyId, PrincipalEntry,
    Query, Refusal,
    state::{KeptKey, Member},
};

pub(crate) fn answer(
    access: &Access,
    caller: &Principal,
    query: &Query,
) -> Result<Answer, Refusal> {
    match *query {
        Query::WhoAmI => Ok(who_am_i(access, caller)),
        Query::GetPrincipal { principal } => {
            let principal = Principal(principal);
            let member = access.register.member(&principal)?;
            Ok(Answer::Principal(Box::new(principal_entry(
                access, principal, member,
            ))))
        }
        Query::Principals { cursor, limit } => Ok(principals(access, cursor, limit)),
        Query::Keys {
            principal: None,
            cursor,
            limit,
        } => Ok(keys(access, &access.register.keys_by_age, cursor, limit)),
        Query::Keys {
            principal: Some(principal),
            cursor,
            limit,
        } => keys_of(access, principal, cursor, limit),
        Query::DefaultQuota => Ok(Answer::Quota(access.register.default_quota)),
        Query::Totals => Ok(Answer::Totals(access.totals())),
    }
}

/// While no key is asked for, everyone is an administrator.
fn who_am_i(access: &Access, caller: &Principal) -> Answer {
    let guarded = access.is_guarded();
    let own = access.register.member(caller);
    let own = own.map(|member| grants(&member.grants)).unwrap_or_default();
    let everything = || BTreeMap::from([(AccessRole::Admin, GrantedNames::all())]);
    Answer::Caller {
        principal: *caller,
        guarded,
        grants: if guarded { own } else { grants(&everything()) },
    }
}

fn grants(grants: &BTreeMap<AccessRole, GrantedNames>) -> Vec<GrantEntry> {
    let entries = grants.iter().map(|(role, only)| GrantEntry {
        role: *role,
        only: only.patterns().to_vec(),
    });
    entries.collect()
}

fn principal_entry(access: &Access, principal: Principal, member: &Member) -> PrincipalEntry {
    let live = member
        .keys
        .iter()
        .filter(|key| access.register.live_key(**key).is_ok());
    PrincipalEntry {
        principal,
        grants: grants(&member.grants),
        keys: u32::try_from(live.count()).unwrap_or(u32::MAX),
        certificates: member.certificates.iter().cloned().collect(),
        quota: member.quota,
        since: member.since,
        position: member.changed,
    }
}

/// A cursor is the position of the record that added the last entry of the page before.
fn after<V>(
    by_age: &BTreeMap<Position, V>,
    cursor: Option<Cursor>,
) -> impl Iterator<Item = (&Position, &V)> {
    let last = Position(cursor.map_or(0, |Cursor(last)| last));
    by_age.range((Bound::Excluded(last), Bound::Unbounded))
}

/// Takes a page of entries, and tells where the next begins.
fn page<T>(
    mut entries: impl Iterator<Item = (Position, T)>,
    limit: u16,
) -> (Vec<T>, Option<Cursor>) {
    let mut last = None;
    let mut taken = Vec::new();
    for (position, entry) in entries.by_ref().take(usize::from(limit)) {
        last = Some(Cursor(position.0));
        taken.push(entry);
    }
    let next = entries.next().and(last);
    (taken, next)
}

fn principals(access: &Access, cursor: Option<Cursor>, limit: u16) -> Answer {
    let all = after(&access.register.principals_by_age, cursor);
    let entries = all.filter_map(|(position, principal)| {
        let member = access.register.member(principal).ok()?;
        Some((*position, principal_entry(access, *principal, member)))
    });
    let (principals, next) = page(entries, limit);
    Answer::Principals { principals, next }
}

fn keys_of(
    access: &Access,
    principal: Name,
    cursor: Option<Cursor>,
    limit: u16,
) -> Result<Answer, Refusal> {
    let own = access.register.member(&Principal(principal))?.keys.iter();
    let own = own.filter_map(|key| Some((access.register.key(*key).ok()?.added, *key)));
    Ok(keys(access, &own.collect(), cursor, limit))
}

fn keys(
    access: &Access,
    by_age: &BTreeMap<Position, KeyId>,
    cursor: Option<Cursor>,
    limit: u16,
) -> Answer {
    let entries = after(by_age, cursor).filter_map(|(position, key)| {
        let kept = access.register.key(*key).ok()?;
        Some((*position, key_entry(access, *key, kept)))
    });
    let (keys, next) = page(entries, limit);
    Answer::Keys { keys, next }
}

fn key_entry(access: &Access, key: KeyId, kept: &KeptKey) -> KeyEntry {
    KeyEntry {
        key,
        principal: kept.principal,
        name: kept.name,
        state: kept.state,
        since: kept.since,
        last_used: access.uses.get(&key).copied(),
    }
}
