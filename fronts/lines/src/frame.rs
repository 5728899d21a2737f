//! Lines: everything up to a line feed.

use std::ops::Range;

use memchr::memchr;

use crate::limits::LINE_BYTES_MAX;

/// Finds the lines of one connection. A line that is too long is reported once, then skipped to its
/// end, so that it costs no memory and the session goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    skips: bool,
}

/// What the unread bytes of a connection begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineScan {
    /// No whole line. The first `skipped` bytes are to be dropped.
    Incomplete { skipped: usize },
    /// Where the line lies without its end, and how many bytes it took with it.
    Line { line: Range<usize>, consumed: usize },
    /// A line that is too long begins: `consumed` bytes are to be dropped, the rest is skipped.
    TooLong { consumed: usize },
}

impl Lines {
    /// Looks at the start of `bytes`. A caller that drops what is consumed or skipped and
    /// calls again finds the same lines, wherever the stream was cut.
    #[must_use]
    pub fn next(&mut self, bytes: &[u8]) -> LineScan {
        let start = match memchr(b'\n', bytes) {
            None if self.skips => {
                return LineScan::Incomplete {
                    skipped: bytes.len(),
                };
            }
            Some(end) if self.skips => end + 1,
            _ => 0,
        };
        self.skips = false;
        let rest = bytes.get(start..).unwrap_or_default();
        let near = rest.get(..=LINE_BYTES_MAX).unwrap_or(rest);
        match memchr(b'\n', near) {
            Some(length) => {
                let text = near.get(..length).unwrap_or_default();
                let text = text.strip_suffix(b"\r").unwrap_or(text);
                LineScan::Line {
                    line: start..start + text.len(),
                    consumed: start + length + 1,
                }
            }
            None if rest.len() > LINE_BYTES_MAX => {
                self.skips = true;
                LineScan::TooLong {
                    consumed: start + near.len(),
                }
            }
            None => LineScan::Incomplete { skipped: start },
        }
    }
}
