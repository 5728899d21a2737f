//! The rooms service in RESP: arguments to commands and queries, outcomes and answers to replies.

mod request;
#[cfg(test)]
mod tests;
mod words;

use turnstile_chassis::Show as _;
use turnstile_rooms::Answer;

use crate::{Encoder, fields::put_refused};

pub use crate::fields::put_outcome;
pub use request::{Door, Request, parse};
pub use words::{Flaw, Invalid};

/// The channel on which every event of the service is told.
pub const CHANNEL: &str = "rooms.events";

/// Appends what was answered to a query: an object, or a refusal.
pub fn put_answer(reply: &mut Encoder<'_>, answer: &Answer) {
    match answer {
        Answer::Refused(refusal) => put_refused(reply, refusal, None, false),
        answer => reply.object(answer),
    }
}

/// The commands of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    AddProperty,
    AddRoom,
    WithdrawRoom,
    StopSell,
    Book,
    Hold,
    Extend,
    Confirm,
    Release,
    Cancel,
    LookUp,
    List,
    Guest,
    Holds,
    Availability,
    Explain,
    Properties,
    Totals,
}

impl Verb {
    /// Whether it only reads.
    #[must_use]
    pub const fn is_read(self) -> bool {
        matches!(
            self,
            Self::LookUp
                | Self::List
                | Self::Guest
                | Self::Holds
                | Self::Availability
                | Self::Explain
                | Self::Properties
                | Self::Totals
        )
    }

    /// The command's name in the catalogue.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AddProperty => "rooms.property",
            Self::AddRoom => "rooms.room|add",
            Self::WithdrawRoom => "rooms.room|withdraw",
            Self::StopSell => "rooms.stopsell",
            Self::Book => "rooms.book",
            Self::Hold => "rooms.hold",
            Self::Extend => "rooms.extend",
            Self::Confirm => "rooms.confirm",
            Self::Release => "rooms.release",
            Self::Cancel => "rooms.cancel",
            Self::LookUp => "rooms.lookup",
            Self::List => "rooms.list",
            Self::Guest => "rooms.guest",
            Self::Holds => "rooms.holds",
            Self::Availability => "rooms.availability",
            Self::Explain => "rooms.explain",
            Self::Properties => "rooms.properties",
            Self::Totals => "rooms.totals",
        }
    }
}
