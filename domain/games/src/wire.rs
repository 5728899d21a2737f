//! Stable bytes of commands and outcomes. Byte map and promise: `docs/formats/games.md`.
//!
//! How lists, options and choices are written stands in `turnstile_chassis::Wire`.

mod words;

use turnstile_chassis::Wire;
use turnstile_types::Malformed;

use crate::{Done, Outcome, Refusal};

/// Kinds of outcomes below this are done, the others are refusals.
const REFUSALS: u8 = 0x80;

pub(crate) fn put_outcome(outcome: &Outcome, out: &mut Vec<u8>) {
    match outcome {
        Outcome::Done(done) => done.put(out),
        Outcome::Refused(refusal) => refusal.put(out),
    }
}

pub(crate) fn outcome(bytes: &[u8]) -> Result<Outcome, Malformed> {
    let end = "end of the outcome";
    if bytes.first().is_some_and(|&kind| kind >= REFUSALS) {
        Refusal::read_whole(bytes, end).map(Outcome::Refused)
    } else {
        Done::read_whole(bytes, end).map(Outcome::Done)
    }
}
