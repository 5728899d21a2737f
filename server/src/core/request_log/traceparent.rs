//! The header `traceparent` of W3C Trace Context: to which trace a request belongs.

use std::fmt;

/// The length of version 00, in bytes: `00-` trace `-` parent `-` flags.
const LENGTH: usize = 55;

/// Where the trace id, the id of the caller's span and the flags stand.
const TRACE: std::ops::Range<usize> = 3..35;
const PARENT: std::ops::Range<usize> = 36..52;
const FLAGS: std::ops::Range<usize> = 53..55;

/// A checked `traceparent`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct TraceParent([u8; LENGTH]);

/// Why a text is no `traceparent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InvalidTraceParent;

impl fmt::Display for InvalidTraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a traceparent is 00-TRACE-PARENT-FLAGS in 32, 16 and 2 small hexadecimal digits, where \
             neither TRACE nor PARENT is zero",
        )
    }
}

impl std::error::Error for InvalidTraceParent {}

impl TraceParent {
    /// Parses a value as the standard says: small letters only, and of a later version what version 00
    /// knows.
    ///
    /// # Errors
    /// The text is malformed, of version `ff`, or has an id of zeros.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, InvalidTraceParent> {
        let (&known, more) = text
            .split_first_chunk::<LENGTH>()
            .ok_or(InvalidTraceParent)?;
        let is_hex = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
        let shape = known.iter().enumerate().all(|(at, byte)| match at {
            2 | 35 | 52 => *byte == b'-',
            _ => is_hex(byte),
        });
        let ends = match &known[..2] {
            b"ff" => false,
            b"00" => more.is_empty(),
            _ => more.first().is_none_or(|next| *next == b'-'),
        };
        let is_zero = |part: &[u8]| part.iter().all(|digit| *digit == b'0');
        if !shape || !ends || is_zero(&known[TRACE]) || is_zero(&known[PARENT]) {
            return Err(InvalidTraceParent);
        }
        Ok(Self(known))
    }

    fn part(&self, place: std::ops::Range<usize>) -> &str {
        std::str::from_utf8(&self.0[place]).expect("checked digits are ASCII")
    }

    /// The id of the trace, in 32 digits.
    pub(crate) fn trace_id(&self) -> &str {
        self.part(TRACE)
    }

    /// The id of the caller's span, in 16 digits.
    pub(crate) fn parent_id(&self) -> &str {
        self.part(PARENT)
    }

    /// The flags, in two digits.
    pub(crate) fn flags(&self) -> &str {
        self.part(FLAGS)
    }

    /// Whether the caller records its span.
    pub(crate) fn is_sampled(&self) -> bool {
        u8::from_str_radix(self.flags(), 16).is_ok_and(|flags| flags & 1 == 1)
    }
}

/// As version 00 writes it.
impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (trace, parent, flags) = (self.trace_id(), self.parent_id(), self.flags());
        write!(f, "00-{trace}-{parent}-{flags}")
    }
}

impl fmt::Debug for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn the_example_of_the_standard_has_its_parts() {
        let parsed = TraceParent::parse(EXAMPLE.as_bytes()).unwrap();
        assert_eq!(parsed.trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(parsed.parent_id(), "00f067aa0ba902b7");
        assert_eq!(parsed.flags(), "01");
        assert_eq!(parsed.to_string(), EXAMPLE);
    }

    #[test]
    fn what_the_standard_calls_invalid_is_refused() {
        let later = EXAMPLE.replacen("00", "cc", 1);
        let rows = [
            (EXAMPLE.to_owned(), true),
            (later.clone(), true),
            (format!("{later}-what-is-new"), true),
            (format!("{later}what-is-new"), false),
            (format!("{EXAMPLE}-what-is-new"), false),
            (EXAMPLE.replacen("00", "ff", 1), false),
            (EXAMPLE.to_uppercase(), false),
            (EXAMPLE.replace('-', "_"), false),
            (EXAMPLE[..54].to_owned(), false),
            (format!(" {EXAMPLE}"), false),
            (
                EXAMPLE.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
                false,
            ),
            (EXAMPLE.replace("00f067aa0ba902b7", &"0".repeat(16)), false),
            (EXAMPLE.replace("-01", "-0g"), false),
            (String::new(), false),
        ];
        for (text, is_valid) in rows {
            assert_eq!(
                TraceParent::parse(text.as_bytes()).is_ok(),
                is_valid,
                "{text}"
            );
        }
    }
}
