//! `run.json` as bytes: the same run gives the same bytes, and comes back equal.

use std::fmt;

use serde::Deserialize;

use crate::Run;

/// The version that this crate writes and reads.
pub const SCHEMA: u32 = 1;

/// Why bytes are no run.
#[derive(Debug)]
pub enum ReadError {
    /// No JSON, or not of this form.
    Form(serde_json::Error),
    /// Of another version.
    Schema { found: u64 },
}

/// What is read first: of another version nothing else is known.
#[derive(Deserialize)]
struct Head {
    schema: u64,
}

impl Run {
    /// # Errors
    /// The bytes are no run, or of another schema. Fields that are not known are skipped: a later
    /// version of the lab may have added them.
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let head: Head = serde_json::from_slice(bytes).map_err(ReadError::Form)?;
        if head.schema != u64::from(SCHEMA) {
            return Err(ReadError::Schema { found: head.schema });
        }
        serde_json::from_slice(bytes).map_err(ReadError::Form)
    }

    /// The file, with a newline at its end.
    ///
    /// # Panics
    /// Never: all keys are texts.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string(self).expect("the keys of all maps are texts");
        json.push('\n');
        json
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form(error) => write!(f, "no run of the lab: {error}"),
            Self::Schema { found } => {
                write!(f, "a run of schema {found}; this lab reads schema {SCHEMA}")
            }
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Form(error) => Some(error),
            Self::Schema { .. } => None,
        }
    }
}
