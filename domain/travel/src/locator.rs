//! The six characters by which a traveller names an itinerary.

use std::fmt;

use turnstile_chassis::{Kind, Show, Value};

/// Crockford's base 32: no I, L, O and U, which are misread or make words.
const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

const BITS: u32 = 30;
const MASK: u32 = (1 << BITS) - 1;

/// An odd number, so that multiplying by it modulo 2^30 only changes the order of all numbers.
const SPREAD: u32 = 0x2545_f491;

/// A record locator: six characters that stand for the number of an itinerary. Neighbouring
/// numbers look nothing alike, so that a mistyped locator is nobody's, as long as few are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Locator(u32);

/// Text that is no locator: not six characters of Crockford's base 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidLocator;

impl Locator {
    /// How many there are.
    pub(crate) const COUNT: u32 = MASK;

    /// The locator of the itinerary with this number, from 1; None when all have been given.
    pub(crate) const fn of(number: u32) -> Option<Self> {
        if number == 0 || number > Self::COUNT {
            return None;
        }
        Some(Self(number))
    }

    pub(crate) const fn number(self) -> u32 {
        self.0
    }

    /// Reads six characters; case does not count, and O is 0, I and L are 1.
    ///
    /// # Errors
    /// They are no locator.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidLocator> {
        if text.len() != 6 {
            return Err(InvalidLocator);
        }
        let mut mixed = 0;
        for byte in text {
            mixed = mixed << 5 | digit(byte.to_ascii_uppercase()).ok_or(InvalidLocator)?;
        }
        Self::of(unmix(mixed)).ok_or(InvalidLocator)
    }
}

fn digit(byte: u8) -> Option<u32> {
    let byte = match byte {
        b'O' => b'0',
        b'I' | b'L' => b'1',
        other => other,
    };
    let at = DIGITS.iter().position(|digit| *digit == byte)?;
    u32::try_from(at).ok()
}

/// A bijection of the numbers of 30 bits: multiply, fold the upper half onto the lower, multiply.
const fn mix(number: u32) -> u32 {
    let spread = number.wrapping_mul(SPREAD) & MASK;
    (spread ^ spread >> 15).wrapping_mul(SPREAD) & MASK
}

const fn unmix(mixed: u32) -> u32 {
    let spread = mixed.wrapping_mul(INVERSE) & MASK;
    (spread ^ spread >> 15).wrapping_mul(INVERSE) & MASK
}

/// What undoes a multiplication by `SPREAD`, by Newton's iteration: each step doubles the bits.
const INVERSE: u32 = {
    let mut inverse = SPREAD;
    let mut step = 0;
    while step < 5 {
        inverse = inverse.wrapping_mul(2_u32.wrapping_sub(SPREAD.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
};

impl Locator {
    const KIND: Kind = Kind::Pattern {
        example: "7K2M9Q",
        // The number 0 is no transaction's.
        pattern: "^(?![0Oo]{6}$)[0-9A-TV-Za-tv-z]{6}$",
    };
}

turnstile_chassis::readable!(Locator, InvalidLocator, Locator::KIND);

impl Value for Locator {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.display(self)
    }

    fn kind() -> Kind {
        Self::KIND
    }
}

impl fmt::Display for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mixed = mix(self.0);
        for place in (0..6).rev() {
            let at = usize::try_from(mixed >> (5 * place) & 31).expect("five bits");
            let digit = DIGITS.get(at).expect("five bits choose one of 32 digits");
            fmt::Write::write_char(f, char::from(*digit))?;
        }
        Ok(())
    }
}

impl fmt::Display for InvalidLocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a record locator is six characters of 0-9 and A-Z without U"
        )
    }
}

impl std::error::Error for InvalidLocator {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locator_is_read_as_it_is_written() {
        let mut seen = std::collections::BTreeSet::new();
        for number in (1..50_000).chain([Locator::COUNT]) {
            let locator = Locator::of(number).unwrap();
            let text = locator.to_string();
            assert_eq!(text.len(), 6);
            assert_eq!(Locator::parse(text.to_lowercase().as_bytes()), Ok(locator));
            assert!(seen.insert(text), "no two are alike");
        }
    }

    #[test]
    fn what_stands_for_no_itinerary_is_refused() {
        assert_eq!(Locator::of(0), None);
        assert_eq!(Locator::of(Locator::COUNT + 1), None);
        for text in ["", "00000", "0000000", "00U000", "000000"] {
            assert_eq!(
                Locator::parse(text.as_bytes()),
                Err(InvalidLocator),
                "{text}"
            );
        }
    }
}
