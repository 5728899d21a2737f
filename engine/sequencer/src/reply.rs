//! The answer to a command.

use turnstile_types::Position;

/// What became of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply<O> {
    /// The position of the record that decided it. A crash may take back a record that has promised
    /// nothing, and its position is given again then.
    pub position: Position,
    /// Whether this is the first answer to the same idempotency key once more.
    pub replayed: bool,
    pub outcome: O,
}

impl<O> Reply<O> {
    /// The same with another form of its outcome.
    #[must_use]
    pub fn map<T>(self, change: impl FnOnce(O) -> T) -> Reply<T> {
        Reply {
            position: self.position,
            replayed: self.replayed,
            outcome: change(self.outcome),
        }
    }
}
