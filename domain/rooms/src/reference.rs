//! The references that guests keep.

use std::fmt;

use turnstile_chassis::{Bytes, Kind, PartitionRoute, Routing, Show, Value};
use turnstile_types::{PARTITIONS_MAX, PartitionNumber};

/// What names one booking or hold for ever: the slot that keeps it, and how often that slot had
/// been used before.
///
/// A slot is reused, a reference never is, and an old one is told from one that never was. Its
/// text is `R`, the number in Crockford's base 32, and a check character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Bytes)]
pub struct Reference {
    /// Where the booking lies, from 0.
    pub slot: u32,
    /// How many entries had lain there before, from 0.
    pub generation: u32,
}

/// Some text that is not a [`Reference`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidReference {
    /// Not an `R` and 2 to 14 characters of the alphabet.
    Form,
    /// The check character does not fit: something was mistyped.
    Check,
}

/// Crockford's base 32: no I, L, O or U.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// A prime below the alphabet's size, for which 32 = 3 generates all residues: neighbours that
/// change places are noticed.
const CHECK_MODULUS: u64 = 29;

/// Where the number of a partition begins in that of a slot, in a cluster with several partitions.
const PARTITION: u32 = 26;

/// Slots of each of several partitions. In one that is alone, all slots are of the first.
pub(crate) const SLOTS_PER_PARTITION: u32 = 1 << PARTITION;

const _: () = assert!(PARTITIONS_MAX as u64 * SLOTS_PER_PARTITION as u64 == 1 << u32::BITS);

impl Reference {
    /// The partition that has given it, of several.
    #[must_use]
    pub fn partition(self) -> PartitionNumber {
        let number = u8::try_from(self.slot >> PARTITION).ok();
        number
            .and_then(PartitionNumber::new)
            .expect("six bits are left")
    }

    /// The number under which databases keep it.
    #[must_use]
    pub const fn number(self) -> u64 {
        (self.generation as u64) << 32 | self.slot as u64
    }

    /// The reference of a number.
    #[must_use]
    pub const fn of_number(number: u64) -> Self {
        let [a, b, c, d, e, f, g, h] = number.to_be_bytes();
        Self {
            slot: u32::from_be_bytes([e, f, g, h]),
            generation: u32::from_be_bytes([a, b, c, d]),
        }
    }

    /// Parses the text that `Display` writes; small letters are as good.
    ///
    /// # Errors
    /// Another form, or a wrong check character.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidReference> {
        let Some((b'R' | b'r', [digits @ .., check])) = text.split_first() else {
            return Err(InvalidReference::Form);
        };
        if digits.is_empty() || digits.len() > 13 {
            return Err(InvalidReference::Form);
        }
        let mut number = 0_u64;
        for &digit in digits {
            let shifted = number.checked_mul(32).ok_or(InvalidReference::Form)?;
            number = shifted | value_of(digit)?;
        }
        if value_of(*check)? != number % CHECK_MODULUS {
            return Err(InvalidReference::Check);
        }
        Ok(Self::of_number(number))
    }

    /// Writes the text without allocating: its bytes, and how many of them count.
    #[must_use]
    pub fn text(self) -> ([u8; 15], usize) {
        let number = self.number();
        let digits = (64 - number.leading_zeros()).div_ceil(5).max(1);
        let mut text = [0; 15];
        let mut length = 0;
        let mut put = |byte| {
            if let Some(place) = text.get_mut(length) {
                *place = byte;
                length += 1;
            }
        };
        put(b'R');
        for digit in (0..digits).rev() {
            put(letter_of(number >> (5 * digit) & 31));
        }
        put(letter_of(number % CHECK_MODULUS));
        (text, length)
    }
}

fn value_of(letter: u8) -> Result<u64, InvalidReference> {
    let letter = letter.to_ascii_uppercase();
    let value = ALPHABET
        .iter()
        .position(|&known| known == letter)
        .ok_or(InvalidReference::Form)?;
    Ok(u64::try_from(value).expect("the alphabet has 32 letters"))
}

fn letter_of(value: u64) -> u8 {
    let value = usize::try_from(value).expect("below 32");
    ALPHABET.get(value).copied().expect("below 32")
}

impl Reference {
    const KIND: Kind = Kind::Pattern {
        example: "R00",
        // The first of 13 characters has four bits, so that all have 64.
        pattern: "^[Rr]([0-9A-Fa-f]?[0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{13}|\
                  [0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{2,12})$",
    };
}

impl Routing for Reference {
    fn route(&self) -> PartitionRoute {
        PartitionRoute::Given(self.partition())
    }
}

turnstile_chassis::readable!(Reference, InvalidReference, Reference::KIND);

impl Value for Reference {
    #[inline]
    fn show<S: Show>(&self, show: S) -> S::Out {
        let (text, length) = self.text();
        let text = text
            .get(..length)
            .and_then(|text| str::from_utf8(text).ok());
        show.text(text.expect("letters of the alphabet, as many as were counted"))
    }

    fn kind() -> Kind {
        Self::KIND
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (text, length) = self.text();
        let bytes = text
            .get(..length)
            .expect("the length counts the bytes written");
        f.pad(str::from_utf8(bytes).expect("the alphabet is ASCII"))
    }
}

impl fmt::Display for InvalidReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => {
                "a reference is an R and 2 to 14 letters or digits, without I, L, O and U"
            }
            Self::Check => "the reference is mistyped: its check character does not fit",
        })
    }
}

impl std::error::Error for InvalidReference {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_reads_back_from_its_text() {
        for slot in [0, 1, 31, 32, 12_345, u32::MAX] {
            for generation in [0, 1, 77, u32::MAX] {
                let reference = Reference { slot, generation };
                let text = reference.to_string();
                assert_eq!(Reference::parse(text.as_bytes()), Ok(reference), "{text}");
                assert_eq!(
                    Reference::parse(text.to_lowercase().as_bytes()),
                    Ok(reference)
                );
            }
        }
    }

    #[test]
    fn a_mistyped_reference_is_noticed() {
        let text = Reference {
            slot: 123_456,
            generation: 3,
        }
        .to_string()
        .into_bytes();
        for at in 1..text.len() - 2 {
            let mut swapped = text.clone();
            swapped.swap(at, at + 1);
            if swapped != text {
                assert_eq!(Reference::parse(&swapped), Err(InvalidReference::Check));
            }
        }
        let rows: [&[u8]; 6] = [b"", b"R", b"R1", b"X11", b"R1U1", b"RZZZZZZZZZZZZZ0"];
        for text in rows {
            assert_eq!(
                Reference::parse(text),
                Err(InvalidReference::Form),
                "{text:?}"
            );
        }
    }
}
