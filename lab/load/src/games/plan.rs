//! What stewards want: each kind of load has a plan of its own.

mod contested;
mod script;

use std::fmt;

use turnstile_check::games::{ClubAnswer, ClubRequest};

pub(crate) use contested::{CIRCLE, ContestedPlay};
pub(super) use script::{ScriptFault, ScriptedPlay};

use crate::pace::Ended;

/// What one steward asks, one request after the other.
pub(crate) trait StewardPlan: fmt::Debug + Send {
    /// The names of the operations that it asks for, by their numbers.
    const OPERATIONS: &'static [&'static str];

    /// As of [`User`](crate::pace::User).
    const WHOLES: &'static [&'static str] = &[];

    /// The number of its operation.
    fn operation(ask: &ClubRequest) -> usize;

    /// The next request; nothing when there will be none. MUST NOT allocate.
    fn choose(&mut self) -> Option<ClubRequest>;

    /// Is told what was answered.
    fn learn(&mut self, ask: &ClubRequest, answer: &ClubAnswer);

    /// Where nothing is checked, it is told the code or reason why it did not get what it asked for.
    fn fails(&mut self, _reason: &[u8]) {}

    /// Is told that nobody will know whether something was done.
    fn lost(&mut self) {}

    /// As of [`User`](crate::pace::User).
    fn goes_on(&self) -> bool {
        false
    }

    /// As of [`User`](crate::pace::User).
    fn disconnected(&mut self) -> bool {
        true
    }

    /// As of [`User`](crate::pace::User).
    fn heard(&mut self, _ask: &ClubRequest, _due: u64, _free: u64) -> Option<Ended> {
        None
    }
}
