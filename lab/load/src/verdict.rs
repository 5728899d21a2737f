//! What a run is worth.

use serde::Serialize;

/// What a run is worth, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The figures are sound and the server kept its promises.
    Fine,
    /// The figures are not to be used: the instrument or the machine failed, not the server.
    Invalid,
    /// The server broke a promise; the figures do not matter.
    Violated,
}

impl Verdict {
    /// The exit code of a command that ends with this verdict: 0, 98 or 97.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Invalid => 98,
            Self::Violated => 97,
        }
    }
}
