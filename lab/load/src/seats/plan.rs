//! What buyers want: each kind of load has a plan of its own.

mod apart;
mod contested;

use std::{fmt, time::Instant};

use turnstile_check::seats::{ShowAnswer, ShowRequest};

pub(crate) use apart::{ApartBuying, SoldBlock};
pub(crate) use contested::{ContestedBuying, plan as contested};

/// The buyer who books nothing.
pub(crate) const NOBODY: u16 = u16::MAX;

/// What one buyer asks, one request after the other.
pub(crate) trait BuyerPlan: fmt::Debug + Send {
    /// The names of the operations that it asks for, by the numbers of [`operation`].
    const OPERATIONS: &'static [&'static str];

    /// Is told what time it is. MUST NOT allocate.
    fn at(&mut self, _now: Instant) {}

    /// The next request. MUST NOT allocate.
    fn choose(&mut self) -> ShowRequest;

    /// Is told what was answered; nothing when that was an error. MUST NOT allocate.
    fn learn(&mut self, ask: &ShowRequest, answer: Option<&ShowAnswer>);
}

/// The number of its operation.
pub(super) const fn operation(ask: &ShowRequest) -> usize {
    match ask {
        ShowRequest::Book { .. } => 0,
        ShowRequest::Cancel { .. } => 1,
        ShowRequest::Hold { .. } => 2,
        ShowRequest::Confirm { .. } => 3,
        ShowRequest::Release { .. } => 4,
        ShowRequest::Sale { .. } => 5,
        ShowRequest::Map { .. } | ShowRequest::LookUp { .. } => 6,
    }
}

/// The number of a buyer by its name, such as `u7`.
pub(super) fn buyer_of(name: &[u8]) -> u16 {
    let number = name.strip_prefix(b"u").map(str::from_utf8);
    let number = number.and_then(|digits| digits.ok()?.parse().ok());
    number.unwrap_or(NOBODY)
}
