//! Whether a caller may have something decided or answered: the one place where that is asked.

use std::{fmt, net::IpAddr};

use turnstile_access::{Access, Command, KeyId, MissingRight, NotAuthenticated, Rights};
use turnstile_chassis::{Needed, Needs as _, Subject};
use turnstile_contract::Scope;
use turnstile_embedded::Services;
use turnstile_types::{Hosts, Key, PartitionNumber};

use super::Engine;
use crate::{
    core::{
        caller::{Caller, NotPermitted},
        quotas::QuotaExceeded,
        security_log::FailedLogin,
    },
    counters::{DoorName, ErrorCode},
    registry::Registered,
};

/// Why a login was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoginRefused {
    Key(NotAuthenticated),
    /// The key is of another principal than was named.
    OtherPrincipal,
    /// Too many logins from its source have failed.
    TooManyFailures {
        wait_ms: u64,
    },
    /// The principal has as many connections as it may.
    TooManyConnections(QuotaExceeded),
}

impl fmt::Display for LoginRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(refused) => refused.fmt(f),
            Self::OtherPrincipal => f.write_str("the key is not one of this principal"),
            Self::TooManyFailures { wait_ms } => {
                let seconds = wait_ms.div_ceil(1_000);
                write!(
                    f,
                    "too many logins from here have failed, try again in {seconds} s"
                )
            }
            Self::TooManyConnections(exceeded) => exceeded.fmt(f),
        }
    }
}

impl std::error::Error for LoginRefused {}

impl Engine {
    /// Who has which keys and rights.
    pub(crate) fn access(&self) -> &Access {
        self.backend.machine()
    }

    /// Asserts that the caller may have this command decided, under a key or not.
    ///
    /// # Errors
    /// It may not, and nothing happened.
    #[inline]
    pub(crate) fn permit_command<M: Registered>(
        &mut self,
        key: Option<Key<'_>>,
        command: &M::Command<'_>,
    ) -> Result<(), NotPermitted>
    where
        Services: Hosts<M>,
    {
        let needed = command.needed();
        if self.is_met::<M>(needed) {
            return Ok(());
        }
        self.judge::<M, _>(needed, (), |engine, machine| {
            engine.permits_command(needed, (machine, key), command)
        })
    }

