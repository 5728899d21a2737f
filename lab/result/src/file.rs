//! `run.json` as bytes: the same run gives the same bytes, and comes back equal.

use std::fmt;

use serde::Deserialize;

use crate::Run;

/// The version that this crate writes.
pub const SCHEMA: u32 = 2;

/// The oldest that it reads: what [`Run::counts_wholes`] tells is all that differs.
pub const SCHEMA_OLDEST: u32 = 1;

/// From this version on, games and transactions of travel are what is counted.
const WHOLES_SINCE: u32 = 2;

/// Why bytes are no run.
#[derive(Debug)]
pub enum ReadError {
    /// No JSON, or not of this form.
    Form(serde_json::Error),
    /// Of a version that is not known.
    Schema { found: u64 },
}

/// What is read first: of a version that is not known nothing else is.
#[derive(Deserialize)]
struct RunHead {
    schema: u64,
}

impl Run {
    /// # Errors
    /// The bytes are no run, or of a schema that is not known. Fields that are not known are skipped: a
    /// later version of the lab may have added them.
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let head: RunHead = serde_json::from_slice(bytes).map_err(ReadError::Form)?;
        if !(u64::from(SCHEMA_OLDEST)..=u64::from(SCHEMA)).contains(&head.schema) {
            return Err(ReadError::Schema { found: head.schema });
        }
        serde_json::from_slice(bytes).map_err(ReadError::Form)
    }

    /// Whether the throughput of games and travel is that of wholes, as every lab counts them now; a
    /// run of schema 1 may have counted their requests. Of other workloads both are the same.
    #[must_use]
    pub fn counts_wholes(&self) -> bool {
        let is_of_wholes = matches!(self.asked.workload.as_str(), "games" | "travel");
        !is_of_wholes || self.schema >= WHOLES_SINCE
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
            Self::Schema { found } => write!(
                f,
                "a run of schema {found}; this lab reads schemas {SCHEMA_OLDEST} to {SCHEMA}"
            ),
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
