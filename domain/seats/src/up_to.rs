//! Whole numbers that have an upper bound.

use turnstile_chassis::{Decode, Encode, Kind, NotWhole, Readable, Show, Value, whole};
use turnstile_types::{Malformed, Reader};

/// A whole number from 1 to `MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UpTo<const MAX: u16>(u16);

impl<const MAX: u16> UpTo<MAX> {
    /// Nothing for a number out of bounds.
    #[must_use]
    pub const fn new(number: u16) -> Option<Self> {
        if number >= 1 && number <= MAX {
            Some(Self(number))
        } else {
            None
        }
    }

    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }
}

impl<const MAX: u16> Encode for UpTo<MAX> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
    }
}

impl<const MAX: u16> Decode<'_> for UpTo<MAX> {
    fn decode(reader: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        Self::new(u16::decode(reader, field)?).ok_or(Malformed { field })
    }
}

impl<const MAX: u16> Readable<'_> for UpTo<MAX> {
    type Invalid = NotWhole;

    fn read(text: &[u8]) -> Result<Self, NotWhole> {
        whole(text, 1, u64::from(MAX)).map(Self)
    }

    fn kind() -> Kind {
        <Self as Value>::kind()
    }
}

impl<const MAX: u16> Value for UpTo<MAX> {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.number(u64::from(self.0))
    }

    fn kind() -> Kind {
        Kind::Number {
            min: 1,
            max: u64::from(MAX),
        }
    }
}
