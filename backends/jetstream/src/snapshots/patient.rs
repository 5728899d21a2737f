//! The store as a node asks it that starts: what may pass by itself is waited for, and another thread may end
//! the wait.

use std::{sync::Arc, time::Duration};

use tokio::time::{sleep, timeout};

use crate::{
    opening::{LogObstacle, LogOpening},
    settings::LogSettings,
    stream,
};

use super::{LogInStore, SnapshotBucket, SnapshotError, SnapshotStore, StoredSnapshot, late};

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(200);

/// A [`SnapshotStore`] for a start. None of its methods fails because brokers do not answer: the opening hears
/// of that, and the method tries again until it is ended.
#[derive(Debug)]
pub struct PatientStore {
    store: SnapshotStore,
    opening: Arc<LogOpening>,
}

impl PatientStore {
    /// See [`SnapshotStore::of`].
    ///
    /// # Errors
    /// The system gives us no means to talk to brokers.
    pub fn of(settings: &LogSettings, opening: Arc<LogOpening>) -> Result<Self, SnapshotError> {
        let store = SnapshotStore::of(settings)?;
        Ok(Self { store, opening })
    }

    /// The log of the same partition; nothing if there is none yet.
    ///
    /// # Errors
    /// See [`SnapshotError`]: what does not pass by itself.
    pub fn log(&self) -> Result<Option<LogInStore>, SnapshotError> {
        let settings = &self.store.settings;
        let name = stream::name(settings);
        self.wait(async || {
            let bucket = self.connect().await?;
            // It is not silent for as long as all of a start may take.
            let asked = timeout(settings.timeouts.request * 2, bucket.log(&name));
            asked.await.map_err(late)?
        })
    }

    /// All snapshots, by name; none without a store.
    ///
    /// # Errors
    /// See [`SnapshotError`]: what does not pass by itself.
    pub fn list(&self) -> Result<Vec<StoredSnapshot>, SnapshotError> {
        self.wait(async || self.connect().await?.list().await)
    }

    /// The bytes of a snapshot.
    ///
    /// # Errors
    /// See [`SnapshotError`]: what does not pass by itself.
    pub fn get(&self, name: &str) -> Result<Vec<u8>, SnapshotError> {
        self.wait(async || {
            let mut bytes = Vec::new();
            self.connect().await?.read(name, &mut bytes).await?;
            Ok(bytes)
        })
    }

    async fn connect(&self) -> Result<SnapshotBucket, SnapshotError> {
        let tell = |reason: &str| {
            let obstacle = LogObstacle::NoBroker(reason.to_owned());
            self.opening.hear(&obstacle);
        };
        self.store.connect_telling(tell).await
    }

    fn wait<T>(&self, ask: impl AsyncFn() -> Result<T, SnapshotError>) -> Result<T, SnapshotError> {
        self.store.runtime.block_on(async {
            loop {
                let asked = tokio::select! {
                    asked = ask() => asked,
                    () = self.opening.ended() => Err(SnapshotError::Ended),
                };
                let obstacle = match asked {
                    Err(unavailable @ SnapshotError::Unavailable(_)) => unavailable.to_string(),
                    asked => return asked,
                };
                self.opening.hear(&LogObstacle::NotYet(obstacle));
                sleep(PAUSE).await;
            }
        })
    }
}
