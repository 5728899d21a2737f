//! A snapshot as it is written, piece by piece.

use turnstile_types::Sink;

/// Bytes that are gathered before they go to the sink.
const PIECE: usize = 1 << 16;

/// A snapshot that is written item by item and handed over in large pieces.
#[expect(missing_debug_implementations, reason = "a sink has nothing to show")]
pub struct Pieces<'a> {
    out: &'a mut dyn Sink,
    buffer: Vec<u8>,
}

impl<'a> Pieces<'a> {
    pub fn to(out: &'a mut dyn Sink) -> Self {
        Self {
            out,
            buffer: Vec::with_capacity(PIECE + 1_024),
        }
    }

    /// Writes one item, and hands over what has gathered.
    pub fn put(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.buffer);
        if self.buffer.len() >= PIECE {
            self.flush();
        }
    }

    /// Hands over the rest.
    pub fn finish(mut self) {
        self.flush();
    }

    fn flush(&mut self) {
        self.out.put(&self.buffer);
        self.buffer.clear();
    }
}
