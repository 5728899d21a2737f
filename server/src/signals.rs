//! What the threads of a server tell each other about its end.

use std::sync::{
    Condvar, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

/// The end comes in two steps: it begins when somebody asks for it or the loop breaks; the loop
/// itself ends last, when nobody else needs it any more.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    ending: AtomicBool,
    others_ended: AtomicBool,
    begun: Mutex<bool>,
    bell: Condvar,
}

impl Signals {
    /// Begins the end.
    pub(crate) fn end(&self) {
        self.ending.store(true, Ordering::Release);
        *self.begun.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.bell.notify_all();
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Acquire)
    }

    /// Waits until the end has begun.
    pub(crate) fn wait_for_the_end(&self) {
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.bell.wait_while(begun, |begun| !*begun));
    }

    /// Says that no other thread will ask the loop for anything.
    pub(crate) fn note_others_ended(&self) {
        self.others_ended.store(true, Ordering::Release);
    }

    pub(crate) fn have_others_ended(&self) -> bool {
        self.others_ended.load(Ordering::Acquire)
    }
}
