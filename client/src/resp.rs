//! RESP2 and RESP3 as a client sees them: requests are written, replies are read. No I/O.
//!
//! Two readers share one tokenizer. [`token`] and [`reply_length`] borrow and never allocate, for
//! the load generator; [`decode`] builds a [`Value`], for all others.

mod value;

use std::fmt;

pub use value::{Value, decode};

/// The longest line: a simple string, an error, a number or a length.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// The deepest nesting of a reply: ours need three, and the reader recurses.
const DEPTH_MAX: usize = 32;

/// How much one reply may hold before it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyLimits {
    /// The longest bulk string, in bytes.
    pub bulk_bytes_max: usize,
    /// The most elements in a whole reply, nested ones included.
    pub elements_max: usize,
}

impl ReplyLimits {
    /// Generous for every answer of our server (a month of one property is some megabytes), and
    /// still a bound on what a broken peer can make us hold.
    pub const REPLY: Self = Self {
        bulk_bytes_max: 64 << 20,
        elements_max: 1 << 20,
    };
}

/// One piece of a reply. An aggregate announces how many replies follow it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'a> {
    Simple(&'a [u8]),
    /// Of either form, `-` or `!`: the code, a space, the message.
    Error(&'a [u8]),
    Integer(i64),
    Bulk(&'a [u8]),
    /// The null of RESP3, and the null bulk and null array of RESP2.
    Null,
    Boolean(bool),
    Double(f64),
    /// Decimal digits with an optional sign.
    Big(&'a [u8]),
    /// Text with its three-letter format.
    Verbatim {
        format: [u8; 3],
        text: &'a [u8],
    },
    Array(usize),
    Set(usize),
    /// Out of band: it answers no request.
    Push(usize),
    /// The number of pairs: twice as many replies follow.
    Map(usize),
    /// The number of pairs of attributes; the reply they belong to follows them.
    Attributes(usize),
}

impl Token<'_> {
    /// How many replies belong to this token and follow it.
    const fn children(&self) -> usize {
        match *self {
            Self::Array(count) | Self::Set(count) | Self::Push(count) => count,
            Self::Map(pairs) => 2 * pairs,
            Self::Attributes(pairs) => 2 * pairs + 1,
            Self::Simple(_)
            | Self::Error(_)
            | Self::Integer(_)
            | Self::Bulk(_)
            | Self::Null
            | Self::Boolean(_)
            | Self::Double(_)
            | Self::Big(_)
            | Self::Verbatim { .. } => 0,
        }
    }
}

/// Why bytes are no reply. The connection is of no further use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MalformedReply {
    /// No type begins with this byte.
    Type(u8),
    /// A number, a length or a count that is none.
    Number,
    /// `#` is followed by neither `t` nor `f`.
    Boolean,
    /// A verbatim string without its `fmt:` prefix.
    Verbatim,
    /// A null with something in it.
    Null,
    /// Bytes where the end of a line must be.
    Terminator,
    /// A line of more than 64 KiB.
    Line,
    /// A bulk string longer than the limit.
    BulkTooLong,
    /// More elements than the limit.
    TooManyElements,
    /// Nested deeper than 32 levels.
    TooDeep,
}

impl fmt::Display for MalformedReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Type(byte) => write!(f, "no RESP type begins with byte 0x{byte:02x}"),
            Self::Number => f.write_str("a number, length or count is malformed"),
            Self::Boolean => f.write_str("a boolean is neither t nor f"),
            Self::Verbatim => f.write_str("a verbatim string has no format"),
            Self::Null => f.write_str("a null is not empty"),
            Self::Terminator => f.write_str("a line or bulk string does not end with CR LF"),
            Self::Line => f.write_str("a line is longer than 64 KiB"),
            Self::BulkTooLong => f.write_str("a bulk string is longer than the limit"),
            Self::TooManyElements => f.write_str("a reply has more elements than the limit"),
            Self::TooDeep => f.write_str("a reply is nested too deeply"),
        }
    }
}

