//! Moving a whole state of rooms from one back end to another.
//!
//! A [`Source`] tells its state as [`Piece`]s in their order, and then what it remembers under
//! idempotency keys; a [`Target`] takes both. Both sides then tell what they have, and that is compared
//! piece by piece, before anybody may use the target.
//!
//! Carried are properties, rooms, stop-sells, bookings, holds with their references, positions,
//! sealed id numbers and the secret under which they are sealed, which references have ended,
//! totals, and first answers under keys that are not forgotten. What bookings that are over were is
//! not.

mod comparison;
mod halt;
mod presence;
mod refusal;
mod remembered;
mod teller;

use std::{future::Future, pin::Pin};

use turnstile_rooms::{IdKey, Piece};
use turnstile_types::{Position, Timestamp};

use self::teller::CopyBatch;

pub use self::{
    comparison::{Digest, Divergence, Part},
    halt::Halt,
    presence::{Others, Patience, PresenceRole},
    refusal::Refusal,
    remembered::CopiedKey,
    teller::{Gone, KeyTeller, Teller},
};

/// What a copy waits for, on the thread that waits: a state may be a machine in memory.
pub type Moving<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// What a state has beside its pieces and keys.
#[derive(Clone, Debug)]
pub struct Head {
    /// The secret under which id numbers are sealed.
    pub id_key: IdKey,
    /// The last position that was given.
    pub position: Position,
    /// As many slots have had bookings or holds; references of later ones were never given.
    pub slots: u32,
    /// About as many pieces and keys there are, for whoever waits.
    pub parts: u64,
}

/// A state that is read, and does not change meanwhile: from a snapshot of its database where that
/// has such, else because nobody serves it.
pub trait Source {
    /// What it has beside its pieces.
    fn head(&mut self) -> Moving<'_, Result<Head, Refusal>>;

    /// Tells all pieces as they are at an instant, in their order, and then the keys that are
    /// remembered at it, the oldest first. It may be asked again, and tells the same.
    fn tell(&mut self, now: Timestamp, teller: Teller) -> Moving<'_, Result<(), Refusal>>;
}

/// An empty place for a state, its keys included.
///
/// Contract. Nothing of a copy can be used before [`finish`](Self::finish): either the database
/// takes all of it back when this is dropped or the process dies, or a mark says that it is not
/// whole, on which servers refuse to start, and which a copy removes that may begin again.
pub trait Target: Source {
    /// What a piece takes that is not offered here.
    fn lacks(&self, _piece: &Piece) -> Option<&'static str> {
        None
    }

    /// Whether there are pieces that it lacks.
    fn is_choosy(&self) -> bool {
        false
    }

    /// Makes sure that nothing is here, and begins to take the state as it is at an instant. With
    /// `again`, what an unfinished copy has left is thrown away.
    fn begin<'a>(
        &'a mut self,
        head: &'a Head,
        now: Timestamp,
        again: bool,
    ) -> Moving<'a, Result<(), Refusal>>;

    /// Takes the next pieces.
    fn take(&mut self, pieces: Vec<Piece>) -> Moving<'_, Result<(), Refusal>>;

    /// Takes the next keys, when all pieces are there.
    fn take_keys(&mut self, keys: Vec<CopiedKey>) -> Moving<'_, Result<(), Refusal>>;

    /// Writes what can only be written when all is there. From here on it can tell them.
    fn settle(&mut self) -> Moving<'_, Result<(), Refusal>>;

    /// Lets the state be used.
    fn finish(&mut self) -> Moving<'_, Result<(), Refusal>>;
}

/// A [`Target`] whose failures do not say yet where they are.
pub trait Endpoint {
    /// Where it is, for those who are told of a failure.
    fn place(&self) -> &str;

    /// See [`Source::head`].
    fn read_head(&mut self) -> impl Future<Output = Result<Head, Halt>>;

    /// See [`Source::tell`].
    fn tell_all(
        &mut self,
        now: Timestamp,
        teller: Teller,
    ) -> impl Future<Output = Result<(), Halt>>;

    /// See [`Target::lacks`].
    fn lacking(&self, _piece: &Piece) -> Option<&'static str> {
        None
    }

    /// See [`Target::is_choosy`].
    const IS_CHOOSY: bool = false;

    /// See [`Target::begin`].
    fn begin_copy(&mut self, head: &Head, again: bool) -> impl Future<Output = Result<(), Halt>>;

    /// See [`Target::take`].
    fn write(&mut self, pieces: Vec<Piece>) -> impl Future<Output = Result<(), Halt>>;

    /// See [`Target::take_keys`].
    fn write_keys(&mut self, keys: Vec<CopiedKey>) -> impl Future<Output = Result<(), Halt>>;

    /// See [`Target::settle`].
    fn write_rest(&mut self) -> impl Future<Output = Result<(), Halt>>;

    /// See [`Target::finish`].
    fn end_copy(&mut self) -> impl Future<Output = Result<(), Halt>>;
}

