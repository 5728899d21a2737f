//! Frames: the opening, then messages behind their lengths.

use crate::{Broken, Message, limits::FRAME_BYTES_MAX, message};

/// What each end says first, before the version.
pub(crate) const NAME: &str = "tsdesk";

/// The version of the whole line, with the parcels on it.
pub(crate) const VERSION: u16 = 4;

/// The name and the version.
const OPENING_BYTES: usize = NAME.len() + 2;

/// The length before a frame.
const LENGTH_BYTES: usize = 4;

/// Appends what each end says before everything else.
pub fn put_opening(out: &mut Vec<u8>) {
    out.extend_from_slice(NAME.as_bytes());
    out.extend_from_slice(&VERSION.to_le_bytes());
}

/// Finds the messages of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frames {
    opened: bool,
}

/// What the unread bytes of a connection begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Framed<'a> {
    /// No whole message. The first `skipped` bytes are to be dropped.
    Incomplete { skipped: usize },
    /// A message, and how many bytes are to be dropped with it.
    Message {
        message: Message<'a>,
        consumed: usize,
    },
}

impl Frames {
    /// Looks at the start of `bytes`. Whoever drops what is consumed or skipped and calls again
    /// finds the same messages, wherever the stream was cut.
    ///
    /// # Errors
    /// The peer does not speak this protocol.
    pub fn next<'a>(&mut self, bytes: &'a [u8]) -> Result<Framed<'a>, Broken> {
        let mut start = 0;
        if !self.opened {
            if !is_opened(bytes)? {
                return Ok(Framed::Incomplete { skipped: 0 });
            }
            self.opened = true;
            start = OPENING_BYTES;
        }
        let rest = bytes.get(start..).unwrap_or_default();
        let Some((length, rest)) = rest.split_first_chunk::<LENGTH_BYTES>() else {
            return Ok(Framed::Incomplete { skipped: start });
        };
        let announced = u32::from_le_bytes(*length);
        let length = usize::try_from(announced).unwrap_or(usize::MAX);
        if !(1..=FRAME_BYTES_MAX).contains(&length) {
            return Err(Broken::Length(announced));
        }
        let Some(frame) = rest.get(..length) else {
            return Ok(Framed::Incomplete { skipped: start });
        };
        Ok(Framed::Message {
            message: message::read(frame)?,
            consumed: start + LENGTH_BYTES + length,
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

/// Appends a frame whose kind and content are appended by `put`.
///
/// # Panics
/// When it is too long: parcels and refusals fit.
pub(crate) fn put_frame(out: &mut Vec<u8>, put: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; LENGTH_BYTES]);
    put(out);
    let length = out.len() - start - LENGTH_BYTES;
    assert!(length <= FRAME_BYTES_MAX, "a frame of {length} bytes");
    let length = u32::try_from(length).expect("it was just compared");
    let place = out.get_mut(start..start + LENGTH_BYTES);
    place
        .expect("it was just appended")
        .copy_from_slice(&length.to_le_bytes());
}
