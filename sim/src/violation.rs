//! A promise that was broken.

use std::fmt;

/// A promise that was broken, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation(pub String);

pub(crate) type Judged = Result<(), Violation>;

pub(crate) fn violation(text: impl Into<String>) -> Judged {
    Err(Violation(text.into()))
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Violation {}
