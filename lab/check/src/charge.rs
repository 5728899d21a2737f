//! Broken promises, told in sentences.

use turnstile_stats::units::Count;

/// How many violations of one rule are told one by one, whatever they say.
const TOLD_MAX: usize = 5;

/// How many are told with those that say something else than all before them: one broken promise may be
/// noticed first by what follows from it.
const TOLD_OF_ALL_MAX: usize = 16;

/// So many are looked at for that: a sentence takes time.
const LOOKED_AT_MAX: u64 = 10_000;

/// Violations of one rule: the first few, and the first that says something else, are told, all are counted.
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
            return;
        }
        if self.more < LOOKED_AT_MAX && self.told.len() < TOLD_OF_ALL_MAX {
            let sentence = sentence();
            if !self.told.iter().any(|told| says_the_same(told, &sentence)) {
                self.told.push(sentence);
                return;
            }
        }
        self.more += 1;
    }

    /// Whether nothing was violated.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.told.is_empty()
    }

    /// How many violations there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        u64::try_from(self.told.len()).expect("few are told") + self.more
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

/// Whether two sentences differ by figures and names only.
fn says_the_same(one: &str, other: &str) -> bool {
    words(one).eq(words(other))
}

fn words(sentence: &str) -> impl Iterator<Item = &str> {
    let is_plain = |word: &&str| !word.contains(|letter: char| letter.is_ascii_digit());
    sentence.split_whitespace().filter(is_plain)
}

#[cfg(test)]
mod tests {
    use super::Charge;

    #[test]
    fn what_says_something_else_is_told_after_any_number_of_the_same() {
        let mut charge = Charge::default();
        for number in 0..100 {
            charge.add(|| format!("order {number} became 5"));
        }
        for number in 0..10 {
            charge.add(|| format!("order {number} is lost"));
        }
        let same = (0..5).map(|number| format!("order {number} became 5"));
        let told = same.chain([
            "order 0 is lost".to_owned(),
            "and 104 more like that".to_owned(),
        ]);
        assert_eq!(charge.sentences(), told.collect::<Vec<_>>());
    }
}
