//! What must hold of a state.

use std::collections::{BTreeMap, BTreeSet};

use turnstile_chassis::Faults;
use turnstile_types::Principal;

use crate::{
    Access, AccessRole, KeyId, Rights, Totals, limits,
    state::{Register, count},
};

/// Checks everything that is kept twice against each other, that the directory is guarded as soon as
/// it has a key, and the limits.
pub(crate) fn examine(access: &Access) -> Result<(), Vec<String>> {
    let mut faults = Faults::default();
    let register = &*access.register;
    check_members(register, &mut faults);
    check_keys(access, &mut faults);
    check_totals(register, &mut faults);
    faults.verdict()
}

fn check_members(register: &Register, faults: &mut Faults) {
    let mut certificates = BTreeMap::new();
    let mut by_age = BTreeMap::new();
    let mut owned: BTreeMap<Principal, BTreeSet<KeyId>> = BTreeMap::new();
    for (key, kept) in &register.keys {
        owned.entry(kept.principal).or_default().insert(*key);
    }
    for (principal, member) in &register.principals {
        let own = owned.remove(principal).unwrap_or_default();
        faults.unless(own == member.keys, || {
            format!("the keys of {principal} are not those that belong to it")
        });
        faults.unless(member.rights == Rights::of(member.grants.iter()), || {
            format!("the rights of {principal} do not follow from its grants")
        });
        let is_limited = |role: &AccessRole| role.of_service().is_some();
        let mut grants = member.grants.iter();
        let is_sound = grants.all(|(role, only)| is_limited(role) || only.are_all());
        faults.unless(is_sound, || {
            format!("a role of {principal} is limited that cannot be")
        });
        for subject in &member.certificates {
            let taken = certificates.insert(subject.clone(), *principal);
            faults.unless(taken.is_none(), || {
                format!("{subject} belongs to two principals")
            });
        }
        let most = limits::CERTIFICATES_PER_PRINCIPAL_MAX as usize;
        faults.unless(member.certificates.len() <= most, || {
            format!("{principal} has too many certificates")
        });
        faults.unless(member.added <= member.changed, || {
            format!("{principal} was changed before it was added")
        });
        by_age.insert(member.added, *principal);
    }
    faults.unless(certificates == register.certificates, || {
        "certificates are not found by their subjects".to_owned()
    });
    faults.unless(by_age == register.principals_by_age, || {
        "principals are not found by their age".to_owned()
    });
}

fn check_keys(access: &Access, faults: &mut Faults) {
    let register = &*access.register;
    let mut deadlines = BTreeSet::new();
    let mut by_age = BTreeMap::new();
    for (key, kept) in &register.keys {
        faults.unless(register.principals.contains_key(&kept.principal), || {
            format!("the key {key} has no principal")
        });
        deadlines.extend(kept.deadline().map(|deadline| (deadline, *key)));
        by_age.insert(kept.added, *key);
    }
    faults.unless(deadlines == register.deadlines, || {
        "the deadlines are not those of the keys".to_owned()
    });
    faults.unless(by_age == register.keys_by_age, || {
        "keys are not found by their age".to_owned()
    });
    faults.unless(register.is_guarded || register.keys.is_empty(), || {
        "there are keys, but none is asked for".to_owned()
    });
    for key in access.uses.keys() {
        faults.unless(register.keys.contains_key(key), || {
            format!("a use of {key} is noted, but there is no such key")
        });
    }
    for (principal, member) in &register.principals {
        let live = member
            .keys
            .iter()
            .filter(|key| register.live_key(**key).is_ok());
        let live = live.count();
        let most = limits::KEYS_PER_PRINCIPAL_MAX as usize;
        faults.unless(live <= most, || format!("{principal} has {live} live keys"));
        let ended = member.keys.len().saturating_sub(live);
        faults.unless(ended <= limits::ENDED_KEYS_PER_PRINCIPAL_MAX, || {
            format!("{principal} has {ended} ended keys")
        });
    }
}

fn check_totals(register: &Register, faults: &mut Faults) {
    let totals = register.totals;
    let live = register.keys.values().filter(|kept| kept.is_live()).count();
    let grants = register
        .principals
        .values()
        .map(|member| member.grants.len());
    let counted = Totals {
        principals: count(register.principals.len()),
        grants: count(grants.sum()),
        certificates: count(register.certificates.len()),
        keys: count(live),
        keys_ended: count(register.keys.len() - live),
        ..totals
    };
    faults.unless(counted == totals, || {
        format!("the totals are {totals:?}, counted {counted:?}")
    });
    let ended = totals
        .keys_expired_total
        .checked_add(totals.keys_revoked_total);
    let added = ended.and_then(|ended| ended.checked_add(totals.keys));
    faults.unless(added == Some(totals.keys_added_total), || {
        "keys added are not those that are live, that expired and that were revoked".to_owned()
    });
    let most = [
        (totals.principals, limits::PRINCIPALS_MAX),
        (count(register.keys.len()), limits::KEYS_MAX),
        (totals.certificates, limits::CERTIFICATES_MAX),
    ];
    faults.unless(
        most.iter().all(|(found, most)| *found <= u64::from(*most)),
        || "there is more than the limits allow".to_owned(),
    );
    faults.unless(register.is_guarded == (totals.keys_added_total > 0), || {
        "a directory is guarded as soon as it has had a key".to_owned()
    });
}
