//! Names of keys, and the key that marks an unfinished copy.

use redis::cmd;
use turnstile_contract::Tally;

use crate::link::{CallFailure, Dialer};

/// What all keys begin with; the braces keep them in one slot of a cluster.
pub(crate) const BASE: &str = "{rooms}/";

/// The key that says that a copy is not finished.
pub(crate) const UNFINISHED: &str = "unfinished_copy";

/// A key, by what it is called beneath the one that all begin with.
pub(crate) fn key(name: &str) -> String {
    format!("{BASE}{name}")
}

/// Whether an unfinished copy lies here.
pub(crate) async fn is_unfinished(link: &Dialer, tally: &Tally) -> Result<bool, CallFailure> {
    link.ask(tally, cmd("EXISTS").arg(key(UNFINISHED))).await
}
