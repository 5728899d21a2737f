//! Who may ask what of the connection and the server. What services are asked, the engine judges.

use turnstile_embedded::Services;
use turnstile_resp::{
    Encoder, Request,
    catalogue::{Action, Unknown, Verb},
};
use turnstile_types::Hosts;

use super::{Next, Prompt, Session};
use crate::core::{caller::NotPermitted, engine::Engine};

/// Whether a request is answered to those who have not said who they are.
pub(super) const fn is_for_strangers(action: &Result<Action, Unknown<'_>>) -> bool {
    matches!(
        action,
        Ok(Action::Session(
            Verb::Auth | Verb::Hello | Verb::Quit | Verb::Reset
        ))
    )
}

/// Whether a request is for those who run the server.
const fn is_for_operators(verb: Verb) -> bool {
    matches!(
        verb,
        Verb::ClientKill
            | Verb::ClientList
            | Verb::SlowLogGet
            | Verb::SlowLogLen
            | Verb::SlowLogReset
            | Verb::LatencyReset
            | Verb::ClusterStatus
            | Verb::ClusterDrain
            | Verb::ClusterStepDown
    )
}

/// Whether a request is for those who say who may do what.
const fn is_for_administrators(verb: Verb) -> bool {
    matches!(verb, Verb::AclGetUser | Verb::AclList | Verb::AclUsers)
}

impl Session {
    /// Refuses a request of somebody who has not said who it is.
    pub(super) fn refuse_stranger(&mut self, engine: &Engine, out: &mut Vec<u8>) -> Next {
        if let Some(batch) = &mut self.batch {
            batch.spoil();
        }
        self.put_denied(engine.deny(NotPermitted::NotLoggedIn), out);
        Next::Go
    }

    pub(super) fn put_denied(&self, denied: NotPermitted, out: &mut Vec<u8>) {
        let sentence = sentence_of(&denied);
        Encoder::new(out, self.protocol).error(format_args!("{sentence}"));
    }

    /// Refuses what is for operators and administrators, if the caller is none.
    pub(super) fn refuse_unentitled(
        &mut self,
        engine: &mut Engine,
        action: Action,
        out: &mut Vec<u8>,
    ) -> Option<Next> {
        let Action::Session(verb) = action else {
            return None;
        };
        let permitted = if is_for_operators(verb) {
            engine.permit_operating()
        } else if is_for_administrators(verb) {
            engine.permit_administering()
        } else {
            return None;
        };
        let denied = permitted.err()?;
        if let Some(batch) = &mut self.batch {
            batch.spoil();
        }
        self.put_denied(denied, out);
        Some(Next::Go)
    }
}

/// Why a caller is not served, behind the word for it.
pub(super) fn sentence_of(denied: &NotPermitted) -> String {
    match denied {
        NotPermitted::NotLoggedIn => "NOAUTH Authentication required.".to_owned(),
        NotPermitted::LoggedOut => format!("NOAUTH {denied}"),
        NotPermitted::Missing(_) => format!("NOPERM {denied}"),
        NotPermitted::Quota(_) => format!("BUSY {denied}"),
    }
}

impl Engine {
    /// Asserts that the caller may ask for this.
    pub(super) fn permit_request<M: Prompt>(
        &mut self,
        request: &Request<'_, M::Command<'_>, M::Query>,
    ) -> Result<(), NotPermitted>
    where
        Services: Hosts<M>,
    {
        match request {
            Request::Command { command, key } => self.permit_command::<M>(*key, command),
            Request::Query(query) => self.permit_query::<M>(query),
        }
    }
}
