//! Parses replies of Redis.

use std::{fmt, str};

use redis::{RedisError, Value, parse_redis_value};

/// The longest reply that is read: Redis allows one string as much.
const REPLY_BYTES_MAX: usize = 512 << 20;

/// How deep lists may lie in lists: those of our functions and of the commands that we send lie two deep.
const DEPTH_MAX: usize = 8;

const LINE_END: &[u8] = b"\r\n";

/// What has come and was not taken yet.
///
/// Of a reply that is not whole it is known how many of its parts have come, so that a long one that comes
/// in small pieces is not read from its beginning with each of them.
#[derive(Debug, Default)]
pub(crate) struct ReplyBuffer {
    bytes: Vec<u8>,
    /// Where the first reply begins that was not taken.
    start: usize,
    /// Where the first of its parts ends that has not come whole.
    seen: usize,
    /// Parts that are to come behind that one.
    more: usize,
}

/// Not what Redis says.
#[derive(Debug)]
pub(crate) enum StrangeReply {
    /// No reply begins so.
    Kind(u8),
    /// A length or a number that is none.
    Number,
    /// Something does not end where it should.
    End,
    /// More than [`REPLY_BYTES_MAX`].
    Long,
    /// More than [`DEPTH_MAX`].
    Deep,
    /// Nobody has asked for it.
    Unasked,
    Word(RedisError),
}

impl fmt::Display for StrangeReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind(byte) => write!(f, "a reply begins with the byte {byte}"),
            Self::Number => f.write_str("a reply has an invalid number"),
            Self::End => f.write_str("a part of a reply has no end"),
            Self::Long => write!(f, "a reply is longer than {REPLY_BYTES_MAX} bytes"),
            Self::Deep => write!(f, "a reply has lists more than {DEPTH_MAX} deep"),
            Self::Unasked => f.write_str("a reply came without a request"),
            Self::Word(error) => error.fmt(f),
        }
    }
}

type Read<T> = Result<T, StrangeReply>;

impl ReplyBuffer {
    /// Where the next bytes go, with space for so many at least.
    pub(crate) fn space(&mut self, bytes: usize) -> &mut Vec<u8> {
        self.bytes.drain(..self.start);
        self.seen -= self.start;
        self.start = 0;
        self.bytes.reserve(bytes);
        &mut self.bytes
    }

    /// The next reply that is whole.
    ///
    /// # Errors
    /// What has come is no reply. There is no telling where another would begin.
    pub(crate) fn take(&mut self) -> Read<Option<Value>> {
        if !self.is_whole()? {
            let is_long = self.bytes.len() - self.start > REPLY_BYTES_MAX;
            return if is_long {
                Err(StrangeReply::Long)
            } else {
                Ok(None)
            };
        }
        let whole = self.bytes.get(self.start..self.seen).unwrap_or_default();
        let value = ReplyReader(whole).value(DEPTH_MAX)?;
        self.start = self.seen;
        Ok(Some(value))
    }

    /// Looks on for the end of the first reply.
    fn is_whole(&mut self) -> Read<bool> {
        loop {
            let mut rest = ReplyReader(self.bytes.get(self.seen..).unwrap_or_default());
            let before = rest.0.len();
            let Some((kind, text)) = rest.line()? else {
                return Ok(false);
            };
            match kind {
                b'*' => self.more += length(text)?.unwrap_or(0),
                b'$' => {
                    if let Some(length) = length(text)?
                        && rest.string(length)?.is_none()
                    {
                        return Ok(false);
                    }
                }
                b'+' | b'-' | b':' => {}
                other => return Err(StrangeReply::Kind(other)),
            }
            self.seen += before - rest.0.len();
            match self.more.checked_sub(1) {
                Some(more) => self.more = more,
                None => return Ok(true),
            }
        }
    }
}

/// Parts of replies, read from left to right.
struct ReplyReader<'a>(&'a [u8]);

impl<'a> ReplyReader<'a> {
    /// What kind of part a line begins, and the rest of the line; none while it has not come whole.
    fn line(&mut self) -> Read<Option<(u8, &'a [u8])>> {
        let Some(end) = self.0.iter().position(|&byte| byte == b'\r') else {
            return Ok(None);
        };
        let Some(line) = self.string(end)? else {
            return Ok(None);
        };
        let (&kind, text) = line.split_first().ok_or(StrangeReply::Kind(b'\r'))?;
        Ok(Some((kind, text)))
    }

