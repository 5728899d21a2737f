//! The scores' end of the wire between an arena and the scores.

use crate::{Parcel, Refusal, Report, Triple, scan};

/// One connection of an arena to our scores: results come in, and two triples go out for each, the
/// second when it is asked for. An arena that reports again instead does not want it.
///
/// The wire names no game: an arena that reports once more because it was not answered is counted
/// twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clerk {
    stage: Stage,
}

/// What an arena wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// It is to be counted, and answered with [`Clerk::tell`]; nothing more is heard before.
    Count(Report),
    /// This is to be sent.
    Second(Parcel),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Idle,
    Counting,
    /// The first triple is sent, and this is the second.
    Halfway(Triple),
}

impl Clerk {
    /// Reads the front of what came and is not consumed yet: what is wanted and its length, or
    /// nothing while that is not whole or the result before is not answered.
    ///
    /// # Errors
    /// No request to the scores begins so.
    pub fn hear(&mut self, bytes: &[u8]) -> Result<Option<(Asked, usize)>, Refusal> {
        match (self.stage, bytes.first()) {
            (Stage::Counting, _) | (_, None) => Ok(None),
            (Stage::Halfway(second), Some(&scan::ONE)) => {
                self.stage = Stage::Idle;
                Ok(Some((Asked::Second(Parcel::triple(second)), 1)))
            }
            (Stage::Idle | Stage::Halfway(_), Some(_)) => {
                let Some((report, length)) = scan::report(bytes)? else {
                    return Ok(None);
                };
                self.stage = Stage::Counting;
                Ok(Some((Asked::Count(report), length)))
            }
        }
    }

    /// The result is counted, and so the players now stand. What is returned is to be sent.
    ///
    /// # Panics
    /// When no result is to be counted.
    pub fn tell(&mut self, first: Triple, second: Triple) -> Parcel {
        assert!(self.stage == Stage::Counting, "a result is to be counted");
        self.stage = Stage::Halfway(second);
        Parcel::triple(first)
    }
}
