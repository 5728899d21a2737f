//! Broken promises, told in sentences.

use turnstile_stats::units::Count;

/// How many violations of one kind are told one by one.
const TOLD_MAX: usize = 5;

/// Violations of one kind: the first few are told.
#[derive(Debug, Default)]
pub(crate) struct Charge {
    told: Vec<String>,
    more: u64,
}

impl Charge {
    pub(crate) fn add(&mut self, sentence: impl FnOnce() -> String) {
        if self.told.len() < TOLD_MAX {
            self.told.push(sentence());
        } else {
            self.more += 1;
        }
    }

    /// The sentences, the last of which says how many more there are.
    pub(crate) fn sentences(self) -> Vec<String> {
        let mut sentences = self.told;
        if self.more > 0 {
            sentences.push(format!("and {} more like that", Count(self.more)));
        }
        sentences
    }
}
