//! The time before the journal is recovered: the doors are open, and no service is there yet.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering},
};

use turnstile_embedded::{Headway, RecoveryProgress};
use turnstile_jetstream::LogOpening;
use turnstile_rooms::IdKey;

/// What every door knows about the recovery.
///
/// Until it is over, no command and no query reaches a back end: the fast loop has an empty one, and
/// whatever came from that would be a lie. Doors answer for themselves that the server recovers.
#[derive(Debug)]
pub(crate) struct Loading {
    pub(crate) progress: RecoveryProgress,
    /// What a node of a cluster waits for.
    brokers: Arc<LogOpening>,
    is_joining: AtomicBool,
    is_over: AtomicBool,
    /// That of the state, once it is known.
    id_key: OnceLock<IdKey>,
}

impl Loading {
    pub(crate) fn begin() -> Self {
        Self {
            progress: RecoveryProgress::default(),
            brokers: Arc::new(LogOpening::telling(|obstacle| {
                tracing::warn!("the node waits for the shared log: {obstacle}");
            })),
            is_joining: AtomicBool::new(false),
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

    /// The journal is recovered, and the node joins the shared log. Others see how that goes.
    pub(crate) fn join(&self) -> Arc<LogOpening> {
        self.is_joining.store(true, Ordering::Release);
        Arc::clone(&self.brokers)
    }

    /// What a node waits for that has recovered its journal; nothing before, or where there is no cluster.
    pub(crate) fn waits_for(&self) -> Option<&'static str> {
        if !self.is_joining.load(Ordering::Acquire) {
            return None;
        }
        let obstacle = self.brokers.obstacle();
        Some(obstacle.map_or("the brokers are asked", |obstacle| obstacle.summary()))
    }

    /// How far the start is, in words for everybody.
    pub(crate) fn sentence(&self) -> String {
        match self.waits_for() {
            Some(reason) => {
                format!("the journal is recovered, the node waits for the shared log: {reason}")
            }
            None => self.headway().to_string(),
        }
    }

    /// Ends the recovery and the wait before their time.
    pub(crate) fn end(&self) {
        self.progress.end();
        self.brokers.end();
    }
}
