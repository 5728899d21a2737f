//! What the machine knows: principals, keys and certificates.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use turnstile_chassis::Events;
use turnstile_types::{Name, Position, Principal, Timestamp};

use crate::{
    AccessQuota, AccessRole, CertificateSubject, Event, GrantedNames, KeyDigest, KeyId, KeyState,
    Refusal, Rights, Totals, limits,
};

/// Who may do what.
///
/// Time: before a command is decided, every key that is due at its instant expires, as by a tick. Beyond
/// that a refusal changes nothing.
#[derive(Debug)]
pub struct Access {
    pub(crate) register: Arc<Register>,
    /// When each key was last used, to the hour. It is apart, so that a use does not copy the register
    /// while another thread reads it.
    pub(crate) uses: Arc<BTreeMap<KeyId, Timestamp>>,
    pub(crate) generation: u64,
    pub(crate) events: Events<Event>,
}

/// A copy shares its records with the original until one of them changes. It has no events.
impl Clone for Access {
    fn clone(&self) -> Self {
        Self {
            register: Arc::clone(&self.register),
            uses: Arc::clone(&self.uses),
            generation: self.generation,
            events: Events::empty(),
        }
    }
}

/// Principals, keys and certificates, found in every way that is needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Register {
    /// Whether there was ever a key. It never becomes false again.
    pub(crate) is_guarded: bool,
    pub(crate) default_quota: AccessQuota,
    pub(crate) principals: BTreeMap<Principal, Arc<Member>>,
    pub(crate) keys: BTreeMap<KeyId, Arc<KeptKey>>,
    pub(crate) certificates: BTreeMap<CertificateSubject, Principal>,
    /// By the records that added them.
    pub(crate) principals_by_age: BTreeMap<Position, Principal>,
    pub(crate) keys_by_age: BTreeMap<Position, KeyId>,
    /// When live keys expire, and ended ones are forgotten.
    pub(crate) deadlines: BTreeSet<(Timestamp, KeyId)>,
    pub(crate) totals: Totals,
}

/// A principal.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) grants: BTreeMap<AccessRole, GrantedNames>,
    /// What its grants come to.
    pub(crate) rights: Arc<Rights>,
    pub(crate) keys: BTreeSet<KeyId>,
    pub(crate) certificates: BTreeSet<CertificateSubject>,
    pub(crate) quota: AccessQuota,
    pub(crate) since: Timestamp,
    /// The record that added it.
    pub(crate) added: Position,
    /// The record that last changed it.
    pub(crate) changed: Position,
}

/// A key, as far as it is known here.
#[derive(Clone, Debug)]
pub(crate) struct KeptKey {
    pub(crate) principal: Principal,
    pub(crate) digest: KeyDigest,
    pub(crate) name: Option<Name>,
    pub(crate) state: KeyState,
    pub(crate) since: Timestamp,
    /// The record that added it.
    pub(crate) added: Position,
}

impl KeptKey {
    /// When something happens to it by itself.
    pub(crate) const fn deadline(&self) -> Option<Timestamp> {
        match self.state {
            KeyState::Live { expires } => expires,
            KeyState::Expired { ended } | KeyState::Revoked { ended } => {
                Some(ended.plus_ms(limits::ENDED_KEY_KEPT_MS))
            }
        }
    }

    pub(crate) const fn is_live(&self) -> bool {
        matches!(self.state, KeyState::Live { .. })
    }

    const fn ended(&self) -> Option<Timestamp> {
        match self.state {
            KeyState::Live { .. } => None,
            KeyState::Expired { ended } | KeyState::Revoked { ended } => Some(ended),
        }
    }
}

impl Access {
    pub(crate) fn new() -> Self {
        Self {
            register: Arc::default(),
            uses: Arc::default(),
            generation: 0,
            events: Events::empty(),
        }
    }

    /// What the machine has done and holds, as the last record left it.
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.register.totals
    }

    /// Whether it is as it was at first: then it need not be kept anywhere.
    #[must_use]
    pub fn is_new(&self) -> bool {
        let register = &self.register;
        register.principals.is_empty()
            && !register.is_guarded
            && register.default_quota == AccessQuota::NONE
    }

    pub(crate) fn change(&mut self) -> &mut Register {
        Arc::make_mut(&mut self.register)
    }
}

impl Register {
    pub(crate) fn member(&self, principal: &Principal) -> Result<&Member, Refusal> {
        let member = self.principals.get(principal);
        member.map(Arc::as_ref).ok_or(Refusal::UnknownPrincipal)
    }

    /// The principal, to change it by the record at this position.
    pub(crate) fn member_mut(
        &mut self,
        principal: &Principal,
        position: Position,
    ) -> Result<&mut Member, Refusal> {
        let member = self.principals.get_mut(principal);
        let member = Arc::make_mut(member.ok_or(Refusal::UnknownPrincipal)?);
        member.changed = position;
        Ok(member)
    }

