//! Replies of the RESP door, read token by token without allocating.

use turnstile_client::resp::{self, ReplyLimits, Token};
use turnstile_types::Night;

use crate::{door, pace::Garbled};

/// The reason under which it is counted that a caller must wait in line: nothing was done.
pub(crate) const IN_LINE: &[u8] = b"in_line";

/// The tokens of one whole reply.
pub(crate) struct Tokens<'a>(pub(crate) &'a [u8]);

impl<'a> Tokens<'a> {
    pub(crate) fn next(&mut self) -> Result<Token<'a>, Garbled> {
        let read = resp::token(self.0, &ReplyLimits::REPLY).map_err(|_malformed| Garbled)?;
        let (token, used) = read.ok_or(Garbled)?;
        self.0 = &self.0[used..];
        Ok(token)
    }

    pub(crate) fn text(&mut self) -> Result<&'a [u8], Garbled> {
        match self.next()? {
            Token::Bulk(text) | Token::Simple(text) => Ok(text),
            _ => Err(Garbled),
        }
    }

    /// The pairs of a map.
    pub(crate) fn pairs(&mut self) -> Result<usize, Garbled> {
        match self.next()? {
            Token::Map(pairs) => Ok(pairs),
            _ => Err(Garbled),
        }
    }
}

/// An answer to a command of rooms or seats in RESP2, as far as it is read where nothing is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Brief<'a> {
    Error(&'a [u8]),
    Refused(&'a [u8]),
    /// With the reference, when one follows.
    Done(Option<&'a [u8]>),
}

impl<'a> Brief<'a> {
    /// Reads one whole answer in RESP2 and says how many bytes it takes.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Option<(Self, usize)>, Garbled> {
        let Some(length) = length(bytes)? else {
            return Ok(None);
        };
        let mut tokens = Tokens(&bytes[..length]);
        let first = tokens.next()?;
        let brief = match (first, tokens.next().ok(), tokens.next().ok()) {
            (Token::Error(text), ..) => Self::Error(door::code(text)),
            (
                Token::Array(2..),
                Some(Token::Integer(0)),
                Some(Token::Bulk(reason) | Token::Simple(reason)),
            ) => Self::Refused(reason),
            (
                Token::Array(2..),
                Some(Token::Integer(1)),
                Some(Token::Bulk(text) | Token::Simple(text)),
            ) => Self::Done(Some(text)),
            (Token::Array(_), Some(Token::Integer(1)), _) => Self::Done(None),
            // The place, and the seconds until its turn and until it is asked for again.
            (Token::Array(4), Some(Token::Integer(2)), Some(Token::Integer(_))) => {
                Self::Refused(IN_LINE)
            }
            _ => return Err(Garbled),
        };
        Ok(Some((brief, length)))
    }
}

/// How many bytes the first whole reply takes, when all of it is there.
fn length(bytes: &[u8]) -> Result<Option<usize>, Garbled> {
    resp::reply_length(bytes, &ReplyLimits::REPLY).map_err(|_malformed| Garbled)
}

/// The code of a whole reply that is an error.
///
/// A server that still recovers its journal answers nothing else: `LOADING` says nothing about what
/// was asked under the same key before. The connection is given up, and another asks again later.
pub(crate) fn error(reply: &[u8]) -> Result<Option<&[u8]>, Garbled> {
    let Token::Error(text) = Tokens(reply).next()? else {
        return Ok(None);
    };
    match door::code(text) {
        b"LOADING" => Err(Garbled),
        code => Ok(Some(code)),
    }
}

/// Where a reply begins and ends of which all is there: the first, or behind a greeting the second.
pub(crate) fn whole(bytes: &[u8], greets: bool) -> Result<Option<std::ops::Range<usize>>, Garbled> {
    let mut from = 0;
    if greets {
        let Some(length) = length(bytes)? else {
            return Ok(None);
        };
        from = length;
    }
    let rest = bytes.get(from..).unwrap_or_default();
    Ok(length(rest)?.map(|length| from..from + length))
}

/// Milliseconds since 1970 of an instant like `2027-01-01T12:00:00.000Z`.
pub(crate) fn millis(text: &[u8]) -> Option<u64> {
    let (date, time) = text.split_at_checked(10)?;
    let time = str::from_utf8(time)
        .ok()?
        .strip_prefix('T')?
        .strip_suffix('Z')?;
    let mut parts = time.split([':', '.']).map(str::parse::<u64>);
    let mut part = || parts.next()?.ok();
    let (hours, minutes, seconds, rest) = (part()?, part()?, part()?, part()?);
    let days = u64::from(Night::parse(date).ok()?.days());
    Some((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000 + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_recovers_has_not_answered() {
        let code = |reply: &'static [u8]| error(reply);
        assert_eq!(code(b"-LOADING the server recovers\r\n"), Err(Garbled));
        assert_eq!(code(b"-BUSY nothing was done\r\n"), Ok(Some(&b"BUSY"[..])));
        assert_eq!(code(b"+OK\r\n"), Ok(None));
    }
}
