//! Sentences that several answers consist of.

use std::{fmt, io::Write as _};

use turnstile_travel::AbortReason;

pub(crate) fn put(out: &mut Vec<u8>, line: impl fmt::Display) {
    writeln!(out, "{line}").expect("writing to memory does not fail");
}

/// Appends the answer to a line that asks for nothing that there is, or nothing that is allowed.
pub fn put_exception(out: &mut Vec<u8>, why: impl fmt::Display) {
    put(out, format_args!("Command exception: {why}"));
}

/// Why a transaction was aborted, to a person.
pub(crate) struct AbortSentence<'a>(pub(crate) &'a AbortReason);

impl fmt::Display for AbortSentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            AbortReason::Asked => f.write_str("its client aborted it"),
            AbortReason::Refused => f.write_str("what it was to do was refused"),
            AbortReason::Expired => f.write_str("nothing was asked of it for its time to live"),
            AbortReason::Deadlock { holder } => {
                write!(f, "it was in a deadlock with transaction {holder}")
            }
            AbortReason::LockTimeout { holder } => {
                write!(f, "it waited too long for a lock of transaction {holder}")
            }
            AbortReason::DeskAway(desk) => write!(f, "{desk} did not answer in time"),
            AbortReason::DeskLost(desk) => write!(f, "{desk} has lost it"),
            AbortReason::Restarted => f.write_str("the middleware started anew"),
            AbortReason::Evicted => f.write_str("its connection was closed and room was needed"),
        }
    }
}
