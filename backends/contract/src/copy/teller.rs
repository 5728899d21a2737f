//! The source of a copy: sends items and keys in batches, at most a few ahead of the reader.

use tokio::sync::mpsc::{Receiver, Sender, channel};
use turnstile_rooms::{Counted, Piece, Standing};
use turnstile_types::{Name, Night};

use super::{CopiedKey, Refusal};

/// Pieces or keys that travel together: a statement of many rows for a database.
const BATCH: usize = 500;

/// Batches that wait at most. With one that is gathered and one that is taken, a copy holds some
/// thousand pieces, however large the state.
const WAITING: usize = 2;

/// What travels together.
#[derive(Debug)]
pub(super) enum CopyBatch {
    Pieces(Vec<Piece>),
    Keys(Vec<CopiedKey>),
}

impl CopyBatch {
    pub(super) const fn len(&self) -> usize {
        match self {
            Self::Pieces(pieces) => pieces.len(),
            Self::Keys(keys) => keys.len(),
        }
    }
}

/// Nobody listens any more. Why, the listener says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

/// The teller's end. Sources whose nights and slots come one by one hand them over so, and the
/// teller makes whole pieces of them.
#[derive(Debug)]
pub struct Teller {
    batch: Vec<Piece>,
    listener: Sender<CopyBatch>,
    /// A run of stopped nights that may go on.
    run: Option<Piece>,
    /// What is known of the slot that is told now.
    slot: Option<Piece>,
    /// The slot after the last one that was told.
    next_slot: u32,
}

/// The teller's end when all pieces are told: what is left are the idempotency keys.
#[derive(Debug)]
pub struct KeyTeller {
    batch: Vec<CopiedKey>,
    listener: Sender<CopyBatch>,
}

impl KeyTeller {
    /// Tells the next key; the oldest comes first.
    ///
    /// # Errors
    /// Nobody listens.
    pub async fn put(&mut self, key: CopiedKey) -> Result<(), Gone> {
        self.batch.push(key);
        if self.batch.len() < BATCH {
            return Ok(());
        }
        self.flush().await
    }

    /// Says that all is told.
    ///
    /// # Errors
    /// Nobody listens.
    pub async fn end(mut self) -> Result<(), Gone> {
        self.flush().await
    }

    async fn flush(&mut self) -> Result<(), Gone> {
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        let sent = self.listener.send(CopyBatch::Keys(batch)).await;
        sent.map_err(|_gone| Gone)
    }
}

impl Teller {
    pub(super) fn new() -> (Self, Receiver<CopyBatch>) {
        let (listener, told) = channel(WAITING);
        let teller = Self {
            batch: Vec::with_capacity(BATCH),
            listener,
            run: None,
            slot: None,
            next_slot: 0,
        };
        (teller, told)
    }

    /// Tells a piece that is whole.
    ///
    /// # Errors
    /// Nobody listens.
    pub async fn put(&mut self, piece: Piece) -> Result<(), Gone> {
        self.batch.push(piece);
        if self.batch.len() < BATCH {
            return Ok(());
        }
        self.flush().await
    }

    /// Tells one stopped night; those of a room come in their order.
    ///
    /// # Errors
    /// Nobody listens.
    pub async fn put_stopped(
        &mut self,
        of_property: Name,
        of_room: Name,
        night: Night,
    ) -> Result<(), Gone> {
        if let Some(Piece::Stopped {
            property,
            room,
            first,
            nights,
        }) = &mut self.run
            && (*property, *room) == (of_property, of_room)
            && first.checked_add(*nights) == Some(night)
        {
            *nights += 1;
            return Ok(());
        }
        let next = Piece::Stopped {
            property: of_property,
            room: of_room,
            first: night,
            nights: 1,
        };
        match self.run.replace(next) {
            Some(run) => self.put(run).await,
            None => Ok(()),
        }
    }

    /// Tells what stands in a slot; slots come in their order.
    ///
    /// # Errors
    /// Nobody listens, or something else stands in the same slot.
    pub async fn put_standing(&mut self, standing: Standing) -> Result<(), Refusal> {
        let reference = standing.entry.reference;
        self.advance_to(reference.slot).await?;
        match &self.slot {
            Some(Piece::Standing(other)) => Err(Refusal::SameSlot {
                one: other.entry.reference,
                other: reference,
            }),
            Some(Piece::Over { next, .. })
                if next.is_none_or(|next| next > reference.generation) =>
            {
                Err(Refusal::Ended { reference })
            }
            _ => {
                self.slot = Some(Piece::Standing(Box::new(standing)));
                Ok(())
            }
        }
    }

    /// Tells that all references of a slot up to a generation have ended; slots come in their order.
    ///
    /// # Errors
    /// Nobody listens, or one of them stands.
    pub async fn put_ended(&mut self, slot: u32, generation: u32) -> Result<(), Refusal> {
        self.advance_to(slot).await?;
        let ended = generation.checked_add(1);
        let next = match &self.slot {
            Some(Piece::Standing(standing)) => {
                let reference = standing.entry.reference;
                if reference.generation <= generation {
                    return Err(Refusal::Ended { reference });
                }
                return Ok(());
            }
            Some(Piece::Over { next: known, .. }) => later(*known, ended),
            _ => ended,
        };
        self.slot = Some(Piece::Over { slot, next });
        Ok(())
    }

    /// Tells the slots that are left, and what was done: with that all pieces are told.
    ///
    /// # Errors
    /// Nobody listens, or something was told of a slot behind the last one.
    pub async fn finish(mut self, slots: u32, counted: Counted) -> Result<KeyTeller, Refusal> {
        self.advance_to(slots).await?;
        if let Some(slot) = self.slot.as_ref().and_then(slot_of) {
            return Err(Refusal::NeverGiven { slot });
        }
        self.put(Piece::Totals(counted)).await?;
        Ok(self.end().await?)
    }

    /// Says that all pieces are told, where each was whole, the totals too.
    ///
    /// # Errors
    /// Nobody listens.
    pub async fn end(mut self) -> Result<KeyTeller, Gone> {
        self.flush().await?;
        let batch = Vec::with_capacity(BATCH);
        let listener = self.listener;
        Ok(KeyTeller { batch, listener })
    }

    /// Tells what is before a slot. One that nothing is known of had a reference that was drawn and
    /// taken back: it counts as ended, so that nobody is ever given it.
    async fn advance_to(&mut self, slot: u32) -> Result<(), Gone> {
        if let Some(run) = self.run.take() {
            self.put(run).await?;
        }
        while self.next_slot < slot {
            let number = self.next_slot;
            let is_known = matches!(&self.slot, Some(piece) if slot_of(piece) == Some(number));
            let piece = if is_known { self.slot.take() } else { None };
            let next = Some(1);
            let unknown = Piece::Over { slot: number, next };
            self.put(piece.unwrap_or(unknown)).await?;
            self.next_slot += 1;
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), Gone> {
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        let sent = self.listener.send(CopyBatch::Pieces(batch)).await;
        sent.map_err(|_gone| Gone)
    }
}

/// The later of two generations of a slot's next reference; nothing is the latest.
fn later(one: Option<u32>, other: Option<u32>) -> Option<u32> {
    Some(one?.max(other?))
}

fn slot_of(piece: &Piece) -> Option<u32> {
    match piece {
        Piece::Standing(standing) => Some(standing.entry.reference.slot),
        Piece::Over { slot, .. } => Some(*slot),
        Piece::Property { .. } | Piece::Room { .. } | Piece::Stopped { .. } | Piece::Totals(_) => {
            None
        }
    }
}
