//! Whether a caller has asked for as much as its quota allows.

use std::time::Duration;

use turnstile_chassis::Needs as _;
use turnstile_contract::Scope;
use turnstile_embedded::Services;
use turnstile_types::{DoorKind, Hosts, Key};

use super::Engine;
use crate::{
    core::{
        caller::{Caller, NotPermitted},
        quotas::{Meter, QuotaExceeded, QuotaKind},
    },
    registry::{Registered, open_of},
};

impl Engine {
    /// Asserts that the caller may have this command decided elsewhere now, by its quota and by its rights;
    /// and says what it may name there.
    ///
    /// # Errors
    /// It may not, and nothing happened.
    pub(crate) fn admit_away<M: Registered>(
        &mut self,
        key: Option<Key<'_>>,
        command: &M::Command<'_>,
    ) -> Result<Scope, NotPermitted>
    where
        Services: Hosts<M>,
    {
        self.spend()?;
        self.check_under_way()?;
        self.permit_away::<M>(key, command)
    }

    /// Asserts that the caller may have this command decided here now: by its quota, by its rights, and by
    /// what it has open.
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
        self.spend()?;
        self.permit_command::<M>(key, command)?;
        if command.needed().may_wait {
            self.check_under_way()?;
        }
        self.check_stock::<M>(key, command)
    }

    /// Asserts that the caller may ask this elsewhere now, and says what it may name there.
    ///
    /// # Errors
    /// It may not.
    pub(crate) fn admit_query_away<M: Registered>(
        &mut self,
        query: &M::Query,
    ) -> Result<Scope, NotPermitted>
    where
        Services: Hosts<M>,
    {
        self.spend()?;
        self.permit_query_away::<M>(query)
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
        match self.caller.meter() {
            Some(meter) => self.weigh(meter.ask()),
            None => Ok(()),
        }
    }

    /// Asserts that a request of the caller may wait for an answer that comes late.
    ///
    /// # Errors
    /// As many of its requests wait as its quota allows.
    pub(crate) fn check_under_way(&mut self) -> Result<(), NotPermitted> {
        // HTTP has counted its requests when they came.
        let is_counted = matches!(self.caller.origin().door, DoorKind::Http | DoorKind::Socket);
        match self.caller.meter() {
            Some(meter) if !is_counted => self.weigh(meter.check_under_way()),
            Some(_) | None => Ok(()),
        }
    }

    fn weigh(&self, asked: Result<(), QuotaExceeded>) -> Result<(), NotPermitted> {
        asked.map_err(|exceeded| self.deny(NotPermitted::Quota(exceeded)))
    }

    /// Asserts that the caller may have what the command adds to the machines: something open, and its key.
    ///
    /// # Errors
    /// It has as many as its quota allows.
    #[inline]
    pub(super) fn check_stock<M: Registered>(
        &mut self,
        key: Option<Key<'_>>,
        command: &M::Command<'_>,
    ) -> Result<(), NotPermitted> {
        let Some(meter) = self.caller.meter() else {
            return Ok(());
        };
        let fits = self.check_open::<M>(meter, command);
        let fits = fits.and_then(|()| self.check_keys(meter, key));
        let Err(exceeded) = fits else {
            return Ok(());
        };
        let principal = &self.caller.principal;
        // A command that is sent again opens nothing, and its key is there.
        if key.is_some_and(|key| self.backend.knows(self.now, principal, key)) {
            return Ok(());
        }
        Err(self.deny(NotPermitted::Quota(exceeded)))
    }

    /// Asserts that the caller may open what the command opens. The machines have counted what is open.
    fn check_open<M: Registered>(
        &self,
        meter: &Meter,
        command: &M::Command<'_>,
    ) -> Result<(), QuotaExceeded> {
        let Some(of) = self.backend.machine::<M>().opens(command) else {
            return Ok(());
        };
        let principal = &self.caller.principal;
        meter.check(of.into(), || open_of(&self.backend, principal, of))
    }

    /// Asserts that the caller may have another key remembered. The memory of keys has counted its own.
    fn check_keys(&self, meter: &Meter, key: Option<Key<'_>>) -> Result<(), QuotaExceeded> {
        let kind = QuotaKind::IdempotencyKeys;
        let Some((most, _)) = meter.most(kind).zip(key) else {
            return Ok(());
        };
        let principal = &self.caller.principal;
        let admitted = self.backend.admits_key_within(self.now, principal, most);
        admitted.map_err(|ms| QuotaExceeded {
            kind,
            most,
            retry_after: Some(Duration::from_millis(ms)),
        })
    }

    /// Makes this the caller, and counts its connection among those of its principal.
    ///
    /// # Errors
    /// The principal has as many as it may; the caller is who it was.
    pub(super) fn become_caller(&mut self, caller: Caller) -> Result<(), QuotaExceeded> {
        self.caller = caller.counted(&self.meters, &self.caller)?;
        Ok(())
    }

    /// Makes the caller one that has shown no key, if it has shown one.
    pub(crate) fn log_out(&mut self) {
        if self.caller.key().is_some() {
            self.caller = Caller::unknown().with_origin(self.caller.origin());
        }
    }
}
