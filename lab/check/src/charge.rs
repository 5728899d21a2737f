//! Broken promises, told in sentences.

use turnstile_stats::units::Count;

/// How many violations of one kind are told one by one.
const TOLD_MAX: usize = 5;

/// Violations of one kind: the first few are told, all are counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Charge {
    told: Vec<String>,
    more: u64,
}

impl Charge {
    /// Adds a violation; its sentence is only made when it is told.
    pub fn add(&mut self, sentence: impl FnOnce() -> String) {
        if self.told.len() < TOLD_MAX {
            self.told.push(sentence());
        } else {
            self.more += 1;
        }
    }

    /// Whether nothing was violated.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.told.is_empty()
    }

    /// The sentences, the last of which says how many more there are.
    #[must_use]
    pub fn sentences(self) -> Vec<String> {
        let mut sentences = self.told;
        if self.more > 0 {
            sentences.push(format!("and {} more like that", Count(self.more)));
        }
        sentences
    }
}
