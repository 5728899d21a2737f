//! What the threads of a server tell each other about its end.

use std::{
    fmt,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::limits::Limits;

/// Has a door stop.
type StopCallback = Box<dyn Fn() + Send + Sync>;

/// The end begins when somebody asks for it; the loop ends last, when nobody else needs it.
#[derive(Default)]
pub(crate) struct Signals {
    ending: AtomicBool,
    others_ended: AtomicBool,
    /// Stops the HTTP door.
    stop_http: OnceLock<StopCallback>,
    has_limits: AtomicBool,
    limits: Mutex<Option<Limits>>,
    /// Both are shared with the HTTP door.
    draining: Arc<AtomicBool>,
    end_is_near: Arc<AtomicBool>,
}

impl fmt::Debug for Signals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signals")
    }
}

impl Signals {
    /// Begins the end.
    pub(crate) fn end(&self) {
        self.ending.store(true, Ordering::Release);
        if let Some(stop) = self.stop_http.get() {
            stop();
        }
    }

    /// Has the HTTP door stopped when the end begins.
    pub(crate) fn stop_http_with(&self, stop: impl Fn() + Send + Sync + 'static) {
        let is_first = self.stop_http.set(Box::new(stop)).is_ok();
        assert!(is_first, "a server has one HTTP door");
        if self.is_ending() {
            self.end();
        }
    }

    /// Has every door see its clients off. The server goes on until it is stopped.
    pub(crate) fn drain(&self) {
        self.draining.store(true, Ordering::Release);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    /// Whether clients are seen off, for a door that has no signals.
    pub(crate) fn draining(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.draining)
    }

    /// Says that the end will begin soon.
    pub(crate) fn announce_end(&self) {
        self.end_is_near.store(true, Ordering::Release);
    }

    /// Whether the end will begin soon, for a door that has no signals.
    pub(crate) fn end_is_near(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.end_is_near)
    }

    /// Has the loop serve within these limits from its next turn on.
    pub(crate) fn set_limits(&self, limits: &Limits) {
        let mut place = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        *place = Some(*limits);
        self.has_limits.store(true, Ordering::Release);
    }

    /// The limits that were set since the last call.
    pub(crate) fn take_limits(&self) -> Option<Limits> {
        if !self.has_limits.load(Ordering::Relaxed)
            || !self.has_limits.swap(false, Ordering::AcqRel)
        {
            return None;
        }
        self.limits
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
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
