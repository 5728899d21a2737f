//! Streams and sockets end when their callers may not follow them any longer.

use std::sync::Arc;

use turnstile_chassis::{Right, Subject};

use super::{HttpRequester, wall_time};
use crate::doors::http::{Door, reply::RaisedProblem};

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

    /// Returns when the caller may not follow any longer.
    pub(in crate::doors::http) async fn over(mut self) {
        let mut access = self.door.identities.access.clone();
        let mut ended = self.door.identities.ended.subscribe();
        while self.is_good() {
            // The loop and the door end only with the process.
            let changed = tokio::select! {
                changed = access.changed() => changed,
                changed = ended.changed() => changed,
            };
            if changed.is_err() {
                return;
            }
        }
    }

    fn is_good(&mut self) -> bool {
        let identities = &self.door.identities;
        let now = wall_time();
        let access = identities.access.borrow().clone();
        let renewed = access.is_none_or(|access| {
            let quotas = (&*access, &*identities.gate.meters);
            self.visitor.caller.renew(quotas, now).is_ok()
        });
        renewed
            && identities.is_session_open(now, &self.visitor)
            && self
                .visitor
                .may_follow(self.service, self.right, &self.subject)
                .is_ok()
    }
}
