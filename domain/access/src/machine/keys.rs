//! What becomes of keys.

use std::sync::Arc;

use turnstile_types::{Context, Name, Principal, Timestamp};

use super::About;
use crate::{
    Access, AccessRole, Done, EventKind, KeyDigest, KeyId, KeyState, Refusal, limits,
    state::KeptKey,
};

/// How surely somebody can administer the server.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Administered {
    Never,
    /// Until a key expires.
    ForNow,
    /// By a key that ends only when it is revoked.
    Lastingly,
}

impl Administered {
    fn by_keys(expiries: impl Iterator<Item = Option<Timestamp>>) -> Self {
        let each = expiries.map(|expires| match expires {
            Some(_) => Self::ForNow,
            None => Self::Lastingly,
        });
        each.max().unwrap_or(Self::Never)
    }
}

impl Access {
    pub(super) fn add_key(
        &mut self,
        context: &Context<'_>,
        key: KeyId,
        name_of_principal: Name,
        (digest, name, state): (KeyDigest, Option<Name>, KeyState),
    ) -> Result<Done, Refusal> {
        let principal = Principal(name_of_principal);
        let member = self.register.member(&principal)?;
        if let Ok(kept) = self.register.key(key) {
            let is_same = kept.principal == principal
                && kept.digest == digest
                && kept.name == name
                && kept.state == state;
            return if is_same {
                Ok(Done::KeyAdded)
            } else {
                Err(Refusal::KeyExists)
            };
        }
        if matches!(state, KeyState::Live { expires: Some(at) } if at <= context.now) {
            return Err(Refusal::ExpiresInThePast);
        }
        if !self.register.is_guarded && !member.grants.contains_key(&AccessRole::Admin) {
            return Err(Refusal::FirstKeyNotAdmin);
        }
        let live = member
            .keys
            .iter()
            .filter(|key| self.register.live_key(**key).is_ok());
        let limit = limits::KEYS_PER_PRINCIPAL_MAX;
        if live.count() >= limit as usize {
            return Err(Refusal::TooManyKeys { limit });
        }
        let limit = limits::KEYS_MAX;
        if self.register.keys.len() >= limit as usize {
            return Err(Refusal::TooManyKeys { limit });
        }
        let register = self.change();
        register.totals.keys_added_total += 1;
        let kept = KeptKey {
            principal,
            digest,
            name,
            state,
            since: context.now,
            added: context.position,
        };
        register.take_key(key, kept);
        self.tell(
            context,
            EventKind::KeyAdded,
            Some(principal),
            About::key(key),
        );
        Ok(Done::KeyAdded)
    }

    pub(super) fn expire_key(
        &mut self,
        context: &Context<'_>,
        key: KeyId,
        at: Timestamp,
    ) -> Result<Done, Refusal> {
        let principal = self.register.live_key(key)?.principal;
        let ends_now = at <= context.now;
        self.keep_administrators(|_, of, expires| match (of == key, ends_now) {
            (false, _) => Some(expires),
            (true, false) => Some(Some(at)),
            (true, true) => None,
        })?;
        if ends_now {
            let ended = context.now;
            self.end(key, KeyState::Expired { ended });
            self.tell(
                context,
                EventKind::KeyExpired,
                Some(principal),
                About::key(key),
            );
            return Ok(Done::KeyExpired);
        }
        let state = KeyState::Live { expires: Some(at) };
        self.change().set_state(key, state);
        self.tell(
            context,
            EventKind::ExpiryChanged,
            Some(principal),
            About::key(key),
        );
        Ok(Done::KeyExpires { expires: at })
    }

    pub(super) fn revoke_key(
        &mut self,
        context: &Context<'_>,
        key: KeyId,
    ) -> Result<Done, Refusal> {
        let principal = self.register.live_key(key)?.principal;
        self.keep_administrators(|_, of, expires| (of != key).then_some(expires))?;
        let ended = context.now;
        self.end(key, KeyState::Revoked { ended });
        self.tell(
            context,
            EventKind::KeyRevoked,
            Some(principal),
            About::key(key),
        );
        Ok(Done::KeyRevoked)
    }

    /// Every key that is due expires or is forgotten, in the order of the instants, then of the ids.
    pub(super) fn sweep(&mut self, context: &Context<'_>) {
        while let Some(&(deadline, key)) = self.register.deadlines.first() {
            if deadline > context.now {
                return;
            }
            let kept = self.register.key(key);
            match kept.map(|kept| (kept.principal, kept.is_live())) {
                Ok((principal, true)) => {
                    self.end(key, KeyState::Expired { ended: deadline });
                    self.tell_of_tick(context, principal, key);
                }
                Ok((_, false)) | Err(_) => {
                    self.change().forget_key(key);
                    self.forget_uses(std::iter::once(&key));
                }
            }
        }
    }

    /// Ends a live key, and forgets the oldest of too many ended ones.
    fn end(&mut self, key: KeyId, state: KeyState) {
        let totals = &mut self.change().totals;
        match state {
            KeyState::Revoked { .. } => totals.keys_revoked_total += 1,
            KeyState::Live { .. } | KeyState::Expired { .. } => totals.keys_expired_total += 1,
        }
        if let Some(oldest) = self.change().set_state(key, state) {
            self.change().forget_key(oldest);
            self.forget_uses(std::iter::once(&oldest));
        }
    }

    pub(super) fn forget_uses<'a>(&mut self, mut keys: impl Iterator<Item = &'a KeyId>) {
        let known = keys.any(|key| self.uses.contains_key(key));
        if known {
            let uses = Arc::make_mut(&mut self.uses);
            uses.retain(|key, _| self.register.keys.contains_key(key));
        }
    }

    /// Refuses what would leave the server without an administrator: `keeps` says what becomes of each
    /// live key of an administrator, which is not set when it ends, and else when it expires.
    pub(super) fn keep_administrators(
        &self,
        keeps: impl Fn(Principal, KeyId, Option<Timestamp>) -> Option<Option<Timestamp>>,
    ) -> Result<(), Refusal> {
        let keys = || self.register.keys_of_admins();
        let before = Administered::by_keys(keys().map(|(_, _, expires)| expires));
        let kept = keys().filter_map(|(principal, key, expires)| keeps(principal, key, expires));
        if Administered::by_keys(kept) < before {
            return Err(Refusal::LastAdministrator);
        }
        Ok(())
    }

    fn tell_of_tick(&mut self, context: &Context<'_>, principal: Principal, key: KeyId) {
        self.put(
            context,
            None,
            EventKind::KeyExpired,
            Some(principal),
            About::key(key),
        );
    }
}
