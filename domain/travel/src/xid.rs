//! The number of a transaction.

use turnstile_chassis::{Bytes, Kind, NotWhole, Readable, Show, Value};

/// A transaction's number: from 1, consecutive, in the order of their starts; the younger has the
/// higher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Bytes)]
pub struct Xid(pub u64);

impl Readable<'_> for Xid {
    type Invalid = NotWhole;

    fn read(text: &[u8]) -> Result<Self, NotWhole> {
        u64::read(text).map(Self)
    }

    fn kind() -> Kind {
        Kind::NUMBER
    }
}

impl Value for Xid {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.number(self.0)
    }

    fn kind() -> Kind {
        Kind::NUMBER
    }
}

impl std::fmt::Display for Xid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
