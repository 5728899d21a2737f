//! Places in a frame.

/// A piece of a frame, or nothing. It holds no reference, so that the places of one frame need no
/// memory of their own for the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByteSpan {
    start: u32,
    length: u32,
}

impl ByteSpan {
    pub(crate) const ABSENT: Self = Self {
        start: u32::MAX,
        length: 0,
    };

    pub(crate) fn new(start: usize, end: usize) -> Self {
        let narrow = |at| u32::try_from(at).expect("a frame is shorter than 4 GiB");
        Self {
            start: narrow(start),
            length: narrow(end - start),
        }
    }

    pub(crate) const fn is_absent(self) -> bool {
        self.start == Self::ABSENT.start
    }

    /// From the start of this piece to the end of a later one.
    pub(crate) const fn to(self, later: Self) -> Self {
        Self {
            start: self.start,
            length: later.start + later.length - self.start,
        }
    }

    /// The piece of this text.
    ///
    /// # Panics
    /// When it is not the text in which the place was found.
    #[inline]
    pub(crate) fn of(self, text: &str) -> Option<&str> {
        if self.is_absent() {
            return None;
        }
        let start = usize::try_from(self.start).expect("an address space has 32 bits");
        let length = usize::try_from(self.length).expect("an address space has 32 bits");
        let piece = text.get(start..start + length);
        Some(piece.expect("a place is asked of the frame in which it was found"))
    }
}
