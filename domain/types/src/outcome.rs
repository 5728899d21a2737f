//! What a machine answers to a command: done or refused, both with data.

use crate::{Effect, Malformed, Reader};

/// Kinds of outcomes below this are done, the others are refusals.
const REFUSALS: u8 = 0x80;

/// What is answered to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<D, R> {
    Done(D),
    /// A business "no". The state is as it was.
    Refused(R),
}

impl<D, R> Outcome<D, R> {
    /// Reads an outcome that fills the bytes: the first one is its kind, which says what follows.
    ///
    /// # Errors
    /// There is no byte, what follows is not read, or something is left.
    pub fn read(
        bytes: &[u8],
        done: impl FnOnce(u8, &mut Reader<'_>) -> Result<D, Malformed>,
        refusal: impl FnOnce(u8, &mut Reader<'_>) -> Result<R, Malformed>,
    ) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let kind = reader.u8("outcome")?;
        let outcome = if kind < REFUSALS {
            Self::Done(done(kind, &mut reader)?)
        } else {
            Self::Refused(refusal(kind, &mut reader)?)
        };
        reader.finish("outcome")?;
        Ok(outcome)
    }
}

impl<D, R> Outcome<D, R> {
    /// What was done.
    pub const fn done(&self) -> Option<&D> {
        match self {
            Self::Done(done) => Some(done),
            Self::Refused(_) => None,
        }
    }

    /// What the command came to.
    pub const fn effect(&self) -> Effect {
        match self {
            Self::Done(_) => Effect::Done,
            Self::Refused(_) => Effect::Refused,
        }
    }
}

impl<D, R> From<Result<D, R>> for Outcome<D, R> {
    fn from(decided: Result<D, R>) -> Self {
        match decided {
            Ok(done) => Self::Done(done),
            Err(refusal) => Self::Refused(refusal),
        }
    }
}
