//! What is in a bucket, as the broker knows it that leads it.

use std::time::Instant;

use async_nats::jetstream::object_store::ObjectInfo;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    api::{NO_STREAM, NoAnswer},
    id::Sequence,
};

use super::{
    SnapshotError, damaged,
    store::{PAUSE_MAX, SnapshotBucket},
    unavailable,
};

/// There is no message of this subject.
const NO_MESSAGE: u32 = 10_037;

/// A description of a snapshot.
pub(super) struct Described {
    pub(super) info: ObjectInfo,
    /// Where it is in the bucket.
    pub(super) at: Sequence,
}

/// What is in a bucket.
#[derive(Debug, Default)]
pub(super) struct BucketContents {
    /// The time at the broker that has answered.
    pub(super) now: String,
    /// The subjects of descriptions.
    pub(super) descriptions: Vec<String>,
    /// The tokens of chunks.
    pub(super) tokens: Vec<String>,
}

/// A message of a stream, as a broker shows it.
#[derive(Deserialize)]
pub(super) struct StoredMessage {
    seq: u64,
    /// When it was stored.
    pub(super) time: String,
    /// In base 64; missing where it is empty.
    #[serde(default)]
    data: String,
}

impl SnapshotBucket {
    /// The subjects of all messages; none without a bucket.
    pub(super) async fn contents(&self) -> Result<BucketContents, SnapshotError> {
        let what = format!("STREAM.INFO.{}", self.stream());
        let all = json!({ "subjects_filter": format!("$O.{}.>", self.name) });
        let told = match self.ask::<Value>(&what, &all).await {
            Err(NoAnswer::Refused {
                number: NO_STREAM, ..
            }) => return Ok(BucketContents::default()),
            told => told.map_err(unavailable)?,
        };
        let mut contents = BucketContents {
            now: told["ts"].as_str().unwrap_or_default().to_owned(),
            ..BucketContents::default()
        };
        let chunks = self.chunk_subject("");
        for (subject, _count) in told["state"]["subjects"].as_object().into_iter().flatten() {
            match subject.strip_prefix(&chunks) {
                Some(token) => contents.tokens.push(token.to_owned()),
                None => contents.descriptions.push(subject.clone()),
            }
        }
        Ok(contents)
    }

    /// The description under a subject, also of what earlier versions of this program deleted.
    pub(super) async fn described(
        &self,
        subject: &str,
    ) -> Result<Option<Described>, SnapshotError> {
        let Some(last) = self.last(subject).await? else {
            return Ok(None);
        };
        let unreadable = || damaged(subject);
        let info = STANDARD.decode(last.data);
        let info = info.map_err(|_no_base_64| unreadable())?;
        let info = serde_json::from_slice(&info);
        let info = info.map_err(|_no_description| unreadable())?;
        let at = Sequence(last.seq);
        Ok(Some(Described { info, at }))
    }

    /// The last message under a subject.
    pub(super) async fn last(&self, subject: &str) -> Result<Option<StoredMessage>, SnapshotError> {
        #[derive(Deserialize)]
        struct LastMessage {
            message: StoredMessage,
        }
        let what = format!("STREAM.MSG.GET.{}", self.stream());
        let last = json!({ "last_by_subj": subject });
        match self.ask::<LastMessage>(&what, &last).await {
            Ok(found) => Ok(Some(found.message)),
            Err(NoAnswer::Refused {
                number: NO_MESSAGE, ..
            }) => Ok(None),
            Err(unanswered) => Err(unavailable(unanswered)),
        }
    }

    /// Asks until there is an answer, as long as that may take.
    async fn ask<T: DeserializeOwned>(&self, what: &str, body: &Value) -> Result<T, NoAnswer> {
        let deadline = Instant::now() + self.patience;
        loop {
            match self.api.ask(what, body.clone()).await {
                Err(NoAnswer::Unknown(_)) if Instant::now() < deadline => sleep(PAUSE_MAX).await,
                answer => return answer,
            }
        }
    }
}
