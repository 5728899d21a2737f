//! Idempotency keys in the form that a copy transfers.

use std::fmt;

use turnstile_rooms::{Outcome, Rooms};
use turnstile_types::{
    Key, Machine as _, Malformed, Position, Principal, Timestamp, put_bytes, put_instant, put_u64,
};

/// What was first answered under an idempotency key, in words that every back end knows.
///
/// Keys are told in the order in which they are forgotten: by their instants, and among equals by
/// their positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedKey {
    pub principal: Principal,
    key: Box<str>,
    /// [`Request::content`](crate::Request::content) of the command.
    pub content: u64,
    /// When it was decided: the key is forgotten [`KEY_MS`](turnstile_sequencer::KEY_MS) later.
    pub at: Timestamp,
    pub position: Position,
    pub outcome: Outcome,
}

impl CopiedKey {
    /// # Errors
    /// The text is no key.
    pub fn new(
        (principal, key): (Principal, &str),
        content: u64,
        (at, position): (Timestamp, Position),
        outcome: Outcome,
    ) -> Result<Self, Malformed> {
        let key = Key::parse(key.as_bytes()).map_err(|_invalid| Malformed { field: "key" })?;
        Ok(Self {
            principal,
            key: key.as_str().into(),
            content,
            at,
            position,
            outcome,
        })
    }

    #[must_use]
    pub fn key(&self) -> Key<'_> {
        Key::parse(self.key.as_bytes()).expect("it was parsed when this was made")
    }

    /// The stable bytes of the outcome.
    #[must_use]
    pub fn outcome_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        Rooms::encode_outcome(&self.outcome, &mut bytes);
        bytes
    }

    /// Appends bytes that equal keys have in common, and others have not.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        put_bytes(out, self.principal.0.as_bytes());
        put_bytes(out, self.key.as_bytes());
        put_u64(out, self.content);
        put_instant(out, self.at);
        put_u64(out, self.position.0);
        put_bytes(out, &self.outcome_bytes());
    }
}

/// One line for people.
impl fmt::Display for CopiedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = match &self.outcome {
            Outcome::Done(_) => "done",
            Outcome::Refused(refusal) => refusal.code(),
        };
        write!(
            f,
            "key {} of {} at {}, position {}, {outcome}",
            self.key,
            self.principal.0.as_str(),
            self.at,
            self.position
        )
    }
}
