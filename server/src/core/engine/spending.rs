//! Whether a caller has asked for as much as its quota allows.

use std::time::Duration;

use turnstile_access::AccessQuota;
use turnstile_embedded::Services;
use turnstile_types::{Hosts, Key, Principal};

use super::Engine;
use crate::{
    core::{
        caller::{Caller, NotPermitted},
        quotas::{QuotaExceeded, QuotaKind, bound_of},
    },
    registry::{Registered, open_of},
};

impl Engine {
    /// Asserts that the caller may have this command decided now: by its quota, and by its rights.
    ///
    /// # Errors
    /// It may not, and nothing happened.
    #[inline]
    pub(crate) fn admit_command<M: Registered>(
        &mut self,
        command: &M::Command<'_>,
    ) -> Result<(), NotPermitted>
    where
        Services: Hosts<M>,
    {
        self.spend()?;
        self.permit_command::<M>(command)
    }

    /// The same of a command that is decided here, where it is known what the caller has open.
    ///
    /// # Errors
    /// It may not, and nothing happened.
    #[inline]
    pub(super) fn admit_execution<M: Registered>(
        &mut self,
        key: Option<Key<'_>>,
        command: &M::Command<'_>,
    ) -> Result<(), NotPermitted>
    where
        Services: Hosts<M>,
    {
        self.admit_command::<M>(command)?;
        self.check_stock::<M>(key, command)
    }

    /// Asserts that the caller may ask this now.
    ///
    /// # Errors
    /// It may not.
    #[inline]
    pub(crate) fn admit_query<M: Registered>(
        &mut self,
        query: &M::Query,
    ) -> Result<(), NotPermitted>
    where
        Services: Hosts<M>,
    {
        self.spend()?;
        self.permit_query::<M>(query)
    }

    /// Counts a request of the caller.
    ///
    /// # Errors
    /// It has asked for as much as it may.
    #[inline]
    pub(crate) fn spend(&mut self) -> Result<(), NotPermitted> {
        if self.quotas.are_set() && !self.caller.is_server() {
            return self.spend_of_quota();
        }
        Ok(())
    }

    fn spend_of_quota(&mut self) -> Result<(), NotPermitted> {
        let (now, access) = (self.instant(), self.backend.machine());
        let asked = self.quotas.ask(access, now, &self.caller.principal);
        asked.map_err(|exceeded| self.deny(NotPermitted::Quota(exceeded)))
    }

    /// Asserts that the caller may have what the command adds to the machines: something open, and its key.
    ///
    /// # Errors
    /// It has as many as its quota allows.
    #[inline]
    fn check_stock<M: Registered>(
        &mut self,
        key: Option<Key<'_>>,
        command: &M::Command<'_>,
    ) -> Result<(), NotPermitted> {
        if !self.quotas.are_set() || self.caller.is_server() {
            return Ok(());
        }
        let principal = &self.caller.principal;
        let Some(quota) = self.access().quota_of(principal) else {
            return Ok(());
        };
        let fits = self.check_open::<M>(&quota, command);
        let fits = fits.and_then(|()| self.check_keys(&quota, key));
        let Err(exceeded) = fits else {
            return Ok(());
        };
        // A command that is sent again opens nothing, and its key is there.
        if key.is_some_and(|key| self.backend.knows(self.now, principal, key)) {
            return Ok(());
        }
        Err(self.deny(NotPermitted::Quota(exceeded)))
    }

    /// Asserts that the caller may open what the command opens. The machines have counted what is open.
    fn check_open<M: Registered>(
        &self,
        quota: &AccessQuota,
        command: &M::Command<'_>,
    ) -> Result<(), QuotaExceeded> {
        let Some(of) = self.backend.machine::<M>().opens(command) else {
            return Ok(());
        };
        let (kind, most) = bound_of(quota, of);
        let open = || open_of(&self.backend, &self.caller.principal, of);
        match most {
            Some(most) if open() >= most => Err(QuotaExceeded {
                kind,
                most,
                retry_after: None,
            }),
            Some(_) | None => Ok(()),
        }
    }

    /// Asserts that the caller may have another key remembered. The memory of keys has counted its own.
    fn check_keys(&self, quota: &AccessQuota, key: Option<Key<'_>>) -> Result<(), QuotaExceeded> {
        let Some((most, _)) = quota.idempotency_keys.zip(key) else {
            return Ok(());
        };
        let principal = &self.caller.principal;
        let admitted = self.backend.admits_key_within(self.now, principal, most);
        admitted.map_err(|ms| QuotaExceeded {
            kind: QuotaKind::IdempotencyKeys,
            most,
            retry_after: Some(Duration::from_millis(ms)),
        })
    }

    /// Counts bytes that were answered to a principal.
    #[inline]
    pub(crate) fn charge(&mut self, principal: &Principal, bytes: usize) {
        if self.quotas.are_set() && bytes > 0 {
            self.quotas.charge(self.instant(), principal, bytes);
        }
    }

    /// Makes this the caller, and counts its connection among those of its principal.
    ///
    /// # Errors
    /// The principal has as many as it may; the caller is who it was.
    pub(super) fn become_caller(&mut self, caller: Caller) -> Result<(), QuotaExceeded> {
        let before = self.caller.counted_for();
        if before != Some(caller.principal) {
            let access = self.backend.machine();
            self.quotas.connect(access, &caller.principal)?;
            if let Some(before) = before {
                self.quotas.disconnect(&before);
            }
        }
        self.caller = caller.counted();
        Ok(())
    }

    /// The quotas of somebody have changed.
    pub(crate) fn heed_quotas(&mut self) {
        self.quotas.renew(self.backend.machine());
    }

    /// Forgets what nobody has spent lately.
    pub(crate) fn sweep_quotas(&mut self) {
        let now = self.instant();
        self.quotas.sweep(now);
    }

    /// This turn as quotas count time: it never goes back.
    const fn instant(&self) -> Duration {
        Duration::from_millis(self.now.0)
    }
}
