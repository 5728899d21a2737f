//! Bugs that are planted in a server, to see that they are found.

use turnstile_journal::Sabotage;

/// A planted bug.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bug {
    #[default]
    None,
    Journal(Sabotage),
    /// The sequencer does not look idempotency keys up.
    IgnoreKeys,
    /// The sequencer takes nothing for a promise.
    IgnorePromises,
    /// A recovery announces nothing of what it replays.
    ForgetEvents,
}
