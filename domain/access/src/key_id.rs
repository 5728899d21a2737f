//! The part of a key that may be shown.

use std::fmt;

use turnstile_chassis::{Decode, Encode, Kind, Show, Value};
use turnstile_types::{Malformed, Reader};

/// Characters of an id.
pub(crate) const LENGTH: usize = 12;

/// What a key is called: twelve small letters or digits. It is the third part of the text of the key, and
/// no secret.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId([u8; LENGTH]);

/// Text that is no [`KeyId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidKeyId;

impl KeyId {
    const KIND: Kind = Kind::Pattern {
        example: "k3v9qtz2ma4x",
        pattern: "^[a-z0-9]{12}$",
    };

    /// # Errors
    /// Other than twelve small letters or digits.
    pub fn parse(text: &[u8]) -> Result<Self, InvalidKeyId> {
        let id: [u8; LENGTH] = text.try_into().map_err(|_length| InvalidKeyId)?;
        let is_plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        if id.iter().all(is_plain) {
            Ok(Self(id))
        } else {
            Err(InvalidKeyId)
        }
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.0).expect("an id is ASCII")
    }
}

turnstile_chassis::readable!(KeyId, InvalidKeyId, KeyId::KIND);

impl Value for KeyId {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.text(self.as_str())
    }

    fn kind() -> Kind {
        Self::KIND
    }
}

impl Encode for KeyId {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0);
    }
}

impl Decode<'_> for KeyId {
    fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        let text = reader.take(LENGTH, field)?;
        Self::parse(text).map_err(|_invalid| Malformed { field })
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for InvalidKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the id of a key is {LENGTH} small letters or digits")
    }
}

impl std::error::Error for InvalidKeyId {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_twelve_small_letters_or_digits() {
        let id = KeyId::parse(b"abc123xyz789").unwrap();
        assert_eq!(
            (id.to_string(), format!("{id:?}")),
            ("abc123xyz789".into(), "abc123xyz789".into())
        );
        for text in [
            "",
            "abc123xyz78",
            "abc123xyz7890",
            "Abc123xyz789",
            "abc_23xyz789",
        ] {
            assert_eq!(KeyId::parse(text.as_bytes()), Err(InvalidKeyId), "{text}");
        }
    }
}
