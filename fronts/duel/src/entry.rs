//! A client of the arena until its opponent is there.

use crate::{Greeting, Refusal, scan};

/// One connection before its game: it greets, and then it waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    greeted: bool,
}

impl Entry {
    /// Reads the front of what came and is not consumed yet: the greeting and its length, or
    /// nothing while it is not whole.
    ///
    /// # Errors
    /// It is no greeting, or the client does not wait to be told that the game begins.
    pub fn hear(&mut self, bytes: &[u8]) -> Result<Option<(Greeting, usize)>, Refusal> {
        if self.greeted {
            return match bytes.first() {
                None => Ok(None),
                Some(&byte) => Err(Refusal::OutOfTurn { byte }),
            };
        }
        let greeting = scan::greeting(bytes)?;
        self.greeted = greeting.is_some();
        Ok(greeting)
    }
}
