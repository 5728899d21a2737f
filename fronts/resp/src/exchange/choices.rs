//! The choices of an order, by their words.

use turnstile_exchange::{SelfTrade, Side};

/// What has a stable word.
pub(super) trait Coded: Copy + 'static {
    const ALL: &'static [Self];

    fn word(self) -> &'static str;
}

impl Coded for Side {
    const ALL: &'static [Self] = &Self::ALL;

    fn word(self) -> &'static str {
        self.code()
    }
}

impl Coded for SelfTrade {
    const ALL: &'static [Self] = &Self::ALL;

    fn word(self) -> &'static str {
        self.code()
    }
}

/// What a word stands for, whatever the case of its letters.
#[inline]
pub(super) fn chosen<T: Coded>(word: &[u8]) -> Option<T> {
    let mut choices = T::ALL.iter().copied();
    choices.find(|choice| choice.word().as_bytes().eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_read_by_the_word_it_is_shown_with() {
        for mode in SelfTrade::ALL {
            let capitals = mode.code().to_ascii_uppercase();
            assert_eq!(chosen(capitals.as_bytes()), Some(mode));
        }
        assert_eq!(chosen(b"Sell"), Some(Side::Sell));
        assert_eq!(chosen::<Side>(b"sel"), None);
    }
}
