//! A whole reply as a value of its own.

use std::fmt;

use super::{DEPTH_MAX, MalformedReply, ReplyLimits, Token, token};

/// One reply. Attributes are advice that no server of ours gives: they are read and dropped.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Simple(String),
    /// The code, a space, the message.
    Error(String),
    Integer(i64),
    Bulk(Vec<u8>),
    Null,
    Boolean(bool),
    Double(f64),
    Big(String),
    Verbatim {
        format: [u8; 3],
        text: Vec<u8>,
    },
    Array(Vec<Self>),
    Set(Vec<Self>),
    Push(Vec<Self>),
    Map(Vec<(Self, Self)>),
}

impl Value {
    /// The bytes of a string of any kind; nothing for an error, a number or an aggregate.
    #[must_use]
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Simple(text) => Some(text.as_bytes()),
            Self::Bulk(bytes) | Self::Verbatim { text: bytes, .. } => Some(bytes),
            Self::Error(_)
            | Self::Integer(_)
            | Self::Null
            | Self::Boolean(_)
            | Self::Double(_)
            | Self::Big(_)
            | Self::Array(_)
            | Self::Set(_)
            | Self::Push(_)
            | Self::Map(_) => None,
        }
    }

    /// The same as [`as_bytes`](Self::as_bytes), where it is UTF-8.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        self.as_bytes().and_then(|bytes| str::from_utf8(bytes).ok())
    }

    #[must_use]
    pub const fn as_integer(&self) -> Option<i64> {
        if let Self::Integer(number) = self {
            Some(*number)
        } else {
            None
        }
    }

    /// The elements of an array, a set or a push; nothing for anything else.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(elements) | Self::Set(elements) | Self::Push(elements) => Some(elements),
            Self::Simple(_)
            | Self::Error(_)
            | Self::Integer(_)
            | Self::Bulk(_)
            | Self::Null
            | Self::Boolean(_)
            | Self::Double(_)
            | Self::Big(_)
            | Self::Verbatim { .. }
            | Self::Map(_) => None,
        }
    }

    /// What a map holds under `key`.
    #[must_use]
    pub fn at(&self, key: &str) -> Option<&Self> {
        let Self::Map(pairs) = self else { return None };
        pairs
            .iter()
            .find(|(name, _)| name.as_str() == Some(key))
            .map(|(_, value)| value)
    }
}

/// One line for people: `[1, "R07", (nil)]`. Bytes that are no text are replaced.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Simple(text) | Self::Big(text) => f.write_str(text),
            Self::Error(text) => write!(f, "(error) {text}"),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Bulk(bytes) | Self::Verbatim { text: bytes, .. } => {
                write!(f, "{:?}", String::from_utf8_lossy(bytes))
            }
            Self::Null => f.write_str("(nil)"),
            Self::Boolean(truth) => write!(f, "{truth}"),
            Self::Double(number) => write!(f, "{number}"),
            Self::Array(values) | Self::Set(values) | Self::Push(values) => {
                f.write_str("[")?;
                for (index, value) in values.iter().enumerate() {
                    let comma = if index > 0 { ", " } else { "" };
                    write!(f, "{comma}{value}")?;
                }
                f.write_str("]")
            }
            Self::Map(pairs) => {
                f.write_str("{")?;
                for (index, (key, value)) in pairs.iter().enumerate() {
                    let comma = if index > 0 { ", " } else { "" };
                    write!(f, "{comma}{key}: {value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

/// Reads the first whole reply and says how many bytes it takes; nothing when more are needed.
///
/// # Errors
/// The bytes are no reply, or the reply goes over a limit.
pub fn decode(
    bytes: &[u8],
    limits: &ReplyLimits,
) -> Result<Option<(Value, usize)>, MalformedReply> {
    let mut reader = Reader {
        bytes,
        used: 0,
        elements: 0,
        limits,
    };
    let value = reader.value(DEPTH_MAX)?;
    Ok(value.map(|value| (value, reader.used)))
}

struct Reader<'a> {
    bytes: &'a [u8],
    used: usize,
    elements: usize,
    limits: &'a ReplyLimits,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Result<Option<Value>, MalformedReply> {
        let Some((token, length)) = token(&self.bytes[self.used..], self.limits)? else {
            return Ok(None);
        };
        self.used += length;
        self.elements += token.children();
        if self.elements > self.limits.elements_max {
            return Err(MalformedReply::TooManyElements);
        }
        let Some(below) = depth.checked_sub(1) else {
            return Err(MalformedReply::TooDeep);
        };
        Ok(Some(match token {
            Token::Simple(text) => Value::Simple(lossy(text)),
            Token::Error(text) => Value::Error(lossy(text)),
            Token::Integer(number) => Value::Integer(number),
            Token::Bulk(bytes) => Value::Bulk(bytes.to_vec()),
            Token::Null => Value::Null,
            Token::Boolean(truth) => Value::Boolean(truth),
            Token::Double(number) => Value::Double(number),
            Token::Big(digits) => Value::Big(lossy(digits)),
            Token::Verbatim { format, text } => Value::Verbatim {
                format,
                text: text.to_vec(),
            },
            Token::Array(count) => return Ok(self.values(count, below)?.map(Value::Array)),
            Token::Set(count) => return Ok(self.values(count, below)?.map(Value::Set)),
            Token::Push(count) => return Ok(self.values(count, below)?.map(Value::Push)),
            Token::Map(pairs) => return Ok(self.pairs(pairs, below)?.map(Value::Map)),
            Token::Attributes(pairs) => {
                return match self.pairs(pairs, below)? {
                    Some(_dropped) => self.value(below),
                    None => Ok(None),
                };
            }
        }))
    }

    fn values(&mut self, count: usize, depth: usize) -> Result<Option<Vec<Value>>, MalformedReply> {
        // Grown as elements come: a count alone must not make us allocate.
        let mut values = Vec::new();
        for _ in 0..count {
            let Some(value) = self.value(depth)? else {
                return Ok(None);
            };
            values.push(value);
        }
        Ok(Some(values))
    }

    fn pairs(
        &mut self,
        count: usize,
        depth: usize,
    ) -> Result<Option<Vec<(Value, Value)>>, MalformedReply> {
        let Some(values) = self.values(2 * count, depth)? else {
            return Ok(None);
        };
        let mut pairs = Vec::with_capacity(count);
        let mut values = values.into_iter();
        while let (Some(key), Some(value)) = (values.next(), values.next()) {
            pairs.push((key, value));
        }
        Ok(Some(pairs))
    }
}

/// Lines are ASCII from every server we know; what is not is shown, not refused.
fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
