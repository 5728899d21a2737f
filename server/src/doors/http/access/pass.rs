//! Streams and sockets end when their callers may not follow them any longer.

use std::{sync::Arc, time::Duration};

use tokio::{sync::watch, time::sleep};
use turnstile_access::Access;
use turnstile_chassis::{Right, Subject};
use turnstile_http::Problem;

use super::{HttpRequester, problem_of_denied, wall_time};
use crate::{
    core::caller::NotPermitted,
    doors::http::{Door, reply::RaisedProblem},
};

/// Leave to follow something, as long as the caller has its key, its session and its right.
#[derive(Clone, Debug)]
pub(in crate::doors::http) struct StreamPass {
    door: Arc<Door>,
    visitor: HttpRequester,
    service: u8,
    right: Right,
    subject: Subject,
}

impl StreamPass {
    /// # Errors
    /// The visitor may not follow this.
    pub(in crate::doors::http) fn take(
        door: &Arc<Door>,
        visitor: &HttpRequester,
        (service, right, subject): (u8, Right, Subject),
    ) -> Result<Self, RaisedProblem> {
        visitor.may_follow(service, right, &subject)?;
        Ok(Self {
            door: Arc::clone(door),
            visitor: visitor.clone(),
            service,
            right,
            subject,
        })
    }

    pub(in crate::doors::http) const fn visitor(&self) -> &HttpRequester {
        &self.visitor
    }

    /// Tells that rights have changed.
    pub(in crate::doors::http) fn changes(&self) -> watch::Receiver<Option<Arc<Access>>> {
        self.door.identities.access.clone()
    }

    /// Asserts that the caller has its right for this as well, as rights are now.
    ///
    /// # Errors
    /// It has not, or may follow nothing any longer.
    pub(in crate::doors::http) fn check(&mut self, subject: &Subject) -> Result<(), Problem> {
        self.renew().map_err(problem_of_denied)?;
        self.visitor.may_follow(self.service, self.right, subject)
    }

    /// Returns when the caller may not follow any longer.
    pub(in crate::doors::http) async fn over(mut self) {
        let mut access = self.door.identities.access.clone();
        let mut ended = self.door.identities.ended.subscribe();
        while self.is_good() {
            let rest = self.session_rest();
            // The loop and the door end only with the process.
            let changed = tokio::select! {
                changed = access.changed() => changed,
                changed = ended.changed() => changed,
                () = sleep(rest.unwrap_or_default()), if rest.is_some() => Ok(()),
            };
            if changed.is_err() {
                return;
            }
        }
    }

    /// How long the caller's session stays open if it is not used; nothing for a caller without one.
    fn session_rest(&self) -> Option<Duration> {
        let end = self.door.identities.session_end(&self.visitor)?;
        Some(Duration::from_millis(end.ms_since(wall_time())))
    }

    fn is_good(&mut self) -> bool {
        let is_open = self
            .door
            .identities
            .is_session_open(wall_time(), &self.visitor);
        is_open && self.check(&self.subject.clone()).is_ok()
    }

    /// Looks at what the caller may do now.
    fn renew(&mut self) -> Result<(), NotPermitted> {
        let identities = &self.door.identities;
        let Some(access) = identities.access.borrow().clone() else {
            return Ok(());
        };
        let quotas = (&*access, &*identities.gate.meters);
        self.visitor.caller.renew(quotas, wall_time())
    }
}
