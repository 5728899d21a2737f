//! The bucket of a partition: chunks and descriptions in the form of NATS object stores.

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    time::{Duration, Instant},
};

use async_nats::{
    HeaderMap,
    jetstream::{
        Context,
        object_store::{ObjectInfo, ObjectOptions},
    },
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::{
    api::{Api, NO_STREAM, NoAnswer, StreamReport},
    event::LogExtent,
    id::Sequence,
    reading::ID_HEADER,
    settings::LogSettings,
    shared::StreamIdentity,
    stream,
};

use super::{
    LogInStore, MeasuredBytes, SnapshotError, StoredSnapshot, chunks::Chunks, contents::Described,
    damaged, late, unavailable,
};

/// Bytes of a chunk: few acknowledgements, and room beside it for the header.
const CHUNK_BYTES: usize = 512 << 10;

/// Between two tries to publish a chunk, or to ask something.
const PAUSE_MIN: Duration = Duration::from_millis(50);
pub(super) const PAUSE_MAX: Duration = Duration::from_millis(500);

/// How the form of NATS names the digest.
const DIGEST: &str = "SHA-256=";

/// A bucket, as one connection sees it.
pub(super) struct SnapshotBucket {
    pub(super) name: String,
    context: Context,
    pub(super) api: Api,
    /// For how long a broker may not acknowledge a chunk, and may not answer.
    pub(super) patience: Duration,
}

/// Chunks that were written.
#[derive(Debug)]
pub(super) struct Written {
    /// What their subject is named by.
    pub(super) token: String,
    pub(super) digest: [u8; 32],
    bytes: u64,
    chunks: usize,
}

impl SnapshotBucket {
    pub(super) fn new(settings: &LogSettings, context: Context, api: Api) -> Self {
        Self {
            name: format!("SNAPSHOTS_{}", settings.partition),
            context,
            api,
            patience: settings.timeouts.open,
        }
    }

    pub(super) fn stream(&self) -> String {
        format!("OBJ_{}", self.name)
    }

    pub(super) async fn check_or_make(&self, settings: &LogSettings) -> Result<(), SnapshotError> {
        let wanted = self.wanted(settings);
        let what = format!("STREAM.INFO.{}", self.stream());
        loop {
            match self.api.ask::<StreamReport>(&what, Value::Null).await {
                Ok(info) => {
                    let differences = stream::differences(&wanted, &info.config);
                    if differences.is_empty() {
                        return Ok(());
                    }
                    return Err(SnapshotError::Configuration(differences));
                }
                Err(NoAnswer::Refused {
                    number: NO_STREAM, ..
                }) => {
                    let create = format!("STREAM.CREATE.{}", self.stream());
                    let made = self.api.ask::<Value>(&create, wanted.clone()).await;
                    if let Err(error @ NoAnswer::Refused { .. }) = made {
                        // Another node may have been faster.
                        let there = self.api.ask::<StreamReport>(&what, Value::Null).await;
                        there.map_err(|_absent| unavailable(error))?;
                    }
                }
                Err(NoAnswer::Unknown(_) | NoAnswer::Refused { .. }) => {
                    sleep(PAUSE_MAX).await;
                }
            }
        }
    }

    /// The log, as its leader knows it.
    pub(super) async fn log(&self, name: &str) -> Result<Option<LogInStore>, SnapshotError> {
        let what = format!("STREAM.INFO.{name}");
        loop {
            match self.api.ask::<StreamReport>(&what, Value::Null).await {
                Ok(info) if info.has_leader() => {
                    let extent = LogExtent {
                        first: Sequence(info.state.first_seq),
                        last: Sequence(info.state.last_seq),
                        bytes: info.state.bytes,
                    };
                    let identity = StreamIdentity(info.created);
                    return Ok(Some(LogInStore { identity, extent }));
                }
                Err(NoAnswer::Refused {
                    number: NO_STREAM, ..
                }) => return Ok(None),
                Ok(_) | Err(_) => sleep(PAUSE_MAX).await,
            }
        }
    }

    fn wanted(&self, settings: &LogSettings) -> Value {
        json!({
            "name": self.stream(),
            "subjects": [format!("$O.{}.C.>", self.name), format!("$O.{}.M.>", self.name)],
            "retention": "limits",
            "storage": "file",
            "num_replicas": settings.replicas,
            "discard": "new",
            "max_bytes": settings.snapshot_bytes_max,
            "max_age": 0,
            "duplicate_window": 120_000_000_000_u64,
            "allow_rollup_hdrs": true,
            "allow_direct": false,
            "deny_delete": false,
            "deny_purge": false,
            "compression": "none",
        })
    }

    /// Publishes the chunks, under a token of their own.
    pub(super) async fn write(
        &self,
        name: &str,
        from: &mut impl Read,
    ) -> Result<Written, SnapshotError> {
        if !is_name(name) {
            return Err(invalid(name));
        }
        let inbox = self.context.client().new_inbox();
        let token = inbox.rsplit('.').next().unwrap_or_default().to_owned();
        let written = self.write_chunks(&token, from).await;
        match written {
            Ok(written) if written.bytes > 0 => Ok(written),
            Ok(_) => Err(invalid(name)),
            Err(error) => {
                self.forget_chunks(Some(&token)).await;
                Err(error)
            }
        }
    }

    async fn write_chunks(
        &self,
        token: &str,
        from: &mut impl Read,
    ) -> Result<Written, SnapshotError> {
        let mut measured = MeasuredBytes::default();
        let mut chunks = 0;
        let subject = self.chunk_subject(token);
        loop {
            let mut chunk = Vec::with_capacity(CHUNK_BYTES);
            let mut bounded = from.by_ref().take(CHUNK_BYTES as u64);
            let read = bounded.read_to_end(&mut chunk);
            read.map_err(SnapshotError::Source)?;
            if chunk.is_empty() {
                break;
            }
            measured.add(&chunk);
            chunks += 1;
            let mut headers = HeaderMap::new();
            headers.insert(ID_HEADER, format!("{token}.{chunks}"));
            self.publish(&subject, headers, chunk.into()).await?;
        }
        Ok(Written {
            token: token.to_owned(),
            bytes: measured.bytes,
            digest: measured.digest(),
            chunks,
        })
    }

    pub(super) fn chunk_subject(&self, token: &str) -> String {
        format!("$O.{}.C.{token}", self.name)
    }

    fn description_subject(&self, name: &str) -> String {
        format!("$O.{}.M.{}", self.name, URL_SAFE.encode(name))
    }

    /// Publishes a message with an id until it is acknowledged.
    async fn publish(
        &self,
        subject: &str,
        headers: HeaderMap,
        bytes: Bytes,
    ) -> Result<(), SnapshotError> {
        let deadline = Instant::now() + self.patience;
        let mut pause = PAUSE_MIN;
        loop {
            let (subject, headers) = (subject.to_owned(), headers.clone());
            let sent = self
                .context
                .publish_with_headers(subject, headers, bytes.clone());
            let reason = match timeout(self.patience, sent).await.map_err(late)? {
                Ok(acknowledgement) => match acknowledgement.await {
                    Ok(_) => return Ok(()),
                    Err(error) => error,
                },
                Err(error) => error,
            };
            if Instant::now() > deadline {
                return Err(unavailable(reason));
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Makes chunks a snapshot of this name.
    pub(super) async fn describe(
        &self,
        name: &str,
        metadata: &BTreeMap<String, String>,
        written: &Written,
    ) -> Result<StoredSnapshot, SnapshotError> {
        let size = usize::try_from(written.bytes).map_err(unavailable)?;
        let info = ObjectInfo {
            name: name.to_owned(),
            description: None,
            metadata: metadata.clone().into_iter().collect(),
            headers: None,
            options: Some(ObjectOptions {
                link: None,
                max_chunk_size: Some(CHUNK_BYTES),
            }),
            bucket: self.name.clone(),
            nuid: written.token.clone(),
            size,
            chunks: written.chunks,
            modified: Some(async_nats::datetime::now()),
            digest: Some(format!("{DIGEST}{}", URL_SAFE.encode(written.digest))),
            deleted: false,
        };
        let described = serde_json::to_vec(&info).map_err(unavailable)?;
        let mut headers = HeaderMap::new();
        headers.insert(ID_HEADER, format!("{}.description", written.token));
        headers.insert("Nats-Rollup", "sub");
        let subject = self.description_subject(name);
        self.publish(&subject, headers, described.into()).await?;
        stored(&info)
    }

    /// The description of a snapshot.
    async fn info(&self, name: &str) -> Result<Option<Described>, SnapshotError> {
        if !is_name(name) {
            return Err(invalid(name));
        }
        let described = self.described(&self.description_subject(name)).await?;
        Ok(described.filter(|described| !described.info.deleted))
    }

    /// The token of the chunks of the snapshot that has this name now.
    pub(super) async fn chunks_of(&self, name: &str) -> Result<Option<String>, SnapshotError> {
        let described = self.info(name).await?;
        Ok(described.map(|described| described.info.nuid))
    }

    /// Removes chunks. If that fails, [`forget_leftovers`](Self::forget_leftovers) does it later.
    pub(super) async fn forget_chunks(&self, token: Option<&str>) {
        let Some(token) = token else {
            return;
        };
        let purged = self.purge(json!({ "filter": self.chunk_subject(token) }));
        drop(purged.await);
    }

    /// Removes a description, and none that has come to its subject since.
    pub(super) async fn forget_description(
        &self,
        subject: &str,
        at: Sequence,
    ) -> Result<(), SnapshotError> {
        let order = json!({ "filter": subject, "seq": at.next().0 });
        self.purge(order).await
    }

    async fn purge(&self, order: Value) -> Result<(), SnapshotError> {
        let what = format!("STREAM.PURGE.{}", self.stream());
        let purged = self.api.ask::<Value>(&what, order).await;
        purged.map(|_count| ()).map_err(unavailable)
    }

    /// Removes a snapshot that was not verified.
    pub(super) async fn remove_whole(&self, name: &str, token: &str) {
        drop(self.delete(name).await);
        self.forget_chunks(Some(token)).await;
    }

    /// Reads a snapshot and compares it with its description.
    pub(super) async fn read(
        &self,
        name: &str,
        into: &mut impl Write,
    ) -> Result<StoredSnapshot, SnapshotError> {
        let not_found = || SnapshotError::NotFound {
            name: name.to_owned(),
        };
        let Described { info, .. } = self.info(name).await?.ok_or_else(not_found)?;
        let snapshot = stored(&info)?;
        let client = self.context.client();
        let mut chunks = Chunks::new(&client, &self.api, self.stream()).await?;
        let subject = self.chunk_subject(&info.nuid);
        let mut measured = MeasuredBytes::default();
        for _ in 0..info.chunks {
            let chunk = chunks.next(&subject).await?;
            let chunk = chunk.ok_or_else(|| damaged(name))?;
            measured.add(&chunk);
            into.write_all(&chunk).map_err(SnapshotError::Target)?;
        }
        into.flush().map_err(SnapshotError::Target)?;
        if measured.bytes == snapshot.bytes && measured.digest() == snapshot.digest {
            return Ok(snapshot);
        }
        Err(damaged(name))
    }

    /// All snapshots, as the leader of the bucket knows them.
    pub(super) async fn list(&self) -> Result<Vec<StoredSnapshot>, SnapshotError> {
        let mut snapshots = Vec::new();
        for subject in self.contents().await?.descriptions {
            let described = self.described(&subject).await?;
            if let Some(Described { info, .. }) = described.filter(|one| !one.info.deleted) {
                snapshots.push(stored(&info)?);
            }
        }
        snapshots.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(snapshots)
    }

    /// Removes a snapshot: first its description, so that chunks which stay are known to be of no use.
    pub(super) async fn delete(&self, name: &str) -> Result<bool, SnapshotError> {
        let Some(described) = self.info(name).await? else {
            return Ok(false);
        };
        let subject = self.description_subject(name);
        self.forget_description(&subject, described.at).await?;
        self.forget_chunks(Some(&described.info.nuid)).await;
        Ok(true)
    }
}

/// A snapshot, from its description.
fn stored(info: &ObjectInfo) -> Result<StoredSnapshot, SnapshotError> {
    let digest = info.digest.as_ref().and_then(|digest| {
        let bytes = URL_SAFE.decode(digest.strip_prefix(DIGEST)?).ok()?;
        <[u8; 32]>::try_from(bytes).ok()
    });
    Ok(StoredSnapshot {
        name: info.name.clone(),
        bytes: info.size as u64,
        digest: digest.ok_or_else(|| damaged(&info.name))?,
        metadata: info.metadata.clone().into_iter().collect(),
    })
}

fn is_name(name: &str) -> bool {
    let is_of_a_name =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/' | b'=' | b'.');
    (1..=128).contains(&name.len()) && name.bytes().all(is_of_a_name)
}

fn invalid(name: &str) -> SnapshotError {
    SnapshotError::Invalid {
        name: name.chars().take(128).collect(),
    }
}
