//! Replies in RESP3, read token by token without allocating.

use turnstile_client::resp::{self, Limits, Token};
use turnstile_types::Night;

use crate::{door, pace::Garbled};

/// The tokens of one whole reply.
pub(super) struct Tokens<'a>(pub(super) &'a [u8]);

impl<'a> Tokens<'a> {
    pub(super) fn next(&mut self) -> Result<Token<'a>, Garbled> {
        let read = resp::token(self.0, &Limits::REPLY).map_err(|_malformed| Garbled)?;
        let (token, used) = read.ok_or(Garbled)?;
        self.0 = &self.0[used..];
        Ok(token)
    }

    pub(super) fn text(&mut self) -> Result<&'a [u8], Garbled> {
        match self.next()? {
            Token::Bulk(text) | Token::Simple(text) => Ok(text),
            _ => Err(Garbled),
        }
    }

    /// The pairs of a map.
    pub(super) fn pairs(&mut self) -> Result<usize, Garbled> {
        match self.next()? {
            Token::Map(pairs) => Ok(pairs),
            _ => Err(Garbled),
        }
    }
}

/// How many bytes the first whole reply takes, when all of it is there.
fn length(bytes: &[u8]) -> Result<Option<usize>, Garbled> {
    resp::reply_length(bytes, &Limits::REPLY).map_err(|_malformed| Garbled)
}

/// The code of a whole reply that is an error.
///
/// A server that still recovers its journal answers nothing else: `LOADING` says nothing about what
/// was asked under the same key before. The connection is given up, and another asks again later.
pub(super) fn error(reply: &[u8]) -> Result<Option<&[u8]>, Garbled> {
    let Token::Error(text) = Tokens(reply).next()? else {
        return Ok(None);
    };
    match door::code(text) {
        b"LOADING" => Err(Garbled),
        code => Ok(Some(code)),
    }
}

/// Where a reply begins and ends of which all is there: the first, or behind a greeting the second.
pub(super) fn whole(bytes: &[u8], greets: bool) -> Result<Option<std::ops::Range<usize>>, Garbled> {
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

/// Whether nobody knows what became of a request that was answered by an error with this code. Any
/// other says that nothing was done.
pub(super) fn is_unknown(code: &[u8]) -> bool {
    matches!(code, b"UNKNOWN" | b"BROKEN")
}

/// Milliseconds since 1970 of an instant like `2027-01-01T12:00:00.000Z`.
pub(super) fn millis(text: &[u8]) -> Option<u64> {
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
