//! Violated invariants of a state.

/// One sentence for each invariant that does not hold.
#[derive(Debug, Default)]
pub struct Faults(Vec<String>);

impl Faults {
    pub fn unless(&mut self, holds: bool, sentence: impl FnOnce() -> String) {
        if !holds {
            self.add(sentence());
        }
    }

    pub fn add(&mut self, sentence: String) {
        self.0.push(sentence);
    }

    /// # Errors
    /// The sentences, when there are any.
    pub fn verdict(self) -> Result<(), Vec<String>> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(self.0)
        }
    }
}