impl std::error::Error for MalformedReply {}

/// Appends one request: an array of bulk strings.
pub fn put_command(out: &mut Vec<u8>, arguments: &[&[u8]]) {
    put_count(out, b'*', arguments.len());
    for argument in arguments {
        put_bulk(out, argument);
    }
}

/// Appends one bulk string.
pub fn put_bulk(out: &mut Vec<u8>, bytes: &[u8]) {
    put_count(out, b'$', bytes.len());
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

/// Appends the line of a length or of a count: `*3`, `$12`.
pub fn put_count(out: &mut Vec<u8>, kind: u8, count: usize) {
    out.push(kind);
    put_decimal(out, u64::try_from(count).expect("a count fits 64 bits"));
    out.extend_from_slice(b"\r\n");
}

/// Appends a number in decimal digits, without allocating.
pub fn put_decimal(out: &mut Vec<u8>, mut number: u64) {
    let start = out.len();
    loop {
        let digit = u8::try_from(number % 10).expect("a digit is below ten");
        out.push(b'0' + digit);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out[start..].reverse();
}

/// Reads the first token and says how many bytes it takes; nothing when more bytes are needed.
///
/// # Errors
/// The bytes cannot begin a reply, or go over a limit.
pub fn token<'a>(
    bytes: &'a [u8],
    limits: &ReplyLimits,
) -> Result<Option<(Token<'a>, usize)>, MalformedReply> {
    let Some((&kind, rest)) = bytes.split_first() else {
        return Ok(None);
    };
    if !b"+-:$*_,#!=(%~>|".contains(&kind) {
        return Err(MalformedReply::Type(kind));
    }
    let Some(line) = line(rest)? else {
        return Ok(None);
    };
    let used = 1 + line.len() + 2;
    let token = match kind {
        b'+' => Token::Simple(line),
        b'-' => Token::Error(line),
        b':' => Token::Integer(integer(line)?),
        b'_' if line.is_empty() => Token::Null,
        b'_' => return Err(MalformedReply::Null),
        b',' => Token::Double(double(line)?),
        b'(' => Token::Big(big(line)?),
        b'#' => match line {
            b"t" => Token::Boolean(true),
            b"f" => Token::Boolean(false),
            _ => return Err(MalformedReply::Boolean),
        },
        b'$' | b'*' if line == b"-1" => Token::Null,
        b'$' | b'!' | b'=' => return blob(kind, line, bytes, limits),
        _ => aggregate(kind, line, limits)?,
    };
    Ok(Some((token, used)))
}

/// How many bytes the first whole reply takes; nothing when more bytes are needed. Attributes
/// before a reply count as part of it.
///
/// # Errors
/// As [`token`].
pub fn reply_length(bytes: &[u8], limits: &ReplyLimits) -> Result<Option<usize>, MalformedReply> {
    Ok(reply(bytes, limits)?.map(|(_first, length)| length))
}

/// The first token of the first whole reply, and how many bytes that reply takes; nothing when
/// more bytes are needed.
///
/// # Errors
/// As [`token`].
pub fn reply<'a>(
    bytes: &'a [u8],
    limits: &ReplyLimits,
) -> Result<Option<(Token<'a>, usize)>, MalformedReply> {
    let Some((first, mut used)) = token(bytes, limits)? else {
        return Ok(None);
    };
    let mut owed = first.children();
    let mut elements = owed;
    while owed > 0 {
        let Some((token, length)) = token(&bytes[used..], limits)? else {
            return Ok(None);
        };
        used += length;
        elements += token.children();
        if elements > limits.elements_max {
            return Err(MalformedReply::TooManyElements);
        }
        owed = owed - 1 + token.children();
    }
    Ok(Some((first, used)))
}

