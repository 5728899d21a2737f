//! The `Idempotency-Key` header.

use std::fmt;

use turnstile_types::{InvalidKey, Key};

/// Why a header is no idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidKeyHeader {
    /// It opens with a quote and is no structured-field string.
    Quoting,
    Key(InvalidKey),
}

/// Reads the key from a header's value: a structured-field string, as the draft has it
/// (`"8e03978e"`), or the bare text that many clients send. Both forms are the same key.
///
/// # Errors
/// A broken quotation, or text that is no key.
pub fn parse_key(value: &[u8]) -> Result<Box<str>, InvalidKeyHeader> {
    let value = value.trim_ascii();
    let text = match value {
        [b'"', inner @ .., b'"'] => unquoted(inner)?,
        [b'"', ..] => return Err(InvalidKeyHeader::Quoting),
        bare => bare.to_vec(),
    };
    let key = Key::parse(&text).map_err(InvalidKeyHeader::Key)?;
    Ok(key.as_str().into())
}

/// RFC 9651, section 3.3.3: only `"` and `\` are escaped.
fn unquoted(inner: &[u8]) -> Result<Vec<u8>, InvalidKeyHeader> {
    let mut text = Vec::with_capacity(inner.len());
    let mut bytes = inner.iter().copied();
    while let Some(byte) = bytes.next() {
        text.push(match byte {
            b'"' => return Err(InvalidKeyHeader::Quoting),
            b'\\' => match bytes.next() {
                Some(escaped @ (b'"' | b'\\')) => escaped,
                _ => return Err(InvalidKeyHeader::Quoting),
            },
            plain => plain,
        });
    }
    Ok(text)
}

impl fmt::Display for InvalidKeyHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quoting => f.write_str(
                "a quoted idempotency key ends with its quote, and escapes only \" and \\",
            ),
            Self::Key(invalid) => invalid.fmt(f),
        }
    }
}

impl std::error::Error for InvalidKeyHeader {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_quoted_or_bare() {
        let rows: [(&[u8], Result<&str, InvalidKeyHeader>); 9] = [
            (b"\"8e03978e\"", Ok("8e03978e")),
            (b"8e03978e", Ok("8e03978e")),
            (br#""a\"b\\c""#, Ok("a\"b\\c")),
            (b" k ", Ok("k")),
            (b"\"k", Err(InvalidKeyHeader::Quoting)),
            (br#""a\n""#, Err(InvalidKeyHeader::Quoting)),
            (b"\"a\"b\"", Err(InvalidKeyHeader::Quoting)),
            (b"\"\"", Err(InvalidKeyHeader::Key(InvalidKey::Empty))),
            (
                b"two words",
                Err(InvalidKeyHeader::Key(InvalidKey::Character(3))),
            ),
        ];
        for (value, expected) in rows {
            let key = parse_key(value);
            assert_eq!(
                key.as_deref().map_err(|invalid| *invalid),
                expected,
                "{}",
                value.escape_ascii()
            );
        }
    }
}