    /// So many bytes and an end of line; none while they have not come.
    fn string(&mut self, length: usize) -> Read<Option<&'a [u8]>> {
        let Some((string, rest)) = self.0.split_at_checked(length) else {
            return Ok(None);
        };
        let Some((end, rest)) = rest.split_at_checked(LINE_END.len()) else {
            return Ok(None);
        };
        if end != LINE_END {
            return Err(StrangeReply::End);
        }
        self.0 = rest;
        Ok(Some(string))
    }

    /// A reply that is whole.
    fn value(&mut self, depth: usize) -> Read<Value> {
        let whole = self.0;
        let (kind, text) = self.line()?.ok_or(StrangeReply::End)?;
        Ok(match kind {
            b'*' => match length(text)? {
                Some(count) => {
                    let depth = depth.checked_sub(1).ok_or(StrangeReply::Deep)?;
                    let values = (0..count).map(|_| self.value(depth));
                    Value::Array(values.collect::<Read<_>>()?)
                }
                None => Value::Nil,
            },
            b'$' => match length(text)? {
                Some(length) => {
                    let string = self.string(length)?.ok_or(StrangeReply::End)?;
                    Value::BulkString(string.to_vec())
                }
                None => Value::Nil,
            },
            b':' => Value::Int(number(text)?),
            // Words and errors are few, and the library knows what they mean.
            _ => {
                let line = whole.get(..whole.len() - self.0.len()).unwrap_or_default();
                parse_redis_value(line).map_err(StrangeReply::Word)?
            }
        })
    }
}

/// How much there is; none where there is nothing, which is not the same as something empty.
fn length(text: &[u8]) -> Read<Option<usize>> {
    if text == b"-1" {
        return Ok(None);
    }
    let length = number(text)?;
    if length > REPLY_BYTES_MAX {
        return Err(StrangeReply::Long);
    }
    Ok(Some(length))
}

fn number<T: str::FromStr>(text: &[u8]) -> Read<T> {
    let number = str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    number.ok_or(StrangeReply::Number)
}

#[cfg(test)]
mod tests {
    use redis::{Value, parse_redis_value};

    use super::{DEPTH_MAX, ReplyBuffer};

    /// Replies of every kind, one after the other.
    const SAID: [&str; 9] = [
        "+OK\r\n",
        "-ERR Function not found\r\n",
        ":-7\r\n",
        "$5\r\na\r\nb \r\n",
        "$0\r\n\r\n",
        "$-1\r\n",
        "*0\r\n",
        "*-1\r\n",
        "*3\r\n*2\r\n$5\r\nfirst\r\n:12\r\n$-1\r\n*1\r\n*1\r\n+done\r\n",
    ];

    /// What is read of pieces that come one after the other.
    fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<Value>, String> {
        let (mut replies, mut values) = (ReplyBuffer::default(), Vec::new());
        for piece in pieces {
            replies.space(piece.len()).extend_from_slice(piece);
            while let Some(value) = replies.take().map_err(|strange| strange.to_string())? {
                values.push(value);
            }
        }
        Ok(values)
    }

    #[test]
    fn replies_are_what_the_library_reads_however_they_are_cut() {
        let expected: Vec<Value> = SAID
            .iter()
            .map(|reply| parse_redis_value(reply.as_bytes()).unwrap())
            .collect();
        let all = SAID.concat();
        let all = all.as_bytes();
        for size in 1..=all.len() {
            assert_eq!(
                read(all.chunks(size)).unwrap(),
                expected,
                "{size} at a time"
            );
        }
    }

    #[test]
    fn a_reply_is_not_there_before_its_last_byte() {
        for reply in SAID {
            for length in 0..reply.len() {
                let begun = &reply.as_bytes()[..length];
                assert_eq!(read([begun]).unwrap(), [], "{reply:?} up to {length}");
            }
        }
    }

    #[test]
    fn what_is_no_reply_is_named() {
        let deep = "*1\r\n".repeat(DEPTH_MAX + 1) + ":1\r\n";
        for (said, why) in [
            ("?1\r\n", "a reply begins with the byte 63"),
            ("\r\n", "a reply begins with the byte 13"),
            ("$five\r\n", "a reply has an invalid number"),
            ("*-2\r\n", "a reply has an invalid number"),
            (":1.5\r\n", "a reply has an invalid number"),
            ("$1\r\nabc\r\n", "a part of a reply has no end"),
            (":1\rx\n", "a part of a reply has no end"),
            ("$536870913\r\n", "a reply is longer than 536870912 bytes"),
            (&deep, "a reply has lists more than 8 deep"),
        ] {
            assert_eq!(read([said.as_bytes()]).unwrap_err(), why, "{said:?}");
        }
    }
}
