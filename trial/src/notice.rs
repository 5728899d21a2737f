//! What a machine does not allow is said, loudly.

use std::{
    env,
    io::{self, Write as _},
};

/// The variable that turns a machine that allows no mounts into a failure.
const REQUIRED: &str = "TURNSTILE_REQUIRE_MOUNTS";

/// Says which promise stays untested because nothing can be mounted here, and why not.
///
/// # Panics
/// When mounts are required by `TURNSTILE_REQUIRE_MOUNTS=1`.
pub fn no_mount(promise: &str, failure: &str) {
    assert!(
        env::var_os(REQUIRED).is_none_or(|value| value != "1"),
        "{REQUIRED}=1, but nothing can be mounted: {failure}"
    );
    // Not a print macro: the notice must be seen although the test passes.
    let notice = format!(
        "\n*** NOT TESTED: {promise}\n*** Nothing can be mounted here: {failure}\n\
         *** Run as root, or set {REQUIRED}=1 to fail instead.\n\n"
    );
    let written = io::stderr().write_all(notice.as_bytes());
    written.expect("somebody must hear of this");
}