    pub(crate) fn key(&self, key: KeyId) -> Result<&KeptKey, Refusal> {
        let kept = self.keys.get(&key);
        kept.map(Arc::as_ref).ok_or(Refusal::UnknownKey)
    }

    pub(crate) fn live_key(&self, key: KeyId) -> Result<&KeptKey, Refusal> {
        let kept = self.key(key)?;
        if kept.is_live() {
            Ok(kept)
        } else {
            Err(Refusal::KeyEnded)
        }
    }

    /// Adds a principal whose name is new. Its keys and certificates follow.
    pub(crate) fn admit(&mut self, principal: Principal, member: Member) {
        self.totals.principals += 1;
        self.totals.grants += count(member.grants.len());
        self.principals_by_age.insert(member.added, principal);
        self.principals.insert(principal, Arc::new(member));
    }

    /// Removes a principal without keys and certificates.
    pub(crate) fn dismiss(&mut self, principal: &Principal) {
        if let Some(member) = self.principals.remove(principal) {
            self.totals.principals -= 1;
            self.totals.grants -= count(member.grants.len());
            self.principals_by_age.remove(&member.added);
        }
    }

    /// Adds a key of a principal that is here.
    pub(crate) fn take_key(&mut self, key: KeyId, kept: KeptKey) {
        if let Some(member) = self.principals.get_mut(&kept.principal) {
            Arc::make_mut(member).keys.insert(key);
        }
        self.keys_by_age.insert(kept.added, key);
        self.is_guarded = true;
        self.enter(key, kept);
    }

    /// Adds a key to what depends on its state.
    fn enter(&mut self, key: KeyId, kept: KeptKey) {
        if let Some(deadline) = kept.deadline() {
            self.deadlines.insert((deadline, key));
        }
        *self.counter(kept.is_live()) += 1;
        self.keys.insert(key, Arc::new(kept));
    }

    /// Removes a key from what depends on its state.
    fn leave(&mut self, key: KeyId) -> Option<KeptKey> {
        let kept = Arc::unwrap_or_clone(self.keys.remove(&key)?);
        if let Some(deadline) = kept.deadline() {
            self.deadlines.remove(&(deadline, key));
        }
        *self.counter(kept.is_live()) -= 1;
        Some(kept)
    }

    const fn counter(&mut self, is_live: bool) -> &mut u64 {
        if is_live {
            &mut self.totals.keys
        } else {
            &mut self.totals.keys_ended
        }
    }

    /// Gives a key another state. Answers the key that is forgotten for that, if its principal has too
    /// many ended ones.
    pub(crate) fn set_state(&mut self, key: KeyId, state: KeyState) -> Option<KeyId> {
        let kept = self.leave(key)?;
        let principal = kept.principal;
        self.enter(key, KeptKey { state, ..kept });
        let keys = &self.principals.get(&principal)?.keys;
        let ended = keys.iter().filter_map(|key| {
            let ended = self.keys.get(key)?.ended()?;
            Some((ended, *key))
        });
        let mut ended: Vec<(Timestamp, KeyId)> = ended.collect();
        if ended.len() <= limits::ENDED_KEYS_PER_PRINCIPAL_MAX {
            return None;
        }
        ended.sort_unstable();
        ended.first().map(|(_, oldest)| *oldest)
    }

    /// Forgets a key.
    pub(crate) fn forget_key(&mut self, key: KeyId) {
        if let Some(kept) = self.leave(key) {
            self.keys_by_age.remove(&kept.added);
            if let Some(member) = self.principals.get_mut(&kept.principal) {
                Arc::make_mut(member).keys.remove(&key);
            }
        }
    }

    /// Adds a certificate of a principal that is here.
    pub(crate) fn take_certificate(&mut self, subject: CertificateSubject, principal: Principal) {
        self.totals.certificates += 1;
        self.certificates.insert(subject, principal);
    }

    pub(crate) fn drop_certificate(&mut self, subject: &CertificateSubject) -> Option<Principal> {
        let principal = self.certificates.remove(subject)?;
        self.totals.certificates -= 1;
        Some(principal)
    }

    /// The live keys of all principals with the role admin, and when they expire.
    pub(crate) fn keys_of_admins(
        &self,
    ) -> impl Iterator<Item = (Principal, KeyId, Option<Timestamp>)> {
        let members = self.principals.iter();
        let admins = members.filter(|(_, member)| member.grants.contains_key(&AccessRole::Admin));
        admins.flat_map(|(principal, member)| {
            member
                .keys
                .iter()
                .filter_map(|key| match self.key(*key).ok()?.state {
                    KeyState::Live { expires } => Some((*principal, *key, expires)),
                    KeyState::Expired { .. } | KeyState::Revoked { .. } => None,
                })
        })
    }
}

/// A length as totals count it.
pub(crate) fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
