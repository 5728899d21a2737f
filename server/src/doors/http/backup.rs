//! Copies of the journal, for backups and standbys: its files, read beside the loop.

use std::{path::PathBuf, sync::Arc};

use tokio::{sync::Semaphore, task};
use turnstile_backup::{PiecesPlace, SourceError, describe, pieces_after, snapshot_part};
use turnstile_embedded::Durability;
use turnstile_http::{Code, Problem, read_pieces, read_snapshot};
use turnstile_types::Position;

use super::{
    Door, call::HttpCall, documents::unstored, limits::BACKUP_READS, operations::Answered,
    reply::RaisedProblem,
};

const BYTES: &str = "application/octet-stream";

/// The reads for backups that run now; more wait for their turn.
#[derive(Debug)]
pub(super) struct BackupReads(Semaphore);

impl Default for BackupReads {
    fn default() -> Self {
        Self(Semaphore::new(BACKUP_READS))
    }
}

/// Says with what a copy can begin.
pub(super) async fn description(door: Arc<Door>, call: HttpCall) -> Answered {
    drop(call.given()?);
    let (directory, last) = journal(&door).await?;
    let described = read(&door, move || describe(&directory, last)).await?;
    let json = serde_json::to_vec(&described).expect("it is texts, numbers and lists");
    Ok(unstored(json, "application/json"))
}

/// Gives groups that follow a place.
pub(super) async fn pieces(door: Arc<Door>, call: HttpCall) -> Answered {
    let wanted = read_pieces(&call.given()?)?;
    let place = PiecesPlace {
        segment: wanted.segment,
        offset: wanted.offset,
        after: wanted.after,
    };
    let (directory, last) = journal(&door).await?;
    let pieces = read(&door, move || pieces_after(&directory, place, last)).await?;
    Ok(unstored(pieces.encode(), BYTES))
}

/// Gives bytes of a snapshot.
pub(super) async fn snapshot(door: Arc<Door>, call: HttpCall) -> Answered {
    let wanted = read_snapshot(&call.given()?)?;
    let (directory, _) = journal(&door).await?;
    let position = Position(wanted.position);
    let part = move || snapshot_part(&directory, position, wanted.offset);
    Ok(unstored(read(&door, part).await?, BYTES))
}

/// Where the journal lies, and what of it is durable: the loop answers once everything before is that is
/// promised.
async fn journal(door: &Door) -> Result<(PathBuf, Position), RaisedProblem> {
    let status = door.courier.status().await?;
    let directory = door.about.data.clone();
    let kept = directory.filter(|_| status.backend.durability != Durability::Memory);
    let none = || Problem::with(Code::Unsupported, "this server keeps no journal on a disk");
    Ok((kept.ok_or_else(none)?, status.backend.firm))
}

/// Reads files on a thread of the pool.
async fn read<T: Send + 'static>(
    door: &Door,
    work: impl FnOnce() -> Result<T, SourceError> + Send + 'static,
) -> Result<T, RaisedProblem> {
    let permit = door.backup_reads.0.acquire().await;
    let _permit = permit.map_err(|_closed| Code::Unavailable)?;
    let done = task::spawn_blocking(work).await;
    let done = done.map_err(|_panic| Code::Unavailable)?;
    done.map_err(|cause| {
        let said = cause.to_string();
        if let SourceError::Io(failure) = &cause {
            tracing::error!(%failure, "the journal cannot be read for a backup");
            return RaisedProblem::from(Problem::with(Code::Unavailable, said));
        }
        RaisedProblem::from(Problem::with(Code::NotKept, said))
    })
}
