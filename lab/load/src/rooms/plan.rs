//! What visitors want: each kind of load has a plan of its own.

mod apart;
mod contested;
mod once;

use std::{fmt, time::Instant};

use turnstile_check::rooms::Reference;

use super::what::What;

pub use apart::Apart;
pub(crate) use apart::NIGHTS as APART_NIGHTS;
pub use contested::Contested;
pub(crate) use contested::NIGHTS as CONTESTED_NIGHTS;
pub(crate) use once::Once;

/// What one visitor asks, one request after the other.
pub trait Plan: fmt::Debug + Send {
    /// The names of the operations that it asks for, by the numbers of [`What::operation`].
    const OPERATIONS: &'static [&'static str];

    /// Is told what time it is. MUST NOT allocate.
    fn at(&mut self, _now: Instant) {}

    /// The next request; nothing when it will never ask again. MUST NOT allocate.
    fn choose(&mut self) -> Option<What>;

    /// Is told that something was done, with the reference that was given. MUST NOT allocate.
    fn learn(&mut self, what: &What, reference: Option<Reference>);
}
