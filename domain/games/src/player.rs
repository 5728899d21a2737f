//! The identity of a player.

use std::{fmt, hash};

use turnstile_chassis::{Decode, Encode, Kind, Readable, Show, Value, put_text, read_text};
use turnstile_types::{InvalidName, Name};
use turnstile_types::{Malformed, Reader};

/// The longest name of a player, in bytes.
const LENGTH_MAX: usize = 31;

/// A player's name: 1 to 31 characters of `A-Z a-z 0-9 . _ : -`, kept in place. Decimal numbers,
/// which the ancestor's wire has, are such names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlayerId {
    /// Padded with zeros, which no name contains.
    bytes: [u8; LENGTH_MAX],
    length: u8,
}

impl PlayerId {
    /// # Errors
    /// Text that is empty, longer than 31 bytes or outside the alphabet.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidName> {
        Name::check(text)?;
        let mut bytes = [0; LENGTH_MAX];
        let place = bytes.get_mut(..text.len());
        let place = place.ok_or(InvalidName::TooLong(text.len()))?;
        place.copy_from_slice(text);
        let length = u8::try_from(text.len()).expect("a player's name has at most 31 bytes");
        Ok(Self { bytes, length })
    }

    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        let name = self.bytes.get(..usize::from(self.length));
        name.expect("a player's name has at most 31 bytes")
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        str::from_utf8(self.as_bytes()).expect("a name is ASCII")
    }

    /// The name with the zeros behind it: bytes of one length, which are hashed fastest.
    pub(crate) const fn padded(&self) -> &[u8; LENGTH_MAX] {
        &self.bytes
    }
}

impl hash::Hash for PlayerId {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        self.bytes.hash(state);
    }
}

impl fmt::Debug for PlayerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for PlayerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Text that names no player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidPlayer;

impl fmt::Display for InvalidPlayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a player is 1 to {LENGTH_MAX} characters of A-Z a-z 0-9 . _ : -"
        )
    }
}

impl std::error::Error for InvalidPlayer {}

impl Readable<'_> for PlayerId {
    type Invalid = InvalidPlayer;

    #[inline]
    fn read(text: &[u8]) -> Result<Self, InvalidPlayer> {
        Self::parse(text).map_err(|_invalid| InvalidPlayer)
    }

    fn kind() -> Kind {
        Kind::Pattern {
            example: "ada",
            pattern: "^[A-Za-z0-9._:-]{1,31}$",
        }
    }
}

impl Value for PlayerId {
    #[inline]
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.text(self.as_str())
    }

    fn kind() -> Kind {
        Kind::Pattern {
            example: "ada",
            pattern: "^[A-Za-z0-9._:-]{1,31}$",
        }
    }
}

impl Encode for PlayerId {
    fn encode(&self, out: &mut Vec<u8>) {
        put_text(self.as_bytes(), out);
    }
}

impl Decode<'_> for PlayerId {
    fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        Self::parse(read_text(reader, field)?).map_err(|_invalid| Malformed { field })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_player_has_a_name_of_1_to_31_characters() {
        assert_eq!(PlayerId::parse(b"17").unwrap().as_str(), "17");
        assert_eq!(PlayerId::parse(&[b'x'; 31]).unwrap().as_str().len(), 31);
        assert_eq!(PlayerId::parse(&[b'x'; 32]), Err(InvalidName::TooLong(32)));
        assert_eq!(PlayerId::parse(b""), Err(InvalidName::Empty));
        assert_eq!(PlayerId::parse(b"a:\0"), Err(InvalidName::Character(2)));
        assert_eq!(size_of::<PlayerId>(), 32);
    }
}
