//! What is kept of a key.

use std::fmt;

use subtle::ConstantTimeEq;
use turnstile_chassis::{Decode, Encode, Kind};
use turnstile_types::{Malformed, Reader};

/// Bytes of a digest.
const LENGTH: usize = 32;

/// SHA-256 of the whole text of a key. The key has 256 random bits, so nobody finds it by its digest, and
/// it needs no salt.
///
/// Digests are compared in [constant time](Self::is_equal); `Debug` does not show them.
#[derive(Clone, Copy)]
pub struct KeyDigest([u8; LENGTH]);

/// Text that is no [`KeyDigest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidKeyDigest;

impl KeyDigest {
    /// The digest of no key: nobody knows a text that has it.
    pub(crate) const NONE: Self = Self([0; LENGTH]);

    const KIND: Kind = Kind::Pattern {
        example: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        pattern: "^[0-9A-Fa-f]{64}$",
    };

    pub(crate) const fn new(bytes: [u8; LENGTH]) -> Self {
        Self(bytes)
    }

    /// Reads 64 hexadecimal digits.
    ///
    /// # Errors
    /// Any other text.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidKeyDigest> {
        let (pairs, rest) = text.as_chunks::<2>();
        if pairs.len() != LENGTH || !rest.is_empty() {
            return Err(InvalidKeyDigest);
        }
        let mut bytes = [0; LENGTH];
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Ok(Self(bytes))
    }

    /// Whether both are the same, in a time that does not depend on where they differ.
    #[must_use]
    pub fn is_equal(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }

    /// 64 hexadecimal digits, for the request that adds the key.
    #[must_use]
    pub fn hex(&self) -> String {
        let digits = self.0.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let digits = digits.filter_map(|digit| char::from_digit(digit.into(), 16));
        digits.collect()
    }
}

fn digit(byte: u8) -> Result<u8, InvalidKeyDigest> {
    let digit = char::from(byte).to_digit(16);
    let digit = digit.and_then(|digit| u8::try_from(digit).ok());
    digit.ok_or(InvalidKeyDigest)
}

impl PartialEq for KeyDigest {
    fn eq(&self, other: &Self) -> bool {
        self.is_equal(other)
    }
}

impl Eq for KeyDigest {}

turnstile_chassis::readable!(KeyDigest, InvalidKeyDigest, KeyDigest::KIND);

impl Encode for KeyDigest {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0);
    }
}

impl Decode<'_> for KeyDigest {
    fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        reader.array(field).map(Self)
    }
}

impl fmt::Debug for KeyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyDigest(..)")
    }
}

impl fmt::Display for InvalidKeyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the digest of a key is 64 hexadecimal digits")
    }
}

impl std::error::Error for InvalidKeyDigest {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_reads_back_from_its_digits_and_is_not_shown() {
        let digits = "00ff10a0".repeat(8);
        let digest = KeyDigest::parse(digits.as_bytes()).unwrap();
        assert_eq!(digest.hex(), digits);
        assert_eq!(
            KeyDigest::parse(digits.to_uppercase().as_bytes()),
            Ok(digest)
        );
        assert_eq!(format!("{digest:?}"), "KeyDigest(..)");
        assert_ne!(digest, KeyDigest::NONE);
        for text in [
            &digits[1..],
            &digits[2..],
            &format!("{digits}00"),
            &digits.replace('a', "g"),
        ] {
            assert_eq!(
                KeyDigest::parse(text.as_bytes()),
                Err(InvalidKeyDigest),
                "{text}"
            );
        }
    }
}
