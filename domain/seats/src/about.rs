//! What a request says that it is about.

use turnstile_types::Name;

use crate::BookingNumber;

/// What a request is about, before the state is asked who has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// All shows, or some of them more than their own callers may see.
    All,
    /// What every buyer sees.
    Public,
    Show(Name),
    /// A hold, which its holder uses.
    Hold(BookingNumber),
    /// A booking or hold. Who cancels knows the buyer.
    Booking(BookingNumber),
}
