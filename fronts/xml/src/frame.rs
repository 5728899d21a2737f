//! Frames: a line with a length in bytes, then the XML.

use std::ops::Range;

use crate::{Fault, limits::LENGTH_DIGITS_MAX};

/// What the unread bytes of a connection amount to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Framed {
    /// More bytes are needed. The first `skipped` bytes mean nothing and may be dropped at once;
    /// behind them there must be `needed` bytes before it is worth while to look again.
    Incomplete { skipped: usize, needed: usize },
    /// One whole frame: where its XML lies, and how many bytes it took with all that came before.
    Frame { xml: Range<usize>, consumed: usize },
    /// It is not known where the next frame begins: answer with [`put_error`](crate::put_error) and
    /// close.
    Broken(Fault),
}

/// Looks for the frame at the start of `bytes`, with at most `bytes_max` bytes of XML.
///
/// Blanks, line ends and zero bytes before it are skipped. A length is believed before its bytes
/// have come only as far as `bytes_max`. Nothing is kept between calls: a caller who drops what is
/// skipped and waits for what is needed looks at no byte of a body twice.
#[must_use]
pub fn frame(bytes: &[u8], bytes_max: u32) -> Framed {
    let is_blank = |&byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0);
    let skipped = bytes.iter().take_while(|byte| is_blank(byte)).count();
    let line = bytes.get(skipped..).unwrap_or_default();
    match length_line(line, bytes_max) {
        Err(fault) => Framed::Broken(fault),
        Ok(None) => Framed::Incomplete {
            skipped,
            needed: line.len() + 1,
        },
        Ok(Some((length, body))) if line.len() - body < length => Framed::Incomplete {
            skipped,
            needed: body + length,
        },
        Ok(Some((length, body))) => {
            let (start, end) = (skipped + body, skipped + body + length);
            Framed::Frame {
                xml: start..end,
                consumed: end,
            }
        }
    }
}

/// The length, and where the body begins; none when the line has not come whole.
fn length_line(line: &[u8], bytes_max: u32) -> Result<Option<(usize, usize)>, Fault> {
    let is_digit = |byte: &&u8| byte.is_ascii_digit();
    let digits = line
        .iter()
        .take(LENGTH_DIGITS_MAX + 1)
        .take_while(is_digit)
        .count();
    if digits > LENGTH_DIGITS_MAX {
        return Err(Fault::LengthDigits);
    }
    let number = line.iter().take(digits);
    let length = number.fold(0_u64, |sum, &digit| sum * 10 + u64::from(digit - b'0'));
    let body = match line.get(digits..).unwrap_or_default() {
        [] => None,
        _ if digits == 0 => return Err(Fault::LengthLine),
        [b'\n', ..] => Some(digits + 1),
        [b'\r'] => None,
        [b'\r', b'\n', ..] => Some(digits + 2),
        _ => return Err(Fault::LengthLine),
    };
    // A number too large stays too large, whatever digits still come.
    if length > u64::from(bytes_max) {
        return Err(Fault::TooLong { most: bytes_max });
    }
    let length = usize::try_from(length).expect("it is at most a number of 32 bits");
    Ok(body.map(|body| (length, body)))
}
