//! What is of no use in a bucket: chunks without a description, whose upload has ended, and what earlier
//! versions of this program left of each snapshot that they deleted.

use std::{collections::BTreeSet, time::Duration};

use async_nats::datetime::parse_rfc3339;

use super::{
    SnapshotError,
    contents::{BucketContents, Described},
    store::SnapshotBucket,
    unavailable,
};

/// An upload that goes on stores something at least twice in so many times the patience with which it waits
/// for brokers: a chunk is given up after twice its patience. Twice that again is for clocks of brokers that
/// differ. If it is an upload after all, it is read back, found damaged and made again.
const SILENCES: u32 = 4;

impl SnapshotBucket {
    /// Removes what is of no use. An upload that goes on, and all that is listed, stays.
    pub(super) async fn forget_leftovers(&self) -> Result<(), SnapshotError> {
        let contents = self.contents().await?;
        let used = self.tokens_in_use(&contents).await?;
        for token in contents
            .tokens
            .iter()
            .filter(|token| !used.contains(*token))
        {
            if self.is_silent(token, &contents.now).await? {
                self.forget_chunks(Some(token)).await;
            }
        }
        Ok(())
    }

    /// The tokens of all snapshots that are listed.
    async fn tokens_in_use(
        &self,
        contents: &BucketContents,
    ) -> Result<BTreeSet<String>, SnapshotError> {
        let mut used = BTreeSet::new();
        for subject in &contents.descriptions {
            match self.described(subject).await? {
                Some(Described { info, at }) if info.deleted => {
                    self.forget_description(subject, at).await?;
                }
                Some(Described { info, .. }) => {
                    used.insert(info.nuid);
                }
                None => {}
            }
        }
        Ok(used)
    }

    /// Whether nothing was stored under this token for so long that its upload has ended.
    async fn is_silent(&self, token: &str, now: &str) -> Result<bool, SnapshotError> {
        let Some(last) = self.last(&self.chunk_subject(token)).await? else {
            return Ok(false);
        };
        let now = parse_rfc3339(now).map_err(unavailable)?;
        let since = parse_rfc3339(&last.time).map_err(unavailable)?;
        let silence = Duration::try_from(now - since).unwrap_or_default();
        Ok(silence >= self.patience * SILENCES)
    }
}