/// The first line, without its end.
fn line(bytes: &[u8]) -> Result<Option<&[u8]>, MalformedReply> {
    let window = &bytes[..bytes.len().min(LINE_BYTES_MAX + 2)];
    match window.iter().position(|&byte| byte == b'\r') {
        Some(end) if end > LINE_BYTES_MAX => Err(MalformedReply::Line),
        Some(end) => match window.get(end + 1) {
            Some(b'\n') => Ok(Some(&window[..end])),
            Some(_) => Err(MalformedReply::Terminator),
            None => Ok(None),
        },
        None if window.len() > LINE_BYTES_MAX => Err(MalformedReply::Line),
        None => Ok(None),
    }
}

fn integer(line: &[u8]) -> Result<i64, MalformedReply> {
    let digits = line.strip_prefix(b"+").unwrap_or(line);
    if digits.first() == Some(&b'+') {
        return Err(MalformedReply::Number);
    }
    text(digits)?
        .parse()
        .map_err(|_invalid| MalformedReply::Number)
}

fn count(line: &[u8]) -> Result<usize, MalformedReply> {
    if !line.iter().all(u8::is_ascii_digit) {
        return Err(MalformedReply::Number);
    }
    text(line)?
        .parse()
        .map_err(|_invalid| MalformedReply::Number)
}

fn double(line: &[u8]) -> Result<f64, MalformedReply> {
    // Rust reads "infinity" and more; the protocol knows digits, "inf" and "nan".
    let known = line
        .iter()
        .all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte))
        || matches!(line, b"inf" | b"-inf" | b"nan");
    if !known {
        return Err(MalformedReply::Number);
    }
    text(line)?
        .parse()
        .map_err(|_invalid| MalformedReply::Number)
}

fn big(line: &[u8]) -> Result<&[u8], MalformedReply> {
    let digits = line
        .strip_prefix(b"-")
        .or_else(|| line.strip_prefix(b"+"))
        .unwrap_or(line);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(MalformedReply::Number);
    }
    Ok(line)
}

fn text(line: &[u8]) -> Result<&str, MalformedReply> {
    str::from_utf8(line).map_err(|_invalid| MalformedReply::Number)
}

/// A bulk string, a bulk error or a verbatim string: a length, then that many bytes.
fn blob<'a>(
    kind: u8,
    line: &[u8],
    bytes: &'a [u8],
    limits: &ReplyLimits,
) -> Result<Option<(Token<'a>, usize)>, MalformedReply> {
    let length = count(line)?;
    if length > limits.bulk_bytes_max {
        return Err(MalformedReply::BulkTooLong);
    }
    let start = 1 + line.len() + 2;
    let end = start + length;
    let (Some(content), Some(terminator)) = (bytes.get(start..end), bytes.get(end..end + 2)) else {
        return Ok(None);
    };
    if terminator != b"\r\n" {
        return Err(MalformedReply::Terminator);
    }
    let token = match kind {
        b'$' => Token::Bulk(content),
        b'!' => Token::Error(content),
        _ => match content.split_first_chunk::<4>() {
            Some((&[a, b, c, b':'], text)) => Token::Verbatim {
                format: [a, b, c],
                text,
            },
            Some(_) | None => return Err(MalformedReply::Verbatim),
        },
    };
    Ok(Some((token, end + 2)))
}

fn aggregate(
    kind: u8,
    line: &[u8],
    limits: &ReplyLimits,
) -> Result<Token<'static>, MalformedReply> {
    let count = count(line)?;
    // Checked before anything is multiplied by two or allocated.
    let pairs = matches!(kind, b'%' | b'|');
    if count > limits.elements_max || pairs && count > limits.elements_max / 2 {
        return Err(MalformedReply::TooManyElements);
    }
    Ok(match kind {
        b'*' => Token::Array(count),
        b'~' => Token::Set(count),
        b'>' => Token::Push(count),
        b'%' => Token::Map(count),
        _ => Token::Attributes(count),
    })
}

#[cfg(test)]
mod tests;
