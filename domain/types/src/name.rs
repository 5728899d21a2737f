//! Names of things and of callers: short, ASCII, equal only when their bytes are.
//!
//! The alphabet is small on purpose: every back end, URL and terminal shows and compares these
//! names in the same way.

use std::{fmt, hash, ops::Deref};

/// The longest name, in bytes.
const LENGTH_MAX: usize = 64;

/// The longest idempotency key, in bytes.
const KEY_LENGTH_MAX: usize = 128;

/// The name of a thing: 1 to 64 characters of `A-Z a-z 0-9 . _ : -`, kept in place.
///
/// Copying one moves 65 bytes and never allocates, which is what a decision needs. Behind its
/// characters there are zeros, so that two names are compared without a look at their lengths.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Name {
    length: u8,
    bytes: [u8; LENGTH_MAX],
}

/// Why some text is not a [`Name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidName {
    Empty,
    /// Longer than 64 bytes; the field holds the length found.
    TooLong(usize),
    /// The byte offset of the first character outside the alphabet.
    Character(usize),
}

impl Name {
    /// Parses a name.
    ///
    /// # Errors
    /// Text that is empty, longer than 64 bytes or outside the alphabet.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidName> {
        Self::check(text)?;
        let mut bytes = [0; LENGTH_MAX];
        bytes
            .get_mut(..text.len())
            .expect("a name has at most 64 bytes")
            .copy_from_slice(text);
        let length = u8::try_from(text.len()).expect("a name has at most 64 bytes");
        Ok(Self { length, bytes })
    }

    /// Whether some text is a name, for names that are kept in another form.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn check(text: &[u8]) -> Result<(), InvalidName> {
        if text.is_empty() {
            return Err(InvalidName::Empty);
        }
        if text.len() > LENGTH_MAX {
            return Err(InvalidName::TooLong(text.len()));
        }
        match text.iter().position(|&byte| !is_name_byte(byte)) {
            None => Ok(()),
            Some(at) => Err(InvalidName::Character(at)),
        }
    }

    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes
            .get(..usize::from(self.length))
            .expect("a name's length is at most 64")
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        str::from_utf8(self.as_bytes()).expect("a name is ASCII")
    }
}

/// Whether each byte is of the alphabet: names are read with every request, and one look is less
/// than several comparisons.
#[expect(
    clippy::indexing_slicing,
    reason = "computed by the compiler, which would refuse an index beyond the end"
)]
static ALPHABET: [bool; 256] = {
    let mut alphabet = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        alphabet[byte as usize] =
            byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b':' | b'-');
        byte += 1;
    }
    alphabet
};

fn is_name_byte(byte: u8) -> bool {
    ALPHABET.get(usize::from(byte)).is_some_and(|&known| known)
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl hash::Hash for Name {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for InvalidName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "a name has at least one character"),
            Self::TooLong(length) => {
                write!(
                    f,
                    "a name has at most {LENGTH_MAX} characters, this one has {length}"
                )
            }
            Self::Character(at) => {
                write!(
                    f,
                    "a name uses A-Z a-z 0-9 . _ : - only, character {} is none",
                    at + 1
                )
            }
        }
    }
}

impl std::error::Error for InvalidName {}

/// Who sends a command. Every record carries one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Principal(pub Name);

impl Principal {
    /// The one caller of a server that asks for no key.
    #[must_use]
    pub fn local() -> Self {
        Self(Name::parse(b"local").expect("`local` is a name"))
    }

    /// The author of the records that the engine itself writes.
    #[must_use]
    pub fn engine() -> Self {
        Self(Name::parse(b"engine").expect("`engine` is a name"))
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An idempotency key: 1 to 128 visible ASCII characters, chosen by the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key<'a>(&'a str);

/// Why some text is not a [`Key`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidKey {
    Empty,
    /// Longer than 128 bytes; the field holds the length found.
    TooLong(usize),
    /// The byte offset of the first character that is not visible ASCII.
    Character(usize),
}

impl<'a> Key<'a> {
    /// Parses a key.
    ///
    /// # Errors
    /// Text that is empty, longer than 128 bytes or not visible ASCII.
    pub fn parse(text: &'a [u8]) -> Result<Self, InvalidKey> {
        if text.is_empty() {
            return Err(InvalidKey::Empty);
        }
        if text.len() > KEY_LENGTH_MAX {
            return Err(InvalidKey::TooLong(text.len()));
        }
        if let Some(at) = text.iter().position(|byte| !byte.is_ascii_graphic()) {
            return Err(InvalidKey::Character(at));
        }
        Ok(Self(str::from_utf8(text).expect("visible ASCII is UTF-8")))
    }

    #[must_use]
    pub const fn as_str(&self) -> &'a str {
        self.0
    }
}

impl fmt::Display for InvalidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "an idempotency key has at least one character"),
            Self::TooLong(length) => write!(
                f,
                "an idempotency key has at most {KEY_LENGTH_MAX} characters, this one has {length}"
            ),
            Self::Character(at) => write!(
                f,
                "an idempotency key is visible ASCII, character {} is not",
                at + 1
            ),
        }
    }
}

impl std::error::Error for InvalidKey {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_text_and_refuses_what_is_outside_the_alphabet() {
        let rows: [(&[u8], Result<&str, InvalidName>); 6] = [
            (b"room:__rand_int__", Ok("room:__rand_int__")),
            (b"A.b_c:d-9", Ok("A.b_c:d-9")),
            (b"", Err(InvalidName::Empty)),
            (b"a b", Err(InvalidName::Character(1))),
            (b"caf\xc3\xa9", Err(InvalidName::Character(3))),
            (&[b'x'; 65], Err(InvalidName::TooLong(65))),
        ];
        for (text, expected) in rows {
            assert_eq!(
                Name::parse(text).as_ref().map(Name::as_str),
                expected.as_ref().copied()
            );
        }
    }

    #[test]
    fn a_key_is_visible_ascii() {
        assert_eq!(
            Key::parse(b"9f-2\"x").map(|key| key.as_str()),
            Ok("9f-2\"x")
        );
        assert_eq!(Key::parse(b"two words"), Err(InvalidKey::Character(3)));
        assert_eq!(Key::parse(&[b'k'; 129]), Err(InvalidKey::TooLong(129)));
        assert_eq!(Key::parse(b""), Err(InvalidKey::Empty));
    }
}
