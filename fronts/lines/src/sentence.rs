//! Sentences that several answers consist of.

use std::{fmt, io::Write as _};

pub(crate) fn put(out: &mut Vec<u8>, line: impl fmt::Display) {
    writeln!(out, "{line}").expect("writing to memory does not fail");
}

/// Appends the answer to a line that asks for nothing that there is, or nothing that is allowed.
pub fn put_exception(out: &mut Vec<u8>, why: impl fmt::Display) {
    put(out, format_args!("Command exception: {why}"));
}
