//! What visitors want: each kind of load has a plan of its own.

mod apart;
mod contested;
mod queued;

use std::{fmt, time::Instant};

use turnstile_check::rooms::InlineReference;

use super::what::What;
use crate::pace::Ended;

pub use crate::line::PlaceInLine;

pub use apart::Apart;
pub(crate) use apart::NIGHTS as APART_NIGHTS;
pub use contested::Contested;
pub(crate) use contested::NIGHTS as CONTESTED_NIGHTS;
pub(crate) use queued::Queued;

/// What one visitor asks, one request after the other.
pub trait Plan: fmt::Debug + Send {
    /// The names of the operations that it asks for, by the numbers of [`What::operation`].
    const OPERATIONS: &'static [&'static str];

    /// Is told what time it is. MUST NOT allocate.
    fn at(&mut self, _now: Instant) {}

    /// The next request; nothing when it will never ask again. MUST NOT allocate.
    fn choose(&mut self) -> Option<What>;

    /// What is made of several requests, which is paced and measured then.
    const WHOLES: &'static [&'static str] = &[];

    /// When the next request is due, in nanoseconds since the start; nothing: when the rhythm has it.
    fn due(&self) -> Option<u64> {
        None
    }

    /// The idempotency key of the request that was chosen last, if it has one.
    fn key(&self) -> Option<&[u8]> {
        None
    }

    /// Is told what became of a request. MUST NOT allocate.
    fn ends(&mut self, _end: AskEnd) {}

    /// Is told that an answer was counted, when its request was due, and when its user was free for it;
    /// says whether something is whole by it. MUST NOT allocate.
    fn heard(&mut self, _due: u64, _free: u64) -> Option<Ended> {
        None
    }

    /// Is told that something was done, with the reference that was given. MUST NOT allocate.
    fn learn(&mut self, what: &What, reference: Option<InlineReference>);
}

/// What became of a request.
#[derive(Clone, Copy, Debug)]
pub enum AskEnd {
    /// Nothing yet: the caller is to ask again.
    Waits(PlaceInLine),
    /// It was done or refused.
    Decided,
    /// It was answered by an error, or never.
    Failed,
}
