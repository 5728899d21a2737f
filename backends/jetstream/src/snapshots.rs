//! Snapshots in the object store of the brokers, each verified by reading it back.
//!
//! The objects have the standard form of NATS, so that `nats object get` reads them. Chunks are
//! published one after the other, each with an id of its own, until the broker has acknowledged it: a
//! change of leaders delays a snapshot and neither breaks nor doubles a chunk.

mod chunks;
mod contents;
mod leftovers;
mod patient;
mod store;

use std::{
    collections::BTreeMap,
    fmt,
    io::{self, Read, Write},
    sync::Arc,
};

use async_nats::jetstream;
use sha2::{Digest as _, Sha256};
use tokio::{
    runtime::{Builder, Runtime},
    time::timeout,
};

use crate::{
    api::Api,
    connecting::{self, ConnectionSignals, NotConnected},
    event::LogExtent,
    settings::LogSettings,
    shared::StreamIdentity,
    stream::{self, Difference},
};
pub use patient::PatientStore;
use store::SnapshotBucket;

/// A snapshot as the store lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSnapshot {
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// The SHA-256 of its bytes.
    pub digest: [u8; 32],
    /// What was given with it.
    pub metadata: BTreeMap<String, String>,
}

/// Why something was not done with a snapshot.
#[derive(Debug)]
pub enum SnapshotError {
    /// A file of the settings is not what it should be.
    Settings(String),
    /// The brokers do not answer as they should. To be tried again.
    Unavailable(String),
    /// A broker does not let us in.
    Login(String),
    /// There is a store of that name, and it is another kind of store.
    Configuration(Vec<Difference>),
    /// There is no snapshot of this name.
    NotFound { name: String },
    /// What was read is not what was written, by length or digest.
    Damaged { name: String },
    /// A snapshot of no bytes, or with a name that is none: letters, digits, `-`, `_`, `/`, `=`, `.`.
    Invalid { name: String },
    /// What is stored cannot be read where it comes from.
    Source(io::Error),
    /// What is read cannot be written where it goes.
    Target(io::Error),
    /// The [`LogOpening`](crate::LogOpening) of a start was ended.
    Ended,
}

/// The store of snapshots of one partition. Its methods wait for the brokers, so that they belong on a
/// thread beside the loop. Each method makes a connection of its own, and so entries never wait behind
/// the bytes of a snapshot.
#[derive(Debug)]
pub struct SnapshotStore {
    settings: LogSettings,
    runtime: Runtime,
}

/// The log beside a store, as its brokers know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogInStore {
    pub identity: StreamIdentity,
    pub extent: LogExtent,
}

