//! What was concluded, and what becomes of it.

use serde::Serialize;

/// A conclusion that an ancestor's authors drew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conclusion {
    /// In their words, or near them.
    pub claim: String,
    pub fate: Fate,
    /// With the figures.
    pub why: String,
}

/// What becomes of a conclusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    Confirmed,
    Refuted,
    /// What it would take is not here.
    NotTestable,
}

impl Fate {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Refuted => "refuted",
            Self::NotTestable => "not testable here",
        }
    }

    pub(crate) const fn if_so(is_so: bool) -> Self {
        if is_so {
            Self::Confirmed
        } else {
            Self::Refuted
        }
    }
}

impl Conclusion {
    pub(crate) fn new(claim: String, fate: Fate, why: String) -> Self {
        Self { claim, fate, why }
    }

    pub(crate) fn untested(claim: String, why: String) -> Self {
        Self::new(claim, Fate::NotTestable, why)
    }
}
