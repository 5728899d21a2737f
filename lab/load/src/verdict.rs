//! What a run is worth.

use turnstile_result::{Outcome, Rule};

/// What a run is worth, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The figures are sound and the server kept its promises.
    Fine,
    /// The figures are not to be used: the instrument or the machine failed, not the server.
    Invalid,
    /// The server broke a promise; the figures do not matter.
    Violated,
}

impl Verdict {
    /// What a proof is worth: all of its rules must hold.
    #[must_use]
    pub fn of_rules(rules: &[Rule]) -> Self {
        let any = |outcome| rules.iter().any(|rule| rule.outcome == outcome);
        if any(Outcome::Fails) {
            Self::Violated
        } else if any(Outcome::NotTestable) {
            Self::Invalid
        } else {
            Self::Fine
        }
    }

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
