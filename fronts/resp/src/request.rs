//! Requests as they come: arrays of bulk strings, or lines typed by hand.

mod inline;
#[cfg(test)]
mod tests;

use std::fmt;

/// The most arguments of a request: the largest honest one is a few `CLIENT` words.
pub const ARGUMENTS_MAX: usize = 1_024;

/// The longest argument, in bytes; the longest that a service takes is below 1 KiB.
pub const ARGUMENT_BYTES_MAX: usize = 64 * 1_024;

/// The longest line typed by hand, in bytes.
pub const INLINE_BYTES_MAX: usize = 4 * 1_024;

/// The longest request, in bytes, so that no connection can keep more than this waiting.
pub const FRAME_BYTES_MAX: usize = 1_024 * 1_024;

/// The most arguments of a request of somebody who has not logged in: what a login needs.
pub const STRANGER_ARGUMENTS_MAX: usize = 10;

/// The longest argument of such a request, in bytes.
pub const STRANGER_ARGUMENT_BYTES_MAX: usize = 16 * 1_024;

/// Digits of a length line: no length within the limits needs more.
const LENGTH_DIGITS_MAX: usize = 7;

const _: () = assert!(ARGUMENT_BYTES_MAX + 64 < FRAME_BYTES_MAX);
const _: () = assert!(FRAME_BYTES_MAX < 10_usize.pow(7));

/// Where an argument lies, counted from the start of its request.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u32,
    end: u32,
}

impl Span {
    fn new(start: usize, end: usize) -> Self {
        let narrow = |at| u32::try_from(at).expect("a request is shorter than 4 GiB");
        Self {
            start: narrow(start),
            end: narrow(end),
        }
    }
}

/// The arguments of one request, as slices of the input.
#[derive(Clone, Copy)]
pub struct Arguments<'bytes, 'spans> {
    bytes: &'bytes [u8],
    spans: &'spans [Span],
}

impl<'bytes> Arguments<'bytes, '_> {
    #[must_use]
    pub const fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether this was an empty line, to which nothing is answered.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The argument at `place`, where 0 is the command's name.
    #[must_use]
    pub fn get(&self, place: usize) -> Option<&'bytes [u8]> {
        let span = self.spans.get(place)?;
        let (start, end) = (
            usize::try_from(span.start).ok()?,
            usize::try_from(span.end).ok()?,
        );
        self.bytes.get(start..end)
    }

    /// The request that begins with the argument at `place`.
    #[must_use]
    pub fn behind(self, place: usize) -> Self {
        let spans = self.spans.get(place..).unwrap_or_default();
        Self { spans, ..self }
    }

    /// The arguments in order, the command's name first.
    pub fn iter(&self) -> impl Iterator<Item = &'bytes [u8]> {
        (0..self.len()).filter_map(|place| self.get(place))
    }
}

impl fmt::Debug for Arguments<'_, '_> {
    /// Counts only: an argument may be an id number, which must not reach a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Arguments({})", self.len())
    }
}

/// What the bytes so far amount to.
#[derive(Debug)]
pub enum Decoded<'bytes, 'spans> {
    /// More bytes are needed.
    Incomplete,
    /// One whole request, which took the first `length` bytes.
    Request {
        arguments: Arguments<'bytes, 'spans>,
        length: usize,
    },
}

/// Bytes after which the stream cannot be trusted any more: the connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A count or length that is no number, or negative.
    Length,
    /// More than [`ARGUMENTS_MAX`] arguments are declared.
    Arguments,
    /// An argument longer than [`ARGUMENT_BYTES_MAX`] is declared.
    Argument,
    /// More is declared than somebody may who has not logged in.
    Stranger,
    /// The arguments declared so far pass [`FRAME_BYTES_MAX`].
    Frame,
    /// An argument does not start with `$`; the field holds what was found.
    Dollar(u8),
    /// An argument does not end where its length says.
    Terminator,
    /// A typed line longer than [`INLINE_BYTES_MAX`].
    Inline,
    /// A typed line in which a quote is not closed, or is closed inside a word.
    Quotes,
    /// A typed line with a backslash between quotes: there are no escapes.
    Escape,
    /// A web browser, or something that speaks like one. It gets no answer.
    Browser,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => write!(f, "invalid length"),
            Self::Arguments => write!(f, "more than {ARGUMENTS_MAX} arguments"),
            Self::Argument => write!(f, "an argument of more than {ARGUMENT_BYTES_MAX} bytes"),
            Self::Stranger => write!(
                f,
                "before its login a client sends at most {STRANGER_ARGUMENTS_MAX} arguments of \
                 {STRANGER_ARGUMENT_BYTES_MAX} bytes"
            ),
            Self::Frame => write!(f, "a request of more than {FRAME_BYTES_MAX} bytes"),
            Self::Dollar(found) => write!(f, "expected '$', got '{}'", found.escape_ascii()),
            Self::Terminator => write!(f, "an argument does not end where its length says"),
            Self::Inline => write!(f, "a typed line of more than {INLINE_BYTES_MAX} bytes"),
            Self::Quotes => write!(f, "unbalanced quotes in request"),
            Self::Escape => write!(f, "no escapes between quotes in a typed line"),
            Self::Browser => write!(f, "this is not a web server"),
        }
    }
}

