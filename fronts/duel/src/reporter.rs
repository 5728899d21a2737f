//! The arena's end of the wire between an arena and the scores.

use crate::{Parcel, Refusal, Report, Triple, scan};

/// One connection of our arena to the scores: one result after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reporter {
    stage: Stage,
}

/// What the scores have told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reported {
    /// The result is counted, and this is to be sent to hear of the second player, too.
    Counted(Parcel),
    /// How both players stand, in the order of the result.
    Triples([Triple; 2]),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Idle,
    Reported,
    Halfway(Triple),
}

impl Reporter {
    /// What is to be sent for this result.
    ///
    /// # Panics
    /// When the one before is not answered.
    pub fn report(&mut self, report: Report) -> Parcel {
        assert!(self.is_idle(), "one result after the other");
        self.stage = Stage::Reported;
        Parcel::report(report)
    }

    /// Reads the front of what came and is not consumed yet: the message and its length, or
    /// nothing while that is not whole.
    ///
    /// # Errors
    /// It is no answer.
    pub fn hear(&mut self, bytes: &[u8]) -> Result<Option<(Reported, usize)>, Refusal> {
        if let (Stage::Idle, Some(&byte)) = (self.stage, bytes.first()) {
            return Err(Refusal::OutOfTurn { byte });
        }
        let Some((triple, length)) = scan::triple(bytes)? else {
            return Ok(None);
        };
        let (stage, reported) = match self.stage {
            Stage::Halfway(first) => (Stage::Idle, Reported::Triples([first, triple])),
            Stage::Idle | Stage::Reported => (
                Stage::Halfway(triple),
                Reported::Counted(Parcel::second_triple()),
            ),
        };
        self.stage = stage;
        Ok(Some((reported, length)))
    }

    /// Whether the next result may be reported.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.stage == Stage::Idle
    }

    /// Whether a result is sent and not known to be counted. When the connection ends so, nobody
    /// can tell: the wire names no game, and reporting it once more may count it twice.
    #[must_use]
    pub fn is_in_doubt(&self) -> bool {
        self.stage == Stage::Reported
    }
}