/// Boxes what a site does and says of its failures where they are.
macro_rules! placed {
    ($site:ident.$does:ident($($with:expr),*)) => {
        Box::pin(async move {
            let done = $site.$does($($with),*).await;
            done.map_err(|halt| halt.at($site.place()))
        })
    };
}

impl<S: Endpoint> Source for S {
    fn head(&mut self) -> Moving<'_, Result<Head, Refusal>> {
        placed!(self.read_head())
    }

    fn tell(&mut self, now: Timestamp, teller: Teller) -> Moving<'_, Result<(), Refusal>> {
        placed!(self.tell_all(now, teller))
    }
}

impl<S: Endpoint> Target for S {
    fn lacks(&self, piece: &Piece) -> Option<&'static str> {
        self.lacking(piece)
    }

    fn is_choosy(&self) -> bool {
        S::IS_CHOOSY
    }

    fn begin<'a>(
        &'a mut self,
        head: &'a Head,
        _now: Timestamp,
        again: bool,
    ) -> Moving<'a, Result<(), Refusal>> {
        placed!(self.begin_copy(head, again))
    }

    fn take(&mut self, pieces: Vec<Piece>) -> Moving<'_, Result<(), Refusal>> {
        placed!(self.write(pieces))
    }

    fn take_keys(&mut self, keys: Vec<CopiedKey>) -> Moving<'_, Result<(), Refusal>> {
        placed!(self.write_keys(keys))
    }

    fn settle(&mut self) -> Moving<'_, Result<(), Refusal>> {
        placed!(self.write_rest())
    }

    fn finish(&mut self) -> Moving<'_, Result<(), Refusal>> {
        placed!(self.end_copy())
    }
}

/// Where a copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Looking for what the target does not offer.
    Looking,
    Copying,
    Comparing,
}

/// What was copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// What both sides have, as each told it.
    pub digest: Digest,
}

/// Copies a state. `progress` hears the stage, how many pieces and keys are done in it, and about how
/// many there are.
///
/// # Errors
/// Nothing was copied, or what was cannot be used: see [`Target`].
pub async fn copy(
    (source, target): (&mut dyn Source, &mut dyn Target),
    now: Timestamp,
    again: bool,
    progress: &mut dyn FnMut(Stage, u64, u64),
) -> Result<Copied, Refusal> {
    let head = source.head().await?;
    let mut report = |stage, done| progress(stage, done, head.parts.max(done));
    if target.is_choosy() {
        look(source, target, now, &mut report).await?;
    }
    target.begin(&head, now, again).await?;
    transfer(source, target, now, &mut report).await?;
    target.settle().await?;
    let kept = target.head().await?;
    if kept.id_key.secret() != head.id_key.secret() {
        return Err(Refusal::Secret);
    }
    let compared = |done| report(Stage::Comparing, done);
    let digest = comparison::compare(source, target, now, compared).await?;
    target.finish().await?;
    Ok(Copied { digest })
}

/// Makes sure that the target offers all that the source has.
async fn look(
    source: &mut dyn Source,
    target: &dyn Target,
    now: Timestamp,
    report: &mut dyn FnMut(Stage, u64),
) -> Result<(), Refusal> {
    let progress = |done| report(Stage::Looking, done);
    let offered = async |batch: CopyBatch| {
        // Every answer can be given again, whatever is offered.
        let CopyBatch::Pieces(pieces) = batch else {
            return Ok(());
        };
        let mut pieces = pieces.into_iter();
        let lacking = pieces.find_map(|piece| Some((target.lacks(&piece)?, piece)));
        lacking.map_or(Ok(()), |(what, piece)| {
            let piece = Box::new(piece);
            Err(Refusal::NotOffered { what, piece })
        })
    };
    hear(source, now, progress, offered).await
}

async fn transfer(
    source: &mut dyn Source,
    target: &mut dyn Target,
    now: Timestamp,
    report: &mut dyn FnMut(Stage, u64),
) -> Result<(), Refusal> {
    let progress = |done| report(Stage::Copying, done);
    let take = async |batch| match batch {
        CopyBatch::Pieces(pieces) => target.take(pieces).await,
        CopyBatch::Keys(keys) => target.take_keys(keys).await,
    };
    hear(source, now, progress, take).await
}

/// Gives all that the source tells to `each`, until it refuses; `progress` hears how many were taken.
async fn hear(
    source: &mut dyn Source,
    now: Timestamp,
    mut progress: impl FnMut(u64),
    mut each: impl AsyncFnMut(CopyBatch) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let (teller, mut told) = Teller::new();
    let listen = async {
        let mut done = 0;
        while let Some(batch) = told.recv().await {
            done += batch.len() as u64;
            if let Err(refusal) = each(batch).await {
                told.close();
                return Err(refusal);
            }
            progress(done);
        }
        Ok(())
    };
    let (heard, said) = tokio::join!(listen, source.tell(now, teller));
    heard.and(said)
}
