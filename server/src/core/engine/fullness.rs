//! Whether the journal has no room, so that only reads are served, and who was told why.

use std::{
    io,
    time::{Duration, Instant},
};

/// The log says no more often that there is no room: a full disk takes short requests and refuses
/// long ones, by turns.
const TELL_EVERY: Duration = Duration::from_secs(60);

/// Whether only reads are served.
#[derive(Debug, Default)]
pub(crate) struct Fullness {
    is_full: bool,
    told: Option<Instant>,
}

impl Fullness {
    pub(crate) const fn is_full(&self) -> bool {
        self.is_full
    }

    /// Something was taken.
    pub(crate) const fn end(&mut self) {
        self.is_full = false;
    }

    /// Something was refused; `why` is what the system said, if it did.
    pub(crate) fn begin(&mut self, why: Option<&io::Error>) {
        let is_new = !std::mem::replace(&mut self.is_full, true);
        if is_new && self.told.is_none_or(|told| told.elapsed() >= TELL_EVERY) {
            self.told = Some(Instant::now());
            let error = why.map(tracing::field::display);
            tracing::warn!(error, "no room for the journal: only reads are served");
        }
    }
}
