//! What the threads of a server tell each other about its end.

use std::sync::atomic::{AtomicBool, Ordering};

/// The end begins when somebody asks for it; the loop ends last, when nobody else needs it.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    ending: AtomicBool,
    others_ended: AtomicBool,
}

impl Signals {
    /// Begins the end.
    pub(crate) fn end(&self) {
        self.ending.store(true, Ordering::Release);
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Acquire)
    }

    /// Says that no other thread will ask the loop for anything.
    pub(crate) fn note_others_ended(&self) {
        self.others_ended.store(true, Ordering::Release);
    }

    pub(crate) fn have_others_ended(&self) -> bool {
        self.others_ended.load(Ordering::Acquire)
    }
}