impl SnapshotStore {
    /// Creates the store if there is none, and checks that it is replicated and on disks.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn open(settings: &LogSettings) -> Result<Self, SnapshotError> {
        let store = Self::of(settings)?;
        store.runtime.block_on(async {
            let bucket = store.connect().await?;
            timeout(settings.timeouts.open, bucket.check_or_make(settings))
                .await
                .map_err(late)?
        })?;
        Ok(store)
    }

    /// The store, if there is one, to read from: nothing is asked of the brokers yet.
    ///
    /// # Errors
    /// The system gives us no means to talk to them.
    pub fn of(settings: &LogSettings) -> Result<Self, SnapshotError> {
        let runtime = Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(|error| SnapshotError::Unavailable(error.to_string()))?;
        Ok(Self {
            settings: settings.clone(),
            runtime,
        })
    }

    /// The log of the same partition; nothing if there is none yet.
    ///
    /// # Errors
    /// The brokers do not answer as they should.
    pub fn log(&self) -> Result<Option<LogInStore>, SnapshotError> {
        self.runtime.block_on(async {
            let bucket = self.connect().await?;
            let name = stream::name(&self.settings);
            let asked = bucket.log(&name);
            timeout(self.settings.timeouts.open, asked)
                .await
                .map_err(late)?
        })
    }

    async fn connect(&self) -> Result<SnapshotBucket, SnapshotError> {
        self.connect_telling(|_reason| {}).await
    }

    /// `obstacle` hears why no broker can be reached, as long as none can.
    async fn connect_telling(
        &self,
        mut obstacle: impl FnMut(&str),
    ) -> Result<SnapshotBucket, SnapshotError> {
        let signals = Arc::new(ConnectionSignals::default());
        let mut reason = "no broker answers in time".to_owned();
        let connecting = connecting::connect(&self.settings, &signals, |told| {
            obstacle(&told);
            reason = told;
        });
        let connected = timeout(self.settings.timeouts.open, connecting).await;
        let client = match connected {
            Ok(Ok(client)) => client,
            Ok(Err(NotConnected::Settings(reason))) => return Err(SnapshotError::Settings(reason)),
            Ok(Err(NotConnected::Refused(reason))) => return Err(SnapshotError::Login(reason)),
            Err(_elapsed) => return Err(unavailable(reason)),
        };
        let api = Api::new(client.clone(), self.settings.timeouts.request);
        Ok(SnapshotBucket::new(
            &self.settings,
            jetstream::new(client),
            api,
        ))
    }

    /// Stores what `from` holds and reads it back. It is listed only if that was the same; a snapshot
    /// of the same name is replaced.
    ///
    /// # Errors
    /// See [`SnapshotError`]. After an error nothing of it is left, if the brokers answer.
    pub fn put(
        &self,
        name: &str,
        metadata: &BTreeMap<String, String>,
        from: &mut impl Read,
    ) -> Result<StoredSnapshot, SnapshotError> {
        self.runtime.block_on(async {
            let bucket = self.connect().await?;
            let written = bucket.write(name, from).await?;
            let before = match bucket.chunks_of(name).await {
                Ok(before) => before,
                Err(error) => {
                    bucket.forget_chunks(Some(&written.token)).await;
                    return Err(error);
                }
            };
            let stored = bucket.describe(name, metadata, &written).await;
            let verified = match stored {
                Ok(snapshot) => bucket.read(name, &mut io::sink()).await.and_then(|read| {
                    let is_same = read == snapshot && read.digest == written.digest;
                    is_same.then_some(read).ok_or_else(|| damaged(name))
                }),
                Err(error) => Err(error),
            };
            match &verified {
                Ok(_) => bucket.forget_chunks(before.as_deref()).await,
                Err(_) => bucket.remove_whole(name, &written.token).await,
            }
            verified
        })
    }

    /// Writes a snapshot into `into`. After an error what was written so far is worthless.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn get(&self, name: &str, into: &mut impl Write) -> Result<StoredSnapshot, SnapshotError> {
        self.runtime.block_on(async {
            let bucket = self.connect().await?;
            bucket.read(name, into).await
        })
    }

    /// All snapshots, by name; none without a store.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn list(&self) -> Result<Vec<StoredSnapshot>, SnapshotError> {
        self.runtime.block_on(async {
            let bucket = self.connect().await?;
            bucket.list().await
        })
    }

    /// Removes chunks that are of no snapshot in the list and of no upload that goes on. What stays because
    /// brokers do not answer goes the next time.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn forget_leftovers(&self) -> Result<(), SnapshotError> {
        self.runtime.block_on(async {
            let bucket = self.connect().await?;
            bucket.forget_leftovers().await
        })
    }

    /// Removes a snapshot; says whether there was one.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn delete(&self, name: &str) -> Result<bool, SnapshotError> {
        self.runtime.block_on(async {
            let bucket = self.connect().await?;
            bucket.delete(name).await
        })
    }
}

impl SnapshotError {
    /// Whether it is the fault of one snapshot, so that another one may be read.
    #[must_use]
    pub const fn is_of_one(&self) -> bool {
        matches!(
            self,
            Self::NotFound { .. } | Self::Damaged { .. } | Self::Invalid { .. }
        )
    }
}

/// The digest and the length of bytes that pass by.
#[derive(Debug, Default)]
struct MeasuredBytes {
    digest: Sha256,
    bytes: u64,
}

impl MeasuredBytes {
    fn add(&mut self, bytes: &[u8]) {
        self.digest.update(bytes);
        self.bytes += bytes.len() as u64;
    }

    fn digest(self) -> [u8; 32] {
        self.digest.finalize().into()
    }
}

fn late(_elapsed: tokio::time::error::Elapsed) -> SnapshotError {
    SnapshotError::Unavailable("no answer in time".to_owned())
}

fn unavailable(reason: impl fmt::Display) -> SnapshotError {
    SnapshotError::Unavailable(reason.to_string())
}

fn damaged(name: &str) -> SnapshotError {
    SnapshotError::Damaged {
        name: name.to_owned(),
    }
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(reason) => f.write_str(reason),
            Self::Unavailable(reason) | Self::Login(reason) => {
                write!(f, "the store of snapshots cannot be used: {reason}")
            }
            Self::Configuration(differences) => {
                write!(f, "this is no store of snapshots: ")?;
                for (number, difference) in differences.iter().enumerate() {
                    let separator = if number == 0 { "" } else { "; " };
                    write!(f, "{separator}{difference}")?;
                }
                Ok(())
            }
            Self::NotFound { name } => write!(f, "there is no snapshot {name:?}"),
            Self::Damaged { name } => write!(
                f,
                "snapshot {name:?} is damaged: it is not read as it was written"
            ),
            Self::Invalid { name } => write!(
                f,
                "snapshot {name:?} cannot be stored: it is empty, or its name is not made of \
                 letters, digits, `-`, `_`, `/`, `=` and `.`"
            ),
            Self::Source(error) => write!(f, "the snapshot cannot be read: {error}"),
            Self::Target(error) => write!(f, "the snapshot cannot be written: {error}"),
            Self::Ended => f.write_str("the start was ended before"),
        }
    }
}

impl std::error::Error for SnapshotError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Source(error) | Self::Target(error) => Some(error),
            _ => None,
        }
    }
}
