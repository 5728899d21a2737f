//! Frames: the opening, then messages behind their lengths.

use crate::{
    Broken, Message,
    frame::whole_frame,
    message,
    opening::{NAME, OPENING_BYTES, VERSION},
};

/// Finds the messages of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frames {
    opened: bool,
}

/// What the unread bytes of a connection begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageScan<'a> {
    /// No whole message. The first `skipped` bytes are to be dropped.
    Incomplete { skipped: usize },
    /// A message, and how many bytes are to be dropped with it.
    Message {
        message: Message<'a>,
        consumed: usize,
    },
}

impl Frames {
    /// Looks at the start of `bytes`. A caller that drops what is consumed or skipped and calls
    /// again finds the same messages, wherever the stream was cut.
    ///
    /// # Errors
    /// The peer does not speak this protocol.
    pub fn next<'a>(&mut self, bytes: &'a [u8]) -> Result<MessageScan<'a>, Broken> {
        let mut start = 0;
        if !self.opened {
            if !is_opened(bytes)? {
                return Ok(MessageScan::Incomplete { skipped: 0 });
            }
            self.opened = true;
            start = OPENING_BYTES;
        }
        Ok(match whole_frame(bytes, start)? {
            None => MessageScan::Incomplete { skipped: start },
            Some((frame, consumed)) => MessageScan::Message {
                message: message::read(frame)?,
                consumed,
            },
        })
    }
}

/// Whether the whole opening is there. What cannot become one is refused at its first byte.
fn is_opened(bytes: &[u8]) -> Result<bool, Broken> {
    let name = NAME.as_bytes();
    let begun = bytes.len().min(name.len());
    if bytes.get(..begun) != name.get(..begun) {
        return Err(Broken::Opening);
    }
    let version = bytes.get(name.len()..OPENING_BYTES).unwrap_or_default();
    match version.try_into().map(u16::from_le_bytes) {
        Err(_incomplete) => Ok(false),
        Ok(VERSION) => Ok(true),
        Ok(theirs) => Err(Broken::Version(theirs)),
    }
}