    /// Whether the caller has the right that a command needs for what it is about.
    fn permits_command<M: Registered>(
        &self,
        needed: Needed,
        (machine, key): (&M, Option<Key<'_>>),
        command: &M::Command<'_>,
    ) -> Result<(), MissingRight> {
        let subject = machine.subject_of(command);
        let permitted = self.permits::<M>(needed, &subject);
        // What a command has ended is not there any more when it is sent again: it gets its first
        // answer, and nothing is done.
        let is_sent_again = || {
            let (now, principal) = (self.now, &self.caller.principal);
            key.is_some_and(|key| self.backend.knows(now, principal, key))
        };
        match permitted {
            Err(MissingRight::Named { .. }) if subject == Subject::Unknown && is_sent_again() => {
                Ok(())
            }
            permitted => permitted,
        }
    }

    /// Asserts that a caller whose rights another loop knows may have this command decided here, by these
    /// rights and by what it has open here.
    ///
    /// # Errors
    /// It may not.
    pub(super) fn permit_known_command<M: Registered>(
        &mut self,
        key: Option<Key<'_>>,
        command: &M::Command<'_>,
    ) -> Result<(), NotPermitted>
    where
        Services: Hosts<M>,
    {
        let needed = command.needed();
        let rights = self.caller.rights();
        if !needed.is_met(|right| rights.has_all(M::SERVICE, right)) {
            let machine = self.backend.machine::<M>();
            let permitted = self.permits_command(needed, (machine, key), command);
            permitted.map_err(|missing| self.deny(NotPermitted::Missing(missing)))?;
        }
        self.check_stock::<M>(key, command)
    }

    /// The same of a query.
    ///
    /// # Errors
    /// It may not.
    pub(super) fn permit_known_query<M: Registered>(
        &self,
        query: &M::Query,
    ) -> Result<(), NotPermitted>
    where
        Services: Hosts<M>,
    {
        let (needed, rights) = (query.needed(), self.caller.rights());
        if needed.is_met(|right| rights.has_all(M::SERVICE, right)) {
            return Ok(());
        }
        let machine = self.backend.machine::<M>();
        let permitted = self.permits::<M>(needed, &machine.subject_of_query(query));
        permitted.map_err(|missing| self.deny(NotPermitted::Missing(missing)))
    }

    /// The same of a command that is decided elsewhere: what it may name there. Only a database knows what
    /// a reference of it names; a node of a cluster knows it itself.
    ///
    /// # Errors
    /// The caller may not ask for it, whatever it names; or it has as much open as it may.
    pub(crate) fn permit_away<M: Registered>(
        &mut self,
        key: Option<Key<'_>>,
        command: &M::Command<'_>,
    ) -> Result<Scope, NotPermitted>
    where
        Services: Hosts<M>,
    {
        if self.partition_of(command) != PartitionNumber::FIRST {
            // The partition knows what it is about.
            return self.know_caller().map(|()| Scope::EVERYTHING);
        }
        if self.cluster.is_some() {
            self.permit_command::<M>(key, command)?;
            self.check_stock::<M>(key, command)?;
            return Ok(Scope::EVERYTHING);
        }
        let needed = command.needed();
        self.judge::<M, _>(needed, Scope::EVERYTHING, |engine, machine| {
            engine.scope_of::<M>(needed, &machine.subject_of(command))
        })
    }

    /// The same of a query that is answered elsewhere.
    ///
    /// # Errors
    /// The caller may not ask it, whatever it names.
    pub(crate) fn permit_query_away<M: Registered>(
        &mut self,
        query: &M::Query,
    ) -> Result<Scope, NotPermitted>
    where
        Services: Hosts<M>,
    {
        if self.partition_of(query) != PartitionNumber::FIRST {
            return self.know_caller().map(|()| Scope::EVERYTHING);
        }
        if self.cluster.is_some() {
            self.permit_query::<M>(query)?;
            return Ok(Scope::EVERYTHING);
        }
        let needed = query.needed();
        self.judge::<M, _>(needed, Scope::EVERYTHING, |engine, machine| {
            engine.scope_of::<M>(needed, &machine.subject_of_query(query))
        })
    }

    /// What a request may name elsewhere that is about this, as far as that is known here.
    fn scope_of<M: Registered>(
        &self,
        needed: Needed,
        subject: &Subject,
    ) -> Result<Scope, MissingRight> {
        match subject {
            Subject::Unknown => Scope::of(self.caller.rights(), M::SERVICE, needed),
            subject => {
                let permitted = self.permits::<M>(needed, subject);
                permitted.map(|()| Scope::EVERYTHING)
            }
        }
    }

    /// Makes sure that the rights of the caller are those that are known here now.
    fn know_caller(&mut self) -> Result<(), NotPermitted> {
        self.renew_caller().map_err(|denied| self.deny(denied))
    }

    /// Asserts that the caller may ask this.
    ///
    /// # Errors
    /// It may not.
    #[inline]
    pub(crate) fn permit_query<M: Registered>(
        &mut self,
        query: &M::Query,
    ) -> Result<(), NotPermitted>
    where
        Services: Hosts<M>,
    {
        let needed = query.needed();
        if self.is_met::<M>(needed) {
            return Ok(());
        }
        self.judge::<M, _>(needed, (), |engine, machine| {
            engine.permits::<M>(needed, &machine.subject_of_query(query))
        })
    }

    /// Whether the caller may ask for something whatever it is about, as far as that is known without a
    /// closer look.
    #[inline]
    fn is_met<M: Registered>(&self, needed: Needed) -> bool {
        let rights = self.caller.rights();
        self.caller.is_of(self.access().generation())
            && needed.is_met(|right| rights.has_all(M::SERVICE, right))
    }

    /// Looks closer: at rights that may have changed, and at what the request is about.
    fn judge<M: Registered, T>(
        &mut self,
        needed: Needed,
        everything: T,
        look: impl FnOnce(&Self, &M) -> Result<T, MissingRight>,
    ) -> Result<T, NotPermitted>
    where
        Services: Hosts<M>,
    {
        let judged = self.renew_caller().and_then(|()| {
            if self.is_met::<M>(needed) {
                return Ok(everything);
            }
            look(self, self.backend.machine()).map_err(NotPermitted::Missing)
        });
        judged.map_err(|denied| self.deny(denied))
    }

    /// Whether the caller has the right that a request needs for what it is about.
    fn permits<M: Registered>(
        &self,
        needed: Needed,
        subject: &Subject,
    ) -> Result<(), MissingRight> {
        let Caller { principal, .. } = &self.caller;
        let rights = self.caller.rights();
        rights.permits(principal, M::SERVICE, needed.right, subject)
    }

    /// Looks at what the caller may do, if that may have changed.
    ///
    /// # Errors
    /// It may do nothing.
    pub(crate) fn renew_caller(&mut self) -> Result<(), NotPermitted> {
        if self.loading.is_some() {
            // The keys are not known yet.
            return Err(NotPermitted::NotLoggedIn);
        }
        let access: &Access = self.backend.machine();
        if self.caller.is_of(access.generation()) {
            return Ok(());
        }
        self.caller.renew((access, &self.meters), self.now)
    }

    /// Makes this the caller, of another thread, whose rights and quota may have changed meanwhile.
    pub(crate) fn take_caller(&mut self, caller: Caller) {
        self.caller = caller;
        if !self.caller.is_of(self.access().generation())
            && let Err(denied) = self.renew_caller()
        {
            // It is told so by what it asks for.
            tracing::debug!(%denied, "a caller has lost its rights");
        }
    }

    /// Asserts that the caller may run the server.
    ///
    /// # Errors
    /// It may not.
    pub(crate) fn permit_operating(&mut self) -> Result<(), NotPermitted> {
        self.permit_by_role(Rights::may_operate, MissingRight::Operate)
    }

    /// Asserts that the caller may say who may do what.
    ///
    /// # Errors
    /// It may not.
    pub(crate) fn permit_administering(&mut self) -> Result<(), NotPermitted> {
        self.permit_by_role(Rights::may_administer, MissingRight::Administer)
    }

    fn permit_by_role(
        &mut self,
        has: fn(&Rights) -> bool,
        missing: MissingRight,
    ) -> Result<(), NotPermitted> {
        let permitted = self.renew_caller().and_then(|()| {
            let has_it = has(self.caller.rights());
            has_it.then_some(()).ok_or(NotPermitted::Missing(missing))
        });
        permitted.map_err(|denied| self.deny(denied))
    }

    /// Whether the caller has to say who it is before anything else is answered.
    #[inline]
    pub(crate) fn is_stranger(&mut self) -> bool {
        self.loading.is_none()
            && !self.caller.is_of(self.access().generation())
            && self.renew_caller().is_err()
    }

    /// Makes whoever shows this key the caller; its principal has this name, where one is given.
    ///
    /// # Errors
    /// The key is none of this server, or is over; the caller is who it was.
    pub(crate) fn log_in(
        &mut self,
        source: IpAddr,
        name: Option<&[u8]>,
        key: &[u8],
    ) -> Result<(), LoginRefused> {
        let now = self.now;
        let shown = Caller::with_key(self.access(), now, key);
        let shown = shown.map_err(LoginRefused::Key).and_then(|caller| {
            let is_named = name.is_none_or(|name| name == caller.principal.0.as_bytes());
            is_named
                .then_some(caller)
                .ok_or(LoginRefused::OtherPrincipal)
        });
        match shown {
            Ok(caller) => {
                let caller = caller.with_origin(self.caller.origin());
                if let Err(exceeded) = self.become_caller(caller) {
                    self.counters.error(ErrorCode::QuotaExceeded);
                    return Err(LoginRefused::TooManyConnections(exceeded));
                }
                if let Some(key) = self.caller.key() {
                    self.note_use(key);
                }
                Ok(())
            }
            Err(refused) => {
                self.counters.error(ErrorCode::WrongKey);
                self.counters.of(DoorName::Resp).failed_logins.add(1);
                let failed = FailedLogin {
                    now,
                    source,
                    origin: self.caller.origin(),
                    refused: &refused,
                };
                // Only what fails is slowed down: others behind the same address have good keys.
                match self.security.login_failed(&failed) {
                    Ok(()) => Err(refused),
                    Err(wait_ms) => Err(LoginRefused::TooManyFailures { wait_ms }),
                }
            }
        }
    }

    /// Makes the principal of a client's certificate the caller, which has these names. One that belongs to
    /// nobody changes nothing, nor does one whose principal has as many connections as it may.
    pub(crate) fn identify(&mut self, names: &[String]) {
        let names = names.iter().map(String::as_str);
        let known = Caller::with_certificate(self.access(), names);
        if let Some(caller) = known.filter(|_| !self.caller.is_server()) {
            let caller = caller.with_origin(self.caller.origin());
            if let Err(exceeded) = self.become_caller(caller) {
                self.deny(NotPermitted::Quota(exceeded));
            }
        }
    }

    /// Keeps that a key was used, once an hour, at whichever door.
    pub(crate) fn note_use(&mut self, key: KeyId) {
        if !self.access().is_use_worth_noting(self.now, key) {
            return;
        }
        if self.note_in_order::<Access>(&Command::NoteUse { key }) {
            return;
        }
        let caller = std::mem::replace(&mut self.caller, Caller::server());
        let noted = self.execute::<Access>(None, &Command::NoteUse { key }, None);
        self.caller = caller;
        if let Err(error) = noted {
            tracing::debug!(%error, "the use of a key was not noted");
        }
    }

    /// Counts a request that is not looked at.
    #[cold]
    pub(crate) fn deny(&self, denied: NotPermitted) -> NotPermitted {
        self.counters.error(match denied {
            NotPermitted::NotLoggedIn | NotPermitted::LoggedOut => ErrorCode::NotLoggedIn,
            NotPermitted::Missing(_) => ErrorCode::Forbidden,
            NotPermitted::Quota(_) => ErrorCode::QuotaExceeded,
        });
        denied
    }
}
