//! What a RESP client may ask while the journal is recovered: about itself and the server, nothing of
//! the services.

use turnstile_resp::catalogue::{Action, Verb};

use super::{Next, Session};
use crate::core::engine::Engine;

/// Whether a request is answered before the services are there. `MULTI` is: what is refused within it
/// spoils the batch, so that no command of it is executed alone.
const fn is_answered(action: Action) -> bool {
    let Action::Session(verb) = action else {
        return false;
    };
    matches!(
        verb,
        Verb::Ping
            | Verb::Echo
            | Verb::Quit
            | Verb::Reset
            | Verb::Hello
            | Verb::Auth
            | Verb::Select
            | Verb::ClientSetInfo
            | Verb::ClientSetName
            | Verb::ClientGetName
            | Verb::ClientId
            | Verb::ClientInfo
            | Verb::ClientReply
            | Verb::ClientNoEvict
            | Verb::ClientNoTouch
            | Verb::ClientTraceParent
            | Verb::ClientTracking
            | Verb::ClientTrackingInfo
            | Verb::ClientCaching
            | Verb::ClientRedirection
            | Verb::Info
            | Verb::Command
            | Verb::CommandCount
            | Verb::CommandDocs
            | Verb::CommandGetKeys
            | Verb::CommandInfo
            | Verb::CommandList
            | Verb::Multi
            | Verb::Exec
            | Verb::Discard
            | Verb::Watch
            | Verb::Unwatch
            | Verb::Time
            | Verb::ReadOnly
            | Verb::ReadWrite
            | Verb::Role
            | Verb::Monitor
            | Verb::LatencyLatest
            | Verb::LatencyHistory
            | Verb::LatencyDoctor
    )
}

impl Session {
    /// Refuses a request that needs the services, while they are not there.
    pub(super) fn refuse_early(
        &mut self,
        engine: &Engine,
        action: Action,
        out: &mut Vec<u8>,
    ) -> Option<Next> {
        let headway = engine.recovery()?.sentence();
        if is_answered(action) {
            return None;
        }
        if let Some(batch) = &mut self.batch {
            batch.spoil();
        }
        let sentence = "LOADING the server recovers its journal, try again later";
        Some(self.invalid(engine, format_args!("{sentence}: {headway}"), out))
    }
}
