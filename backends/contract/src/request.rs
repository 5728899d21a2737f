//! Commands on their way to a back end.

use turnstile_sequencer::content_of;
use turnstile_types::{Key, Machine, Malformed, Principal};

use crate::Scope;

/// A command with everything that it borrowed, as its stable bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub principal: Principal,
    key: Option<Box<str>>,
    command: Box<[u8]>,
    scope: Scope,
}

impl Request {
    /// Takes a copy of a command and its idempotency key. It may name everything.
    #[must_use]
    pub fn new<M: Machine>(
        principal: Principal,
        key: Option<Key<'_>>,
        command: &M::Command<'_>,
    ) -> Self {
        let mut bytes = Vec::new();
        M::encode_command(command, &mut bytes);
        Self {
            principal,
            key: key.map(|key| key.as_str().into()),
            command: bytes.into(),
            scope: Scope::EVERYTHING,
        }
    }

    /// The same, and it may name only this.
    #[must_use]
    pub fn within(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    /// The bookings and holds that it may name.
    #[must_use]
    pub const fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The idempotency key, if it has one.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// The command's stable bytes, by which a retry is told from another command.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.command
    }

    /// A hash of these bytes. Where rooms are kept it is the same in every back end, the journal too, so
    /// that a retry is known wherever their state is copied to.
    #[must_use]
    pub fn content<M: Machine>(&self) -> u64 {
        content_of(M::SERVICE, &self.command)
    }

    /// The command.
    ///
    /// # Errors
    /// It is none of this machine.
    pub fn command<M: Machine>(&self) -> Result<M::Command<'_>, Malformed> {
        M::decode_command(&self.command)
    }
}
