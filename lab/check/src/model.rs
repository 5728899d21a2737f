//! What the checker must know of a service.

use std::fmt;

use crate::compact::Compact;

/// A service in its plainest form, which knows how each operation must have been answered.
pub trait Model {
    /// An operation with its answer.
    type Operation: fmt::Debug + Compact;

    /// So many places has each position of the server, where one record may decide several operations:
    /// what is called a position here is that of the server times this, and the place within. Place 0
    /// is what the record itself asked for.
    const PLACES: u64 = 1;

    /// Carries out an operation; an answer that it cannot have had is told in a sentence.
    ///
    /// # Errors
    /// The answer contradicts what was replayed.
    fn apply(&mut self, position: u64, operation: &Self::Operation) -> Result<(), String>;

    /// Whether what a reading saw is true now.
    fn agrees(&self, reading: &Self::Operation) -> bool;

    /// What is true now where a reading looked, in words.
    fn shown(&self, reading: &Self::Operation) -> String;

    /// Takes note of an operation of which nobody knows whether it is carried out, now or later.
    fn suspect(&mut self, operation: &Self::Operation);

    /// The part of the state, by a number of the model's own, that an operation is about to change, or
    /// looks at: what was read of other parts stays as true as it is. None: any part.
    fn part(&self, _operation: &Self::Operation) -> Option<u32> {
        None
    }

    /// The time of the server's clock from which on a reading that does not agree would be true as
    /// things are, in units of the model's own.
    fn true_from(&self, _reading: &Self::Operation) -> Option<u64> {
        None
    }

    /// What time it was at the record of an operation, when its answer tells that.
    fn time_of(&self, _operation: &Self::Operation) -> Option<u64> {
        None
    }
}
