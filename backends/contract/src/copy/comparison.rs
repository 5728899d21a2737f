//! Compares the two sides of a copy, item by item and key by key.

use std::fmt;

use turnstile_rooms::Piece;
use turnstile_types::Timestamp;
use xxhash_rust::xxh3::Xxh3;

use super::{CopiedKey, Refusal, Source, Teller, teller::CopyBatch};

/// What a side has: how much of everything, and a hash of all pieces in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    pub properties: u64,
    pub rooms: u64,
    /// Runs of stopped nights.
    pub stopped: u64,
    pub bookings: u64,
    /// Open and expired ones.
    pub holds: u64,
    /// Slots where nothing stands.
    pub over: u64,
    /// Idempotency keys that are remembered.
    pub keys: u64,
    /// XXH3 over the bytes of the pieces, and of the keys.
    pub hash: u128,
}

/// One thing that a side has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Piece(Piece),
    Key(CopiedKey),
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Piece(piece) => piece.fmt(f),
            Self::Key(key) => key.fmt(f),
        }
    }
}

/// The first part at which two sides differ; nothing where one side has no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    pub in_source: Option<Box<Part>>,
    pub in_target: Option<Box<Part>>,
}

#[derive(Default)]
struct DigestCount {
    digest: Digest,
    hasher: Xxh3,
    bytes: Vec<u8>,
}

impl DigestCount {
    fn add(&mut self, part: &Part) {
        self.bytes.clear();
        match part {
            Part::Piece(piece) => {
                self.count(piece);
                piece.put(&mut self.bytes);
            }
            Part::Key(key) => {
                self.digest.keys += 1;
                key.put(&mut self.bytes);
            }
        }
        self.hasher.update(&self.bytes);
    }

    fn count(&mut self, piece: &Piece) {
        let digest = &mut self.digest;
        match piece {
            Piece::Property { .. } => digest.properties += 1,
            Piece::Room { .. } => digest.rooms += 1,
            Piece::Stopped { .. } => digest.stopped += 1,
            Piece::Standing(standing) if standing.entry.guest.is_some() => digest.bookings += 1,
            Piece::Standing(_) => digest.holds += 1,
            Piece::Over { .. } => digest.over += 1,
            Piece::Totals(_) => {}
        }
    }

    fn finish(self) -> Digest {
        Digest {
            hash: self.hasher.digest128(),
            ..self.digest
        }
    }
}

/// The next part that somebody tells.
struct Hearing {
    told: tokio::sync::mpsc::Receiver<CopyBatch>,
    batch: std::vec::IntoIter<Part>,
}

impl Hearing {
    async fn next(&mut self) -> Option<Part> {
        loop {
            if let Some(part) = self.batch.next() {
                return Some(part);
            }
            let parts: Vec<Part> = match self.told.recv().await? {
                CopyBatch::Pieces(pieces) => pieces.into_iter().map(Part::Piece).collect(),
                CopyBatch::Keys(keys) => keys.into_iter().map(Part::Key).collect(),
            };
            self.batch = parts.into_iter();
        }
    }
}

fn hearing() -> (Teller, Hearing) {
    let (teller, told) = Teller::new();
    let batch = Vec::new().into_iter();
    (teller, Hearing { told, batch })
}

/// Has both sides tell what they have, and says what that is when it is the same.
pub(super) async fn compare<A: Source + ?Sized, B: Source + ?Sized>(
    source: &mut A,
    target: &mut B,
    now: Timestamp,
    mut progress: impl FnMut(u64),
) -> Result<Digest, Refusal> {
    let (of_source, mut first) = hearing();
    let (of_target, mut second) = hearing();
    let listen = async {
        let mut counting = DigestCount::default();
        for done in 1.. {
            let (one, other) = tokio::join!(first.next(), second.next());
            if one != other {
                first.told.close();
                second.told.close();
                return Err(Divergence {
                    in_source: one.map(Box::new),
                    in_target: other.map(Box::new),
                });
            }
            let Some(part) = one else { break };
            counting.add(&part);
            progress(done);
        }
        Ok(counting.finish())
    };
    let (compared, one, other) = tokio::join!(
        listen,
        source.tell(now, of_source),
        target.tell(now, of_target)
    );
    // A side that broke off has told too little: that is no difference between the states.
    for said in [one, other] {
        match said {
            Ok(()) | Err(Refusal::Gone) => {}
            Err(refusal) => return Err(refusal),
        }
    }
    compared.map_err(Refusal::Different)
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.in_source, &self.in_target) {
            (Some(one), Some(other)) if one.to_string() == other.to_string() => {
                write!(
                    f,
                    "{one} differs in what is not shown, such as a sealed id number or an answer"
                )
            }
            (Some(one), Some(other)) => {
                write!(f, "the source has {one}, the target has {other}")
            }
            (Some(one), None) => write!(f, "the source has {one}, the target has no more"),
            (None, Some(other)) => write!(f, "the source has no more, the target has {other}"),
            (None, None) => f.write_str("one side broke off"),
        }
    }
}