impl std::error::Error for Fault {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestForm {
    /// No byte of the request has been seen.
    Fresh,
    /// An array, of which `missing` arguments are still to come.
    Array {
        missing: usize,
    },
    Inline,
}

/// Decodes the requests of one connection, one after the other.
///
/// It keeps how far it has looked into a request that is not yet whole, so that a large one that
/// comes in small pieces is looked at once. It never reads lengths ahead of limits, and never
/// allocates for bytes that have not come.
#[derive(Debug)]
pub struct Decoder {
    form: RequestForm,
    /// How far the current request has been understood, counted from its start.
    at: usize,
    spans: Vec<Span>,
    is_stranger: bool,
}

/// Bytes are missing, or the stream is broken.
enum Stop {
    Incomplete,
    Fault(Fault),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    #[must_use]
    pub const fn new() -> Self {
        Self {
            form: RequestForm::Fresh,
            at: 0,
            spans: Vec::new(),
            is_stranger: false,
        }
    }

    /// Says whether whoever sends the requests has not logged in, so that they must be small.
    pub const fn bound(&mut self, is_stranger: bool) {
        self.is_stranger = is_stranger;
    }

    /// Decodes the request at the start of `bytes`. After [`Decoded::Incomplete`] the next call
    /// MUST bring the same bytes with more behind them; after a request, the bytes behind it.
    ///
    /// # Errors
    /// The stream is broken, and the connection is to be closed.
    #[inline]
    pub fn decode<'bytes>(&mut self, bytes: &'bytes [u8]) -> Result<Decoded<'bytes, '_>, Fault> {
        let scanned = match self.form {
            RequestForm::Fresh => self.begin(bytes),
            RequestForm::Array { missing } => self.array(bytes, missing),
            RequestForm::Inline => self.inline(bytes),
        };
        match scanned {
            Ok(()) => {
                let length = self.at;
                self.form = RequestForm::Fresh;
                self.at = 0;
                Ok(Decoded::Request {
                    arguments: Arguments {
                        bytes,
                        spans: &self.spans,
                    },
                    length,
                })
            }
            Err(Stop::Incomplete) => Ok(Decoded::Incomplete),
            Err(Stop::Fault(fault)) => Err(fault),
        }
    }

    fn begin(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        self.spans.clear();
        match bytes.first() {
            None => Err(Stop::Incomplete),
            Some(b'*') => {
                let (missing, next) = length_line(bytes, 1, Fault::Arguments)?;
                if missing > ARGUMENTS_MAX {
                    return Err(Fault::Arguments.into());
                }
                if self.is_stranger && missing > STRANGER_ARGUMENTS_MAX {
                    return Err(Fault::Stranger.into());
                }
                self.at = next;
                self.array(bytes, missing)
            }
            Some(_) => {
                self.form = RequestForm::Inline;
                self.inline(bytes)
            }
        }
    }

    fn array(&mut self, bytes: &[u8], mut missing: usize) -> Result<(), Stop> {
        while missing > 0 {
            match bulk_string(bytes, self.at, self.is_stranger) {
                Ok((start, end)) => {
                    self.spans.push(Span::new(start, end));
                    self.at = end + 2;
                    missing -= 1;
                }
                Err(stop) => {
                    self.form = RequestForm::Array { missing };
                    return Err(stop);
                }
            }
        }
        Ok(())
    }

    fn inline(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        let fresh = bytes.get(self.at..).unwrap_or_default();
        let line = match fresh.iter().position(|&byte| byte == b'\n') {
            Some(found) if self.at + found <= INLINE_BYTES_MAX => self.at + found,
            None if bytes.len() <= INLINE_BYTES_MAX => {
                self.at = bytes.len();
                return Err(Stop::Incomplete);
            }
            _ => return Err(Fault::Inline.into()),
        };
        let text = bytes
            .get(..line)
            .expect("the line end lies within the bytes");
        inline::split(text, &mut self.spans)?;
        self.at = line + 1;
        Ok(())
    }
}

/// The bulk string whose `$` is at `at`: where its content starts and ends.
#[inline]
fn bulk_string(bytes: &[u8], at: usize, is_stranger: bool) -> Result<(usize, usize), Stop> {
    match bytes.get(at) {
        None => return Err(Stop::Incomplete),
        Some(b'$') => {}
        Some(&other) => return Err(Fault::Dollar(other).into()),
    }
    let (length, start) = length_line(bytes, at + 1, Fault::Argument)?;
    if length > ARGUMENT_BYTES_MAX {
        return Err(Fault::Argument.into());
    }
    if is_stranger && length > STRANGER_ARGUMENT_BYTES_MAX {
        return Err(Fault::Stranger.into());
    }
    let end = start + length;
    if end + 2 > FRAME_BYTES_MAX {
        return Err(Fault::Frame.into());
    }
    match bytes.get(end..end + 2) {
        Some(b"\r\n") => Ok((start, end)),
        Some(_) => Err(Fault::Terminator.into()),
        None => match bytes.get(end) {
            None | Some(b'\r') => Err(Stop::Incomplete),
            Some(_) => Err(Fault::Terminator.into()),
        },
    }
}

/// A decimal number and its line end, from `at`: the number, and where the next line begins. A
/// number with more digits than any length within the limits is `too_long`, whatever they are.
#[inline]
fn length_line(bytes: &[u8], at: usize, too_long: Fault) -> Result<(usize, usize), Stop> {
    let mut value = 0;
    for digits in 0..=LENGTH_DIGITS_MAX {
        match bytes.get(at + digits) {
            None => return Err(Stop::Incomplete),
            Some(&digit @ b'0'..=b'9') if digits < LENGTH_DIGITS_MAX => {
                value = value * 10 + usize::from(digit - b'0');
            }
            Some(b'0'..=b'9') => break,
            Some(b'\r') if digits > 0 => {
                return match bytes.get(at + digits + 1) {
                    None => Err(Stop::Incomplete),
                    Some(b'\n') => Ok((value, at + digits + 2)),
                    Some(_) => Err(Fault::Length.into()),
                };
            }
            Some(_) => return Err(Fault::Length.into()),
        }
    }
    Err(too_long.into())
}
