//! The time before the journal is recovered: the doors are open, and no service is there yet.

use std::sync::{
    OnceLock,
    atomic::{AtomicBool, Ordering},
};

use turnstile_embedded::{Headway, RecoveryProgress};
use turnstile_rooms::IdKey;

/// What every door knows about the recovery.
///
/// Until it is over, no command and no query reaches a back end: the fast loop has an empty one, and
/// whatever came from that would be a lie. Doors answer for themselves that the server recovers.
#[derive(Debug)]
pub(crate) struct Loading {
    pub(crate) progress: RecoveryProgress,
    is_over: AtomicBool,
    /// That of the state, once it is known.
    id_key: OnceLock<IdKey>,
}

impl Loading {
    pub(crate) fn begin() -> Self {
        Self {
            progress: RecoveryProgress::default(),
            is_over: AtomicBool::new(false),
            id_key: OnceLock::new(),
        }
    }

    /// A recovery that has nothing to do.
    #[cfg(test)]
    pub(crate) fn over(id_key: IdKey) -> Self {
        let loading = Self::begin();
        loading.finish(id_key);
        loading
    }

    /// The state is there, with this key.
    pub(crate) fn finish(&self, id_key: IdKey) {
        let is_first = self.id_key.set(id_key).is_ok();
        assert!(is_first, "a server recovers once");
        self.is_over.store(true, Ordering::Release);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// The key that seals id numbers.
    ///
    /// # Panics
    /// It is asked for before the recovery is over.
    pub(crate) fn id_key(&self) -> &IdKey {
        self.id_key
            .get()
            .expect("no client is served before the recovery is over")
    }

    pub(crate) fn headway(&self) -> Headway {
        self.progress.headway()
    }
}
