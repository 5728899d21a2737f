//! Who shows a key, and what they may do.

use std::{fmt, sync::Arc};

use turnstile_types::{Principal, Timestamp};

use crate::{Access, AccessQuota, KeyDigest, KeyId, KeyState, Rights, SecretKey, limits};

/// Whom a key belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authenticated {
    pub principal: Principal,
    pub key: KeyId,
    pub rights: Arc<Rights>,
    /// When the key ends by itself.
    pub expires: Option<Timestamp>,
}

/// Why a key opens nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAuthenticated {
    /// There is no such key: its id is unknown, or its secret is wrong. Nobody learns which.
    Wrong,
    /// It has ended. Only who has the whole key is told.
    Expired { at: Timestamp },
    /// It was revoked. Only who has the whole key is told.
    Revoked { at: Timestamp },
}

impl Access {
    /// Whether a key is needed: from the first key on, for ever.
    #[must_use]
    pub fn is_guarded(&self) -> bool {
        self.register.is_guarded
    }

    /// A number that grows with every change of who may do what or how much. It counts from the start
    /// of this process.
    #[must_use]
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// Finds out whose key it is. The time that it takes tells nothing about the secret, nor whether a
    /// key with this id exists.
    ///
    /// # Errors
    /// The key opens nothing.
    pub fn authenticate(
        &self,
        now: Timestamp,
        key: &SecretKey,
    ) -> Result<Authenticated, NotAuthenticated> {
        let shown = key.digest();
        let kept = self.register.keys.get(&key.id());
        let expected = kept.map_or(&KeyDigest::NONE, |kept| &kept.digest);
        let is_same = shown.is_equal(expected);
        let kept = kept.filter(|_| is_same).ok_or(NotAuthenticated::Wrong)?;
        let expires = match kept.state {
            KeyState::Live { expires } => expires,
            KeyState::Expired { ended } => return Err(NotAuthenticated::Expired { at: ended }),
            KeyState::Revoked { ended } => return Err(NotAuthenticated::Revoked { at: ended }),
        };
        if let Some(at) = expires.filter(|expires| *expires <= now) {
            return Err(NotAuthenticated::Expired { at });
        }
        let rights = self.rights_of(&kept.principal);
        Ok(Authenticated {
            principal: kept.principal,
            key: key.id(),
            rights: rights.ok_or(NotAuthenticated::Wrong)?,
            expires,
        })
    }

    /// Whether the key has not ended.
    #[must_use]
    pub fn is_live(&self, now: Timestamp, key: KeyId) -> bool {
        let kept = self.register.keys.get(&key);
        kept.is_some_and(|kept| match kept.state {
            KeyState::Live { expires } => expires.is_none_or(|expires| expires > now),
            KeyState::Expired { .. } | KeyState::Revoked { .. } => false,
        })
    }

    /// What a principal may do; nothing for an unknown one.
    #[must_use]
    pub fn rights_of(&self, principal: &Principal) -> Option<Arc<Rights>> {
        let member = self.register.principals.get(principal)?;
        Some(Arc::clone(&member.rights))
    }

    /// Whose client certificate has this common name or alternative name.
    #[must_use]
    pub fn principal_of_certificate(&self, subject: &str) -> Option<Principal> {
        self.register.certificates.get(subject).copied()
    }

    /// How much a principal may ask for, with what holds for everyone where it has no quota of its own;
    /// nothing for an unknown one.
    #[must_use]
    pub fn quota_of(&self, principal: &Principal) -> Option<AccessQuota> {
        let member = self.register.principals.get(principal)?;
        Some(member.quota.or(self.register.default_quota))
    }

    /// Whether anybody has a quota. It looks at all principals until it finds one.
    #[must_use]
    pub fn has_quotas(&self) -> bool {
        let mut members = self.register.principals.values();
        self.register.default_quota != AccessQuota::NONE
            || members.any(|member| member.quota != AccessQuota::NONE)
    }

    /// Whether a use of the key now should be noted by `note_use`: it is live, and its last use was
    /// noted an hour ago or never.
    #[must_use]
    pub fn is_use_worth_noting(&self, now: Timestamp, key: KeyId) -> bool {
        let last = self.uses.get(&key);
        let is_old = last.is_none_or(|last| now.ms_since(*last) >= limits::USE_NOTED_MS);
        is_old && self.is_live(now, key)
    }
}

impl fmt::Display for NotAuthenticated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong => f.write_str("there is no such key"),
            Self::Expired { at } => write!(f, "the key expired at {at}"),
            Self::Revoked { at } => write!(f, "the key was revoked at {at}"),
        }
    }
}

impl std::error::Error for NotAuthenticated {}
