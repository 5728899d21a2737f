//! The number of a transaction.

use turnstile_chassis::{Bytes, Kind, Show, Value};

/// A transaction's number: from 1, consecutive, in the order of their starts; the younger has the
/// higher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Bytes)]
pub struct Xid(pub u64);

impl Value for Xid {
    fn show<S: Show>(&self, show: S) -> S::Out {
        show.number(self.0)
    }

    fn kind() -> Kind {
        Kind::Number
    }
}

impl std::fmt::Display for Xid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
