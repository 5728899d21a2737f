//! What a request says that it is about.

use turnstile_types::Name;

use crate::Reference;

/// What a request is about, before the state is asked who has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// All properties, or some of them more than their own callers may see.
    All,
    /// The caller's own holds, and what every guest of a hotel sees.
    Public,
    Property(Name),
    /// A hold, which its holder uses.
    Hold(Reference),
    /// A booking or hold. Who cancels knows the id number that booked it, or manages its property.
    Entry(Reference),
}
