//! What a change of keys and rights means for one connection.

use turnstile_access::Access;
use turnstile_types::Timestamp;

use super::Connection;
use crate::core::{
    caller::NotPermitted,
    conversation::{ClientProof, Conversation},
    quotas::QuotaMeters,
};

impl<C: Conversation> Connection<C> {
    /// The rights of somebody have changed. It is ended if its caller may not go on with what it does.
    pub(crate) fn renew(&mut self, quotas: (&Access, &QuotaMeters), now: Timestamp) {
        let renewed = self.caller.renew(quotas, now);
        let goes_on = match renewed {
            Ok(()) => self.conversation.may_go_on(self.caller.rights()),
            Err(NotPermitted::NotLoggedIn) => {
                let logs_in = self.conversation.door().proof == ClientProof::Key;
                logs_in && !self.conversation.follows()
            }
            Err(NotPermitted::LoggedOut | NotPermitted::Missing(_) | NotPermitted::Quota(_)) => {
                false
            }
        };
        if !goes_on {
            self.close();
        }
        self.note_waiting();
    }
}
