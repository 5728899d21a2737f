//! Exit codes of the process; `turnstile --help` lists them.
//!
//! 74 is `EX_IOERR` of `sysexits.h`: the server's disk failed. Acknowledged records are on the disk,
//! and the next start recovers them. 77 is `EX_NOPERM`: a server asked for a key, or did not accept it. 96 is also the exit code of a server that a fault point ends.

use std::{fmt, io};

use turnstile_client::Denied;
use turnstile_result::Verdict;
use turnstile_server::{StartError, StopError};

pub(crate) const USAGE: u8 = 2;
pub(crate) const DISK: u8 = 74;
pub(crate) const DENIED: u8 = 77;
pub(crate) const UNWELL: u8 = 94;
pub(crate) const DOUBTFUL: u8 = 95;
pub(crate) const VIOLATION: u8 = 97;
pub(crate) const INVALID: u8 = 98;
pub(crate) const FAILED: u8 = 1;

/// An error that has an exit code of its own.
#[derive(Debug)]
pub(crate) struct Coded {
    code: u8,
    message: String,
}

impl Coded {
    pub(crate) const fn usage(message: String) -> Self {
        Self {
            code: USAGE,
            message,
        }
    }

    /// Of a measurement that ends with this verdict; nothing for a fine one.
    pub(crate) fn of_verdict(verdict: Verdict) -> Option<Self> {
        let message = match verdict {
            Verdict::Fine => return None,
            Verdict::Missed => "an objective was missed",
            Verdict::Unsteady => "not steady, or not known well enough, within the time allowed",
            Verdict::Invalid => "the run is invalid",
            Verdict::Violated => "the server broke a promise",
        };
        Some(Self {
            code: verdict.exit_code(),
            message: message.to_owned(),
        })
    }

    /// The same, with what more there is to say.
    pub(crate) fn because(mut self, reason: &str) -> Self {
        if !reason.is_empty() {
            self.message.push_str(": ");
            self.message.push_str(reason);
        }
        self
    }

    pub(crate) const fn unwell(message: String) -> Self {
        Self {
            code: UNWELL,
            message,
        }
    }

    pub(crate) const fn doubtful(message: String) -> Self {
        Self {
            code: DOUBTFUL,
            message,
        }
    }

    pub(crate) const fn violation(message: String) -> Self {
        Self {
            code: VIOLATION,
            message,
        }
    }

    pub(crate) const fn invalid(message: String) -> Self {
        Self {
            code: INVALID,
            message,
        }
    }
}

impl fmt::Display for Coded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Coded {}

/// The exit code of an error: that of the [`Coded`] somewhere in it, else 1. A setting of a load that
/// makes no sense came from the command line; a journal that ends its server came from the disk, and so
/// did a start that could not read or write its directory.
pub(crate) fn code(error: &anyhow::Error) -> u8 {
    if let Some(coded) = error.downcast_ref::<Coded>() {
        return coded.code;
    }
    if error.chain().any(is_denied) {
        return DENIED;
    }
    if let Some(StopError::Journal(_)) = error.downcast_ref() {
        return DISK;
    }
    if let Some(StartError::Open(refusal)) = error.downcast_ref() {
        if refusal.is_newer() {
            return USAGE;
        }
        if refusal.io().is_some_and(is_of_disk) {
            return DISK;
        }
    }
    match error.downcast_ref() {
        Some(turnstile_load::Error::Setting(_)) => USAGE,
        _ => FAILED,
    }
}

/// Whether a server did not let us in, or not do this.
fn is_denied(error: &(dyn std::error::Error + 'static)) -> bool {
    let of_socket = || Denied::within(error.downcast_ref::<io::Error>()?);
    error.is::<Denied>() || of_socket().is_some()
}

/// Whether the disk failed: otherwise somebody named a directory that is not there or not theirs.
fn is_of_disk(error: &io::Error) -> bool {
    !matches!(
        error.kind(),
        io::ErrorKind::NotFound
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::IsADirectory
    )
}

/// An error with its causes, each told once: many tell their cause themselves.
pub(crate) fn message(error: &anyhow::Error) -> String {
    let mut message = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !message.contains(&cause) {
            message.push_str(": ");
            message.push_str(&cause);
        }
    }
    message
}
