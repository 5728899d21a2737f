//! Short names of fixed size: symbols, accounts, and the ids that clients give their orders.

use std::{fmt, ops::Deref};

use turnstile_chassis::{Decode, Encode, Kind, Show, Value, put_text, read_text};
use turnstile_types::{Malformed, Reader};

/// Why some text is no symbol, account or client order id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidLabel {
    Empty,
    /// Longer than the kind of name may be, in bytes.
    TooLong {
        found: usize,
        most: usize,
    },
    /// The byte offset of the first character outside the alphabet.
    Character(usize),
}

impl fmt::Display for InvalidLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it has no character"),
            Self::TooLong { found, most } => {
                write!(f, "it has at most {most} characters, not {found}")
            }
            Self::Character(at) => write!(f, "character {} is not allowed", at + 1),
        }
    }
}

impl std::error::Error for InvalidLabel {}

/// Copies `text` into an array that is filled up with zeros.
fn padded<const N: usize>(
    text: &[u8],
    is_allowed: impl Fn(u8) -> bool,
) -> Result<[u8; N], InvalidLabel> {
    if text.is_empty() {
        return Err(InvalidLabel::Empty);
    }
    // All bytes at once, without a branch for each; which one it was, only when there is one.
    if !text
        .iter()
        .fold(true, |fine, &byte| fine & is_allowed(byte))
    {
        let at = text.iter().position(|&byte| !is_allowed(byte));
        return Err(InvalidLabel::Character(at.unwrap_or(0)));
    }
    let mut bytes = [0; N];
    bytes
        .get_mut(..text.len())
        .ok_or(InvalidLabel::TooLong {
            found: text.len(),
            most: N,
        })?
        .copy_from_slice(text);
    Ok(bytes)
}

/// The text without its filling. No zero is in a text, so that counting finds the end, all bytes
/// at once.
fn unpadded<const N: usize>(bytes: &[u8; N]) -> &[u8] {
    let length = bytes.iter().filter(|&&byte| byte != 0).count();
    bytes.get(..length).unwrap_or(bytes)
}

const fn is_name_byte(byte: u8) -> bool {
    let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
    // Ten digits, and the colon behind them.
    let digit = byte.wrapping_sub(b'0') < 11;
    letter | digit | (byte == b'.') | (byte == b'_') | (byte == b'-')
}

macro_rules! label {
    ($(#[$doc:meta])* $name:ident, $length:literal, $is_allowed:expr, $example:literal, $pattern:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; $length]);

        impl $name {
            /// The longest, in bytes.
            pub const LENGTH_MAX: usize = $length;

            const KIND: Kind = Kind::Pattern {
                example: $example,
                pattern: $pattern,
            };

            /// Reads one.
            ///
            /// # Errors
            /// Text that is empty, too long or outside the alphabet.
            pub fn parse(text: &[u8]) -> Result<Self, InvalidLabel> {
                padded(text, $is_allowed).map(Self)
            }

            #[must_use]
            pub fn as_str(&self) -> &str {
                str::from_utf8(self.text()).expect("a label is ASCII")
            }

            pub(crate) fn text(&self) -> &[u8] {
                unpadded(&self.0)
            }

            /// The text, filled up with zeros: equal exactly when the names are.
            pub(crate) const fn padded(&self) -> &[u8; $length] {
                &self.0
            }
        }

        turnstile_chassis::readable!($name, InvalidLabel, $name::KIND);

        impl Encode for $name {
            fn encode(&self, out: &mut Vec<u8>) {
                put_text(self.text(), out);
            }
        }

        impl Decode<'_> for $name {
            fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
                Self::parse(read_text(reader, field)?).map_err(|_invalid| Malformed { field })
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                self.as_str()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl Value for $name {
            #[inline]
            fn show<S: Show>(&self, show: S) -> S::Out {
                show.text(self.as_str())
            }

            fn kind() -> Kind {
                Self::KIND
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(self.as_str(), f)
            }
        }
    };
}

label! {
    /// What is traded: 1 to 16 characters of `A-Z a-z 0-9 . _ : -`.
    Symbol, 16, is_name_byte, "SPY", "^[A-Za-z0-9._:-]{1,16}$"
}

label! {
    /// Whose cash and shares: 1 to 40 characters of `A-Z a-z 0-9 . _ : -`. Compared as text: `7`
    /// and `07` are two accounts.
    AccountId, 40, is_name_byte, "ada", "^[A-Za-z0-9._:-]{1,40}$"
}

label! {
    /// The id that a client gives its order: 1 to 36 visible ASCII characters (a UUID fits).
    ClientId, 36, |byte: u8| byte.is_ascii_graphic(), "my-order-1", "^[!-~]{1,36}$"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_of_letters_digits_and_four_signs() {
        for byte in 0..=u8::MAX {
            let allowed = byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
            assert_eq!(is_name_byte(byte), allowed, "{byte}");
        }
    }

    #[test]
    fn a_label_keeps_its_text_and_refuses_what_does_not_fit() {
        assert_eq!(Symbol::parse(b"BRK.B").unwrap().as_str(), "BRK.B");
        assert_eq!(Symbol::parse(&[b'x'; 16]).unwrap().len(), 16);
        let long = InvalidLabel::TooLong {
            found: 17,
            most: 16,
        };
        assert_eq!(Symbol::parse(&[b'x'; 17]), Err(long));
        assert_eq!(Symbol::parse(b""), Err(InvalidLabel::Empty));
        assert_eq!(Symbol::parse(b"A B"), Err(InvalidLabel::Character(1)));
        assert_eq!(AccountId::parse(b"7\0"), Err(InvalidLabel::Character(1)));
        assert_eq!(ClientId::parse(b"a\"b").unwrap().as_str(), "a\"b");
    }
}
