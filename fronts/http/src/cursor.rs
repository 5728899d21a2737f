//! Where a listing goes on, as callers see it: text that means nothing to them.

use std::fmt;

/// Some text that no listing gave out as a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InvalidCursor;

/// Reads a cursor, which is a number inside: `c` and sixteen hexadecimal digits.
///
/// # Errors
/// Any other text.
pub(crate) fn parse_cursor(text: &str) -> Result<u64, InvalidCursor> {
    let digits = text.strip_prefix('c').filter(|digits| {
        let small = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
        digits.len() == 16 && digits.bytes().all(small)
    });
    digits
        .and_then(|digits| u64::from_str_radix(digits, 16).ok())
        .ok_or(InvalidCursor)
}

impl fmt::Display for InvalidCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a cursor is the text that the page before gave as next")
    }
}

impl std::error::Error for InvalidCursor {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_and_nothing_else_does() {
        for number in [0, 1, 77, u64::MAX] {
            assert_eq!(parse_cursor(&format!("c{number:016x}")), Ok(number));
        }
        for text in [
            "",
            "c",
            "1",
            "c1",
            "c+000000000000001",
            "c00000000000000FF",
            "\u{e9}",
        ] {
            assert_eq!(parse_cursor(text), Err(InvalidCursor), "{text}");
        }
    }
}
